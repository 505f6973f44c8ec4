# SPDX-License-Identifier: Apache-2.0

zkr: the errors, each with its exit status and one line.

  $ . "$TESTDIR/setup.sh"
  $ fresh

Every mistake on the command line exits with 64.

  $ refused 64 <<'END'
  > # nothing
  > frob
  > -q lock /p true
  > -z
  > -t 0 lock /p true
  > -t 1.5 lock /p true
  > --connect-timeout 0 lock /p true
  > --connect-timeout x lock /p true
  > --auth nocolon lock /p true
  > --nosuch lock /p true
  > -z '' lock /p true
  > -z 127.0.0.1:99999 lock /p true
  > -z 127.0.0.1:2181/a//b lock /p true
  > lock
  > lock -n
  > elect -q /p true
  > lock --nosuch /p true
  > lock --exclusive=1 /p true
  > lock -E 256 /p true
  > lock -E -1 /p true
  > lock -E '' /p true
  > lock /p -c
  > lock /p -c true true
  > lock -c true /p true
  > lock -c true /p -c true
  > lock --kill-signal NOPE /p true
  > lock --kill-signal 0 /p true
  > lock --kill-after soon /p true
  > lock --min-hold x /p true
  > lock --lock-delay soon /p true
  > lock --lock-delay -1 /p true
  > lock --stats /nosuch/x.prom /p true
  > lock --stats /tmp /p true
  > lock -w
  > lock -w x /p true
  > lock -w -1 /p true
  > lock -w 1e3 /p true
  > lock -w . /p true
  > lock -w '' /p true
  > lock -w 99999999999999999999 /p true
  > lock -w nan /p true
  > status
  > status /a /b
  > status /a -
  > status --nosuch /a
  > status -q --json /p
  > wait
  > wait -w soon /p
  > ls --nosuch
  > ls /a -r
  > revoke
  > revoke /a /b
  > revoke --force /a
  > revoke -w soon /a
  > revoke --token x /p
  > END

TLS is refused before any connection if libzookeeper lacks support for it or the files are missing. Options of flock
that zkr lacks are refused, too.

  $ refused 64 <<'END'
  > --tls /none,/none,/none lock /p true
  > lock -u /p
  > lock -u /p true
  > lock -F /p true
  > lock --no-fork /p true
  > lock --unlock /p true
  > END

Kinds of locks and options that exclude each other.

  $ refused 64 <<'END'
  > lock --also
  > lock --also /b -s /a true
  > lock --also /b --rw /a true
  > lock --also /b --permits 2 /a true
  > lock --permits 2 -s /a true
  > lock --permits 2 --rw /a true
  > lock --permits 0 /a true
  > lock --permits 3/2 /a true
  > lock --permits 0/2 /a true
  > lock --permits /2 /a true
  > lock --permits 1/ /a true
  > lock --permits 2147483648 /a true
  > lock --permits 1001/2000 /a true
  > lock --permits -1 /a true
  > lock --on-revoke never /a true
  > lock --on-revoke term --permits 2 /a true
  > lock --on-revoke ignore --also /b /a true
  > lock --max-queue=0 /p true
  > lock --max-queue=1 -s /p true
  > lock --max-queue=1 --permits=3 /p true
  > lock --max-queue=1 --also /b /p true
  > lock --any /p /b true
  > lock --any /p -n /b -- true
  > lock --any --also /b /p -- true
  > lock --any -s /p /b -- true
  > lock --any --permits=2 /p /b -- true
  > lock --any --max-queue=2 /p /b -- true
  > once /p true
  > once --every=0 /p true
  > once --every=1w /p true
  > once --every= /p true
  > once --every=9000000000000000000d /p true
  > once --every=1h /p
  > once --every=1h -s /p true
  > once --every=1h --permits=2 /p true
  > once --every=1h --also=/b /p true
  > once --every=1h --any /p -- true
  > lock --every=1h /p true
  > END

Invalid elections, health checks and requests.

  $ refused 64 <<'END'
  > elect
  > elect /a
  > elect --json /a true
  > elect -l /a true
  > elect -l --once /a
  > elect --nosuch /a true
  > elect -l --no-guardian /p
  > elect --every 1 /a true
  > elect --failures 1 /a true
  > elect --health true --every 0 /a true
  > elect --health true --failures=0 /a true
  > elect -l --health true /a
  > elect --yield
  > elect --yield /a true
  > elect --yield /a --to b true
  > elect --yield -c true /a
  > elect --yield --json /a
  > elect --yield -l /a
  > elect --yield --once /a
  > elect --to b /a true
  > elect -w 1 /a true
  > elect -l --to b /a
  > elect --yield /a --nosuch
  > END

