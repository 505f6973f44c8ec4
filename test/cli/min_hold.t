# SPDX-License-Identifier: Apache-2.0

zkr lock --min-hold: the lock outlasts the command.

  $ . "$TESTDIR/setup.sh"
  $ ms() { echo $(($(date +%s%N) / 1000000)); }

A host whose clock is late finds the lock held, so it does not run the cron job again.

  $ fresh
  $ began=$(ms)
  $ bg c zkr lock --min-hold 2.5 /p true
  $ soon shows 1 zk count /p
  $ zkr lock -n /p true
  2> zkr: /p is already held; see 'zkr status /p'
  [1]
  $ await c
  $ [ $(($(ms) - began)) -ge 2500 ]

The time of --min-hold runs from the grant, not from the end of the command.

  $ began=$(ms)
  $ zkr lock --min-hold 4 /p sleep 4
  $ took=$(($(ms) - began)); [ $took -ge 4000 ] && [ $took -le 7000 ]

The command has ended, and the lock is still held. A signal ends the hold, and zkr exits with the command's status.

  $ start() { bg c zkr lock -i c --min-hold 60 /p sh -c 'echo done; exit 7'; soon holds c; zkr lock -n /p true; }
  $ start
  2> zkr: /p is already held; see 'zkr status /p'
  [1]
  $ kill -TERM ${pid[c]}
  $ await c
  [7]
  $ zk count /p
  0

A request to release ends the hold, too.

  $ start
  2> zkr: /p is already held; see 'zkr status /p'
  [1]
  $ zkr revoke -w 20 /p | stable
  asked c, token TOKEN
  released
  $ await c
  [7]

A loss ends the hold and is reported, but zkr exits with the command's status.

  $ start
  2> zkr: /p is already held; see 'zkr status /p'
  [1]
  $ zk clear /p
  $ await c
  2> zkr: the lock on /p was lost: somebody deleted its node; the command had ended, but the time of --min-hold had not; to free a lock, use 'zkr revoke'
  [7]
