# SPDX-License-Identifier: Apache-2.0

zkr on paths with nodes of other programs: it lists only the locks, and changes only locks.

  $ . "$TESTDIR/setup.sh"
  $ guid=01234567-89ab-4def-8123-456789abcdef hex=0123456789ab4def8123456789abcdef
  $ untouched() { for each; do zk stat $each | grep -q ' changed=0 version=0 ' || echo "touched: $each"; done; }

Items of queues and logs of kazoo, TaskFlow, Kafka and Solr. Containers, which no session owns. Numbers that no server
assigned: HBase, an hour of Hive, an id. A lock below such a name. Locks and elections whose holders cannot be asked to
release: kazoo, one that is persistent on purpose, go-leaderelection, Hive.

  $ items="/queue/entry-100-0000000000 /board/job0000000000 /changes/config_change_0000000000 /overseer/qn-0000000000"
  $ containers="/shards/shard-0000000000 /held/_c_$guid-lock-0000000000"
  $ numbers="/rs/host,16020,1732795200123 /table/dt=2025112812 /members/member-${hex}1234567890"
  $ locks="/orders/4915112345678/_c_$guid-lock-0000000000 /kazoo/${hex}__lock__0000000000 /lockpick/${hex}__lock__0000000000
  >     /go/le_0000000000 /hive/LOCK-SHARED-0000000000"
  $ all="$items $containers $numbers $locks"
  $ others() {
  >     fresh
  >     for each in $items /table/dt=2025112812 /lockpick/${hex}__lock__0000000000; do zk put $each theirs; done
  >     for each in $containers; do zk container $each theirs; done
  >     keep others $(for each in $numbers $locks; do case $each in /table*|/lockpick*) ;; *) echo $each=theirs ;; esac; done)
  > }