An invalid path exits with 65. conf.t tests the messages.

  $ refused 65 <<'END'
  > lock '' true
  > lock /a//b true
  > lock /a/../b true
  > lock -n $'/a\nb' true
  > lock --also /a /a true
  > lock --also /a/b /a true
  > lock --any -- true
  > lock --any /p /b/ -- true
  > status relative
  > wait here
  > ls /a/
  > END

No call above has created a node.

  $ zk ls /

A missing chroot exits with 65, too.

  $ ZKR_SERVERS=$ZKR_SERVERS/none refused 65 <<'END'
  > lock /p true
  > lock -n /p true
  > elect /p true
  > elect -l /p
  > status /p
  > status -q /p
  > status --json /p
  > revoke /p
  > wait /p
  > wait -w 1 /p
  > ls
  > ls -r /p
  > END

A command that cannot start exits with 69. Nothing was done, so another host may try.

  $ refused 69 <<'END'
  > lock /p /no/such/command
  > lock /p no-such-command-in-the-path
  > lock /p /etc/passwd
  > lock /p /tmp
  > lock /p ''
  > elect /p /no/such/command
  > lock --min-hold 60 /p /nosuch
  > END
  $ zkr lock -n /p true

Output that cannot be written exits with 70, the status of errors without a status of their own, such as a full disk.

  $ refused 70 <<'END'
  > status /p >/dev/full
  > lock /p >/dev/full
  > --help /p >/dev/full
  > END

If no server listens, the status is 75, with any kind of waiting, and no later than the timeout. See also test_time.c.

  $ before=$(date +%s%N)
  $ refused 75 <<'END'
  > -z 127.0.0.1:1 --connect-timeout .3 lock /p true
  > -z 127.0.0.1:1 --connect-timeout 0.3 lock -n /p true
  > -z 127.0.0.1:1 --connect-timeout 0.3 lock -w 9 /p true
  > -z 127.0.0.1:1 --connect-timeout 0.3 lock -E 3 -w 0.1 /p true
  > -z 127.0.0.1:1 --connect-timeout 0.3 elect /p true
  > -z 127.0.0.1:1 --connect-timeout 0.3 status /p
  > -z 127.0.0.1:1 --connect-timeout 0.3 revoke /p
  > END
  $ [ $(($(date +%s%N) - before)) -lt $(((7 * 300 + 4000) * 1000000)) ]

Refused credentials exit with 77, and so does a path at which zkr may not create nodes.

  $ refused 77 <<'END'
  > --auth nosuch:x lock /p true
  > --auth nosuch:x elect /p true
  > --auth nosuch:x status /a
  > --auth nosuch:x revoke /a
  > END
  $ zk put /closed
  $ zk acl /closed 1
  $ refused 77 <<'END'
  > lock /closed true
  > lock -n /closed true
  > END

Servers that demand credentials: 77, too. There, a session without credentials goes on.

  $ serve strict server enforce.auth.enabled=true enforce.auth.schemes=digest
  $ ZKR_SERVERS=$host refused 77 <<'END'
  > lock /p true
  > lock -n /p true
  > lock --permits=2 /p true
  > lock --also=/q /p true
  > lock /p
  > elect --once /p true
  > elect -l /p
  > once --every=1h /p true
  > status /p
  > ls /
  > revoke /p
  > wait /p
  > END
  $ ZKR_SERVERS=$host zkr lock /p true 2>said
  [77]
  $ grep -o -e 'check.* --auth' said | grep -o -e --auth
  --auth
  $ ZKR_SERVERS=$host zkr --auth digest:a:b lock /p true

Sessions that may not own ephemeral nodes: 77, too. The leader and a follower return different codes.

  $ serve three ensemble localSessionsEnabled=true localSessionsUpgradingEnabled=false
  $ cat >local <<'END'
  > lock /p true
  > lock -n /p true
  > lock --permits=2 /p true
  > lock --also=/q /p true
  > lock -n --also=/q /p true
  > lock --permits=2/3 /p true
  > lock --any /p /q -- true
  > lock /p
  > elect --once /p true
  > once --every=1h /p true
  > END
  $ leader=${host%%,*} followers=${host#*,}
  $ for each in $leader ${followers%,*}; do ZKR_SERVERS=$each refused 77 localSessionsUpgradingEnabled <local; done
  $ zkr -z $host status /p
  nobody; there is no /p
