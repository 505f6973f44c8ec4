// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// event is a line of a history; README.md says what each field means.
type event struct {
	Op      string
	Hold    int64
	Client  string
	Thread  int
	Call    int64
	Return  int64
	Paths   []string
	Kind    string
	Permits int64
	Of      int64
	Token   int64
	Pass    int64
	Seq     int64
	For     int64
	Path    string
	On      string
	Value   int64
	Zxid    int64
	Done    string
	First   int64
}

// never is when an operation without an answer has taken effect at the latest.
const never = math.MaxInt64

// hold is what the history says of one hold, on all of its paths.
type hold struct {
	event                      // its acquire
	claimed  int64             // until when it was told to be sure
	last     *event            // the last time it was told so
	release  *event            // nil: never released
	deleted  map[string]*event // by hand, by path: the first time
	killed   bool              // it was sure no longer than its client lived
	lost     int               // calls of the lost callback
	turned   bool              // a writer became a reader
	unknown  bool              // a write of it had no answer
	lastCall int64             // of its operations
}

// history is all holds and, by path, what was done in order of the lines.
type history struct {
	holds   map[int64]*hold
	paths   map[string][]*step
	foreign map[int64]bool // tokens of nodes that nobody holds
	twice   []*hold        // holds that were granted twice
}

// read takes in a history.
func read(in io.Reader) ([]event, error) {
	var events []event
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		e := event{Seq: -1}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		events = append(events, e)
	}
	return events, lines.Err()
}

// gather sorts the events by hold and by path.
func gather(events []event) (*history, error) {
	h := &history{map[int64]*hold{}, map[string][]*step{}, map[int64]bool{}, nil}
	for i := range events {
		e := &events[i]
		if e.Op == "foreign" {
			h.foreign[e.Token] = true
		}
		if e.Op != "acquire" {
			continue
		}
		if h.holds[e.Hold] != nil {
			h.twice = append(h.twice, h.holds[e.Hold])
		}
		h.holds[e.Hold] = &hold{event: *e, deleted: map[string]*event{}}
	}
	for i := range events {
		if err := h.take(&events[i]); err != nil {
			return nil, err
		}
	}
	for _, each := range h.holds {
		h.end(each)
	}
	return h, nil
}

func (h *history) take(e *event) error {
	each := h.holds[e.Hold]
	paths := []string{e.Path}
	if e.Path == "" && each != nil {
		paths = each.Paths
	}
	switch e.Op {
	case "foreign":
		return nil
	case "killed":
		for _, of := range h.holds {
			of.killed = of.killed || of.Client == e.Client
		}
		return nil
	case "deleted":
		if each != nil && each.deleted[e.Path] == nil {
			each.deleted[e.Path] = e
		}
		return nil
	case "emptied", "final":
		each = &hold{}
	case "acquire", "sure", "again", "downgrade", "downgraded", "release", "lost", "write", "look":
	default:
		return fmt.Errorf("there is no operation %q", e.Op)
	}
	if each == nil {
		each = &hold{event: event{Hold: e.Hold, Paths: paths}} // which nobody was granted
	}
	each.note(e)
	if e.Op == "sure" || (e.Op == "look" && h.foreign[e.First] && e.First > each.Token) {
		return nil // the last sure one will do; and what others made by hand says nothing
	}
	for i, path := range paths {
		s := &step{event: *e, of: each, nth: each.lost}
		if i > 0 {
			s.Seq = -1 // known of the first path alone
		}
		h.add(path, s)
	}
	return nil
}

func (each *hold) note(e *event) {
	if e.Call > each.lastCall {
		each.lastCall = e.Call
	}
	switch e.Op {
	case "sure":
		if each.last == nil || e.Call >= each.last.Call {
			each.last = e
		}
		if e.Call+e.For > each.claimed {
			each.claimed = e.Call + e.For
		}
	case "release":
		each.release = e
	case "lost":
		each.lost++
	case "downgrade":
		each.turned = true
	case "write":
		each.unknown = each.unknown || e.Return == 0
	}
}

func (h *history) add(path string, s *step) {
	h.paths[path] = append(h.paths[path], s)
}

// end is when the promise on a path is over: what was told, unless the node was deleted by hand or the client was
// killed. It lets go of its other paths once it notices a deletion.
func (each *hold) endOn(path string) int64 {
	end := each.Return
	if each.claimed > end {
		end = each.claimed
	}
	last := each.Return
	if each.last.Call > last {
		last = each.last.Call
	}
	for on, e := range each.deleted {
		at := e.Call
		if on != path && last > at {
			at = last
		}
		if at < end {
			end = at
		}
	}
	if each.killed && each.release == nil && last < end {
		end = last
	}
	return end
}

// end adds what no line says: the last time at which the hold was sure, and when others may have it.
func (h *history) end(each *hold) {
	for _, path := range each.Paths {
		if each.last == nil {
			continue
		}
		h.add(path, &step{event: *each.last, of: each})
		end := each.endOn(path)
		if each.release != nil && each.release.Call <= end {
			continue
		}
		over := event{Op: "expire", Hold: each.Hold, Client: each.Client, Thread: each.Thread, Call: end}
		h.add(path, &step{event: over, of: each, gone: each.release == nil && each.lastCall <= end})
	}
}
