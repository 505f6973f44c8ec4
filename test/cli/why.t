# SPDX-License-Identifier: Apache-2.0

zkr lock: the reported reason of a loss, and the log.

  $ . "$TESTDIR/setup.sh"
  $ held() { hold "$1" -t 4000 "${@:2}" /p; }

The node was deleted.

  $ fresh
  $ held c
  $ zk clear /p
  $ await c
  2> zkr: the lock on /p was lost: somebody deleted its node; the command was killed; check what it left undone, and run it again; to free a lock, use 'zkr revoke'
  [79]

Servers that lost their data ended the session. Otherwise only an administrator can end it before the lease does. If the
restart takes long, the lease ends first.

  $ fresh
  $ serve server server
  $ ZKR_SERVERS=$host held c
  $ tell server wipe
  $ await c >said
  [79]
  $ grep -c ' was lost: session expired: \| was in doubt: \| was lost: lease bound passed: ' said
  1

If the holder cannot be asked to release, the message does not name 'zkr revoke'.

  $ fresh
  $ hold c --permits 2 /p
  $ zk clear /p/leases
  $ await c
  2> zkr: the hold on permits of /p was lost: somebody deleted its node; the command was killed; check what it left undone, and run it again; to free it, send TERM to its zkr
  [79]
  $ hold c --also /other /q
  $ zk clear /q
  $ await c
  2> zkr: the lock on /q was lost: somebody deleted its node; the command was killed; check what it left undone, and run it again; to free it, send TERM to its zkr
  [79]
  $ bg c zkr elect -i me /r sh -c 'echo held; exec sleep 60'
  $ soon holds c
  $ zk clear /r
  $ soon shows 'deleted its node' err c
  $ let_go c
  2> zkr: the leadership of /r was lost: somebody deleted its node; the command was killed; check what it left undone, and run it again; to free it, send TERM to its zkr

If zkr runs out of descriptors, the message names that, and not a thread.

  $ fresh
  $ for n in {5..16}; do
  >     (ulimit -n $n; command zkr --connect-timeout 1 lock -n /p true </dev/null 2>&1) >said || ! grep thread said
  > done

zkr ends the command when the lock is in doubt. On a busy machine the lease may be over by then.

  $ doubt() {
  >     await c >said; local status=$?
  >     sed -E 's/ was (in doubt|lost: lease bound passed): [^;]*;( the last answered write [^;]*;)?/ was in doubt or lost: ...;/' said
  >     return $status
  > }

The network was cut.

  $ fresh
  $ serve proxy proxy
  $ held c -z $host
  $ tell proxy cut
  $ doubt
  2> zkr: the lock on /p was in doubt or lost: ...; the command was killed; check what it left undone, and run it again; check the servers and the network, or use a longer session timeout (-t)
  [79]
  $ grep -c ' was in doubt: zkr is not connected to a server; the last answered write\| was lost: lease bound' said
  1

The servers were silent. The connection stayed open, which proves nothing.

  $ fresh
  $ serve proxy proxy
  $ held c -z $host
  $ tell proxy freeze
  $ doubt
  2> zkr: the lock on /p was in doubt or lost: ...; the command was killed; check what it left undone, and run it again; check the servers and the network, or use a longer session timeout (-t)
  [79]

The process was stopped.

  $ fresh
  $ held c
  $ kill -STOP ${pid[c]}
  $ await c
  2> zkr: the lock on /p was in doubt: zkr was stopped, or the machine was frozen; the command was killed; check what it left undone, and run it again; find out what stopped it, or use a longer session timeout (-t)
  [79]

The log has a line for each event, with UTC time.

  $ fresh
  $ bg c zkr -v lock /p sh -c 'echo held; exec sleep 60'
  $ soon holds c
  $ zk clear /p
  $ await c >said
  [79]
  $ sort said
  2> zkr: got the lock on /p after N s: node=/p/_c_GUID-lock-0000000000 token=TOKEN session=SESSION
  2> zkr: info: time=TIME event=state session=0x0 epoch=1 state=CLOSED
  2> zkr: info: time=TIME event=state session=SESSION epoch=1 state=CONNECTED
  2> zkr: the lock on /p was lost: somebody deleted its node; the command was killed; check what it left undone, and run it again; to free a lock, use 'zkr revoke'
  2> zkr: warning: time=TIME event=lost path=/p node=_c_GUID-lock-0000000000 session=SESSION epoch=1 token=TOKEN held_ms=N last_write_ms=N silent_ms=N disconnected_ms=N stopped_ms=N reason="node deleted"
  $ grep -c -E '^zkr: warning: time=[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z event=lost path=/' $work/c.err
  1
