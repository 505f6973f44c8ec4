# SPDX-License-Identifier: Apache-2.0

zkr status on a path with nodes of other programs: its output, and its requests.

  $ . "$TESTDIR/setup.sh"

Clients of all languages are shown in the order of their sequence numbers: go-zookeeper, kazoo and Curator.

  $ fresh
  $ hex=00112233445566778899aabbccddeeff
  $ keep others /p/_c_00112233-4455-6677-8899-aabbccddeeff-lock-0000000007=10.0.0.1 /p/${hex}__lock__0000000005=kazoo \
  >     /p/_c_$hex-lock-0000000003 '/p/no number=x'
  $ zkr status /p 2>said | table
  POS  OWNER  SESSION  AGE  HELD  TOKEN  KIND  NODE
  1  _c_00112233445566778899aabbccddeeff-lock-0000000003  SESSION  AGE  HELD  TOKEN  lock  _c_00112233445566778899aabbccddeeff-lock-0000000003
  2  kazoo  SESSION  AGE  HELD  TOKEN  kazoo  00112233445566778899aabbccddeeff__lock__0000000005
  3  10.0.0.1  SESSION  AGE  HELD  TOKEN  lock  _c_GUID-lock-0000000007
  $ command zkr status --json /p 2>said | grep -o "\"session\":\"$(sed -n 's/kept by //p' $work/others.out)\"" | wc -l
  4
  $ end others

The proxy passes no answers from the first get on. The list takes one round trip, and all gets together take another.
Two more lists show that there is no semaphore below the path, and the list of the gate is read twice. If all that takes
long, the client sends exists() as a nudge.

  $ read_queue() { # COUNT: of nodes
  >     bg r zkr -z $host status --json /p
  >     soon shows " $1 gets, " tell proxy kinds
  >     tell proxy thaw
  >     await r
  >     tell proxy kinds
  > }
  $ fresh
  $ keep others $(for i in {100..299}; do echo /p/n-lock-0000000$i=x; done)
  $ serve proxy proxy
  $ tell proxy 'at get 1 mute'
  $ read_queue 200
  4 lists, 200 gets, 0 others
  $ out r | grep -o '"position":200,'
  "position":200,
  $ end others

A contender that ends between the list and the read of its node is left out, and those behind it move up.

  $ fresh
  $ keep a /p/a-lock-0000000001=x
  $ keep b /p/b-lock-0000000002=y
  $ keep c /p/c-lock-0000000003=z
  $ serve proxy proxy
  $ tell proxy 'at get 1 mute'
  $ tell proxy 'at get 1 delete /p/b-lock-0000000002'
  $ read_queue 3
  4 lists, 3 gets, 0 others
  $ out r | grep -o '"position":.,"holder":[a-z]*,"node":"[^"]*"'
  "position":1,"holder":true,"node":"a-lock-0000000001"
  "position":2,"holder":false,"node":"c-lock-0000000003"
  $ end a; end b; end c
