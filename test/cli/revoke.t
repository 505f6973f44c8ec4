# SPDX-License-Identifier: Apache-2.0

zkr revoke, and how the holder reacts to the request.

  $ . "$TESTDIR/setup.sh"
  $ node=_c_01234567-89ab-4def-8123-456789abcdef-lock-
  $ holder() { bg "$1" zkr lock --kill-after=3 -i holder "${@:2}"; soon holds "$1"; }
  $ sleeps='echo held; echo $ZKR_FENCING_TOKEN; exec sleep 60'
  $ token_of() { tail -n 1 $work/$1.out; }
  $ revoke() { zkr revoke "$@" | stable; }

A holder that gets the request releases: zkr ends its command, and the lock is free once the command has ended.

  $ fresh
  $ holder c /p -c "$sleeps"
  $ revoke -w 20 /p
  asked holder, token TOKEN
  released
  $ zk count /p
  0
  $ await c
  2> zkr: the release of /p was requested; ending the command
  [143]

The lock is not released before the command's process group is gone. Then the next waiter gets it. Without -w, zkr
revoke only sends the request.

  $ fresh
  $ holder c /p -c "trap 'echo told' TERM; echo held; while :; do sleep .1; done"
  $ queued next /p
  $ revoke /p
  asked holder, token TOKEN
  $ soon shows told out c
  $ revoke -w .3 /p
  2> zkr: /p is still held: its holder got the request, but zkr keeps the lock until all processes of its command have ended; --force deletes the node
  asked holder, token TOKEN
  [1]
  $ zk count /p
  2
  $ out next
  $ kill -USR1 ${pid[c]} # of which its shell dies
  $ quietly await c
  [138]
  $ soon holds next
  $ let_go next

A command that does not end is killed after --kill-after. The signal is that of --kill-signal.

  $ fresh
  $ bg c zkr lock --kill-signal=INT --kill-after=.5 /p sh -c "trap 'echo told' INT; echo held; while :; do sleep .1; done"
  $ soon holds c
  $ before=$(date +%s%N)
  $ revoke -w 20 /p | sed 's/asked .*,/asked HOLDER,/'
  asked HOLDER, token TOKEN
  released
  $ quietly await c
  [137]
  $ [ $(($(date +%s%N) - before)) -ge 400000000 ]
  $ out c | uniq
  held
  told

A stopped command is continued, so that it receives the signal.

  $ fresh
  $ bg c zkr lock --kill-after=60 /p sh -c "trap 'exit 5' TERM; echo held; kill -STOP \$\$; sleep 60"
  $ soon holds c
  $ revoke -w 20 /p >said
  $ quietly await c
  [5]

A holder without a command exits with 0, and prints a line with the reason.

  $ fresh
  $ piped c zkr lock /p
  $ soon holds c
  $ revoke -w20 /p >said
  $ await c
  2> zkr: the release of /p was requested; released it

A holder with --on-revoke=ignore continues. --force deletes its node, and warns of the consequences.

  $ fresh
  $ holder c --on-revoke=ignore /p -c "$sleeps"
  $ revoke -w .3 /p
  2> zkr: /p is still held: its holder got the request, but zkr keeps the lock until all processes of its command have ended; --force deletes the node
  asked holder, token TOKEN
  [1]
  $ err c
  $ revoke --force -w .3 /p
  2> zkr: deleted the node of holder; the next contender gets the lock, and two may hold it until the former holder notices the loss
  asked holder, token TOKEN
  $ await c
  2> zkr: the lock on /p was lost: somebody deleted its node; the command was killed; check what it left undone, and run it again; to free a lock, use 'zkr revoke'
  [79]

All readers that hold get a request, but not the writer that waits.

  $ fresh
  $ holder one -s /p -c "$sleeps"
  $ holder two -s /p -c "$sleeps"
  $ queued writer /p
  $ revoke -w 20 /p
  asked holder, token TOKEN
  asked holder, token TOKEN
  released
  $ await one
  2> zkr: the release of /p was requested; ending the command
  [143]
  $ await two
  2> zkr: the release of /p was requested; ending the command
  [143]
  $ soon holds writer
  $ quietly let_go writer
  $ holder one --rw /p -c "$sleeps"
  $ revoke -w 20 /p
  asked holder, token TOKEN
  released
  $ await one
  2> zkr: the release of /p was requested; ending the command
  [143]

