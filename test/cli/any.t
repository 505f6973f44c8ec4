# SPDX-License-Identifier: Apache-2.0

zkr lock --any acquires one lock of several.

  $ . "$TESTDIR/setup.sh"
  $ any() { bg "$1" zkr lock "${@:2}" -- sh -c 'echo $ZKR_LOCK_PATH; exec sleep 60'; }
  $ has() { soon holds $1; out $1; }
  $ queues() { echo $(for each in /a /b /c; do zk count $each; done); }

zkr takes the first free lock, in the order given, and does not touch the paths behind it.

  $ fresh
  $ any one --any /a /b /c
  $ has one
  /a
  $ zk ls /
  a
  $ any two -n --any /a /b /c
  $ has two
  /b
  $ zk ls /
  a
  b
  $ queues
  1 1 0
  $ zkr lock -n --any /a /b -- true
  2> zkr: /a and all other paths are held; see 'zkr status /a'
  [1]
  $ zkr lock -E9 -w2.3 --any /a /b -- true
  2> zkr: /a and all other paths are held; see 'zkr status /a'
  [9]
  $ queues
  1 1 0
  $ let_go one two

If all locks are held, the waiter gets the first that is released, unless another contender is ahead of it in that
queue. It leaves the other queues.

  $ fresh
  $ any one --any /a /b
  $ has one
  /a
  $ any two --any /a /b
  $ has two
  /b
  $ any ahead --any /b
  $ soon shows '1 2 0' queues
  $ any waiter --any /a /b
  $ soon shows '2 3 0' queues
  $ let_go two
  $ has ahead
  /b
  $ let_go ahead
  $ has waiter
  /b
  $ soon shows '1 1 0' queues
  $ let_go one waiter

As many commands as there are locks run at once, each with its own lock, in whatever order they come.

  $ fresh
  $ for each in 1 2 3; do any $each --any /a /b /c; done
  $ for each in 1 2 3; do has $each; done | sort
  /a
  /b
  /c
  $ soon shows '1 1 1' queues
  $ let_go 1 2 3

A signal makes a waiter leave all queues.

  $ fresh
  $ hold one --also /b /a
  $ any waiter --any /a /b
  $ soon shows '2 2 0' queues
  $ let_go waiter
  $ queues
  1 1 0
  $ let_go one

The hold is an ordinary hold: it can be revoked, and it is lost with its node.

  $ fresh
  $ any holder --any /a /b
  $ has holder
  /a
  $ zkr revoke -w10 /a >said
  $ await holder
  2> zkr: the release of /a was requested; ending the command
  [143]
  $ any holder --any /b /a
  $ has holder
  /b
  $ zk clear /b
  $ await holder
  2> zkr: the lock on /b was lost: somebody deleted its node; the command was killed; check what it left undone, and run it again; to free a lock, use 'zkr revoke'
  [79]

Two dashes end the paths. There may also be no command, or a command given with -c.

  $ fresh
  $ zkr lock --any /a /b | grep -o '^node=/a/'
  node=/a/
  $ zkr lock --any -c 'echo hi' /a /b
  hi
  $ zkr lock --any /a /b -c 'echo hi'
  hi
