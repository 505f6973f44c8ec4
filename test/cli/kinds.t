# SPDX-License-Identifier: Apache-2.0

zkr lock: readers and writers, permits, several paths; and how status shows them.

  $ . "$TESTDIR/setup.sh"
  $ quiet() { sleep 0.3; for each; do [ -s $work/$each.out ] && echo "$each holds"; done; true; }
  $ status() { zkr status "$@" | table | sed -E 's/  SESSION  AGE  HELD  TOKEN//; s/[0-9]{10}$/N/; /^holder /d'; }

Readers run together while a writer waits. A later reader waits behind the writer: first come, first served.

  $ fresh
  $ hold one -s /p
  $ hold two --shared /p
  $ queued writer -x /p
  $ queued late -s /p
  $ zkr lock -n -s /p true
  2> zkr: /p is already held; see 'zkr status /p'
  [1]
  $ quiet writer late
  $ status /p
  POS  OWNER  KIND  NODE
  1  one  read  _c_GUID-__READ__N
  1  two  read  _c_GUID-__READ__N
  3  writer  lock  _c_GUID-lock-N
  4  late  read  _c_GUID-__READ__N
  $ zkr status --json /p | grep -o '"kind":"read","owner":"one"\|"waiting":.,"permits":[^,]*,"max":[^,]*\|"position":.,"holder":[a-z]*'
  "kind":"read","owner":"one"
  "waiting":2,"permits":null,"max":null
  "position":1,"holder":true
  "position":2,"holder":true
  "position":3,"holder":false
  "position":4,"holder":false
  $ let_go one
  $ quiet writer
  $ let_go two
  $ soon holds writer
  $ quiet late
  $ zkr lock -n -s /p true
  2> zkr: /p is already held; see 'zkr status /p'
  [1]
  $ let_go writer
  2> zkr: /p: node of a read-write lock; this lock waits for it, but that of Curator does not see this lock: use the writer of a zkr_rwlock: node _c_GUID-__READ__0000000000
  $ soon holds late
  $ let_go late

With --rw, the exclusive side is a writer, which Curator's read-write locks see. Without it, the exclusive side is a
mutex.

  $ for options in '-x -x' '--rw -x' '-x --rw' '--rw -s' '-s -s' '-s -x'; do
  >     echo "$options: $(zkr lock $options /p -c 'echo $ZKR_LOCK_NODE' | grep -o -e '-[a-zA-Z_]*-*[0-9]*$' | tr -d 0-9)"
  > done
  -x -x: -lock-
  --rw -x: -__WRIT__
  -x --rw: -__WRIT__
  --rw -s: -__READ__
  -s -s: -__READ__
  -s -x: -lock-

At most this many permits are held at once.

  $ fresh
  $ hold one --permits 2/3 /p
  $ hold two --permits=3 /p
  $ zkr lock -n --permits=3 /p true
  2> zkr: too few permits of /p are free; see 'zkr status /p'
  [1]
  $ soon shows '3 of 3 permits held, 0 wait' zkr status /p
  $ status /p
  3 of 3 permits held, 0 wait
  POS  OWNER  KIND  NODE
  1  one  2 permits  _c_GUID-lease-N
  1  two  permit  _c_GUID-lease-N
  $ lock third --permits=2/3 /p
  $ soon shows '3 of 3 permits held, 1 wait' zkr status /p
  $ status /p
  3 of 3 permits held, 1 wait
  POS  OWNER  KIND  NODE
  1  one  2 permits  _c_GUID-lease-N
  1  two  permit  _c_GUID-lease-N
  3  third  permit  _c_GUID-lock-N
  $ zkr status --json /p | grep -o '"kind":"permit","owner":"one"\|"waiting":1,"permits":3,"max":3,'
  "kind":"permit","owner":"one"
  "waiting":1,"permits":3,"max":3,
  $ let_go two
  $ quiet third
  $ let_go one
  $ soon holds third
  $ status /p
  2 of 3 permits held, 0 wait
  POS  OWNER  KIND  NODE
  1  third  2 permits  _c_GUID-lease-N
  $ let_go third
  $ zkr status /p
  nobody

