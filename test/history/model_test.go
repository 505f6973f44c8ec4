// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// good is a history in which each kind of lock is used, and lost; times are in ms.
const good = `
{"op":"acquire","hold":10,"paths":["m"],"kind":"mutex","client":"a","call":1,"return":5,"token":10,"seq":0}
{"op":"sure","hold":10,"call":6,"return":7,"for":100}
{"op":"again","hold":10,"call":7,"return":8,"token":10}
{"op":"write","hold":10,"path":"m","on":"counter","value":1,"zxid":11,"call":8,"return":10,"done":"yes"}
{"op":"write","hold":10,"path":"m","on":"store","value":1,"call":11,"return":12,"done":"yes"}
{"op":"write","hold":10,"path":"m","on":"counter","value":2,"call":13}
{"op":"release","hold":10,"client":"a","call":20,"return":22}
{"op":"acquire","hold":12,"paths":["m"],"kind":"mutex","client":"b","call":2,"return":24,"token":12,"seq":1}
{"op":"sure","hold":12,"call":25,"return":26,"for":50}
{"op":"write","hold":12,"path":"m","on":"store","value":2,"call":26,"return":27,"done":"yes"}
{"op":"write","hold":12,"path":"m","on":"counter","value":3,"zxid":20,"call":27,"return":29,"done":"yes"}
{"op":"lost","hold":12,"client":"b","call":70,"return":70}
{"op":"acquire","hold":14,"paths":["m"],"kind":"mutex","client":"c","call":3,"return":80,"token":14,"seq":2}
{"op":"sure","hold":14,"call":81,"return":82,"for":20}
{"op":"write","hold":12,"path":"m","on":"store","value":3,"call":82,"return":84,"done":"yes"}
{"op":"write","hold":14,"path":"m","on":"store","value":4,"call":85,"return":86,"done":"yes"}
{"op":"write","hold":12,"path":"m","on":"store","value":5,"call":87,"return":88,"done":"no"}
{"op":"release","hold":12,"client":"b","call":89,"return":90}
{"op":"release","hold":14,"client":"c","call":95,"return":96}
{"op":"emptied","path":"m","call":97,"return":98}
{"op":"acquire","hold":30,"paths":["m","n"],"kind":"mutex","client":"c","call":99,"return":101,"token":30,"seq":0}
{"op":"sure","hold":30,"call":102,"return":102,"for":20}
{"op":"look","hold":30,"path":"n","call":103,"return":105,"first":30}
{"op":"release","hold":30,"client":"c","call":106,"return":107}
{"op":"acquire","hold":32,"paths":["n"],"kind":"mutex","client":"d","call":108,"return":109,"token":32}
{"op":"sure","hold":32,"call":110,"return":110,"for":20}
{"op":"deleted","hold":32,"path":"n","call":111,"return":112}
{"op":"acquire","hold":34,"paths":["n"],"kind":"mutex","client":"e","call":108,"return":113,"token":34}
{"op":"sure","hold":34,"call":114,"return":114,"for":20}
{"op":"killed","client":"e"}
{"op":"acquire","hold":36,"paths":["n"],"kind":"mutex","client":"f","call":108,"return":116,"token":36}
{"op":"sure","hold":36,"call":117,"return":117,"for":20}
{"op":"final","path":"m","on":"counter","value":3,"call":200,"return":200}
{"op":"final","path":"m","on":"store","value":4,"call":200,"return":200}
{"op":"acquire","hold":41,"paths":["rw"],"kind":"writer","client":"a","call":1,"return":2,"token":41,"seq":1}
{"op":"sure","hold":41,"call":3,"return":3,"for":50}
{"op":"downgrade","hold":41,"call":5,"return":7}
{"op":"downgraded","hold":41,"call":7,"return":8,"token":41}
{"op":"acquire","hold":43,"paths":["rw"],"kind":"reader","client":"b","call":1,"return":10,"token":43,"seq":3}
{"op":"sure","hold":43,"call":11,"return":11,"for":20}
{"op":"acquire","hold":42,"paths":["rw"],"kind":"reader","client":"c","call":1,"return":12,"token":42,"seq":2}
{"op":"sure","hold":42,"call":13,"return":13,"for":20}
{"op":"release","hold":43,"client":"b","call":15,"return":16}
{"op":"lost","hold":41,"call":18,"return":18}
{"op":"lost","hold":41,"call":18,"return":18}
{"op":"release","hold":41,"client":"a","call":19,"return":20}
{"op":"release","hold":42,"client":"c","call":21,"return":23}
{"op":"acquire","hold":44,"paths":["rw"],"kind":"writer","client":"d","call":1,"return":25,"token":44,"seq":4}
{"op":"sure","hold":44,"call":26,"return":26,"for":20}
{"op":"release","hold":44,"client":"d","call":30,"return":31}
{"op":"acquire","hold":52,"paths":["p"],"kind":"permits","permits":2,"of":3,"client":"a","call":1,"return":4,"token":52,"seq":2}
{"op":"sure","hold":52,"call":5,"return":5,"for":40}
{"op":"acquire","hold":51,"paths":["p"],"kind":"permits","permits":1,"of":3,"client":"b","call":1,"return":6,"token":51,"seq":1}
{"op":"sure","hold":51,"call":7,"return":7,"for":20}
{"op":"release","hold":51,"client":"b","call":10,"return":12}
{"op":"acquire","hold":53,"paths":["p"],"kind":"permits","permits":1,"of":3,"client":"c","call":1,"return":14,"token":53,"seq":3}
{"op":"sure","hold":53,"call":15,"return":15,"for":20}
{"op":"acquire","hold":61,"paths":["k"],"kind":"mutex","client":"a","call":1,"return":2,"token":60,"pass":1}
{"op":"sure","hold":61,"call":3,"return":3,"for":20}
{"op":"release","hold":61,"client":"a","call":5,"return":6}
{"op":"acquire","hold":62,"paths":["k"],"kind":"mutex","client":"a","call":7,"return":8,"token":60,"pass":2}
{"op":"sure","hold":62,"call":9,"return":9,"for":20}
`

