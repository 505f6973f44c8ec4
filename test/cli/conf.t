# SPDX-License-Identifier: Apache-2.0

zkr: settings from a file, the environment and the command line; paths and options that zkr refuses.

  $ . "$TESTDIR/setup.sh"
  $ fresh
  $ ours=$ZKR_SERVERS
  $ conf() { printf '%b' "$1" >conf; export ZKR_CONFIG=$PWD/conf; }

The environment overrides the file, and the command line overrides both.

  $ conf '# nobody is there\n\n ZKR_SERVERS = 127.0.0.1:1 \nZKR_CONNECT_TIMEOUT=0.3\n'
  $ ZKR_SERVERS= zkr status /p
  2> zkr: no session with 127.0.0.1:1 within 300 ms: no answer from 127.0.0.1:1; check -z or $ZKR_SERVERS, and whether a server runs
  [75]
  $ ZKR_CONNECT_TIMEOUT=20 zkr status /p
  nobody; there is no /p
  $ ZKR_SERVERS=127.0.0.1:1 zkr status -z $ours --connect-timeout 20 /p
  nobody; there is no /p

zkr does not check a setting that is overridden, because it may be meant for other programs.

  $ conf 'ZKR_AUTH_FILE=/no/such/file\nZKR_SESSION_TIMEOUT=soon\nZKR_ACL=nonsense\n'
  $ zkr status -t 5000 --acl open /p
  2> zkr: conf:1: ZKR_AUTH_FILE names a file that cannot be read: /no/such/file: No such file or directory
  [64]
  $ zkr --auth digest:a:b -t 5000 --acl open status /p
  nobody; there is no /p
  $ zkr ls --auth digest:a:b -t 5000 --acl open
  no lock at or directly below /
  $ ZKR_AUTH=digest:a:b ZKR_SESSION_TIMEOUT=5000 ZKR_ACL=open zkr status /p
  nobody; there is no /p
  $ ZKR_AUTH=nonsense ZKR_SESSION_TIMEOUT=soon ZKR_ACL= zkr lock -t 5000 --auth digest:a:b --acl open /p true

The error about an invalid list of servers says where the list was set, as for any other setting.

  $ conf '\nZKR_SERVERS=host:port:x\n'
  $ ZKR_SERVERS= zkr status /p
  2> zkr: conf:2: 'host:port:x' is not host:port[,host:port][/chroot]
  [64]
  $ unset ZKR_CONFIG
  $ ZKR_SERVERS=a:b:c zkr status /p
  2> zkr: 'a:b:c' is not host:port[,host:port][/chroot] in the environment
  [64]

Secrets appear neither in messages nor in the list of processes.

  $ conf 'ZKR_AUTH digest:me:secret\n'
  $ zkr status /p
  2> zkr: conf:1: the line is not of the form ZKR_NAME=value
  [64]
  $ conf 'digest:me:secret\n'
  $ zkr status /p
  2> zkr: conf:1: the line is not of the form ZKR_NAME=value
  [64]
  $ conf 'digest:me:secret=\n'
  $ zkr status /p
  2> zkr: conf:1: the line is not of the form ZKR_NAME=value
  [64]
  $ conf 'ZKR_TLS=ca,cert,key,secret\n'
  $ zkr status /p
  2> zkr: conf:1: others can read the password in ZKR_TLS in this file; set mode 600, or use a key without a password
  [64]
  $ unset ZKR_CONFIG
  $ zkr status --auht=digest:me:secret /p
  2> zkr: option --auht is unknown or takes no argument; see 'zkr status --help'
  [64]
  $ zkr status /p --auth=digest:me:secret
  2> zkr: put the option '--auth' before PATH; see 'zkr status --help'
  [64]

zkr does not wait for a pipe, to which no process might ever write.

  $ mkfifo pipe
  $ zkr --auth-file $PWD/pipe lock -w 1 /p true
  2> zkr: --auth-file must name a regular file; see 'zkr --help'
  [64]
  $ ZKR_CONFIG=$PWD/pipe zkr status /p
  nobody

The error names the file and the line of a mistake. Help works all the same.

  $ mistake() { conf "$1"; zkr status /p || echo "[$?]"; zkr lock --help | grep -c '^usage:'; }
  $ mistake '\nZKR_SERVER=x\n'
  2> zkr: conf:2: unknown setting 'ZKR_SERVER'
  [64]
  1
  $ mistake 'ZKR_SERVERS\n'
  2> zkr: conf:1: the line is not of the form ZKR_NAME=value
  [64]
  1
  $ mistake 'ZKR_SESSION_TIMEOUT=10s\n'
  2> zkr: conf:1: ZKR_SESSION_TIMEOUT needs milliseconds, not '10s'
  [64]
  1
  $ mistake 'ZKR_AUTH=digest:me:x\n'
  2> zkr: conf:1: others can read ZKR_AUTH in this file; move it to another file, and name that file in ZKR_AUTH_FILE
  [64]
  1
  $ ZKR_CONFIG=/nosuch zkr status /p
  2> zkr: cannot read /nosuch: No such file or directory
  [64]
  $ unset ZKR_CONFIG
  $ ZKR_CONNECT_TIMEOUT=x zkr status /p
  2> zkr: ZKR_CONNECT_TIMEOUT needs seconds, more than 0, not 'x' in the environment
  [64]