If the request comes before the command has started, zkr does not start the command.

  $ fresh
  $ holder first /p -c "$sleeps"
  $ bg c zkr -v lock -i c -E 9 --lock-delay=60 /p echo started
  $ soon shows '1 ahead' err c
  $ let_go first
  $ soon shows 1 zk count /p
  $ revoke -w 20 /p
  asked c, token TOKEN
  released
  $ quietly await c
  [9]
  $ err c | grep 'the release'
  2> zkr: the release of /p was requested before the command started
  $ out c

After a request, status still shows the owner of a zkr. For a contender that does not restore its owner text, status
shows that it was asked to release.

  $ fresh
  $ holder c --on-revoke=ignore /p -c "$sleeps"
  $ revoke /p
  asked holder, token TOKEN
  $ soon shows $'\n1    holder ' zkr status /p
  $ let_go c
  $ keep one /p/${node}0000000009
  $ revoke /p
  asked _c_GUID-lock-0000000009, token TOKEN
  $ zkr status /p | table
  POS  OWNER  SESSION  AGE  HELD  TOKEN  KIND  NODE
  1  (asked to release)  SESSION  AGE  HELD  TOKEN  lock  _c_GUID-lock-0000000009
  $ zkr status --json /p | grep -o '"asked":true'
  "asked":true
  $ end one

Only the contender that was seen to hold gets the request, even if another contender has got the lock meanwhile.

  $ fresh
  $ keep first /p/${node}0000000001=first
  $ keep second /p/${node}0000000002=second
  $ serve proxy proxy
  $ tell proxy "at list 2 delete /p/${node}0000000001"
  $ tell proxy "at set 1 delete /p/${node}0000000001"
  $ revoke -z $host -w 5 /p
  asked first, token TOKEN
  released
  $ zk ls /p
  _c_01234567-89ab-4def-8123-456789abcdef-lock-0000000002
  $ zk stat /p/${node}0000000002 | grep -o 'changed.*version=.'
  changed=0 version=0
  $ end first; end second

With a token, only the holder with that token gets the request.

  $ fresh
  $ holder c /p -c "$sleeps"
  $ revoke -w 5 --token 1 /p
  2> zkr: no holder of /p has the token 1: holder holds it with token TOKEN; no request was sent
  [1]
  $ revoke -w 0 --force --token 1 /p
  2> zkr: no holder of /p has the token 1: holder holds it with token TOKEN; no request was sent
  [1]
  $ zk count /p
  1
  $ err c
  $ zkr revoke -w 20 --token $(token_of c) /p | sed "s/$(token_of c)$/TOKEN/"
  asked holder, token TOKEN
  released
  $ await c
  2> zkr: the release of /p was requested; ending the command
  [143]

--token with --force frees the permits of one holder, which is stuck and cannot get a request.

  $ fresh
  $ bg stuck zkr lock --permits=2/3 -i stuck /p -c "$sleeps"
  $ soon holds stuck
  $ bg c zkr lock --permits=1/3 /p -c "$sleeps"
  $ soon holds c
  $ revoke /p
  2> zkr: /p is a semaphore, whose holders cannot be asked to release it; find one with 'zkr status /p' and stop it on its host, or delete its permits with --force --token N
  [65]
  $ revoke --token $(token_of stuck) /p
  2> zkr: /p is a semaphore, whose holders cannot be asked to release it; find one with 'zkr status /p' and stop it on its host, or delete its permits with --force --token N
  [65]
  $ revoke -w 0 --force /p
  2> zkr: /p is a semaphore, whose holders cannot be asked to release it; find one with 'zkr status /p' and stop it on its host, or delete its permits with --force --token N
  [65]
  $ revoke --force --token 1 /p
  2> zkr: /p is a semaphore, whose holders cannot be asked to release it; find one with 'zkr status /p' and stop it on its host, or delete its permits with --force --token N
  [65]
  $ revoke --force --token $(token_of stuck) /p
  2> zkr: deleted the permits of stuck; other contenders get them, and too many may be held until the former holder notices the loss
  $ await stuck
  2> zkr: the hold on permits of /p was lost: somebody deleted its node; the command was killed; check what it left undone, and run it again; to free it, send TERM to its zkr
  [79]
  $ zkr lock -n --permits=2/3 /p true
  $ let_go c

