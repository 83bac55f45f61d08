// The rows of `core/benches/table` with the reference itself: client-go's queues and stores, and
// controller-runtime's priority queue. `ci/versus.sh` builds and runs it.
//
// It reads the rows that the table has written, measures every one that it knows by part and name,
// and prints both columns and their ratio.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A row as the table writes it.
type row struct {
	Part  string   `json:"part"`
	Row   string   `json:"row"`
	Ours  float64  `json:"ours_ns"`
	Pause *float64 `json:"pause_ns"`
}

// measure returns how long one round takes, and how many operations that is.
type measure func() (time.Duration, int)

// rounds returns the median nanoseconds of an operation. The garbage of a round is not the next one's.
func rounds(count int, round measure) float64 {
	if count > 1 {
		round() // warms up
	}
	var all []float64
	for range count {
		runtime.GC()
		took, operations := round()
		all = append(all, float64(took.Nanoseconds())/float64(operations))
	}
	sort.Float64s(all)
	return all[len(all)/2]
}

// timed returns how long this thread runs for something: other processes do not count, nor do the
// threads of the garbage collector.
func timed(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	now := func() time.Duration {
		var spec unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &spec); err != nil {
			fail(err.Error())
		}
		return time.Duration(spec.Nano())
	}
	began := now()
	work()
	return now() - began
}

// wall returns how long something takes that runs in several goroutines.
func wall(work func()) time.Duration {
	began := time.Now()
	work()
	return time.Since(began)
}

const (
	// accepted is the least ratio of a row, goal what is hoped for.
	accepted = 1.2
	goal     = 2.0
)

func main() {
	if len(os.Args) < 2 {
		fail("usage: reference ROWS.json [WORD]...")
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err.Error())
	}
	var rows []row
	if err := json.Unmarshal(text, &rows); err != nil {
		fail(fmt.Sprintf("%s: %v", os.Args[1], err))
	}
	debug.SetGCPercent(100)
	fmt.Printf("%-13s %-40s %10s %10s %7s %20s\n", "part", "row", "ours ns", "theirs ns", "ratio", "pause us, theirs")
	compared, below, short := 0, 0, 0
	for _, row := range rows {
		name := row.Part + ": " + row.Row
		run, known := reference[name]
		if !known || !asked(name) {
			continue
		}
		delete(reference, name) // a second row of that name compares ours with something else
		theirs := run()
		ratio := theirs / row.Ours
		compared++
		note := ""
		switch {
		case ratio < accepted:
			below, note = below+1, "  below 1.2"
		case ratio < goal:
			short, note = short+1, "  short of 2"
		}
		fmt.Printf("%-13s %-40s %10.1f %10.1f %7.2f %20s%s\n",
			row.Part, row.Row, row.Ours, theirs, ratio, pause(name, row.Pause), note)
	}
	fmt.Printf("%d rows compared, %d short of %.0f times, %d below %.1f\n", compared, short, goal, below, accepted)
	if compared == 0 || below > 0 {
		os.Exit(1)
	}
}

// pause returns how long the longest call takes, ours and theirs, where both are measured.
func pause(name string, ours *float64) string {
	run, known := pauses[name]
	if !known || ours == nil {
		return ""
	}
	theirs := run()
	return fmt.Sprintf("%.0f %9.0f", *ours/1_000, float64(theirs.Microseconds()))
}

func asked(name string) bool {
	for _, word := range os.Args[2:] {
		if strings.Contains(name, word) {
			return true
		}
	}
	return len(os.Args) == 2
}

func fail(why string) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(2)
}

// keys returns distinct keys of 32 bytes, in an order that has nothing to do with their names.
func keys(count int) []string {
	all := make([]string, count)
	for number := range all {
		all[number] = fmt.Sprintf("namespace-%08d/object-name-0", number)
	}
	shuffle(all)
	return all
}

// random gives numbers that look random and are always the same.
type random uint64

func (r *random) below(end uint64) uint64 {
	*r = *r*6364136223846793005 + 1
	return uint64(*r>>33) % end
}

func newRandom() random { return 0x9E3779B97F4A7C15 }

func shuffle[T any](things []T) {
	r := newRandom()
	for at := len(things) - 1; at > 0; at-- {
		other := r.below(uint64(at) + 1)
		things[at], things[other] = things[other], things[at]
	}
}
