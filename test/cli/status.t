# SPDX-License-Identifier: Apache-2.0

zkr status.

  $ . "$TESTDIR/setup.sh"

A path that does not exist has no holder.

  $ fresh
  $ zkr status /p
  nobody; there is no /p
  $ zkr status --json /p
  {"path":"/p","kind":null,"owner":null,"session":null,"held_since":null,"user":null,"host":null,"command":null,"session_timeout_ms":null,"waiting":0,"permits":null,"max":null,"exists":false,"contenders":[],"servers":null}

The table is in the order of the queue.

  $ fresh
  $ hold first /p
  $ queued 'second one' /p
  $ zkr status /p | head -n 3 | table | sed -E 's/[0-9]{10}$/N/'
  POS  OWNER  SESSION  AGE  HELD  TOKEN  KIND  NODE
  1  first  SESSION  AGE  HELD  TOKEN  lock  _c_GUID-lock-N
  2  second one  SESSION  AGE  HELD  TOKEN  lock  _c_GUID-lock-N
  $ let_go 'second one' first

Whatever data other programs write, the output is valid JSON and does not affect the terminal.

  $ fresh
  $ printf 'q"\\\n\33[31m\x80\xff\xc2\x9b\xed\xa0\x80\xe2\x80\xae\xf8\x88\x7f' | zk put /p/a-lock-0000000001 -
  $ zk put /p/b-lock-0000000002
  $ printf '\0\0x' | zk put /p/c-lock-0000000003 -
  $ zk put '/p/no sequence' y
  $ zk put /p/x-00-0000000004 z
  $ zkr status /p | table
  2> zkr: /p: a-lock-0000000001 is not ephemeral: no session ends it, and a lock at this path waits for it
  POS  OWNER  SESSION  AGE  HELD  TOKEN  KIND  NODE
  1  q"\??[31m???????????  0x0  AGE  HELD  TOKEN  lock  a-lock-0000000001
  2  b-lock-0000000002  0x0  AGE  HELD  TOKEN  lock  b-lock-0000000002
  3  ??x  0x0  AGE  HELD  TOKEN  lock  c-lock-0000000003
  4  z  0x0  AGE  HELD  TOKEN  other  x-00-0000000004
  $ zkr status --json /p | stable
  2> zkr: /p: a-lock-0000000001 is not ephemeral: no session ends it, and a lock at this path waits for it
  {"path":"/p","kind":"lock","owner":"q\\"\\\\??[31m?\\ufffd??\\ufffd\\ufffd\\ufffd\xe2\x80\xae\\ufffd??","session":"0x0","held_since":HELD,"user":null,"host":null,"command":null,"session_timeout_ms":null,"waiting":3,"permits":null,"max":null,"exists":true,"contenders":[{"position":1,"holder":true,"node":"a-lock-0000000001","owner":"q\\"\\\\??[31m?\\ufffd??\\ufffd\\ufffd\\ufffd\xe2\x80\xae\\ufffd??","session":"0x0","created_ms":MS,"age_ms":MS,"fencing_token":TOKEN,"sequence":1,"kind":"lock","asked":false,"held_since_ms":null,"user":null,"host":null,"command":null,"session_timeout_ms":null,"maker":null,"server":null},{"position":2,"holder":false,"node":"b-lock-0000000002","owner":"","session":"0x0","created_ms":MS,"age_ms":MS,"fencing_token":TOKEN,"sequence":2,"kind":"lock","asked":false,"held_since_ms":null,"user":null,"host":null,"command":null,"session_timeout_ms":null,"maker":null,"server":null},{"position":3,"holder":false,"node":"c-lock-0000000003","owner":"??x","session":"0x0","created_ms":MS,"age_ms":MS,"fencing_token":TOKEN,"sequence":3,"kind":"lock","asked":false,"held_since_ms":null,"user":null,"host":null,"command":null,"session_timeout_ms":null,"maker":null,"server":null},{"position":4,"holder":false,"node":"x-00-0000000004","owner":"z","session":"0x0","created_ms":MS,"age_ms":MS,"fencing_token":TOKEN,"sequence":4,"kind":"other","asked":false,"held_since_ms":null,"user":null,"host":null,"command":null,"session_timeout_ms":null,"maker":null,"server":null}],"servers":null} (esc)
  $ zkr status --json /p 2>/dev/null | iconv -f UTF-8 -t UTF-8 | python3 -m json.tool >/dev/null