Each zkr counts with its own maximum, and warns if the maxima differ.

  $ fresh
  $ hold one --permits=2 /p
  $ zkr lock --permits=4 /p true
  2> zkr: other holders of permits of /p use the maximum 2, but this zkr uses 4; give the same maximum everywhere
  $ zkr lock --permits=2 /p true
  $ hold two --permits=4 /p
  $ zkr lock --permits=4 /p true
  2> zkr: other holders of permits of /p use the maximum 2, but this zkr uses 4; give the same maximum everywhere
  $ let_go two one
  2> zkr: other holders of permits of /p use the maximum 2, but this zkr uses 4; give the same maximum everywhere

The permits of a waiter do not count as held, whatever command shows them and however long the waiter's command line is.

  $ fresh
  $ long="echo held; exec sleep 60 # $(printf 'a long command line with all that is to be done, %d, ' {1..9})"
  $ bg one zkr lock --permits 1/2 /p -c "$long"
  $ soon holds one
  $ bg two zkr lock --permits 2/2 /p -c "$long"
  $ soon shows '1 of 2 permits held, 1 wait' zkr status /p
  $ soon shows 3 zk count /p/leases
  $ zkr status --json /p | grep -o '"waiting":1,"permits":1,"max":2,'
  "waiting":1,"permits":1,"max":2,
  $ zkr status -q /p
  $ zkr ls /p | grep -o 'permit 1/2'
  permit 1/2
  $ zkr revoke /p
  2> zkr: /p is a semaphore, whose holders cannot be asked to release it; find one with 'zkr status /p' and stop it on its host, or delete its permits with --force --token N
  [65]
  $ zkr revoke -w 1 --force /p
  2> zkr: /p is a semaphore, whose holders cannot be asked to release it; find one with 'zkr status /p' and stop it on its host, or delete its permits with --force --token N
  [65]

A lower maximum frees no permits.

  $ let_go two
  $ bg two zkr lock --permits 2/3 /p -c "$long"
  $ soon holds two
  $ bg third zkr lock --permits 1 /p -c "$long"
  $ soon shows '3 of 1 permits held, 1 wait' zkr status /p
  $ soon shows 4 zk count /p/leases
  $ zkr status -q /p
  $ zkr ls /p | grep -o 'permit 3/1'
  permit 3/1
  $ let_go third two one
  2> zkr: other holders of permits of /p use the maximum 3, but this zkr uses 1; give the same maximum everywhere
  2> zkr: other holders of permits of /p use the maximum 2, but this zkr uses 3; give the same maximum everywhere

Curator's semaphores do not record a maximum.

  $ fresh
  $ zk put /p/leases; zk put /p/locks
  $ keep holder /p/leases/_c_0-lease-0000000000=holder
  $ keep waiter /p/locks/_c_1-lock-0000000001=waiter /p/leases/_c_2-lease-0000000001=waiter
  $ status /p
  1 permits held, 1 wait
  POS  OWNER  KIND  NODE
  1  holder  permit  _c_0-lease-N
  2  waiter  permit  _c_1-lock-N
  $ zkr ls /p | grep -o 'permit 1 '
  permit 1 
  $ end holder
  $ zkr status -q /p
  [1]
  $ end waiter

A plain lock whose name is that of a part of a semaphore is no semaphore.

  $ fresh
  $ for each in locks leases; do
  >     hold c /p/$each
  >     zkr status /p
  >     zkr status -q /p || echo "[$?]"
  >     zkr status --json /p | grep -o '"kind":null,'
  >     zkr revoke /p || echo "[$?]"
  >     let_go c
  > done
  no lock here; 1 below this path (see 'zkr ls')
  [1]
  "kind":null,
  2> zkr: nobody holds /p; see 'zkr status /p'
  [1]
  no lock here; 1 below this path (see 'zkr ls')
  [1]
  "kind":null,
  2> zkr: nobody holds /p; see 'zkr status /p'
  [1]

zkr locks all of several paths at once, or none. Each is an ordinary lock.

  $ fresh
  $ hold one /b
  $ lock all --also /b --also /c /a
  $ soon shows all zkr status /a
  $ zkr lock -n --also /b /a true
  2> zkr: /a or a path of --also is held; see 'zkr status /a'
  [1]
  $ quiet all
  $ lock other /c
  $ soon shows 2 zk count /c
  $ let_go one
  $ soon holds all
  $ quiet other
  $ let_go all
  $ soon holds other
  $ zkr status /a
  nobody
  $ let_go other