Only the locks are listed.

  $ others
  $ zkr ls -r / | table
  PATH  KIND  HOLDER  HELD  WAITING  OLDEST
  /go  go-leaderelection  theirs  AGE  0  -
  /held  lock  theirs  AGE  0  -
  /hive  Hive  theirs  AGE  -  -
  /kazoo  kazoo  theirs  AGE  0  -
  /lockpick  kazoo  theirs  AGE  0  -
  /orders/4915112345678  lock  theirs  AGE  0  -
  $ for each in $all; do
  >     zkr status -q ${each%/*} 2>/dev/null; free=$?
  >     zkr wait -w 0 ${each%/*} >said 2>&1
  >     echo "${each%/*}: status -q $free, wait $?"
  > done
  /queue: status -q 0, wait 1
  /board: status -q 0, wait 1
  /changes: status -q 0, wait 1
  /overseer: status -q 0, wait 1
  /shards: status -q 0, wait 1
  /held: status -q 0, wait 1
  /rs: status -q 1, wait 0
  /table: status -q 1, wait 0
  /members: status -q 1, wait 0
  /orders/4915112345678: status -q 0, wait 1
  /kazoo: status -q 0, wait 1
  /lockpick: status -q 0, wait 1
  /go: status -q 0, wait 1
  /hive: status -q 0, wait 1
  $ untouched $all

The line of a queue shows its contenders, which have no lines of their own.

  $ zkr ls -a -r --json / | grep -o '^{"path":"[^"]*","kind":"[^"]*"'
  {"path":"/go","kind":"other"
  {"path":"/held","kind":"lock"
  {"path":"/hive","kind":"other"
  {"path":"/kazoo","kind":"other"
  {"path":"/lockpick","kind":"other"
  {"path":"/members/member-0123456789ab4def8123456789abcdef1234567890","kind":"node"
  {"path":"/orders/4915112345678","kind":"lock"
  {"path":"/rs/host,16020,1732795200123","kind":"node"

zkr warns about an item that no session ends, because a lock would wait for it.

  $ zkr status -q /queue
  $ zkr status /queue | table
  2> zkr: /queue: entry-100-0000000000 is not ephemeral: no session ends it, and a lock at this path waits for it
  POS  OWNER  SESSION  AGE  HELD  TOKEN  KIND  NODE
  1  theirs  0x0  AGE  HELD  TOKEN  other  entry-100-0000000000
  $ zkr lock -n /queue true 2>said
  [1]

  $ sort said
  2> zkr: /queue is already held; see 'zkr status /queue'
  2> zkr: /queue: node of another program; this lock waits for it, but that program might not wait for this lock: node entry-100-0000000000

The warning comes at once, not after a long wait.

  $ for verb in lock wait; do
  >     bg c zkr $verb /queue
  >     soon shows 'no session ends it' err c
  >     let_go c >said; sort said
  > done
  2> zkr: /queue: node of another program; this lock waits for it, but that program might not wait for this lock: node entry-100-0000000000
  2> zkr: /queue: the node ahead is not ephemeral: no session ends it, and this lock waits for it: node entry-100-0000000000
  2> zkr: /queue: entry-100-0000000000 is not ephemeral: no session ends it, and a lock at this path waits for it

A path is free for every subcommand if a new lock would not wait there.

  $ for each in /rs /table /members; do
  >     zkr status -q $each
  >     echo "$?: $(zkr wait -w 0 $each && zkr lock -n $each true && echo free)"
  > done
  2> zkr: /rs: node of another program; this lock waits for it, but that program might not wait for this lock: node host,16020,1732795200123
  1: free
  2> zkr: /table: node of another program; this lock waits for it, but that program might not wait for this lock: node dt=2025112812
  1: free
  2> zkr: /members: node of another program; this lock waits for it, but that program might not wait for this lock: node member-0123456789ab4def8123456789abcdef1234567890
  1: free

zkr writes only to the node of a holder that can be asked to release.

  $ end others
  $ others
  $ for each in $all; do zkr revoke ${each%/*} >said 2>&1; echo "${each%/*}: $?"; done
  /queue: 65
  /board: 65
  /changes: 65
  /overseer: 65
  /shards: 65
  /held: 65
  /rs: 1
  /table: 1
  /members: 1
  /orders/4915112345678: 0
  /kazoo: 65
  /lockpick: 65
  /go: 65
  /hive: 65
  $ untouched ${all/\/orders\/*-lock-0000000000/}

--force deletes only ephemeral nodes, even after a wait.

  $ end others
  $ others
  $ for each in $all; do
  >     wait=3600
  >     case $each in /orders*|/kazoo*|/go*|/hive*) wait=0 ;; esac
  >     zkr revoke -w $wait --force ${each%/*} >said 2>&1
  >     echo "${each%/*}: $?"
  > done
  /queue: 65
  /board: 65
  /changes: 65
  /overseer: 65
  /shards: 65
  /held: 65
  /rs: 1
  /table: 1
  /members: 1
  /orders/4915112345678: 0
  /kazoo: 0
  /lockpick: 65
  /go: 0
  /hive: 0
  $ untouched $items $containers $numbers /lockpick/${hex}__lock__0000000000
  $ zk ephemerals
  2
  $ end others

An ephemeral path counts as held, because the path itself is the lock, as with Kafka's /controller or a leader of
Patroni.

  $ fresh
  $ keep node /p/leader=host1
  $ zkr status /p/leader | table
  POS  OWNER  SESSION  AGE  HELD  TOKEN  KIND  NODE
  1  host1  SESSION  AGE  HELD  TOKEN  node  leader
  $ zkr status --json /p/leader | grep -o '"kind":"node","owner":"host1"'
  "kind":"node","owner":"host1"
  $ zkr ls -a /p | table
  PATH  KIND  HOLDER  HELD  WAITING  OLDEST
  /p/leader  node  host1  AGE  -  -
  $ zkr ls /p
  no lock at or directly below /p
  $ zkr status -q /p/leader
  $ zkr wait -w 0 /p/leader
  2> zkr: /p/leader is not free; see 'zkr status /p/leader'
  [1]
  $ zkr lock -n /p/leader true
  2> zkr: cannot acquire /p/leader: the path is an ephemeral node (a lock of another kind) or lies below one (ZooKeeper code -108)
  [65]
  $ bg c zkr wait /p/leader
  $ end node
  $ await c
  $ zkr status -q /p/leader
  [1]

A lock names other programs on its path that do not wait for it. If another program would fail because of our node, zkr
deletes the node at once, whatever subcommand created it.

  $ cat >makers <<END
  > ${hex}__lock__0000000000 kazoo
  > ${hex}__rlock__0000000000 kazoo
  > ${hex}__wlock__0000000000 kazoo
  > lock-$hex-0000000000 aiozk
  > candidate-$hex-0000000000 aiozk
  > latch-9-0000000000 zookeeper-async
  > ${guid}_0000000000 zookeeper-async
  > 0000000000 Vitess
  > 00000000000 Camel
  > LOCK-SHARED-0000000000 Hive
  > LOCK-EXCLUSIVE-0000000000 Hive
  > urL0000000000 BookKeeper
  > member_a_0000000000 DistributedLog
  > zlock#$guid#0000000000 Accumulo
  > a|0000000000 Ignite
  > le_0000000000 go-leaderelection
  > R_0000000000 Solr
  > W_0000000000 Solr
  > 72057611217797120-host-n_0000000000 Solr
  > V_0000000000 BookKeeper
  > END
  $ fresh
  $ keep theirs $(awk '{ print "/" NR "/" $1 }' makers)
  $ awk '{ print "/" NR " " $0 }' makers | while read -r path node maker; do
  >     zkr lock -n $path true 2>said; status=$?
  >     echo "[$status] $maker" && sort said
  >     for each in 'lock -w 60' 'lock -s' elect; do
  >         [ $status = 65 ] || continue
  >         zkr $each $path true 2>/dev/null; [ $? = 65 ] || echo "$each is not refused"
  >     done
  >     zkr ls --json $path | grep -q "\"maker\":\"$maker\"" && zkr ls $path | grep -q "  $maker  " || echo 'ls does not name it'
  >     zkr status -q $path 2>/dev/null || echo 'status -q: free'
  >     zkr wait -w 0 $path 2>/dev/null; [ $? = 1 ] || echo 'wait: free'
  >     zkr revoke $path 2>/dev/null; [ $? = 65 ] || echo 'was asked'
  >     [ $(zk count $path) = 1 ] || echo 'nodes of ours are left'
  >     untouched $path/$node
  > done
  [1] kazoo
  2> zkr: /1 is already held; see 'zkr status /1'
  2> zkr: /1: kazoo uses this path and might not wait for this lock: node 0123456789ab4def8123456789abcdef__lock__0000000000
  [1] kazoo
  2> zkr: /2 is already held; see 'zkr status /2'
  2> zkr: /2: kazoo uses this path and might not wait for this lock: node 0123456789ab4def8123456789abcdef__rlock__0000000000
  [1] kazoo
  2> zkr: /3 is already held; see 'zkr status /3'
  2> zkr: /3: kazoo uses this path and might not wait for this lock: node 0123456789ab4def8123456789abcdef__wlock__0000000000
  [1] aiozk
  2> zkr: /4 is already held; see 'zkr status /4'
  [1] aiozk
  2> zkr: /5 is already held; see 'zkr status /5'
  [1] zookeeper-async
  2> zkr: /6 is already held; see 'zkr status /6'
  [1] zookeeper-async
  2> zkr: /7 is already held; see 'zkr status /7'
  2> zkr: /7: zookeeper-async uses this path and might not wait for this lock: node 01234567-89ab-4def-8123-456789abcdef_0000000000
  [1] Vitess
  2> zkr: /8 is already held; see 'zkr status /8'
  2> zkr: /8: Vitess uses this path and might not wait for this lock: node 0000000000
  [1] Camel
  2> zkr: /9 is already held; see 'zkr status /9'
  2> zkr: /9: Camel uses this path and might not wait for this lock: node 00000000000
  [1] Hive
  2> zkr: /10 is already held; see 'zkr status /10'
  2> zkr: /10: Hive uses this path and might not wait for this lock: node LOCK-SHARED-0000000000
  [1] Hive
  2> zkr: /11 is already held; see 'zkr status /11'
  2> zkr: /11: Hive uses this path and might not wait for this lock: node LOCK-EXCLUSIVE-0000000000
  [1] BookKeeper
  2> zkr: /12 is already held; see 'zkr status /12'
  2> zkr: /12: BookKeeper uses this path and might not wait for this lock: node urL0000000000
  [1] DistributedLog
  2> zkr: /13 is already held; see 'zkr status /13'
  2> zkr: /13: DistributedLog uses this path and might not wait for this lock: node member_a_0000000000
  [1] Accumulo
  2> zkr: /14 is already held; see 'zkr status /14'
  2> zkr: /14: Accumulo uses this path and might not wait for this lock: node zlock#01234567-89ab-4def-8123-456789abcdef#0000000000
  [1] Ignite
  2> zkr: /15 is already held; see 'zkr status /15'
  2> zkr: /15: Ignite uses this path and might not wait for this lock: node a|0000000000
  [65] go-leaderelection
  2> zkr: /16 is used by go-leaderelection, which would fail beside this lock; use another path
  [65] Solr
  2> zkr: /17 is used by Solr, which would fail beside this lock; use another path
  [65] Solr
  2> zkr: /18 is used by Solr, which would fail beside this lock; use another path
  [65] Solr
  2> zkr: /19 is used by Solr, which would fail beside this lock; use another path
  [65] BookKeeper
  2> zkr: /20 is used by BookKeeper, which would fail beside this lock; use another path
  $ end theirs

The nodes of a semaphore, such as Curator's InterProcessSemaphoreMutex, do not exclude a lock on its path.

  $ fresh
  $ zk put /p/locks
  $ zk put /p/leases/_c_0-lease-0000000000
  $ zkr lock /p true
  2> zkr: /p: a semaphore also uses this path; it and this lock do not exclude each other

An unknown order is not reported: of two sharers, neither is called a waiter.

  $ fresh
  $ keep two /p/LOCK-SHARED-0000000000 /p/LOCK-SHARED-0000000001
  $ zkr ls /p | table
  PATH  KIND  HOLDER  HELD  WAITING  OLDEST
  /p  Hive  LOCK-SHARED-0000000000, first of 2  AGE  -  -
  $ zkr ls --json /p | stable
  {"path":"/p","kind":"other","owner":"","session":"SESSION","held_since":HELD,"user":null,"host":null,"command":null,"session_timeout_ms":null,"waiting":null,"waiting_since":null,"holders":null,"permits":null,"max":null,"maker":"Hive"}
  $ zkr status --json /p | grep -o '"waiting":[^,]*'
  2> zkr: /p: LOCK-SHARED-0000000000 belongs to Hive, which might not wait for the other contenders
  "waiting":null
  $ end two
