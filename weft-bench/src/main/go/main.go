// The Go contestants of ./weft bench: the work of the Java benchmarks, done by goroutines.
//
//	bench WORK PARAMETER QUICK     measures windows, as dev.weft.bench.run.ProbeMain does
//	bench server                   serves, as dev.weft.bench.echo.ServerMain does
//
// A program gets ready, prints "@done", and measures one window for each line on its input. Each
// answer is lines "@reading METRIC=VALUE" and a line "@done". The program ends when its input does:
// the input is a pipe from the process that measures.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"time"
)

// A reading for each metric.
type readings map[string]float64

// Gets ready and returns what measures a window.
type work func(parameter string, quick bool) func() readings

var works = map[string]work{
	"lock":           batches(lockLongOperations, lockLong),
	"lock-short":     batches(lockShortOperations, lockShort),
	"shared-lock":    batches(sharedOperations, sharedLock),
	"permits":        batches(sharedOperations, permits),
	"ping-pong":      batches(trips, pingPong),
	"skynet":         batches(1, skynetOnce),
	"sieve":          batches(sieveOperations, sieve),
	"spawn":          batches(spawned, spawn),
	"transfer":       batches(values, transfer),
	"chain":          batches(values, chain),
	"parallel":       batches(values, parallel),
	"select":         batches(values, selectOf),
	"timers":         timers,
	"sleep":          sleep,
	"waiting-memory": waitingMemory,
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "server" {
		serve()
		return
	}
	if len(os.Args) != 4 || works[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: bench WORK PARAMETER QUICK | bench server")
		os.Exit(2)
	}
	window := works[os.Args[1]](os.Args[2], os.Args[3] == "true")
	answer(nil)
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		answer(window())
	}
}

func answer(numbers readings) {
	for metric, value := range numbers {
		fmt.Printf("@reading %s=%v\n", metric, value)
	}
	fmt.Println("@done")
}

// Calls a method over and over, in windows, as dev.weft.bench.run.BatchMethod does.
func batches(operations int, call func(parameter int)) work {
	return func(parameter string, quick bool) func() readings {
		warmUp := 5 * time.Second
		if quick {
			warmUp = 3 * time.Second
		}
		n := number(parameter)
		repeat(warmUp, n, call)
		return func() readings {
			nanos := repeat(200*time.Millisecond, n, call)
			return readings{"time": nanos / float64(operations)}
		}
	}
}

// Returns the nanoseconds of one call.
func repeat(limit time.Duration, parameter int, call func(int)) float64 {
	start := time.Now()
	for calls := 1; ; calls++ {
		call(parameter)
		if took := time.Since(start); took >= limit {
			return float64(took.Nanoseconds()) / float64(calls)
		}
	}
}

func number(parameter string) int {
	if parameter == "" {
		return 0
	}
	n, err := strconv.Atoi(parameter)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: not a number: "+parameter)
		os.Exit(2)
	}
	return n
}