The JSON output agrees with the server.

  $ fresh
  $ hold me /p
  $ zkr status --json /p | stable
  {"path":"/p","kind":"lock","owner":"me","session":"SESSION","held_since":HELD,"user":null,"host":null,"command":null,"session_timeout_ms":null,"waiting":0,"permits":null,"max":null,"exists":true,"contenders":[{"position":1,"holder":true,"node":"_c_GUID-lock-0000000000","owner":"me","session":"SESSION","created_ms":MS,"age_ms":MS,"fencing_token":TOKEN,"sequence":0,"kind":"lock","asked":false,"held_since_ms":null,"user":null,"host":null,"command":null,"session_timeout_ms":null,"maker":null,"server":null}],"servers":null}
  $ zk stat /p/$(zk ls /p) | tr ' ' '\n' >stat
  $ zkr status --json /p | tr , '\n' | grep -E '"(session|created_ms|fencing_token)"' | tee said | stable
  "session":"SESSION"
  "session":"SESSION"
  "created_ms":MS
  "fencing_token":TOKEN
  $ for each in $(tr -dc '0-9a-z\n' <said | sed -E 's/^(session|createdms|fencingtoken)//'); do grep -q "=$each$" stat || echo "not $each"; done
  $ let_go me

--watch shows each change by means of a watch. Between changes the servers receive only pings.

  $ fresh
  $ serve proxy proxy
  $ bg w zkr -z $host status --watch /p
  $ bg j zkr status --watch --json /p
  $ soon shows 'no /p' out w
  $ soon shows '"exists":false' out j
  $ hold watched /p
  $ soon shows $'-lock-0000000000' out w
  $ soon shows '"exists":true' out j
  $ sleep 0.3; before=$(tell proxy count); sleep 0.7; [ "$(tell proxy count)" = "$before" ]
  $ let_go watched
  $ soon shows $'\n\nnobody' out w
  $ let_go j w

The watch survives a lost connection: changes that were missed are shown.

  $ fresh
  $ serve proxy proxy
  $ bg w zkr -z $host status --watch --json /p
  $ soon shows '"contenders":[],"servers":null}' out w
  $ tell proxy cut
  $ queued unseen /p
  $ tell proxy heal
  $ soon shows unseen out w
  $ tell proxy count | sed -E 's/.* requests, ([2-9]|[1-9][0-9]+) /several /'
  several connections
  $ let_go unseen
  $ soon eval 'tail -n 1 $work/w.out | grep "\[\],.servers.:null}"'
  $ let_go w

Permits are shown, too.

  $ fresh
  $ bg w zkr status --watch /p
  $ soon shows 'no /p' out w
  $ lock a --permits 1 /p
  $ soon shows '1 of 1 permits held, 0 wait' out w
  $ lock b --permits 1 /p
  $ soon shows '1 of 1 permits held, 1 wait' out w
  $ let_go b a
  $ soon shows $'\n\nnobody' out w
  $ let_go w

The four-letter word that all servers allow by default is sufficient. A server that is down is named.

  $ fresh
  $ serve server server 4lw.commands.whitelist=srvr
  $ version=$(ZKR_SERVERS=$host zk word srvr | sed -n 's/^Zookeeper version: \([0-9.]*\).*/\1/p')
  $ zkr -z $host,127.0.0.1:1 status -v /p 2>said | sed "s/$host/HOST/g; s/version $version/version OURS/g"
  nobody; there is no /p
  server HOST: version OURS
  server 127.0.0.1:1 does not answer
  $ grep -o 'does not allow cons' said
  does not allow cons
  $ zkr -z $host,127.0.0.1:1 status -v --json /p 2>/dev/null >said
  $ grep -c "\"servers\":\[{\"server\":\"$host\",\"version\":\"$version\"," said
  1
  $ grep -o ',{"server":"127.0.0.1:1",.*' said
  ,{"server":"127.0.0.1:1","version":null,"note":"does not answer"}]}
  $ python3 -m json.tool said >/dev/null
  $ zkr -z $host,127.0.0.1:1 status /p
  nobody; there is no /p

