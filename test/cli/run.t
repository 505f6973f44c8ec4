# SPDX-License-Identifier: Apache-2.0

zkr lock: the command's environment, and its end.

  $ . "$TESTDIR/setup.sh"
  $ fresh

Input and output are unchanged, for a mebibyte of random bytes.

  $ head -c 1048576 /dev/urandom >a
  $ command zkr lock /p cat <a >b; cmp a b
  $ command zkr lock /p sh -c 'cat >&2' <a 2>c; cmp a c
  $ cat a | command zkr lock /p cat | cmp - a

Closed descriptors are closed for the command, too, and no socket of zkr takes their place.

  $ command zkr lock /p sh -c 'for i in 0 1 2; do [ ! -e /proc/$$/fd/$i ] || exit 9; done' <&- >&- 2>&-
  $ command zkr lock /p sh -c '[ ! -e /proc/$$/fd/0 ]' <&-
  $ command zkr lock /p sh -c '[ ! -e /proc/$$/fd/2 ] && [ -e /proc/$$/fd/1 ]' 2>&-

No descriptor leaks: the command has all of the caller's descriptors and none of zkr's.

  $ list='cd /proc/self/fd && echo *'
  $ sh -c "$list" </dev/null 7</dev/null 9>/dev/null >without
  $ command zkr lock /p sh -c "$list" </dev/null 7</dev/null 9>/dev/null | diff without -

The environment has four more variables. Those of an outer zkr are replaced. All others are kept, also those whose names begin with one of these names.

  $ export ZKR_LOCK_PATH=old ODD=$'a\n b=' ZKR_LOCK_PATHS=kept ZKR_SESSION_IDS=kept
  $ env | grep -v '^ZKR_LOCK_PATH=' | grep -v '^_=' | sort >without
  $ zkr lock /new env | grep -v '^_=' | sort | diff without - | sed -nE 's/(ID=0x)[0-9a-f]+$/\1.../; s/(TOKEN=)[0-9]+$/\1.../; s/^([<>]) (.*)/\2 \1/p' | stable
  ZKR_FENCING_TOKEN=... >
  ZKR_LOCK_NODE=/new/_c_GUID-lock-0000000000 >
  ZKR_LOCK_PATH=/new >
  ZKR_SESSION_ID=0x... >
  [1]
  $ unset ZKR_LOCK_PATH ODD ZKR_LOCK_PATHS ZKR_SESSION_IDS

Arguments are kept byte for byte. zkr does not interpret options of the command.

  $ zkr lock /p printf '[%s]\n' -n -- '' 'a b' $'\xff\n\t\'"$x*' -w 9
  [-n]
  [--]
  []
  [a b]
  [\xff (esc)
  \t'"$x*] (esc)
  [-w]
  [9]

The command's parent is the keeper, a child of zkr. The only other child of zkr is its guardian.

  $ bg c zkr lock /p sh -c 'zkr=$(ps -o ppid= $PPID); echo $zkr; ps -o comm= --ppid $zkr | sort; cat /proc/$PPID/comm'
  $ zkr=${pid[c]}
  $ await c
  $ out c | sed "s/^$zkr$/zkr/"
  zkr
  zkr-guardian
  zkr-keeper
  zkr-keeper

Credentials are not in the list of processes.

  $ zkr --auth digest:me:secret lock /p sh -c 'tr "\0" " " </proc/$PPID/cmdline; echo' | grep -o 'digest:[^ ]*'
  digest:xxxxxxxxx

All six signals reach the command, also a second time. The lock stays held.

  $ bg c zkr lock /p sh -c 'for s in INT TERM HUP QUIT USR1 USR2; do trap "echo $s" $s; done; trap exit ALRM
  >     echo ready; while :; do sleep 0.01; done'
  $ soon holds c
  $ lines() { [ "$(out c | wc -l)" = $1 ]; }
  $ n=1; for each in INT TERM HUP QUIT USR1 USR2 TERM TERM; do kill -$each ${pid[c]}; soon lines $((++n)); done; out c
  ready
  INT
  TERM
  HUP
  QUIT
  USR1
  USR2
  TERM
  TERM
  $ zkr lock -n /p true
  2> zkr: /p is already held; see 'zkr status /p'
  [1]
  $ pkill -ALRM -P $(pgrep -x zkr-keeper -P ${pid[c]})
  $ quietly await c

Ignored signals stay ignored, as with nohup, for the command and for zkr.

  $ env --ignore-signal=HUP,USR1,URG,CHLD zkr lock /p grep SigIgn /proc/self/status | tr '\t' ' '
  SigIgn: 0000000000410201
  $ env --ignore-signal=HUP,USR1 zkr lock /p sh -c 'kill -HUP $PPID $$; kill -USR1 $PPID $$; sleep 0.1'

The signal mask is the caller's, too. First no signal is blocked or ignored, then HUP, USR1, TERM and URG are blocked.

  $ zkr lock /p grep -E 'Sig(Blk|Ign)' /proc/self/status | tr '\t' ' '
  SigBlk: 0000000000000000
  SigIgn: 0000000000000000
  $ env --block-signal=HUP,USR1,TERM,URG zkr lock /p grep SigBlk /proc/self/status | tr '\t' ' '
  SigBlk: 0000000000404201

The lock is kept until all processes of the group are gone, including those that the command left behind.

  $ bg c zkr lock /p sh -c 'while :; do echo alive; sleep 0.005; done & exit 3'
  $ soon holds c
  $ bg next zkr lock /p sh -c "echo next >>$work/c.out"
  $ soon shows 2 zk count /p
  $ sleep 0.3
  $ out c | grep next
  [1]
  $ kill -TERM ${pid[c]}
  $ await c
  [3]
  $ await next
  $ out c | uniq
  alive
  next

If zkr is killed at any moment of its start, it leaves no command behind. The test kills it at 40 moments, up to one and
a half times as long as the start of its command takes.

  $ deaf='trap "" INT TERM HUP; echo $$ >>commands; while :; do sleep 0.01; done'
  $ took=$(date +%s%N)
  $ bg whole zkr -t 1000 lock /first sh -c "echo; exec sleep 60"
  $ soon holds whole
  $ took=$(($(date +%s%N) - took))
  $ kill -KILL ${pid[whole]}; await whole
  [137]
  $ for i in {1..40}; do
  >     bg c zkr -t 1000 lock /$i sh -c "$deaf"
  >     sleep $(printf '%d.%09d' 0 $((took * 3 / 2 * i / 40)))
  >     kill -KILL ${pid[c]}
  >     await c || [ $? = 137 ]
  > done
  $ [ $(wc -l <commands) -gt 2 ]
  $ none_lives() { ! ps -o stat=,args= $(cat commands) | grep -v ^Z; }
  $ soon none_lives
  $ soon shows 0 zk ephemerals
