# SPDX-License-Identifier: Apache-2.0

zkr elect.

  $ . "$TESTDIR/setup.sh"
  $ ms() { echo $(($(date +%s%N) / 1000000)); }
  $ count() { [ $(zk count /p) = $1 ]; }
  $ lines() { [ "$(wc -l <$1)" -ge $2 ]; } # FILE: so many at least

The commands leave a trace of when they are alive: they write their names into one file for all of them. They write
their tokens and pids into other files. The deaf command ignores all signals except KILL.

  $ traces() { fresh; rm -f beats; : >tokens; rm -f *.pid; }
  $ begins='echo $ZKR_FENCING_TOKEN >>tokens; echo $$ >NAME.pid; while :; do echo NAME >>beats; sleep 0.005; done'
  $ plain() { echo "${begins//NAME/$1}"; }
  $ deaf() { echo "trap '' INT TERM HUP QUIT USR1 USR2; $(plain $1)"; }
  $ brief() { echo 'echo $ZKR_FENCING_TOKEN >>tokens; echo '"$1 >>beats"; }
  $ turned() { [ "$(uniq beats | wc -l)" = $1 ]; }
  $ turns() { echo $(uniq beats); sort -n -c -u tokens; }

--once: zkr leads for one term.

  $ fresh
  $ zkr elect --once /p -c 'echo $ZKR_LOCK_PATH $ZKR_LOCK_NODE; exit 5' >said
  [5]
  $ stable said
  /p /p/_c_GUID-latch-0000000000
  $ zk count /p
  0

zkr leads again after each command. After a signal it ends with the command's status.

  $ bg c zkr elect /p sh -c 'echo $ZKR_FENCING_TOKEN; [ -e /proc/self ]; sleep 1.1'
  $ soon lines $work/c.out 2
  $ let_go c
  $ out c | sort -n -c -u
  $ zk count /p
  0

A signal for the command does not end the election, even if the command then ends with a status that zkr itself uses.

  $ bg c zkr elect /p sh -c "trap 'exit 3' USR1 USR2; echo leads; while :; do sleep .05; done"
  $ soon lines $work/c.out 1
  $ kill -USR1 ${pid[c]}
  $ soon lines $work/c.out 2
  $ kill -USR2 ${pid[c]}
  $ soon lines $work/c.out 3
  $ kill -TERM ${pid[c]}
  $ quietly await c
  [143]
  $ out c
  leads
  leads
  leads

zkr leads again whatever the command's status is. If the command ends at once, terms still begin a second apart.

  $ for each in true 'exit 69' 'exit 70' 'exit 75'; do
  >     began=$(ms)
  >     bg c zkr elect /p sh -c "echo; $each"
  >     soon lines $work/c.out 3
  >     [ $(($(ms) - began)) -ge 2000 ] || echo 'too early'
  >     kill -TERM ${pid[c]}
  >     quietly await c || : # with the status of a command, or of the signal
  >     zk count /p
  > done
  0
  0
  0
  0

Only one command runs at a time. The next candidate takes over from one that is killed.

  $ traces
  $ bg a zkr -t 2000 elect /p sh -c "$(deaf a)"
  $ soon test -s beats
  $ bg b zkr -t 2000 elect --once /p sh -c "$(brief b)"
  $ soon count 2
  $ let_go -KILL a
  $ await b
  $ turns
  a b

If a leader is cut off, its command dies before the next candidate leads. After the cut, it queues again.

  $ traces
  $ serve proxy proxy
  $ bg a zkr -z $host -t 5000 elect /p sh -c "$(deaf a)"
  $ soon test -s beats
  $ bg b zkr -t 5000 elect --once /p sh -c "$(brief b)"
  $ soon count 2
  $ tell proxy blackhole
  $ await b
  $ turns
  a b
  $ tell proxy heal
  $ soon turned 3
  $ turns
  a b a
  $ kill -INT ${pid[a]} # is deaf:
  $ soon grep 'ShdPnd:.0000000000000000' /proc/${pid[a]}/status
  $ kill -KILL $(cat a.pid)
  $ await a >said
  [137]
  $ wc -l <said
  1

If an administrator deletes the node of a leader, its command is killed. The next term starts a new command.

  $ fresh
  $ bg c zkr elect /p sh -c 'echo $ZKR_FENCING_TOKEN; exec sleep 60'
  $ soon lines $work/c.out 1
  $ zk clear /p
  $ soon lines $work/c.out 2
  $ let_go c
  2> zkr: the leadership of /p was lost: somebody deleted its node; the command was killed; check what it left undone, and run it again; to free it, send TERM to its zkr
  $ out c | sort -n -c -u