zkr warns about bad versions. These servers answer only to "srvr", and refuse sessions.

  $ fresh
  $ cat >shams.py <<END
  > import socket, sys, threading
  > def answer(listens, says):
  >     while True:
  >         c = listens.accept()[0]
  >         if c.recv(4, socket.MSG_WAITALL) == b"srvr":
  >             c.send((says + "-0, built\n").encode())
  >         c.close()
  > for says in sys.argv[1:]:
  >     listens = socket.create_server(("127.0.0.1", 0))
  >     print(f"127.0.0.1:{listens.getsockname()[1]} {says.split()[-1]}", flush=True)
  >     threading.Thread(target=answer, args=(listens, says)).start()
  > END
  $ zookeepers=$(printf ' Zookeeper_version:_%s' 3.4.14 3.5.10 3.7.2 3.8.0 3.8.6 3.8.7 3.9.2 3.9.3 3.9.4 3.10.0)
  $ IFS=' ' read -ra all <<<"$zookeepers ClickHouse_Keeper_version:_v26.8.1.1"
  $ bg shams python3 shams.py "${all[@]//_/ }"
  $ soon shows v26.8.1.1 out shams
  $ zkr -z $servers,$(cut -d ' ' -f 1 $work/shams.out | paste -sd ,)$chroot status -v /p 2>&1 |
  >     grep -v "server $servers\|SERVERS\|info:\|ZOO_ERROR" | sed 's/127.0.0.1:[0-9]*/HOST/'
  nobody; there is no /p
  server HOST: version 3.4.14
  server HOST: version 3.5.10
  server HOST: version 3.7.2
  server HOST: version 3.8.0
  server HOST: version 3.8.6
  server HOST: version 3.8.7
  server HOST: version 3.9.2
  server HOST: version 3.9.3
  server HOST: version 3.9.4
  server HOST: version 3.10.0
  server HOST: version ClickHouse Keeper 26.8.1.1
  2> zkr: server HOST has version 3.4.14, which is no longer maintained and lacks containers, so parents of locks remain; run 3.9.4 or later
  2> zkr: server HOST has version 3.5.10, which is no longer maintained; run 3.9.4 or later
  2> zkr: server HOST has version 3.7.2, which is no longer maintained; run 3.9.4 or later
  2> zkr: server HOST has version 3.8.0, which can keep nodes of sessions that have ended (ZOOKEEPER-4394, ZOOKEEPER-4712); run 3.9.4 or later
  2> zkr: server HOST has version 3.8.6, which can keep nodes of sessions that have ended (ZOOKEEPER-4394, ZOOKEEPER-4712); run 3.9.4 or later
  2> zkr: server HOST has version 3.9.2, which can keep nodes of sessions that have ended (ZOOKEEPER-4394, ZOOKEEPER-4712); run 3.9.4 or later
  2> zkr: server HOST has version 3.9.3, which can lose data (ZOOKEEPER-4925); run 3.9.4 or later
  2> zkr: server HOST has version ClickHouse Keeper 26.8.1.1, which loses every lock when a connection breaks
  2> zkr: server HOST does not report which sessions it serves, because 4lw.commands.whitelist does not allow cons
  $ end shams

zkr does not wait for a server that accepts connections but is silent, as a frozen server is.

  $ fresh
  $ cat >silent.py <<END
  > import socket, time
  > listens = socket.create_server(("127.0.0.1", 0))
  > print(f"127.0.0.1:{listens.getsockname()[1]}", flush=True)
  > time.sleep(60)
  > END
  $ bg silent python3 silent.py
  $ soon holds silent
  $ zkr -z $servers,$(out silent)$chroot status -v /p 2>/dev/null | grep $(out silent) | sed "s/$(out silent)/HOST/"
  server HOST does not answer
  $ end silent
