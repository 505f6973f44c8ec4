# SPDX-License-Identifier: Apache-2.0

zkr ends when its node is gone. While the line is cut it says that it waits, until the line is back, the session over, or
somebody tells it to stop.

  $ . "$TESTDIR/setup.sh"
  $ count() { [ $(zk count /p) = $1 ]; }

A command that ends with 7 when it reads a line; up when this returns.

  $ begin() { # ARGUMENT...: zkr ARGUMENT... /p COMMAND
  >     fresh
  >     serve proxy proxy
  >     piped c ${before:-} zkr -z $host "$@" /p sh -c 'echo up; read x; exit 7'
  >     soon holds c
  > }

It ends while the line is cut, and zkr says that it waits.

  $ end_in_the_dark() {
  >     tell proxy cut
  >     echo >&${stdin[c]}
  >     soon shows 'waiting for the servers to confirm' err c
  >     count 1
  > }

The session would have kept the node for longer than this waits.

  $ gone_when_healed() {
  >     local status=0
  >     tell proxy heal
  >     await c || status=$?
  >     zk count /p
  >     return $status
  > }

A command that ends while the line is cut leaves no node.

  $ for verb in 'lock -x' 'elect --once'; do begin -t 10000 $verb; end_in_the_dark; gone_when_healed || echo "[$?]"; done
  2> zkr: waiting for the servers to confirm that our node is deleted, or for the end of the session; a signal ends this wait
  0
  [7]
  2> zkr: waiting for the servers to confirm that our node is deleted, or for the end of the session; a signal ends this wait
  0
  [7]

The end of the session ends the wait.

  $ begin -t 3000 lock
  $ end_in_the_dark
  $ await c
  2> zkr: waiting for the servers to confirm that our node is deleted, or for the end of the session; a signal ends this wait
  [7]
  $ soon count 0

A signal ends the wait. The node that it left stands for as long as its session: none of our time is spent on that.

  $ begin -t 10000 lock
  $ end_in_the_dark
  $ let_go c
  2> zkr: waiting for the servers to confirm that our node is deleted, or for the end of the session; a signal ends this wait
  2> zkr: the servers have not confirmed that our node is deleted; it is gone when the session times out, in at most 10.000 s
  $ count 1 && zk clear /p

zkr is stopped after a create whose reply is lost. It leaves no node.

  $ stop_in_the_dark() { # ARGUMENT...: zkr ARGUMENT... /p
  >     fresh
  >     zk put /p
  >     serve proxy proxy
  >     tell proxy 'at create 1 mute'
  >     bg c zkr -z $host -t 10000 "$@" /p echo never
  >     soon count 1
  >     tell proxy cut
  >     kill -TERM ${pid[c]}
  >     soon shows 'waiting for the servers to confirm' err c
  >     count 1
  > }
  $ for verb in 'lock -x' 'elect --once'; do stop_in_the_dark $verb; gone_when_healed || echo "[$?]"; out c; done
  2> zkr: waiting for the servers to confirm that our node is deleted, or for the end of the session; a signal ends this wait
  0
  [143]
  2> zkr: waiting for the servers to confirm that our node is deleted, or for the end of the session; a signal ends this wait
  0
  [143]

A waiter told twice ends at once.

  $ stop_in_the_dark lock -x
  $ let_go -INT c
  2> zkr: waiting for the servers to confirm that our node is deleted, or for the end of the session; a signal ends this wait
  2> zkr: the servers have not confirmed that our node is deleted; it is gone when the session times out, in at most 10.000 s
  $ count 1 && zk clear /p

An ignored signal does not end the wait: as with nohup it is not told anything.

  $ before='env --ignore-signal=HUP' begin lock
  $ end_in_the_dark
  $ kill -HUP ${pid[c]}
  $ gone_when_healed
  2> zkr: waiting for the servers to confirm that our node is deleted, or for the end of the session; a signal ends this wait
  0
  [7]
