// SPDX-License-Identifier: Apache-2.0

// Package golock contains the code that the drivers in Go share. ../../README.md describes the contract.
package golock

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

const mostGrants = 20000

// Lock is the lock of one contender. The libraries have no try, so the command "try" fails.
type Lock interface {
	Lock() error
	Unlock() error
}

// Session is a session that contenders share.
type Session interface {
	Make(path string) Lock
	Close()
}

var options = map[string]string{}

// Text returns an argument.
func Text(name string) string { return options[name] }

// Number returns an argument that is a number, or otherwise.
func Number(name string, otherwise int) int {
	if n, err := strconv.Atoi(options[name]); err == nil {
		return n
	}
	return otherwise
}

// Must ends the process if there is an error.
func Must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// now reads CLOCK_MONOTONIC, as the other processes do.
func now() int64 {
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

func beBusy() {
	us := int64(Number("hold_us", 0))
	for until := now() + us*1000; us > 0 && now() < until; {
	}
}

func run(lock Lock, work string, until *int64) []int64 {
	var grants []int64
	for {
		asked := now()
		Must(lock.Lock())
		granted := now()
		beBusy()
		released := now()
		Must(lock.Unlock())
		grants = append(grants, asked, granted, released)
		if work == "once" || now() >= atomic.LoadInt64(until) {
			return grants
		}
		if len(grants) >= 3*mostGrants {
			atomic.StoreInt64(until, now())
		}
	}
}

func round(locks []Lock, work string, seconds float64) string {
	var group sync.WaitGroup
	grants := make([][]int64, len(locks))
	from := now()
	until := from + int64(seconds*1e9)
	for i := range locks {
		group.Add(1)
		go func(i int) {
			grants[i] = run(locks[i], work, &until)
			group.Done()
		}(i)
	}
	group.Wait()
	if work == "once" {
		until = now()
	}
	text := strings.ReplaceAll(fmt.Sprint(grants), "] [", "],[")
	return fmt.Sprintf(`{"from":%d,"to":%d,"grants":%s}`, from, until,
		strings.ReplaceAll(text, " ", ","))
}

func obey(locks []Lock, words []string) string {
	switch words[0] {
	case "hold":
		Must(locks[0].Lock())
		return fmt.Sprintf(`{"at":%d}`, now())
	case "release":
		at := now()
		Must(locks[0].Unlock())
		return fmt.Sprintf(`{"at":%d}`, at)
	case "try":
		Must(errors.New("no try"))
	}
	seconds := 0.0
	if len(words) > 1 {
		seconds, _ = strconv.ParseFloat(words[1], 64)
	}
	return round(locks, words[0], seconds)
}

// Main is the main function of a driver.
func Main(open func() Session) {
	for _, argument := range os.Args[1:] {
		parts := strings.SplitN(argument, "=", 2)
		options[parts[0]] = parts[1]
	}
	var sessions []Session
	var locks []Lock
	for i := 0; i < Number("sessions", 1); i++ {
		sessions = append(sessions, open())
		for j := 0; j < Number("threads", 1); j++ {
			which := (Number("first", 0) + len(locks)) % Number("locks", 1)
			locks = append(locks, sessions[i].Make(fmt.Sprintf("%s-%d", Text("path"), which)))
		}
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(obey(locks, strings.Fields(lines.Text())))
	}
	for _, session := range sessions {
		session.Close()
	}
}
