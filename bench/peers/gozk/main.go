// SPDX-License-Identifier: Apache-2.0

// go-zookeeper's Lock.
package main

import (
	"strings"
	"time"

	"github.com/samuel/go-zookeeper/zk"
	"golock"
)

type quiet struct{}

func (quiet) Printf(string, ...interface{}) {}

type session struct{ conn *zk.Conn }

func (s session) Make(path string) golock.Lock {
	return zk.NewLock(s.conn, path, zk.WorldACL(zk.PermAll))
}

func (s session) Close() { s.conn.Close() }

func open() golock.Session {
	ttl := time.Duration(golock.Number("ttl_ms", 10000)) * time.Millisecond
	conn, events, err := zk.Connect(strings.Split(golock.Text("servers"), ","), ttl,
		zk.WithLogger(quiet{}))
	golock.Must(err)
	for event := range events {
		if event.State == zk.StateHasSession {
			break
		}
	}
	return session{conn}
}

func main() { golock.Main(open) }
