# SPDX-License-Identifier: Apache-2.0

zkr elect --yield changes the leader as planned.

  $ . "$TESTDIR/setup.sh"
  $ begin() { fresh; : >leaders; }
  $ add() { # ID: a candidate that says so when it leads, in one file for all of them
  >     local before=$(zk count /p)
  >     bg $1 zkr elect -i $1 /p -c "printf $1 >>leaders; exec sleep 60"
  >     soon count $((before + 1))
  > }
  $ count() { [ $(zk count /p) = $1 ]; }
  $ leaders() { soon grep -x "$1" leaders; }
  $ plain() { keep plain /p/_c_01234567-89ab-4def-8123-456789abcdef-latch-=plain; } # one of Curator, that knows nothing of requests
  $ node_of() { zkr status --json /p | tr '{' '\n' | sed -n "s/.*\"node\":\"\([^\"]*\)\",\"owner\":\"$1\".*/\1/p"; }
  $ is_first() { zkr status /p | grep "^1  *$1 "; }

The next candidate leads. Its command starts when that of the last leader has ended. The former leader goes to the end
of the queue.

  $ begin
  $ bg a zkr elect -i a /p sh -c 'while :; do echo a >>beats; sleep 0.005; done'
  $ soon test -s beats
  $ bg b zkr elect -i b /p sh -c 'while :; do echo b >>beats; sleep 0.005; done'
  $ soon count 2
  $ zkr elect --yield /p | stable
  asked a, token TOKEN
  leads: b, token TOKEN
  $ soon grep -q b beats
  $ soon count 2
  $ err a
  2> zkr: got a request to let another candidate lead at /p
  $ let_go b
  $ soon eval '[ "$(tail -n 1 beats)" = a ]'
  $ let_go a
  2> zkr: got a request to let another candidate lead at /p
  $ echo $(uniq beats)
  a b a

A request that remains for long applies only to the leader that it names.

  $ begin
  $ plain
  $ add a
  $ keep request /p/_c_11234567-89ab-4def-8123-456789abcdef-latch-=$'zkr elect --yield\nyield_token='$(
  >     zk stat /p/$(node_of plain) | sed 's/czxid=\([0-9]*\) .*/\1/')
  $ end plain
  $ leaders a
  $ err a
  $ let_go a
  $ end request

The named candidate leads. All others let it pass and start no command meanwhile, and no request is left behind.

  $ begin
  $ add a
  $ leaders a
  $ add b; add c; add d
  $ zkr elect --yield --to d /p | stable
  asked a, token TOKEN
  leads: d, token TOKEN
  $ leaders ad
  $ soon count 4
  $ zkr elect --yield --to=d /p | stable
  leads already: d, token TOKEN
  $ zkr elect --yield /p --to b | stable
  asked d, token TOKEN
  leads: b, token TOKEN
  $ leaders adb
  $ soon count 4
  $ quietly let_go a b c d

A contender that does not know requests keeps its turn: the latch leads when it is first.

  $ begin
  $ add a
  $ leaders a
  $ plain
  $ add b
  $ bg ask zkr elect --yield --to=b /p
  $ soon is_first plain >said
  $ soon count 4
  $ zkr elect --yield -w 0.7 /p >said 2>&1
  [1]
  $ cat leaders; echo
  a
  $ is_first plain | table | sed -E 's/[0-9]{10}$/N/'
  1  plain  SESSION  AGE  HELD  TOKEN  leader  _c_GUID-latch-N
  $ end plain
  $ leaders ab
  $ await ask
  $ quietly let_go a b

A request never blocks the queue. If the named candidate loses its place and comes behind the request, the request moves
behind it.

  $ begin
  $ plain
  $ add a
  $ add b
  $ bg ask zkr elect --yield --to b /p
  $ soon count 4
  $ kill -STOP ${pid[b]}
  $ zk rm /p/$(node_of b)
  $ sleep 0.2 # for the request to see that it is not there
  $ kill -CONT ${pid[b]}
  $ soon count 4
  $ end plain
  $ await ask
  $ leaders b
  $ soon count 2
  $ quietly let_go a b

If no request can be sent, zkr says why.

  $ begin
  $ zkr elect --yield /p
  2> zkr: nobody leads at /p
  [1]
  $ add a
  $ leaders a
  $ zkr elect --yield /p
  2> zkr: there is no other candidate at /p
  [1]
  $ zkr elect --yield --to b /p
  2> zkr: 'b' is not a candidate at /p; see 'zkr status /p'
  [1]
  $ count 1

The named candidate leaves while others wait.

  $ plain
  $ add b
  $ bg ask zkr elect --yield --to b /p
  $ soon is_first plain >said
  $ soon count 4
  $ let_go b
  $ await ask
  2> zkr: there is no candidate left at /p
  [1]
  $ soon count 2
  $ bg ask zkr elect --yield /p
  $ soon count 3
  $ let_go ask
  $ count 2
  $ end plain
  $ leaders aa
  $ quietly let_go a

Whatever request or answer of a candidate is lost, it leads once.

  $ begin
  $ lose() { # WHAT: it, the first, the second and so on, until there is no such one
  >     local n lost
  >     for ((n = 1; n < 99; n++)); do
  >         serve proxy proxy
  >         tell proxy "lose $1 $n"
  >         [ "$(zkr -z $host elect --once /p echo leads)" = leads ] || echo "$1 $n"
  >         lost=$(tell proxy lost)
  >         end proxy
  >         [ $lost = yes ] || break
  >     done
  >     [ $n -gt 5 ] || echo "only $n"
  > }
  $ lose request
  $ lose answer
