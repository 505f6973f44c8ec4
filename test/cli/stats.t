# SPDX-License-Identifier: Apache-2.0

zkr lock --stats writes a file for node_exporter.

  $ . "$TESTDIR/setup.sh"
  $ says() { sed -n "s/^$1{path=\"\/p\"} /$1 /p" stats/x.prom; }
  $ mkdir stats

The file is updated during the whole life of a lock, and with time. A collector may read it, and never sees a part of
it.

  $ fresh
  $ hold other /p
  $ bg c zkr lock --stats stats/x.prom /p sleep 60
  $ soon shows 'zkr_waiting 1' says zkr_waiting
  $ let_go other
  $ soon shows 'zkr_held 1' says zkr_held
  $ stat -c %A stats/x.prom | grep -c '^-r..r..r..'
  1
  $ ls -i stats >before
  $ soon eval '! ls -i stats | cmp -s - before'
  $ let_go c
  $ for each in held acquired_total contended_total pending_deletes; do says zkr_$each; done
  zkr_held 0
  zkr_acquired_total 1
  zkr_contended_total 1
  zkr_pending_deletes 0
  $ ls -A stats
  x.prom

The text format of Prometheus requires: each family has one TYPE, ahead of its samples, with a known type. Each sample
is a name, labels and a number. The path is among the labels, so no other file of this host has the same sample.

  $ awk '
  >     function bad() { print "bad: " $0 }
  >     /^# TYPE / { if ($3 in seen || $4 !~ /^(counter|gauge|histogram)$/ || NF != 4) bad(); seen[family = $3]; next }
  >     /^# HELP / { if ($3 != family) bad(); next }
  >     index($0, family) != 1 || $0 !~ /^[a-z_]+[{]path="\/[^}]*[}] [-+0-9.e]+$/ { bad() }' stats/x.prom
  $ grep -c '^zkr' stats/x.prom
  85

The file is also written if the acquire fails.

  $ fresh
  $ hold other /p
  $ zkr lock -n --stats stats/x.prom /p true
  2> zkr: /p is already held; see 'zkr status /p'
  [1]
  $ says zkr_timed_out_total
  zkr_timed_out_total 1
  $ let_go other
  $ rm stats/x.prom

If the name is not that of a regular file, zkr refuses it, because it would replace it: as root, even /dev/null.

  $ fresh
  $ mkfifo stats/x.prom
  $ zkr lock --stats stats/x.prom /p true
  2> zkr: --stats stats/x.prom is not a regular file; name a regular file or a new file
  [64]
  $ rm stats/x.prom
  $ ln -s elsewhere stats/x.prom
  $ zkr lock --stats stats/x.prom /p true
  2> zkr: --stats stats/x.prom is not a regular file; name a regular file or a new file
  [64]
  $ readlink stats/x.prom
  elsewhere
  $ rm stats/x.prom
  $ rmdir stats
