// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// step is one operation on one path.
type step struct {
	event
	of   *hold
	nth  int  // of the lost callbacks of the hold
	gone bool // nothing of the hold follows
}

// holder is somebody who has the lock, or has not heard that it is over.
type holder struct {
	hold   int64
	weight int64
	over   bool // others may have it
	told   bool // that it is lost
}

// mark is the holder with the highest token so far, and the highest pass by that.
type mark struct {
	token, pass, seq int64
}

// before: the holder came earlier than this hold. A node that is kept serves one hold after the other, which are told
// apart by the pass; a reader has the token of the writer that it was, and so have those that share its node.
func (m mark) before(e *event) bool {
	if e.Token == m.token {
		return e.Kind == "reader" || e.Pass > m.pass
	}
	return e.Token > m.token
}

// state is one path: a lock, a read-write lock or a semaphore, and what is written under it.
type state struct {
	live    []holder
	highest mark // of all
	alone   mark // of those who were nobody's neighbour
	counter int64
	zxid    int64 // of the last guarded write
	stored  int64
	fence   int64 // the highest token that the store has seen
}

func (s *state) find(hold int64) int {
	for i := range s.live {
		if s.live[i].hold == hold {
			return i
		}
	}
	return -1
}

// with is the state in which the holder at i, or a new one behind all, is this one.
func (s state) with(i int, by holder) state {
	live := append([]holder(nil), s.live...)
	if i == len(live) {
		live = append(live, by)
	}
	live[i] = by
	s.live = live
	return s
}

func (s state) without(i int) state {
	live := append([]holder(nil), s.live[:i]...)
	s.live = append(live, s.live[i+1:]...)
	return s
}

func equal(a, b interface{}) bool {
	x, y := a.(state), b.(state)
	if len(x.live) != len(y.live) || x.highest != y.highest || x.alone != y.alone || x.counter != y.counter ||
		x.zxid != y.zxid || x.stored != y.stored || x.fence != y.fence {
		return false
	}
	for _, each := range x.live {
		if i := y.find(each.hold); i < 0 || y.live[i] != each {
			return false
		}
	}
	return true
}

// many is the weight of who is alone, and one less than that of all readers there can be.
const many = 1 << 30

func capacity(e *event) int64 {
	if e.Kind == "permits" {
		return e.Of
	}
	return many
}

func weight(e *event) int64 {
	switch e.Kind {
	case "permits":
		return e.Permits
	case "reader":
		return 1
	}
	return many
}

// acquire: those whose holds are not over leave room for it, and it comes after those who had to make way.
func (s state) acquire(e *event, sure bool) (state, string) {
	if e.Token <= 0 {
		return s, "held without a token"
	}
	if !sure { // lost at once: it tells nothing of others
		return s.with(len(s.live), holder{hold: e.Hold, over: true}), ""
	}
	sum := weight(e)
	for _, each := range s.live {
		if !each.over {
			sum += each.weight
		}
	}
	below := s.highest
	if e.Kind == "reader" {
		below = s.alone
	}
	switch {
	case sum > capacity(e):
		return s, "too many were sure at once"
	case e.Kind != "permits" && !below.before(e):
		return s, "token lower than that of an earlier holder"
	case e.Kind != "permits" && e.Seq >= 0 && e.Seq <= below.seq:
		return s, "overtaken in the queue"
	}
	if s.highest.before(e) {
		s.highest = mark{e.Token, e.Pass, e.Seq}
	}
	if e.Kind != "reader" && s.alone.before(e) {
		s.alone = mark{e.Token, e.Pass, e.Seq}
	}
	return s.with(len(s.live), holder{hold: e.Hold, weight: weight(e)}), ""
}

// write: one by one, each one more than the last. One without answer takes effect where it can, or never.
func (s state) write(e *event, token int64, held bool) (state, string) {
	why := ""
	switch {
	case e.On == "store" && e.Done == "no":
		if held {
			return s, "sure, and refused by its token"
		}
		return s, ""
	case e.On == "store" && token < s.fence:
		why = "written with a token lower than one before"
	case e.On == "store" && e.Value != s.stored+1:
		why = "fenced update lost"
	case e.On == "store":
		s.stored, s.fence = e.Value, token
	case e.Done == "no":
		return s, ""
	case !held:
		why = "written by one whose hold is over"
	case e.Value != s.counter+1:
		why = "guarded update lost"
	case e.Return != 0 && (e.Zxid <= s.zxid || e.Zxid <= token):
		why = "guarded writes out of order"
	default:
		s.counter = e.Value
		if e.Return != 0 {
			s.zxid = e.Zxid
		}
	}
	if e.Return == 0 {
		return s, ""
	}
	return s, why
}

// next is the state after the operation, or why it cannot take effect in this one.
func next(s state, o *step) (state, string) {
	i := s.find(o.Hold)
	var by holder
	if i >= 0 {
		by = s.live[i]
	}
	held := i >= 0 && !by.over
	switch o.Op {
	case "acquire":
		return s.acquire(&o.event, o.of.last != nil)
	case "expire":
		switch {
		case i >= 0 && o.gone:
			return s.without(i), ""
		case i >= 0:
			by.over = true
			return s.with(i, by), ""
		}
	case "sure":
		if i < 0 {
			return s, "sure of what it does not hold"
		}
		if by.told {
			return s, "sure after it was lost"
		}
	case "release":
		if i < 0 {
			return s, "release of what is not held"
		}
		return s.without(i), ""
	case "lost":
		most := 1
		if o.of.turned {
			most = 2 // a reader that was a writer is both for a moment, and each side is told
		}
		if o.nth > most {
			return s, "lost callback called twice"
		}
		if i >= 0 {
			by.told = true
			return s.with(i, by), ""
		}
	case "downgrade":
		if i >= 0 {
			by.weight = 1
			return s.with(i, by), ""
		}
	case "again", "downgraded":
		if o.Token != o.of.Token {
			return s, "re-entry or downgrade changed the token"
		}
	case "write":
		return s.write(&o.event, o.of.Token, held)
	case "look":
		if held && o.First != o.of.Token {
			return s, "multi-lock sure, and not first on both paths"
		}
	case "emptied":
		s.highest.seq, s.alone.seq = -1, -1
	case "final":
		if o.On == "counter" && o.Value != s.counter {
			return s, "guarded update lost"
		}
		if o.On == "store" && o.Value != s.stored {
			return s, "fenced update lost"
		}
	}
	return s, ""
}

var model = porcupine.Model{
	Init: func() interface{} { return state{highest: mark{0, 0, -1}, alone: mark{0, 0, -1}} },
	Step: func(s, input, _ interface{}) (bool, interface{}) {
		after, why := next(s.(state), input.(*step))
		return why == "", after
	},
	Equal: equal,
	DescribeOperation: func(input, _ interface{}) string {
		return input.(*step).String()
	},
	DescribeState: func(s interface{}) string { return fmt.Sprintf("%+v", s) },
}

func (o *step) String() string {
	text := fmt.Sprintf("%s by client %s thread %d, hold %x", o.Op, o.Client, o.Thread, o.Hold)
	switch o.Op {
	case "acquire":
		text += fmt.Sprintf(", %s, token %x, number %d", o.Kind, o.Token, o.Seq)
	case "write", "final":
		text += fmt.Sprintf(", %s %d", o.On, o.Value)
	}
	return text
}
