#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# github.com/go-zookeeper/zk v1.0.4 with ZooKeeper server 3.8.0-11+deb12u2 (Debian 12): a failed Lock() stays queued.
#
# Lock() parses the name of every child of the lock's path. If one child has no number, such as a node of configuration
# or of another recipe, Lock() returns an error. By then, its own node exists, and Lock() does not delete it. Unlock()
# returns "zk: not locked". Once the other child is gone, all other clients wait behind that node until the session of
# the failed client ends. A retry of the same Lock() on the same connection waits behind its own first node.
#
#   Lock beside a child named config: strconv.Atoi: parsing "config": invalid syntax
#   Unlock: zk: not locked
#   children after the deletion of config: 1
#   the same Lock again: waits, though nobody has the lock
#   after the end of the session, another client's Lock: <nil>
#
# The build cache of Go stays. Everything else is removed.
set -eu
# shellcheck source=findings/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

command -v go >/dev/null || unable 'no go'
mkdir "$tmp/go"
cat >"$tmp/go/main.go" <<'GO'
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/go-zookeeper/zk"
)

func connect() *zk.Conn {
	conn, _, err := zk.Connect([]string{os.Args[1]}, 10*time.Second, zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		panic(err)
	}
	return conn
}

func children(conn *zk.Conn) int {
	names, _, err := conn.Children("/lock")
	if err != nil {
		panic(err)
	}
	return len(names)
}

func main() {
	acl := zk.WorldACL(zk.PermAll)
	conn := connect()
	conn.Create("/lock", nil, 0, acl)
	conn.Create("/lock/config", nil, 0, acl)
	lock := zk.NewLock(conn, "/lock", acl)
	fmt.Println("Lock beside a child named config:", lock.Lock())
	fmt.Println("Unlock:", lock.Unlock())
	conn.Delete("/lock/config", -1)
	fmt.Println("children after the deletion of config:", children(conn))

	again := make(chan error, 1)
	go func() { again <- lock.Lock() }()
	select {
	case err := <-again:
		fmt.Println("the same Lock again:", err)
	case <-time.After(3 * time.Second):
		fmt.Println("the same Lock again: waits, though nobody has the lock")
	}
	conn.Close()
	fmt.Println("after the end of the session, another client's Lock:", zk.NewLock(connect(), "/lock", acl).Lock())
}
GO
export GOPATH=$tmp/gopath GOMODCACHE=$tmp/gopath/mod GOFLAGS=-modcacherw GOTOOLCHAIN=local
(cd "$tmp/go" && go mod init finding && go get github.com/go-zookeeper/zk@v1.0.4 && go build -o finding .) \
    >"$tmp/go.log" 2>&1 || {
    cat "$tmp/go.log" >&2
    unable 'the program cannot be built'
}
start_zookeeper maxClientCnxns=0
seen=$("$tmp/go/finding" "$servers")
same "$seen" <<'EXPECTED'
Lock beside a child named config: strconv.Atoi: parsing "config": invalid syntax
Unlock: zk: not locked
children after the deletion of config: 1
the same Lock again: waits, though nobody has the lock
after the end of the session, another client's Lock: <nil>
EXPECTED