With -w, the holder may release by itself. The test uses a separate server, because there no other client sets watches.

  $ fresh
  $ lease=/p/leases/_c_01234567-89ab-4def-8123-456789abcdef-lease-0000000000
  $ serve server server
  $ shared=$ZKR_SERVERS ZKR_SERVERS=$host
  $ zk put $lease
  $ bg r zkr revoke --force -w 20 --token $(zk stat $lease | sed 's/czxid=\([0-9]*\) .*/\1/') /p
  $ soon eval 'zk word mntr | grep "zk_watch_count.[1-9]"'
  $ zk rm $lease
  $ await r
  $ out r
  released
  $ ZKR_SERVERS=$shared

A lock at PATH/leases is no holder of permits of PATH.

  $ fresh
  $ holder c /p/leases -c "$sleeps"
  $ revoke --force --token $(token_of c) /p
  2> zkr: nobody holds /p; see 'zkr status /p'
  [1]
  $ revoke --force --token $(token_of c) /p/leases
  2> zkr: --force requires -w, the time that the holder has to release the lock; see 'zkr revoke --help'
  [64]
  $ let_go c

If its node may not be written, a holder cannot get a request, but its node can be deleted.

  $ fresh
  $ keep one /p/${node}0000000001=closed
  $ zk acl /p/${node}0000000001 1
  $ revoke -w .1 /p
  2> zkr: cannot ask a contender of /p: not authorised; check --auth, and the ACL of the path
  [77]
  $ revoke -w .1 --force /p
  2> zkr: cannot ask closed to release the lock: writing its node is not allowed; check --auth
  2> zkr: deleted the node of closed; the next contender gets the lock, and two may hold it until the former holder notices the loss
  $ zk count /p
  0
  $ end one

A delete needs no quota.

  $ fresh
  $ serve proxy proxy
  $ tell proxy 'lie -125 5'
  $ keep one /p/${node}0000000001=full
  $ revoke -z $host -w .1 /p
  2> zkr: cannot ask a contender of /p: ZooKeeper refused the request (ZooKeeper code -125); -v logs more
  [70]
  $ zk put /p/${node}0000000001 full # it was written
  $ revoke -z $host -w .1 --force /p
  2> zkr: cannot ask full to release the lock: ZooKeeper refused the request (ZooKeeper code -125)
  2> zkr: deleted the node of full; the next contender gets the lock, and two may hold it until the former holder notices the loss
  $ zk count /p
  0
  $ end one

Control characters in the node of a holder do not reach the operator's terminal.

  $ fresh
  $ keep one /p/${node}0000000009=$'me\x9b2J\xc2\x9b3\xe2\x80\xae4\xe2\x80\xac\xff.'
  $ revoke --force -w 0 /p
  2> zkr: deleted the node of me?2J??3???4????.; the next contender gets the lock, and two may hold it until the former holder notices the loss
  asked me?2J??3?4??., token TOKEN
  $ end one

A write to the node of a leader would make candidates of Curator's LeaderLatch miss their turn. Therefore no client
writes to a leader's node, not even the leader. The probes of a lock do write, and the lock restores its node.

  $ fresh
  $ bg c zkr -t 3000 elect /p sh -c 'echo held; exec sleep 60'
  $ soon holds c
  $ revoke /p
  2> zkr: /p is an election: its leader cannot be asked to release it; stop it on its host
  [65]
  $ revoke -w 5 --force /p
  2> zkr: /p is an election: its leader cannot be asked to release it; stop it on its host
  [65]
  $ sleep 1
  $ zk stat /p/$(zk ls /p) | grep -o 'version=.'
  version=0
  $ zk put /p/$(zk ls /p) __REVOKE__
  $ sleep 1
  $ zk stat /p/$(zk ls /p) | grep -o 'version=.'
  version=1
  $ let_go c

Without a holder there is none to send a request to.

  $ fresh
  $ revoke /p
  2> zkr: nobody holds /p; see 'zkr status /p'
  [1]
  $ revoke -w 5 --force /p
  2> zkr: nobody holds /p; see 'zkr status /p'
  [1]