A server closes the connection without an answer if a request is longer than its limit. zkr explains that.

  $ serve short server -j -Djute.maxbuffer=1500
  $ zkr -z $host lock -w 3 $(printf -- '--also /%d ' {1..11}) /0 true 2>&1 | sed "s/$host/HOST/g" | grep -o jute.maxbuffer
  jute.maxbuffer
  [1]
  $ end short

Nested zkr commands acquire locks one after the other: the first is held while zkr waits for the second.

  $ fresh
  $ hold other /b
  $ bg both zkr lock -i both /a zkr lock -i both /b sleep 60
  $ soon shows 2 zk count /b
  $ status /a
  POS  OWNER  KIND  NODE
  1  both  lock  _c_GUID-lock-N
  $ let_go other
  $ soon shows 1 zk count /b
  $ status /b
  POS  OWNER  KIND  NODE
  1  both  lock  _c_GUID-lock-N
  $ zkr lock -n /a true
  2> zkr: /a is already held; see 'zkr status /a'
  [1]
  $ let_go both
  $ zkr status /a
  nobody
  $ zkr status /b
  nobody

zkr names the path that is refused, whichever it is. With --any, zkr tries the paths before it first, and one lock
suffices.

  $ fresh
  $ for each in /a /b /c; do zk put $each; done
  $ for each in /a /b /c; do
  >     zk acl $each 16
  >     zkr lock --also /b --also /c /a true 2>said || echo "[$?]"
  >     grep 'cannot acquire' said
  >     zkr lock --any /a /b /c -- true 2>said || echo "[$?]"
  >     grep 'cannot acquire' said
  >     zk acl $each 31
  > done
  [77]
  2> zkr: cannot acquire /a: not authorised (ZooKeeper code -102); check --auth, and the ACL of the path
  [77]
  2> zkr: cannot acquire /a: not authorised (ZooKeeper code -102); check --auth, and the ACL of the path
  [77]
  2> zkr: cannot acquire /b: not authorised (ZooKeeper code -102); check --auth, and the ACL of the path
  [77]
  2> zkr: cannot acquire /c: not authorised (ZooKeeper code -102); check --auth, and the ACL of the path

The command's environment describes its hold.

  $ fresh
  $ knows='case $ZKR_LOCK_NODE in $ZKR_LOCK_PATH/*) ;; *) exit 1 ;; esac; [ $ZKR_FENCING_TOKEN -gt 0 ]'
  $ zkr lock --permits=2/2 /s sh -c "$knows"
  $ zkr lock --also /b /a sh -c "$knows"
  $ zkr lock -s /r sh -c "$knows"

While a Curator writer becomes a reader, it briefly has two nodes with one number. Neither is a waiter.

  $ fresh
  $ waiting() { zkr ls --json / | grep -o '"waiting":[0-9]*'; zkr status --json /p | grep -o '"waiting":[0-9]*'; }
  $ keep writer /p/_c_0-__WRIT__0000000000
  $ waiting
  "waiting":0
  "waiting":0
  $ keep reader /p/_c_0-__READ__0000000000
  $ waiting
  "waiting":0
  "waiting":0
  $ keep another /p/_c_1-__READ__0000000001
  $ waiting
  "waiting":1
  "waiting":1
  $ end writer; end reader; end another

status -q prints nothing: its exit status says whether the lock is held.

  $ fresh
  $ zkr status -q /p
  [1]
  $ hold c -s /p
  $ zkr status -q /p
  $ let_go c
  $ zkr status -q /p
  [1]

Nodes of other programs are shown, and a line explains them.

  $ fresh
  $ keep other /p/a-lock-0000000001
  $ status /p
  POS  OWNER  KIND  NODE
  1  a-lock-0000000001  lock  a-lock-N
  $ for each in x__lock__0000000002 _c_0-latch-0000000002 leases/_c_0-lease-0000000000; do
  >     zk put /p/$each
  >     zkr status /p >shown
  >     zk rm /p/$each
  > done
  2> zkr: /p: x__lock__0000000002 belongs to kazoo, which might not wait for the other contenders
  2> zkr: /p: leaders and locks share this queue, but those of Curator do not wait for each other; use separate paths
  2> zkr: /p: there is also a semaphore; its permits are not shown and do not exclude the holder of the lock
  $ end other
