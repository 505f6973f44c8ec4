# SPDX-License-Identifier: Apache-2.0

zkr lock: conflicts, waiting and the order of the queue.

  $ . "$TESTDIR/setup.sh"
  $ ms() { echo $(($(date +%s%N) / 1000000)); }

A conflict exits with 1 or with the status of -E. The limits leave a busy machine time to connect.

  $ fresh
  $ hold holder /p
  $ refused 1 <<END
  > lock -n /p true
  > lock --nb /p true
  > lock --nonblock /p true
  > lock --nonblocking /p true
  > lock -w 0 /p true
  > lock -w2.5 /p true
  > END
  $ zkr lock -n -E 0 /p true
  2> zkr: /p is already held; see 'zkr status /p'
  $ zkr lock -n --conflict-exit-code=255 /p true
  2> zkr: /p is already held; see 'zkr status /p'
  [255]
  $ zkr lock --timeout 2.5 -E42 /p true
  2> zkr: /p is already held; see 'zkr status /p'
  [42]

-q suppresses the message of a conflict, whether the queue is full or the lock is held. It does not suppress that no
server answers.

  $ zkr lock -n -q /p true
  [1]
  $ zkr lock -q -w 0.5 -E 42 /p true
  [42]
  $ zkr lock -n -q -E 0 --any /p -- true
  $ zkr lock -nq --permits=1 /permits zkr lock -n -q --permits=1 /permits true
  [1]
  $ queued waiter /p
  $ zkr lock -q --max-queue=1 /p true
  [1]
  $ let_go waiter
  $ refused 75 <<END
  > -z 127.0.0.1:1 --connect-timeout 0.2 lock -n -q /p true
  > END

A wait takes as long as -w says.

  $ began=$(ms)
  $ zkr lock --wait 2.4 /p true
  2> zkr: /p is already held; see 'zkr status /p'
  [1]
  $ took=$(($(ms) - began)); [ $took -ge 2400 ] && [ $took -lt 8000 ]

A signal makes a waiter leave the queue at once.

  $ for signal in INT TERM HUP QUIT USR1 USR2; do
  >     bg waiter zkr lock /p echo never
  >     soon shows 2 zk count /p
  >     let_go -$signal waiter
  >     out waiter
  >     zk count /p
  > done
  1
  1
  1
  1
  1
  1
  $ let_go holder
  $ zk count /p
  0

A signal also ends a zkr that is connecting.

  $ bg c zkr -z 127.0.0.1:1 lock /p true
  $ sleep 0.2
  $ let_go c

A dozen waiters are served in order.

  $ hold holder /p
  $ for i in {1..12}; do
  >     bg $i zkr lock /p -c "echo $i >>order"
  >     soon shows $((i + 1)) zk count /p
  > done
  $ let_go holder
  $ for i in {1..12}; do await $i; done
  $ echo $(cat order)
  1 2 3 4 5 6 7 8 9 10 11 12

Thirty commands each take one from a stock of a hundred. Reading and writing the stock take some time.

  $ echo 100 >stock
  $ for i in {1..30}; do bg $i zkr lock /p -c 'n=$(cat stock); sleep 0.01; echo $((n - 1)) >stock'; done
  $ for i in {1..30}; do await $i; done
  $ cat stock
  70

A full queue is a conflict.

  $ hold holder /p
  $ bg waiter zkr lock --max-queue=1 /p echo mine
  $ soon shows 2 zk count /p
  $ zkr lock --max-queue 1 /p true
  2> zkr: --max-queue 1 is reached at /p; see 'zkr status /p'
  [1]
  $ zkr lock --max-queue=1 -E7 -w 60 /p true
  2> zkr: --max-queue 1 is reached at /p; see 'zkr status /p'
  [7]
  $ zk count /p
  2
  $ let_go holder
  $ await waiter
  $ out waiter
  mine

-v reports the place in the queue, as the client last saw it.

  $ hold holder /p
  $ bg first zkr lock -i first /p sleep 60
  $ soon shows 2 zk count /p
  $ bg second zkr -v lock /p true
  $ soon shows ': 2 ahead when last seen, behind first' err second
  $ let_go holder
  $ soon shows ': 1 ahead when last seen, held by first for ' err second
  $ let_go first
  $ quietly await second

zkr wait ends when the lock is free.

  $ zkr wait /p
  $ hold holder /p
  $ zkr wait -w 0 /p
  2> zkr: /p is not free; see 'zkr status /p'
  [1]
  $ zkr wait --wait=0.3 /p
  2> zkr: /p is not free; see 'zkr status /p'
  [1]
  $ bg waiter zkr lock /p true
  $ soon shows 2 zk count /p
  $ bg wait zkr wait /p
  $ let_go holder
  $ await waiter wait
  $ out wait
  $ zkr wait -w0 /p

Connecting is part of the wait. The message then says that zkr could not connect, and not that the servers were silent.

  $ began=$(ms)
  $ zkr -z 127.0.0.1:1 wait -w 0.5 /p
  2> zkr: no session with 127.0.0.1:1 within 500 ms: no answer from 127.0.0.1:1; check -z or $ZKR_SERVERS, and whether a server runs
  [75]
  $ took=$(($(ms) - began)); [ $took -ge 500 ] && [ $took -lt 10000 ]

zkr tells a server that closes connections, because this host has too many, from a silent server.

  $ serve few server maxClientCnxns=1
  $ few=$host
  $ ZKR_SERVERS=$few keep one /one
  $ zkr -z $few --connect-timeout 2 status /p 2>&1 | sed "s/$few/HOST/g"
  2> zkr: HOST closes each new connection; check whether this host has too many (maxClientCnxns), and whether a server runs behind the proxy, if there is one
  [75]
  $ end one

Connecting, a list without an answer, and closing together take at most the time of -w and a second. If the lists are
answered, the status is 1, and a slow connect does not extend the time.

  $ fresh
  $ hold holder --on-revoke ignore /p
  $ began=$(ms)
  $ silent() { # NAME LISTS ARGUMENT...: connects to servers that begin to answer later, and are silent from that list on
  >     serve $1-proxy proxy
  >     tell $1-proxy "at list $2 blackhole"
  >     tell $1-proxy mute
  >     bg $1 zkr -z $host -t 10000 "${@:3}" /p
  > }
  $ silent one 1 wait -w 6
  $ silent two 2 revoke -w 6
  $ silent three 999 wait -w 10
  $ sleep 4
  $ for each in one two three; do tell $each-proxy thaw; done
  $ ended() { # NAME MILLISECONDS: no later
  >     await $1; local status=$? took=$(($(ms) - began))
  >     [ $took -ge 6000 ] && [ $took -le $2 ] || echo "$took ms"
  >     return $status
  > }
  $ ended one 9400
  2> zkr: the servers have not answered in time; try again later, or check -z and the servers
  [75]
  $ ended three 13400
  2> zkr: /p is not free; see 'zkr status /p'
  [1]
  $ ended two 16400
  2> zkr: the servers have not answered in time; try again later, or check -z and the servers
  [75]
  $ let_go holder

zkr wait refuses a path that it cannot wait for.

  $ fresh
  $ hold holder --permits=2 /p
  $ zkr wait -w0 /p
  2> zkr: /p is a semaphore, and zkr wait cannot wait for permits; see 'zkr status /p'
  [65]
  $ let_go holder