func TestGoodHistoryIsLegal(t *testing.T) {
	if bad := judgeText(t, good); len(bad) > 0 {
		t.Error(strings.Join(bad, "\n"))
	}
}

// Each of these edits of the good history makes one that no lock allows.
func TestMutants(t *testing.T) {
	for _, m := range []struct {
		name     string
		old, new string // "" for new: the line with old is left out
		why      string
	}{
		{"two holders: the second comes before the release",
			`"call":2,"return":24`, `"call":2,"return":19`, "too many were sure"},
		{"two holders: nobody has released",
			`"release","hold":10,`, "", "too many were sure"},
		{"two holders: a promise that runs on",
			`"call":25,"return":26,"for":50`, `"call":25,"return":26,"for":60`, "too many were sure"},
		{"lost after another held",
			`"hold":12,"client":"b","call":70,"return":70}`,
			`"hold":12,"client":"b","call":85,"return":85}` + "\n" +
				`{"op":"sure","hold":12,"call":81,"return":82,"for":3}`, "too many were sure"},
		{"two holders: the promise of a killed one runs on",
			`"op":"killed"`, "", "too many were sure"},
		{"two holders: the killed one was sure later",
			`"op":"killed","client":"e"}`, `"op":"killed","client":"e"}` + "\n" +
				`{"op":"sure","hold":34,"call":117,"return":118,"for":1}`, "too many were sure"},
		{"two holders: no node was deleted by hand",
			`"op":"deleted"`, "", "too many were sure"},
		{"two holders: the mutex does not see the multi-lock",
			`"call":108,"return":109`, `"call":98,"return":105`, "too many were sure"},
		{"half of a multi-lock: a node of it was deleted, and it is sure afterwards",
			`"release","hold":30,"client":"c","call":106,"return":107}`,
			`"deleted","hold":30,"path":"m","call":104,"return":105}` + "\n" +
				`{"op":"sure","hold":30,"call":115,"return":115,"for":1}`, "too many were sure"},
		{"a token that goes back", `"token":12`, `"token":9`, "token lower"},
		{"a token twice", `"hold":12,"paths"`, `"hold":10,"paths"`, "token given twice"},
		{"no token", `"token":10,"seq"`, `"token":0,"seq"`, "without a token"},
		{"a reader's token below a writer's", `"token":43`, `"token":40`, "token lower"},
		{"a writer's token below a reader's", `"token":44,"seq"`, `"token":42,"seq"`, "token lower"},
		{"another token on re-entry", `"again","hold":10,"call":7,"return":8,"token":10`,
			`"again","hold":10,"call":7,"return":8,"token":11`, "changed the token"},
		{"another token after a downgrade", `"return":8,"token":41`, `"return":8,"token":42`, "changed the token"},
		{"a kept node by the same pass again", `"pass":2`, `"pass":1`, "token lower"},
		{"overtaken", `"token":12,"seq":1`, `"token":12,"seq":0`, "overtaken"},
		{"numbers that begin again without reason", `"op":"emptied"`, "", "overtaken"},
		{"a reader overtakes a writer", `"token":43,"seq":3`, `"token":43,"seq":0`, "overtaken"},
		{"a guarded write of one whose hold is over", `"zxid":20,"call":27,"return":29`,
			`"zxid":20,"call":81,"return":83`, "hold is over"},
		{"a guarded write after the release", `"zxid":11,"call":8,"return":10`,
			`"zxid":11,"call":25,"return":26`, "hold is over"},
		{"a guarded write before the hold", `"zxid":11,"call":8,"return":10`,
			`"zxid":11,"call":2,"return":4`, "hold is over"},
		{"a guarded write is lost", `"value":3,"zxid"`, `"value":4,"zxid"`, "guarded update lost"},
		{"two guarded writes of one value", `"value":3,"zxid"`, `"value":1,"zxid"`, "guarded update lost"},
		{"the write without answer is needed", `"value":2,"call":13}`, "", "guarded update lost"},
		{"guarded writes out of the server's order", `"zxid":20`, `"zxid":11`, "out of order"},
		{"a guarded write older than its token", `"zxid":11`, `"zxid":9`, "out of order"},
		{"the counter has lost a write at the end", `"on":"counter","value":3,"call":200`,
			`"on":"counter","value":2,"call":200`, "guarded update lost"},
		{"the store has lost a write at the end", `"on":"store","value":4,"call":200`,
			`"on":"store","value":3,"call":200`, "fenced update lost"},
		{"a store that takes a lower token", `"on":"store","value":5,"call":87,"return":88,"done":"no"`,
			`"on":"store","value":5,"call":87,"return":88,"done":"yes"`, "lower than one before"},
		{"a fenced write is lost", `"on":"store","value":4,"call":85`, `"on":"store","value":5,"call":85`,
			"fenced update lost"},
		{"refused while it was sure", `"value":2,"call":26,"return":27,"done":"yes"`,
			`"value":2,"call":26,"return":27,"done":"no"`, "refused by its token"},
		{"not first on the second path", `"first":30`, `"first":29`, "not first"},
		{"a reader beside a writer", `"downgrade","hold":41,"call":5,"return":7`,
			`"downgrade","hold":41,"call":11,"return":12`, "too many were sure"},
		{"a writer beside a reader", `"call":1,"return":25`, `"call":1,"return":20`, "too many were sure"},
		{"a writer beside one that stays as a reader",
			`"release","hold":41,"client":"a","call":19,"return":20`,
			`"release","hold":41,"client":"a","call":26,"return":27`, "too many were sure"},
		{"one permit too many", `"kind":"permits","permits":1,"of":3,"client":"b"`,
			`"kind":"permits","permits":2,"of":3,"client":"b"`, "too many were sure"},
		{"a permit before one is given back", `"call":1,"return":14`, `"call":1,"return":9`, "too many were sure"},
		{"release of what is not held", `"acquire","hold":51`, `"acquire","hold":50`, "release of what is not held"},
		{"released twice", `"release","hold":51,"client":"b","call":10,"return":12}`,
			`"release","hold":51,"client":"b","call":10,"return":12}` + "\n" +
				`{"op":"release","hold":51,"client":"b","call":13,"return":13}`, "release of what is not held"},
		{"sure after the release", `"hold":44,"call":26,"return":26`, `"hold":44,"call":32,"return":32`,
			"sure of what it does not hold"},
		{"told of a loss twice", `"lost","hold":12,"client":"b","call":70,"return":70}`,
			`"lost","hold":12,"client":"b","call":70,"return":70}` + "\n" +
				`{"op":"lost","hold":12,"client":"b","call":71,"return":71}`, "called twice"},
		{"told of a loss three times by a writer that became a reader",
			`"release","hold":41,"client":"a","call":19,"return":20}`,
			`"release","hold":41,"client":"a","call":19,"return":20}` + "\n" +
				`{"op":"lost","hold":41,"call":21,"return":21}`, "called twice"},
		{"sure after it was lost", `"lost","hold":12,"client":"b","call":70,"return":70}`,
			`"lost","hold":12,"client":"b","call":70,"return":70}` + "\n" +
				`{"op":"sure","hold":12,"call":71,"return":72,"for":1}`, "sure after it was lost"},
	} {
		t.Run(m.name, func(t *testing.T) {
			if strings.Count(good, m.old) != 1 {
				t.Fatalf("%q is there %d times", m.old, strings.Count(good, m.old))
			}
			edited := strings.Replace(good, m.old, m.new, 1)
			if m.new == "" {
				edited = without(good, m.old)
			}
			bad := judgeText(t, edited)
			if len(bad) == 0 {
				t.Fatal("it is called legal")
			}
			if !strings.Contains(strings.Join(bad, "\n"), m.why) {
				t.Errorf("it is illegal because of %q", bad)
			}
		})
	}
}

