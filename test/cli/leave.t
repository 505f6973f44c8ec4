# SPDX-License-Identifier: Apache-2.0

zkr ends when its node is deleted. While the connection is cut, it reports that it waits: until the connection is back,
the session ends, or a signal comes.

  $ . "$TESTDIR/setup.sh"
  $ count() { [ $(zk count /p) = $1 ]; }

Starts a zkr whose command ends with 7 when it reads a line. Returns when the command runs.

  $ begin() { # ARGUMENT...: zkr ARGUMENT... /p COMMAND
  >     fresh
  >     serve proxy proxy
  >     piped c ${before:-} zkr -z $host "$@" /p sh -c 'echo up; read x; exit 7'
  >     soon holds c
  > }

The command ends while the connection is cut, and zkr reports that it waits.

  $ end_in_the_dark() {
  >     tell proxy cut
  >     echo >&${stdin[c]}
  >     soon shows 'waiting for the servers to confirm' err c
  >     count 1
  > }

Without the delete, the session would keep the node for longer than the test waits.

  $ gone_when_healed() {
  >     local status=0
  >     tell proxy heal
  >     await c || status=$?
  >     zk count /p
  >     return $status
  > }

If the command ends while the connection is cut, no node is left.

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

A signal ends the wait. The node then remains until its session times out, which this test does not wait for.

  $ begin -t 10000 lock
  $ end_in_the_dark
  $ let_go c
  2> zkr: waiting for the servers to confirm that our node is deleted, or for the end of the session; a signal ends this wait
  2> zkr: the servers have not confirmed that our node is deleted; it is gone when the session times out, in at most 10.000 s
  $ count 1 && zk clear /p

A signal stops zkr after a create whose reply is lost. No node is left.

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

A second signal ends a waiter at once.

  $ stop_in_the_dark lock -x
  $ let_go -INT c
  2> zkr: waiting for the servers to confirm that our node is deleted, or for the end of the session; a signal ends this wait
  2> zkr: the servers have not confirmed that our node is deleted; it is gone when the session times out, in at most 10.000 s
  $ count 1 && zk clear /p

An ignored signal does not end the wait, as with nohup.

  $ before='env --ignore-signal=HUP' begin lock
  $ end_in_the_dark
  $ kill -HUP ${pid[c]}
  $ gone_when_healed
  2> zkr: waiting for the servers to confirm that our node is deleted, or for the end of the session; a signal ends this wait
  0
  [7]
