// SPDX-License-Identifier: Apache-2.0

// etcd's own lock: concurrency.Mutex of the Go client, with a lease for each session. Contenders of one session would
// share its key and therefore its lock, so each contender has its own session.
package main

import (
	"context"
	"strings"

	"go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/clientv3/concurrency"
	"golock"
)

type session struct{ client *clientv3.Client }

type lock struct{ mutex *concurrency.Mutex }

var background = context.Background()

func (l lock) Lock() error   { return l.mutex.Lock(background) }
func (l lock) Unlock() error { return l.mutex.Unlock(background) }

func (s session) Make(path string) golock.Lock {
	lease, err := concurrency.NewSession(s.client,
		concurrency.WithTTL((golock.Number("ttl_ms", 10000)+999)/1000))
	golock.Must(err)
	return lock{concurrency.NewMutex(lease, path)}
}

func (s session) Close() { s.client.Close() }

func open() golock.Session {
	client, err := clientv3.New(clientv3.Config{
		Endpoints: strings.Split(golock.Text("servers"), ",")})
	golock.Must(err)
	return session{client}
}

func main() { golock.Main(open) }
