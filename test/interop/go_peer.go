// SPDX-License-Identifier: Apache-2.0

// go-zookeeper under remote control, see peer.h. Argument: servers.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"@_go_zookeeper@" // by CMake
)

type peer struct {
	conn *zk.Conn
	lock *zk.Lock
	path string
}

func (p *peer) end() {
	if p.conn != nil {
		p.conn.Close()
	}
	p.conn = nil
}

func (p *peer) begin(path, sessionMs string) error {
	p.end()
	ms, err := strconv.Atoi(sessionMs)
	if err != nil {
		return err
	}
	servers := strings.Split(os.Args[1], ",")
	conn, events, err := zk.Connect(servers, time.Duration(ms)*time.Millisecond)
	if err != nil {
		return err
	}
	p.conn, p.path = conn, path
	for event := range events {
		if event.State == zk.StateHasSession {
			break
		}
	}
	go func() { // so that the connection never waits for a reader
		for range events {
		}
	}()
	return nil
}

func (p *peer) acquire() error {
	p.lock = zk.NewLock(p.conn, p.path, zk.WorldACL(zk.PermAll))
	return p.lock.Lock()
}

func add(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	time.Sleep(time.Millisecond) // for others to come between
	return os.WriteFile(name, []byte(fmt.Sprintln(n+1)), 0o644)
}

func (p *peer) soak(name string) (int, error) {
	for count := 0; ; count++ {
		if _, err := os.Stat(name + "-end"); err == nil {
			return count, nil
		}
		if err := p.acquire(); err != nil {
			return 0, err
		}
		if err := add(name); err != nil {
			return 0, err
		}
		if err := p.lock.Unlock(); err != nil {
			return 0, err
		}
	}
}

func (p *peer) obey(word []string) (string, error) {
	switch word[0] {
	case "begin":
		return "ready " + word[1], p.begin(word[2], word[3])
	case "lock":
		return "ok", nil
	case "acquire":
		return "true", p.acquire()
	case "release":
		return "ok", p.lock.Unlock()
	case "add":
		return "ok", add(word[1])
	case "soak":
		count, err := p.soak(word[1])
		return strconv.Itoa(count), err
	case "end":
		p.end()
		return "ok", nil
	}
	return "", errors.New("what?")
}

func main() {
	log.SetOutput(io.Discard)
	p := &peer{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		answer, err := p.obey(strings.Fields(lines.Text()))
		if err != nil {
			answer = "error"
		}
		fmt.Println(answer)
	}
	p.end()
}