One file may have several credentials. The ACL, which has the digest of me:secret, permits only these credentials. If
the servers lack create2, zkr prints one more line when it may not read.

  $ without_that() { grep -v 'refuse to delete our node'; }
  $ printf '# two\ndigest:you:other\ndigest:me:secret\n' >auth
  $ chmod 600 auth
  $ auth=$PWD/auth
  $ zkr --auth-file $auth --acl 'digest:me:016djjlksVQS5RgX3M7biBGyYwY=:crdwa' lock /a zkr status /a
  2> zkr: cannot read the contenders of /a: not authorised; check --auth, and the ACL of the path
  [77]
  $ ZKR_AUTH_FILE=$auth zkr --acl creator lock /b true
  $ zkr lock -n /b true 2>&1 | without_that
  2> zkr: cannot acquire /b: not authorised (ZooKeeper code -102); check --auth, and the ACL of the path
  [77]
  $ zkr status /b
  2> zkr: cannot read the contenders of /b: not authorised; check --auth, and the ACL of the path
  [77]
  $ zkr --auth digest:me:secret lock /b true
  $ zkr --auth digest:me:secret status /b
  nobody
  $ ZKR_AUTH=digest:me:secret zkr lock /b true
  $ ZKR_AUTH=digest:me:secret zkr lock --auth digest:me:wrong /b true 2>&1 | without_that
  2> zkr: cannot acquire /b: not authorised (ZooKeeper code -102); check --auth, and the ACL of the path
  [77]

A file that others can access, or that its group can write, is refused. Reading by the group is allowed, for a service
with its own group.

  $ for mode in 644 604 602 601 620 660 640; do chmod $mode auth; zkr --auth-file $auth status /p || echo "[$?]"; done
  2> zkr: --auth-file names a file that others can access (mode 0644); set mode 600; see 'zkr --help'
  [64]
  2> zkr: --auth-file names a file that others can access (mode 0604); set mode 600; see 'zkr --help'
  [64]
  2> zkr: --auth-file names a file that others can access (mode 0602); set mode 600; see 'zkr --help'
  [64]
  2> zkr: --auth-file names a file that others can access (mode 0601); set mode 600; see 'zkr --help'
  [64]
  2> zkr: --auth-file names a file that others can access (mode 0620); set mode 600; see 'zkr --help'
  [64]
  2> zkr: --auth-file names a file that others can access (mode 0660); set mode 600; see 'zkr --help'
  [64]
  nobody
  $ zk rm /a
  $ zk rm /b

--acl sets the ACL of the nodes that zkr creates, including parents.

  $ zkr --acl world:anyone:rd lock /a true 2>&1 | without_that
  2> zkr: cannot acquire /a: not authorised (ZooKeeper code -102); check --auth, and the ACL of the path
  [77]
  $ zkr --acl world:anyone:crdwa lock /x/y true
  $ zkr lock --acl world:anyone /p true
  2> zkr: --acl must be open, creator, or SCHEME:ID:PERMS,... with PERMS from the letters crdwa; see 'zkr lock --help'
  [64]
  $ zkr lock --acl creator /p true
  2> zkr: --acl creator needs credentials; give --auth or --auth-file
  [64]
  $ zkr lock --acl nosuch:x:crdwa /z true
  2> zkr: cannot acquire /z: invalid argument (ZooKeeper code -114); check --acl
  [77]
  $ zk rm /a

The error names a path that is invalid.

  $ zkr -z 127.0.0.1:1/ lock /zookeeper/x true
  2> zkr: /zookeeper/x: paths below /zookeeper belong to the servers; use another path
  [65]
  $ zkr -z 127.0.0.1:1 lock /zookeeper true
  2> zkr: /zookeeper: paths below /zookeeper belong to the servers; use another path
  [65]
  $ for path in jobs / /jobs/ /zookeeper/x; do
  >     ZKR_SERVERS=$servers zkr lock $path true || echo "[$?]"
  >     ZKR_SERVERS=$servers zkr elect $path true || echo "[$?]"
  >     ZKR_SERVERS=$servers zkr revoke $path || echo "[$?]"
  >     ZKR_SERVERS=$servers zkr lock --also $path /p true || echo "[$?]"
  > done
  2> zkr: 'jobs' is not a path; a path starts with /
  [65]
  2> zkr: 'jobs' is not a path; a path starts with /
  [65]
  2> zkr: 'jobs' is not a path; a path starts with /
  [65]
  2> zkr: 'jobs' is not a path; a path starts with /
  [65]
  2> zkr: / cannot be a lock; use a path below it
  [65]
  2> zkr: / cannot be a lock; use a path below it
  [65]
  2> zkr: / cannot be a lock; use a path below it
  [65]
  2> zkr: / cannot be a lock; use a path below it
  [65]
  2> zkr: '/jobs/' ends with /; remove the last /
  [65]
  2> zkr: '/jobs/' ends with /; remove the last /
  [65]
  2> zkr: '/jobs/' ends with /; remove the last /
  [65]
  2> zkr: '/jobs/' ends with /; remove the last /
  [65]
  2> zkr: /zookeeper/x: paths below /zookeeper belong to the servers; use another path
  [65]
  2> zkr: /zookeeper/x: paths below /zookeeper belong to the servers; use another path
  [65]
  2> zkr: /zookeeper/x: paths below /zookeeper belong to the servers; use another path
  [65]
  2> zkr: /zookeeper/x: paths below /zookeeper belong to the servers; use another path
  [65]

Options must come before the path.

  $ zkr lock /p -n true
  2> zkr: put the option '-n' before PATH; see 'zkr lock --help'
  [64]
  $ zkr elect /p --once true
  2> zkr: put the option '--once' before PATH; see 'zkr elect --help'
  [64]
  $ zkr status /p -q
  2> zkr: put the option '-q' before PATH; see 'zkr status --help'
  [64]
  $ zkr revoke /p -w 3
  2> zkr: put the option '-w' before PATH; see 'zkr revoke --help'
  [64]
  $ zkr lock /p -c 'exit 5'
  [5]
  $ zkr lock /p -- sh -c 'exit 6'
  [6]
