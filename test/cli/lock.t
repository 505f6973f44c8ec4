# SPDX-License-Identifier: Apache-2.0

zkr lock: exit statuses, all spellings of all options, and messages.

  $ . "$TESTDIR/setup.sh"

zkr exits with the command's status, whatever it is.

  $ fresh
  $ zkr lock /p true
  $ zkr lock /p sh -c 'exit 1'
  [1]
  $ zkr lock /p sh -c 'exit 75'
  [75]
  $ zkr lock /p sh -c 'exit 255'
  [255]
  $ zkr lock /p -c 'exit 7'
  [7]
  $ zkr lock /p --command 'exit 8'
  [8]
  $ zkr lock -c 'exit 9' /p
  [9]
  $ zkr lock /p sh -c 'kill -9 $$'
  [137]
  $ zkr lock /p sh -c 'kill -TERM $$'
  [143]
  $ zkr lock /p sh -c 'kill -SEGV $$'
  [139]

A path may be as long as ZooKeeper allows. A single string on a command line or in the environment may have at most 128
KiB.

  $ for length in 1015 8200 130000; do
  >     path=/$(printf "%0$((length - ${#chroot} - 1))d" 0)
  >     zkr lock $path sh -c 'echo "$ZKR_LOCK_NODE"' | grep -c "^$path/_c_"
  >     zkr elect --once $path true && zkr status $path && zk rm $path
  > done
  1
  nobody
  1
  nobody
  1
  nobody

The node of a mutex says how its release can be reported to a zkr on the same host. Other locks have no such record, and
their waiters wait for the servers.

  $ for options in '' -ime --rw --permits=1; do
  >     zkr lock $options /told$options -c 'zk get $ZKR_LOCK_NODE' | grep -c '^nearby=[0-9a-f]\{72\}$'
  > done
  1
  1
  0
  0
  [1]

Options have two spellings. These options are accepted, and do not change the status of a command that runs.

  $ fresh
  $ for option in --exclusive -x -e --shared -s --rw --on-revoke=ignore --on-revoke=term --close -o --nb -n --wait=5 -w5 \
  >     --timeout=5.5 -w5.5 --conflict-exit-code=3 -E3 --id=me -ime --kill-signal=SIGINT --kill-signal=2 --kill-signal=WINCH \
  >     --kill-signal=28 --kill-after=.1 --session-timeout=4000 -t4000 --connect-timeout=9 --auth=digest:me:x; do
  >     zkr lock $option /p sh -c 'exit 7'
  >     [ $? = 7 ] || echo $option
  > done

Servers can be given before the subcommand or after it; the last list counts. The default is this host.

  $ zkr -z 127.0.0.1:1 lock -z $ZKR_SERVERS /p true
  $ zkr --servers 127.0.0.1:1 lock --servers $ZKR_SERVERS /p true
  $ env -u ZKR_SERVERS zkr -vv --connect-timeout .1 status /p 2>&1 | grep -o -m 1 'host=127.0.0.1:2181 '
  host=127.0.0.1:2181 
  [75]

zkr requests the given session timeout.

  $ for option in -t4321 --session-timeout=4321; do
  >     hold c $option /p
  >     zk word cons | grep -o ',to=4321,'
  >     let_go c
  > done
  ,to=4321,
  ,to=4321,

-v logs the session, and -vv also the messages of libzookeeper, with a single time each. Both print what --verbose
prints: how long the acquire took, and the hold.

  $ zkr lock --verbose /p true
  2> zkr: got the lock on /p after N s: node=/p/_c_GUID-lock-0000000033 token=TOKEN session=SESSION
  $ zkr -v lock /p true
  2> zkr: info: time=TIME event=state session=SESSION epoch=1 state=CONNECTED
  2> zkr: got the lock on /p after N s: node=/p/_c_GUID-lock-0000000034 token=TOKEN session=SESSION
  2> zkr: info: time=TIME event=state session=0x0 epoch=1 state=CLOSED
  $ zkr lock -vv /p true 2>&1 >out | grep -o -m 1 ' time=TIME ZOO_INFO@'
   time=TIME ZOO_INFO@
  $ cat out

-c uses the user's shell, as flock does: $SHELL, or /bin/sh if it is not set.

  $ SHELL=/bin/echo zkr lock /p -c 'text $0'
  -c text $0
  $ SHELL= zkr lock /p -c 'echo $0'
  /bin/sh

Help and version go to standard output.

  $ for words in -h --help 'lock -h' 'lock --help' 'elect -h' 'status --help' 'revoke --help' -V --version 'lock -V' 'lock --version'; do
  >     zkr $words | head -n 1 | stable -e 's/ [0-9.]+$/ N/'
  > done
  usage: zkr [OPTION]... SUBCOMMAND [ARGUMENT]...
  usage: zkr [OPTION]... SUBCOMMAND [ARGUMENT]...
  usage: zkr [OPTION]... lock [OPTION]... PATH COMMAND [ARGUMENT]...
  usage: zkr [OPTION]... lock [OPTION]... PATH COMMAND [ARGUMENT]...
  usage: zkr [OPTION]... elect [OPTION]... PATH COMMAND [ARGUMENT]...
  usage: zkr [OPTION]... status [-q | --json] [--watch] PATH
  usage: zkr [OPTION]... revoke [-w SEC [--force]] [--token N] PATH
  zkr N
  zkr N
  zkr N
  zkr N
  $ zkr status --help | grep -o -e --watch | head -n 1
  --watch
  $ zkr revoke --help | grep -o -e --force | head -n 1
  --force

A --kill-after that is longer than the lease allows is reduced, with a warning.

  $ for each in 9 1 auto 0; do zkr -t 3000 lock --kill-after $each /p true; done
  2> zkr: --kill-after is reduced to 1.000 s, a third of the session timeout, when the lock is in doubt; use a longer session timeout (-t)

Without a command, zkr prints a line and holds the lock until its input ends.

  $ mkfifo input
  $ : >$work/c.out
  $ (exec setsid zkr lock /p <input >$work/c.out 2>$work/c.err) & pid[c]=$!
  $ exec 5>input
  $ soon holds c
  $ out c | stable
  node=/p/_c_GUID-lock-0000000042 token=TOKEN session=SESSION
  $ eval "$(out c | tr ' ' '\n')"
  $ zk stat "$node" | grep -c "^czxid=$token .* owner=$session "
  1
  $ printf x >&5
  $ zkr lock -n /p true
  2> zkr: /p is already held; see 'zkr status /p'
  [1]
  $ exec 5>&-
  $ await c
  $ zk count /p
  0

A signal ends the hold, too.

  $ (exec setsid env --default-signal=INT zkr lock /p <input >$work/d.out 2>$work/d.err) & pid[d]=$!
  $ exec 5>input
  $ soon holds d
  $ let_go -INT d
  $ zk count /p
  0