// What is no fault: other promises, and answers that never came.
func TestLegalEdits(t *testing.T) {
	for _, m := range []struct{ name, old, new string }{
		{"the write without answer was not done", `"value":3,"zxid":20`, `"value":2,"zxid":20`},
		{"never sure: it says nothing of others", `"call":110,"return":110,"for":20`, ""},
		{"a multi-lock sees another on a path while it is released", `"call":106,"return":107`,
			`"call":103,"return":107`},
	} {
		t.Run(m.name, func(t *testing.T) {
			edited := strings.Replace(good, m.old, m.new, 1)
			if m.new == "" {
				edited = without(good, m.old)
			}
			edited = strings.Replace(edited, `"counter","value":3,"call":200`, `"counter","value":2,"call":200`,
				strings.Count(m.new, "zxid"))
			if bad := judgeText(t, edited); len(bad) > 0 {
				t.Error(strings.Join(bad, "\n"))
			}
		})
	}
}

func without(text, part string) string {
	var left []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.Contains(line, part) {
			left = append(left, line)
		}
	}
	return strings.Join(left, "\n")
}

func judgeText(t *testing.T, text string) []string {
	t.Helper()
	events, err := read(strings.NewReader(strings.TrimSpace(text)))
	if err != nil {
		t.Fatal(err)
	}
	bad, err := judge(events, "")
	if err != nil {
		t.Fatal(err)
	}
	return bad
}
