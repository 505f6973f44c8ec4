# SPDX-License-Identifier: Apache-2.0

zkr check prints one line and has four states, as Nagios and Icinga require.

  $ . "$TESTDIR/setup.sh"
  $ values() { sed -E 's/=[0-9.]+s/=Ns/g; s/ for <?[0-9]+s/ for AGE/; s/(by holder.*held=)(U|Ns)/\1HELD/'; }
  $ check() { local s; command zkr check "$@" >out 2>err </dev/null; s=$?; values <out; cat err; [ $(wc -l <out) = 1 ] || echo 'not one line'; return $s; }

A lock without a holder is OK, unless --nobody-leads is given.

  $ fresh
  $ check /p
  ZKR OK - /p: nobody holds it; there is no such path | held=Ns waiting=0 oldest=Ns
  $ check --nobody-leads /p
  ZKR CRITICAL - /p: nobody leads; nobody holds it; there is no such path | held=Ns waiting=0 oldest=Ns
  [2]
  $ zk count / 
  0

The line names the holder, and counts the waiters.

  $ hold holder /p
  $ queued waiter /p
  $ check --nobody-leads /p
  ZKR OK - /p: held by holder for AGE, 1 wait | held=HELD waiting=1 oldest=Ns
  $ check --waiting-more-than 1 /p
  ZKR OK - /p: held by holder for AGE, 1 wait | held=HELD waiting=1;1 oldest=Ns
  $ check --waiting-more-than 0 /p
  ZKR WARNING - /p: more than 0 wait; held by holder for AGE, 1 wait | held=HELD waiting=1;0 oldest=Ns
  [1]
  $ check --waiting-more-than 0,0 /p
  ZKR CRITICAL - /p: more than 0 wait; held by holder for AGE, 1 wait | held=HELD waiting=1;0;0 oldest=Ns
  [2]
  $ check --waiting-more-than 0,1 /p
  ZKR WARNING - /p: more than 0 wait; held by holder for AGE, 1 wait | held=HELD waiting=1;0;1 oldest=Ns
  [1]
  $ zkr check --json /p | sed -E 's/"(owner|state|waiting)":[^,]*/&\n/g' | grep -o '"\(owner\|state\|waiting\)":[^,]*$'
  "state":"OK"
  "owner":"holder"
  "waiting":1
  $ let_go waiter holder

If the node has no time of the grant, only an upper bound of the hold's age is known. With the time, the age is known.

  $ since=$((($(date +%s) - 3600) * 1000))
  $ zk put /old/x-lock-0000000000 $'a|b\nheld_since_ms='$since
  $ check --held-longer-than 60 /old | sed 's/[0-9]h0[0-9]m/1h/'
  ZKR WARNING - /old: held for more than 60 s; held by a?b for 1h, 0 wait | held=Ns;60 waiting=0 oldest=Ns
  [1]
  $ check --held-longer-than 60,600 /old >/dev/null
  [2]
  $ check --held-longer-than 7200 /old >/dev/null
  $ zk put /other/x-lock-0000000000 y
  $ check --held-longer-than 0 /other
  ZKR UNKNOWN - /other: perhaps held for more than 0 s; held by y for AGE, 0 wait | held=U waiting=0 oldest=Ns
  [3]
  $ check --held-longer-than 3600 /other
  ZKR OK - /other: held by y for AGE, 0 wait | held=U waiting=0 oldest=Ns

In a recipe without a known order, the number of waiters is unknown. A node that is itself the lock is held since its
creation.

  $ fresh
  $ keep hive /hive/LOCK-SHARED-0000000000=theirs /hive/LOCK-SHARED-0000000001=theirs /node=host1
  $ check --nobody-leads --waiting-more-than 1 /hive
  ZKR OK - /hive: 2 contenders of Hive, whose order is not known | held=U waiting=U oldest=U
  $ check --waiting-more-than 0 /hive
  ZKR UNKNOWN - /hive: perhaps more than 0 wait; 2 contenders of Hive, whose order is not known | held=U waiting=U oldest=U
  [3]
  $ check /node
  ZKR OK - /node: held by host1 for AGE | held=Ns waiting=U oldest=U
  $ end hive

If the server falls silent, the check ends within a second of the time limit, without an answer.

  $ fresh
  $ serve proxy proxy
  $ tell proxy 'at list 1 mute'
  $ check -z $host -w 1 --no-quorum /p | cut -c1-14
  ZKR CRITICAL -
  [2]
  $ end proxy

If no server answers, the state is UNKNOWN, or CRITICAL with --no-quorum. Wrong usage is UNKNOWN, too.

  $ fresh
  $ check -z 127.0.0.1:1 -w 0.3 /p | cut -c1-13
  ZKR UNKNOWN -
  [3]
  $ check -z 127.0.0.1:1 -w 0.3 --no-quorum /p | cut -c1-14
  ZKR CRITICAL -
  [2]
  $ for each in '' 'p' '/p /q' '--nosuch /p' '-w 0 /p' '--held-longer-than x /p' '--waiting-more-than 5,4 /p'; do
  >     check $each | cut -c1-13; [ $? = 3 ] || echo 'not 3'
  > done
  ZKR UNKNOWN -
  ZKR UNKNOWN -
  ZKR UNKNOWN -
  ZKR UNKNOWN -
  ZKR UNKNOWN -
  ZKR UNKNOWN -
  ZKR UNKNOWN -

If the report cannot be written, the state is not OK.

  $ zkr check /p >/dev/full
  2> zkr: cannot write the report; check where standard output goes
  [3]
