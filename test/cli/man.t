# SPDX-License-Identifier: Apache-2.0

The examples of zkr's man page, and the demo.

  $ . "$TESTDIR/setup.sh"

The demo uses only its own servers or those in --servers, because $ZKR_SERVERS may name servers with real locks.

  $ mkdir -p build/examples build/tools
  $ for each in examples/hold examples/scheduler examples/stock tools/zkr; do
  >     printf '#!/bin/sh\nexit 1\n' >build/$each; chmod +x build/$each
  > done
  $ demo() { ZKR_SERVERS=127.0.0.1:1 bash "$ZKT_SOURCES/tools/demo/demo.sh" build "$@" 2>&1; }
  $ demo | grep -o '127.0.0.1:1[ ,]\|private ZooKeeper'
  private ZooKeeper
  [1]
  $ demo --servers 127.0.0.1:2 | grep -o 'ZooKeeper at 127.0.0.1:2,\|to be had at 127.0.0.1:2 '
  ZooKeeper at 127.0.0.1:2,
  to be had at 127.0.0.1:2 
  [1]

The example for a part of a script, as it is printed. Here $WORK is the protected work.

  $ sed -n '/^coproc zkr lock/,/^kill /p' "$ZKT_SOURCES/tools/zkr/zkr.1" |
  >     sed -e 's/\\-/-/g' -e 's/^\\&\.\.\.$/eval "$WORK"/' -e 's|/jobs/part|/p|' >part
  $ cat part
  coproc zkr lock /p
  read -r held <&"${COPROC[0]}" || exit
  exec 3<&"${COPROC[0]}"
  { read -r <&3 || kill 0; } & guard=$!
  eval "$WORK"
  kill "$guard"; exec {COPROC[1]}>&-; wait

  $ fresh
  $ WORK='zkr lock -n /p true; echo $?' bash part </dev/null
  zkr: /p is already held; see 'zkr status /p'
  1
  $ zk count /p
  0

A part that loses its lock ends together with the commands that it runs. No process of its group is left.

  $ WORK='echo begun; sleep 60; echo never' bg part bash part
  $ group=${pid[part]}
  $ soon holds part
  $ zk clear /p
  $ quietly await part
  [143]
  $ out part
  begun
  $ soon eval '! kill -0 -- -$group'
