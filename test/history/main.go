// SPDX-License-Identifier: Apache-2.0

// Judges histories of locks with Porcupine: is there, for each path, an order of the operations in which each takes
// effect between its call and its return, and that a lock allows? README.md has the format.
//
//	history [-picture FILE] HISTORY...
//
// Status 0: there is; 1: there is none, and a line VIOLATION says why; 2: the history cannot be read or judged.
package main

import (
	"flag"
	"fmt"
	"os"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// patience is how long the search for an order may take on one path.
const patience = 60 * time.Second

// operations are those of one path as Porcupine wants them. An acquire is taken to take effect as it returns: earlier
// would only keep others out for longer, and the operations of its hold come later anyway. That leaves no subsets of
// waiting threads to be tried. A hold is given back no earlier than by its last write.
func operations(steps []*step) []porcupine.Operation {
	ops := make([]porcupine.Operation, 0, len(steps))
	threads := map[string]int{}
	for _, s := range steps {
		who := fmt.Sprint(s.Client, " ", s.Thread)
		if _, there := threads[who]; !there {
			threads[who] = len(threads)
		}
		o := porcupine.Operation{ClientId: threads[who], Input: s, Call: s.Call, Return: s.Return}
		if s.Op == "acquire" {
			o.Call = s.Return
		}
		if s.Return == 0 || (s.Op == "release" && s.of.unknown) {
			o.Return = never
		}
		ops = append(ops, o)
	}
	return ops
}

// explain says which operation has no place behind the longest order that was found, and why.
func explain(info porcupine.LinearizationInfo, ops []porcupine.Operation) string {
	var longest []porcupine.Operation
	for _, partial := range info.PartialLinearizationsOperations()[0] {
		if len(partial) > len(longest) {
			longest = partial
		}
	}
	s := model.Init().(state)
	placed := map[*step]bool{}
	for _, o := range longest {
		s, _ = next(s, o.Input.(*step))
		placed[o.Input.(*step)] = true
	}
	var first *porcupine.Operation
	for i := range ops {
		if !placed[ops[i].Input.(*step)] && (first == nil || ops[i].Return < first.Return) {
			first = &ops[i]
		}
	}
	if first == nil {
		return "no order"
	}
	o := first.Input.(*step)
	_, why := next(s, o)
	text := fmt.Sprintf("%s: %v, from %d to %d; then are there", why, o, o.Call, o.Return)
	for _, each := range s.live {
		text += fmt.Sprintf(" %x (weight %d, over %v)", each.hold, each.weight, each.over)
	}
	return text
}

// judge returns what is wrong with a history, a line each.
func judge(events []event, picture string) ([]string, error) {
	h, err := gather(events)
	if err != nil {
		return nil, err
	}
	var bad, paths []string
	for _, each := range h.twice {
		bad = append(bad, fmt.Sprintf("token given twice: hold %x", each.Hold))
	}
	for path := range h.paths {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	for _, path := range paths {
		ops := operations(h.paths[path])
		result, info := porcupine.CheckOperationsVerbose(model, ops, patience)
		switch result {
		case porcupine.Unknown:
			return bad, fmt.Errorf("path %s: not decided within %v", path, patience)
		case porcupine.Illegal:
			bad = append(bad, fmt.Sprintf("%s (path %s)", explain(info, ops), path))
			if picture != "" {
				if err := porcupine.VisualizePath(model, info, picture); err != nil {
					return bad, err
				}
			}
		}
	}
	return bad, nil
}

func judgeFile(name, picture string) (int, error) {
	in, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	events, err := read(in)
	if err != nil {
		return 0, err
	}
	bad, err := judge(events, picture)
	for _, each := range bad {
		fmt.Println("VIOLATION", each)
	}
	if err == nil {
		fmt.Printf("%s: %d events, %d violations\n", name, len(events), len(bad))
	}
	return len(bad), err
}

func main() {
	picture := flag.String("picture", "", "draw the path that cannot be explained, as HTML")
	flag.Parse()
	status := 0
	for _, name := range flag.Args() {
		bad, err := judgeFile(name, *picture)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			os.Exit(2)
		}
		if bad > 0 {
			status = 1
		}
	}
	os.Exit(status)
}
