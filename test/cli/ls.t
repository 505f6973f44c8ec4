# SPDX-License-Identifier: Apache-2.0

zkr ls, and the output of status on paths without a holder.

  $ . "$TESTDIR/setup.sh"

Every kind of lock is listed, at any depth, with its holder and the number of waiters.

  $ fresh
  $ zk put /a/x-lock-0000000003 $'first\nuser=u'
  $ zk put /a/x-lock-0000000004 second
  $ zk put '/a/not a lock'
  $ zk put /b/deep/y-__READ__0000000001 reader
  $ zk put /b/deep/y-__READ__0000000002 reader
  $ zk put /b/deep/y-__WRIT__0000000003 writer
  $ zk put /c/leases/z-lease-0000000000 $'p\nmax=3'
  $ zk put /c/leases/z-lease-0000000001 $'p\nmax=3'
  $ zk put /c/locks/z-lock-0000000007 q
  $ zk put /d/locks/v-lock-0000000000 'no semaphore'
  $ zk put /e/w-latch-0000000000 leads
  $ zk put /f/leases/u-lock-0000000000 'none either'
  $ zk put /g/leases/other
  $ zk put /g/locks/t-lock-0000000000 'of one who has other leases'
  $ zk put /h/leases
  $ zk put /h/locks/s-lock-0000000000 'waits for permits'
  $ zkr ls -r / | table
  PATH  KIND  HOLDER  HELD  WAITING  OLDEST
  /a  lock  first  AGE  1  AGE
  /b/deep  read  reader and 1 more  AGE  1  AGE
  /c  permit 2/3  p  AGE  1  AGE
  /d/locks  lock  no semaphore  AGE  0  -
  /e  leader  leads  AGE  0  -
  /f/leases  lock  none either  AGE  0  -
  /g/locks  lock  of one who has other leases  AGE  0  -
  /h  permit 0  -  -  1  AGE
  $ zkr ls / | table
  PATH  KIND  HOLDER  HELD  WAITING  OLDEST
  /a  lock  first  AGE  1  AGE
  /c  permit 2/3  p  AGE  1  AGE
  /e  leader  leads  AGE  0  -
  /h  permit 0  -  -  1  AGE
  $ zkr ls /a | table
  PATH  KIND  HOLDER  HELD  WAITING  OLDEST
  /a  lock  first  AGE  1  AGE
  $ zkr ls --json / | stable
  {"path":"/a","kind":"lock","owner":"first","session":"0x0","held_since":HELD,"user":"u","host":null,"command":null,"session_timeout_ms":null,"waiting":1,"waiting_since":MS,"holders":1,"permits":null,"max":null,"maker":null}
  {"path":"/c","kind":"permit","owner":"p","session":"0x0","held_since":HELD,"user":null,"host":null,"command":null,"session_timeout_ms":null,"waiting":1,"waiting_since":MS,"holders":null,"permits":2,"max":3,"maker":null}
  {"path":"/e","kind":"leader","owner":"leads","session":"0x0","held_since":HELD,"user":null,"host":null,"command":null,"session_timeout_ms":null,"waiting":0,"waiting_since":null,"holders":1,"permits":null,"max":null,"maker":null}
  {"path":"/h","kind":"permit","owner":null,"session":null,"held_since":HELD,"user":null,"host":null,"command":null,"session_timeout_ms":null,"waiting":1,"waiting_since":MS,"holders":null,"permits":0,"max":null,"maker":null}

The age of a hold is what its node says, whenever the node was created. The age of a waiter is that of its node. In
status, the second contender is the one that waits longest.

  $ fresh
  $ since=$((($(date +%s) - 3 * 3600) * 1000))
  $ zk put /a/x-lock-0000000003 $'x\nheld_since_ms='$since
  $ zk put /a/x-lock-0000000004 second
  $ zk put /a/x-lock-0000000005 third
  $ zkr ls /a | table
  PATH  KIND  HOLDER  HELD  WAITING  OLDEST
  /a  lock  x  3h00m  2  AGE
  $ zkr status /a | grep -o '  3h00m  '
  2> zkr: /a: x-lock-0000000003 is not ephemeral: no session ends it, and a lock at this path waits for it
    3h00m  
  $ command zkr ls --json /a | grep -c "\"held_since\":$since,"
  1
  $ made=$(zk stat /a/x-lock-0000000004 | grep -o 'ctime=[0-9]*' | cut -d = -f 2)
  $ command zkr ls --json /a | grep -c "\"waiting_since\":$made,"
  1
  $ command zkr status --json /a 2>&1 | grep -c "\"owner\":\"second\",\"session\":\"0x0\",\"created_ms\":$made,"
  1

