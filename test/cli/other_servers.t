# SPDX-License-Identifier: Apache-2.0

zkr on servers that lack operations, or that are too busy.

  $ . "$TESTDIR/setup.sh"
  $ begin() { fresh; serve proxy proxy; }

A lock on a missing path works with each habit of servers that lack operations. The habits are sums of
ZKR_TEST_NO_CREATE2 and so on.

  $ begin
  $ for habits in 1 5 2 6 9 10; do tell proxy "habits $habits"; zkr -z $host lock -w 60 /$habits/lock true; done
  $ zk ls /
  1
  10
  2
  5
  6
  9

All kinds of locks and the subcommands work, as on ZooKeeper 3.4.

  $ begin
  $ tell proxy 'habits 5'
  $ zkr -z $host lock -n /0/lock true
  $ zkr -z $host lock -s /1/lock true
  $ zkr -z $host lock --rw /2/lock true
  $ zkr -z $host lock --permits 2/3 /3/lock true
  $ zkr -z $host lock --also /4/lock /5/lock -- true
  $ zkr -z $host lock --any /6/lock /0/lock -- true
  $ zkr -z $host once --every=1h /7/lock true
  $ zkr -z $host wait /0/lock
  $ zkr -z $host status -q /0/lock
  [1]

Every subcommand reports servers that answer that they cannot create nodes.

  $ said() { grep -o 'the servers lack an operation\|unlike ZooKeeper, give no reason.*\|; use ZooKeeper 3.8 or later' said; }
  $ begin
  $ zk put /p
  $ tell proxy 'lie unknown'
  $ for verb in 'lock -w60' 'once --every=1h' elect; do zkr -z $host $verb /p true 2>said || echo "[$?]"; said; done
  [75]
  the servers lack an operation
  ; use ZooKeeper 3.8 or later
  [75]
  the servers lack an operation
  ; use ZooKeeper 3.8 or later
  [75]
  the servers lack an operation
  ; use ZooKeeper 3.8 or later

It also reports servers that give no reason. zetcd lacks create2, and the transaction that replaces it fails without a
reason.

  $ begin
  $ zk put /p
  $ tell proxy 'habits 1'
  $ tell proxy 'lie -100 14'
  $ for verb in 'lock -w60' 'lock -n' 'once --every=1h' elect; do zkr -z $host $verb /p true 2>said || echo "[$?]"; said; done
  [75]
  unlike ZooKeeper, give no reason (ZooKeeper code -100); use ZooKeeper 3.8 or later
  [75]
  unlike ZooKeeper, give no reason (ZooKeeper code -100); use ZooKeeper 3.8 or later
  [75]
  unlike ZooKeeper, give no reason (ZooKeeper code -100); use ZooKeeper 3.8 or later
  [75]
  unlike ZooKeeper, give no reason (ZooKeeper code -100); use ZooKeeper 3.8 or later

zkr retries requests to busy servers. The first two requests of a kind are throttled: lists, reads, writes, and a delete
that was carried out.

  $ begin
  $ hold held --on-revoke=ignore /p
  $ while read -r op verb; do
  >     tell proxy "lie -127 $op 2"
  >     zkr -z $host $verb /p >said 2>&1
  >     echo "$verb: $?, told $(tell proxy told)"
  > done <<END
  > 12 status -q
  > 4 status -q
  > 12 ls
  > 12 wait -w 3
  > 12 elect --yield -w 3
  > 5 revoke
  > 2 revoke -w 0 --force
  > END
  status -q: 0, told 2
  status -q: 0, told 2
  ls: 0, told 2
  wait -w 3: 1, told 2
  elect --yield -w 3: 1, told 2
  revoke: 0, told 2
  revoke -w 0 --force: 0, told 1
  $ quietly await held
  [79]

zkr reports servers that stay busy.

  $ begin
  $ zk put /p
  $ tell proxy 'lie -127 12'
  $ zkr -z $host --connect-timeout=2 status /p
  2> zkr: cannot read the contenders of /p: ZooKeeper refused the request (ZooKeeper code -127); try again later, or check -z and the servers
  [75]
  $ told=$(tell proxy told); [ $told -gt 2 ] && [ $told -lt 20 ]
