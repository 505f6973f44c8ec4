# SPDX-License-Identifier: Apache-2.0

zkr once: a command runs once in a period.

  $ . "$TESTDIR/setup.sh"
  $ begin() { fresh; : >runs; }
  $ run="printf . >>$PWD/runs"
  $ runs() { wc -c <runs; }
  $ recorded() { zk get ${2:-/p} | sed -n "s/^$1=//p"; }

Of many zkr that start at the same time, one runs its command.

  $ begin
  $ for i in 1 2 3 4 5; do bg $i zkr --verbose once --every=1d /p -c "$run"; done
  $ for i in 1 2 3 4 5; do await $i; done >said
  $ grep -c 'not due: ' said
  4
  $ runs
  1
  $ zkr once -n --every 1h /p -c "$run"
  $ runs
  1

After the period the command runs again. The period is measured by the servers' clock, from start to start, and may be
shorter by a tenth.

  $ begin
  $ zkr once --every=2s /p -c "$run"
  $ first=$(recorded asked_ms) token=$(recorded token)
  $ again() { zkr once --every=2s /p -c "$run"; [ $(runs) = 2 ]; }
  $ soon again
  $ [ $(($(recorded asked_ms) - first)) -ge 1800 ]
  $ [ $(recorded token) -gt $token ]

When a command is due: all units, and both sides of the limit. A record in the future counts only while clocks may
differ by that much.

  $ begin
  $ put_record() { # SECONDS before the present of the servers
  >     zk put /p $'zkr once\n'
  >     zk put /p $'zkr once\nasked_ms='$(($(zk stat /p | sed 's/.*mtime=\([0-9]*\).*/\1/') - $1 * 1000))$'\ntoken=1\n'
  > }
  $ while read -r every ago; do
  >     put_record $ago; : >runs
  >     zkr once --every $every /p -c "$run" 2>said
  >     echo "$every, $ago s ago: $(runs)"
  > done <<END
  > 100 80
  > 100 91
  > 10m 530
  > 10m 541
  > 1.5h 4800
  > 1.5h 4861
  > 1d 77700
  > 1d 77761
  > 100s -90
  > 100s -120
  > END
  100, 80 s ago: 0
  100, 91 s ago: 1
  10m, 530 s ago: 0
  10m, 541 s ago: 1
  1.5h, 4800 s ago: 0
  1.5h, 4861 s ago: 1
  1d, 77700 s ago: 0
  1d, 77761 s ago: 1
  100s, -90 s ago: 0
  100s, -120 s ago: 1

If a server's clock was ahead, the next period begins now and not at the recorded time. zkr reports that.

  $ begin
  $ put_record -90
  $ zkr once --every=100s /p -c "$run" 2>&1 | sed -E 's/[0-9.]+ s/N s/g'
  2> zkr: not due: the record of /p was N s in the future, because the clock of a server was ahead; the record is now set to the present
  $ late=$(($(zk stat /p | sed 's/.*mtime=\([0-9]*\).*/\1/') - $(recorded asked_ms)))
  $ [ $late -ge 0 ] && [ $late -lt 30000 ]
  $ recorded token
  1
  $ zkr once --every=100s /p -c "$run"
  $ runs
  0

A command that fails, is ended by a signal, or is killed runs again.

  $ begin
  $ zkr once --every=1d /p sh -c 'exit 5'
  [5]
  $ bg host zkr once --every=1d /p sh -c "trap 'exit 0' TERM; echo runs; sleep 60 & wait"
  $ soon holds host
  $ zkr once -E7 -n --every=1d /p true
  2> zkr: /p is already held; see 'zkr status /p'
  [7]
  $ zkr once -E7 -n -q --every=1d /p true
  [7]
  $ kill -TERM ${pid[host]}
  $ await host
  $ bg host zkr once --every=1d /p sh -c 'echo runs; sleep 60'
  $ soon holds host
  $ let_go -KILL host
  $ recorded asked_ms
  $ zkr once --every=1d /p -c "$run"
  $ runs
  1
  $ recorded asked_ms | grep -c '[1-9]'
  1

Whatever request or answer is lost, the command runs once, and that is recorded.

  $ begin
  $ lose() { # WHAT: it, the first, the second and so on, until there is no such one
  >     local n path lost=yes
  >     for ((n = 1; n < 99; n++)); do
  >         path=/$1-$n
  >         serve proxy proxy; : >runs
  >         tell proxy "lose $1 $n"
  >         zkr -z $host once --every=1d $path -c "$run"
  >         [ "$? $(runs)" = '0 1' ] && recorded asked_ms $path >/dev/null || echo "$1 $n: $(runs)"
  >         lost=$(tell proxy lost)
  >         end proxy
  >         [ $lost = yes ] || break
  >     done
  >     [ $n -gt 6 ] || echo "only $n"
  > }
  $ lose request
  $ lose answer

If the node cannot have a record, the command does not run. An empty node may be a container, which clients cannot find
out.

  $ begin
  $ zk put /p 'other data'
  $ zkr once --every=1d /p -c "$run"
  2> zkr: /p cannot have a record: it contains data of another program, which the record would replace; use another path
  [65]
  $ zk get /p
  other data
  $ zk put /p ''
  $ zkr once --every=1d /p -c "$run"
  2> zkr: /p cannot have a record: it has been used without a record, so servers may remove it when it is empty; use another path
  [65]
  $ runs
  0

The command does not run either if the record may not be written.

  $ begin
  $ zk put /p
  $ zk acl /p 29
  $ zkr once --every=1d /p -c "$run"
  2> zkr: nothing was written under the lock on /p: not authorised (ZooKeeper code -102); check --auth, and the ACL of the path
  [77]
  $ runs
  0