There may be no locks at a path, or no such path. /zookeepers only begins like a path of the servers.

  $ fresh
  $ zkr ls /nosuch
  2> zkr: /nosuch does not exist
  [1]
  $ zkr ls -z $servers /zookeepers
  2> zkr: /zookeepers does not exist
  [1]
  $ zk put /here/there
  $ zkr ls /here
  no lock at or directly below /here
  $ zkr ls --json -r /
  $ zkr ls -z $servers | grep /zookeeper
  [1]

The root may have children with numbers, a chroot may be a lock, and below a chroot /zookeeper is an ordinary name.

  $ fresh
  $ zk put /job-lock-0000000003 first
  $ zk put /job-lock-0000000004 second
  $ zk put /a/x-lock-0000000000 below
  $ zk put /zookeeper/x-lock-0000000000 ours
  $ zkr ls -r / | table
  PATH  KIND  HOLDER  HELD  WAITING  OLDEST
  /  lock  first  AGE  1  AGE
  /a  lock  below  AGE  0  -
  /zookeeper  lock  ours  AGE  0  -
  $ zkr ls | table
  PATH  KIND  HOLDER  HELD  WAITING  OLDEST
  /  lock  first  AGE  1  AGE
  /a  lock  below  AGE  0  -
  /zookeeper  lock  ours  AGE  0  -

The status of a directory counts the locks below it; without any, it says only "nobody".

  $ fresh
  $ zk put /d/a/x-lock-0000000003 first
  $ zk put /d/b/x-lock-0000000003 first
  $ zkr status /d
  no lock here; 2 below this path (see 'zkr ls')
  $ zk clear /d
  $ zkr status /d
  nobody

The owner text tells which user runs which command, unless -i hides that.

  $ fresh
  $ bg a zkr lock /a sh -c $'echo held; exec sleep 60 # \t\1'
  $ bg b zkr lock -i me /b sh -c 'echo held; exec sleep 60'
  $ soon holds a && soon holds b
  $ zkr status -v /a 2>/dev/null | grep '^holder' | stable -e "s/user $(id -un),/user ME,/" -e "s/host $(hostname),/host HERE,/" \
  >     -e 's/holder [^:]*/holder OWNER/' -e 's/ by [0-9.:]*,/ by SERVER,/;s/SERVERS/SERVER/'
  holder OWNER: user ME, host HERE, session served by SERVER, command echo held; exec sleep 60 #   
  $ zkr ls --json /b | grep -o '"owner":"me".*sleep'
  [1]
  $ let_go a b

Each request is delayed by 50 ms. Sent one after the other, the requests would take more than a minute and a half.

  $ fresh
  $ zk locks 1000
  $ serve proxy proxy
  $ tell proxy 'delay 50'
  $ before=$SECONDS
  $ zkr -z $host ls --json | grep -c '"held\|lock"'
  1000
  $ [ $((SECONDS - before)) -le 5 ]
  $ tell proxy count | sed -E 's/^20[01][0-9] /20.. /'
  20.. requests, 1 connections

Nodes that may not be read are left out, and counted: a path with everything below it, or the contender of a lock that
is still listed.

  $ fresh
  $ zk put /half
  $ zk put /open/x-lock-0000000000 o
  $ zk private /closed
  $ zk private /half/x-lock-0000000000
  $ zkr ls | table
  2> zkr: nodes left out because reading them is not allowed: 2; check --auth
  PATH  KIND  HOLDER  HELD  WAITING  OLDEST
  /half  lock  -  -  0  -
  /open  lock  o  AGE  0  -
  $ zkr ls --json | stable
  2> zkr: nodes left out because reading them is not allowed: 2; check --auth
  {"path":"/half","kind":"lock","owner":null,"session":null,"held_since":HELD,"user":null,"host":null,"command":null,"session_timeout_ms":null,"waiting":0,"waiting_since":null,"holders":1,"permits":null,"max":null,"maker":null}
  {"path":"/open","kind":"lock","owner":"o","session":"0x0","held_since":HELD,"user":null,"host":null,"command":null,"session_timeout_ms":null,"waiting":0,"waiting_since":null,"holders":1,"permits":null,"max":null,"maker":null}
  $ zkr ls /closed
  2> zkr: cannot survey /closed: not authorised; check --auth, and the ACL of the path
  [77]
  $ zk rm /closed
  $ zkr ls >/dev/null
  2> zkr: nodes left out because reading them is not allowed: 1; check --auth
  $ zk rm /half/x-lock-0000000000