--connect-timeout applies to the first term only: a longer cut later does not end zkr.

  $ fresh
  $ serve proxy proxy
  $ bg c zkr -z $host --connect-timeout 0.5 elect /p echo term
  $ soon lines $work/c.out 1
  $ tell proxy cut
  $ sleep 2
  $ terms=$(out c | wc -l)
  $ tell proxy heal
  $ soon lines $work/c.out $((terms + 1))
  $ kill -TERM ${pid[c]}
  $ quietly await c || : # with the status of a command, or of the signal

A signal ends a waiting candidate. USR1 and USR2 are for the command only.

  $ fresh
  $ bg a zkr elect /p sleep 60
  $ soon count 1
  $ bg b zkr elect /p echo never
  $ soon count 2
  $ kill -USR1 ${pid[b]}
  $ kill -USR2 ${pid[b]}
  $ sleep 0.1
  $ let_go -HUP b
  $ count 1
  $ out b
  $ let_go a

A listener prints a line for each leader, and none for the other candidates. It is not a candidate itself.

  $ fresh
  $ bg l zkr elect -l /p
  $ bg j zkr elect --listen --json /p
  $ soon shows nobody out l
  $ soon shows 'null}' out j
  $ bg a zkr elect -i 'the first' /p sleep 60
  $ soon shows ' id=the first' out l
  $ bg b zkr elect --id=2nd /p sleep 60
  $ soon count 2
  $ let_go a
  $ soon shows ' id=2nd' out l
  $ soon shows '"owner":"2nd"' out j
  $ let_go l
  $ let_go -INT j
  $ out l | stable -e 's/[0-9]{10}/N/'
  nobody
  node=_c_GUID-latch-N token=TOKEN session=SESSION id=the first
  node=_c_GUID-latch-N token=TOKEN session=SESSION id=2nd
  $ let_go b

A candidate that is not healthy leaves the election. If it leads, the next candidate takes over. Once healthy, it queues
again.

  $ traces
  $ sign=$PWD/sign
  $ : >$sign
  $ bg a zkr elect --health "test -s $sign" --every=0.5 --failures=2 /p sh -c "$(plain a)"
  $ soon shows 'not healthy' err a
  $ err a
  2> zkr: not healthy: the check ended with status 1; not a candidate at /p until the check succeeds
  $ zk count /p
  0
  $ echo >$sign
  $ soon test -s beats
  $ bg b zkr elect --once --health true /p sh -c "$(brief b)"
  $ soon count 2
  $ : >$sign
  $ await b
  2> zkr: healthy: now a candidate at /p
  $ turns
  a b
  $ zk count /p
  0
  $ echo >$sign
  $ soon turned 3
  $ quietly let_go a
  $ turns
  a b a
  $ zk count /p
  0

A waiting candidate that is not healthy leaves the queue.

  $ fresh
  $ bg a zkr elect /p sleep 60
  $ soon count 1
  $ bg b zkr elect --health "test -s $sign" --every=0.25 /p true
  $ soon count 2
  $ : >$sign
  $ soon count 1
  $ echo >$sign
  $ soon count 2
  $ quietly let_go b
  $ let_go a

Fewer failures in a row than --failures have no effect. Here one of three checks fails.

  $ fresh
  $ : >checks
  $ zkr elect --once --health 'echo >>checks; [ $(($(wc -l <checks) % 3)) != 2 ]' --every=0.5 --failures=3 /p \
  >     sh -c 'while [ $(wc -l <checks) -lt 9 ]; do sleep 0.02; done' 2>said
  $ grep 'not healthy' said
  [1]

A check that hangs counts as failed. It outlives neither its time limit nor zkr. Zombies do not count as alive, because
another subreaper may leave them.

  $ live() { ps -o stat= $(cat $1) | grep -c -v ^Z; }
  $ bg c zkr elect --health 'echo $$ >>hangs; exec sleep 60' --every=0.5 /p true
  $ soon lines hangs 2
  $ soon eval '! kill -0 $(head -n 1 hangs)'
  $ soon shows 'did not end in time' err c
  $ zk count /p
  0
  $ quietly let_go c
  $ live hangs
  0
  [1]

Each check leaves an orphan that ends soon. A waiting candidate reaps these orphans, also if there is another subreaper.

  $ bg holder zkr elect /p sleep 60
  $ soon count 1
  $ for subreaper in '' 'zk subreaper'; do
  >     rm -f orphans
  >     bg c $subreaper zkr elect --health '(sleep 0.1 &); echo >>orphans' --every=0.15 /p true
  >     soon lines orphans 10
  >     soon eval '[ $(ps -o stat= --ppid ${pid[c]} | grep -c ^Z) -le 2 ]'
  >     quietly let_go c
  > done
  $ let_go holder

Only one check runs at a time. A check that hangs in another session, as under sudo, su or timeout, is killed, too.

  $ bg c zkr elect --health "setsid sh -c 'echo \$\$ >>own; sleep 60'; true" --every=0.3 /p true
  $ soon lines own 4
  $ [ $(live own) -le 1 ]
  $ quietly let_go c
  $ live own
  0
  [1]
