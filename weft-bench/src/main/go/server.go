package main

// The server of the benchmark "mixed": see dev.weft.bench.echo.MixedBenchmark.

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// Echoes on a free port of the loopback address, and computes when its input says so.
func serve() {
	perMilli := calibrate()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				panic(err)
			}
			go echo(connection)
		}
	}()
	fmt.Printf("@port %d\n", listener.Addr().(*net.TCPAddr).Port)
	var stopped *atomic.Bool
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		question := input.Text()
		answer := 0.0
		if question == "computed" {
			answer = 1000 * float64(computed.Load()) / perMilli
		} else if question == "heap" {
			answer = float64(usedMemory())
		} else if question == "allocated" {
			answer = float64(allocated())
		} else if question == "stop" {
			stopped.Store(true)
		} else if strings.HasPrefix(question, "compute ") {
			stopped = &atomic.Bool{}
			for i := number(strings.TrimPrefix(question, "compute ")); i > 0; i-- {
				go compute(perMilli, stopped)
			}
		} else {
			fmt.Fprintln(os.Stderr, "bench: cannot tell "+question)
			os.Exit(2)
		}
		fmt.Printf("@%s %.0f\n", question, answer)
	}
}

// A TCP connection of Go's has TCP_NODELAY set.
func echo(connection net.Conn) {
	defer connection.Close()
	buffer := make([]byte, 1024)
	for {
		n, err := connection.Read(buffer)
		if err != nil {
			return
		}
		if _, err := connection.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// The bytes that all goroutines have allocated so far, without their stacks.
func allocated() uint64 {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.TotalAlloc
}

const (
	burstMillis = 20
	between     = time.Millisecond
	steps       = 10_000 // of a unit of work
)

// How many units of work all goroutines have done.
var computed atomic.Int64

// Computes for 20 ms, by the amount of work and not by the clock, then sleeps for 1 ms.
func compute(unitsPerMilli float64, stopped *atomic.Bool) {
	state := uint64(88172645463325252)
	units := int(burstMillis * unitsPerMilli)
	for !stopped.Load() {
		for i := 0; i < units; i++ {
			state = unit(state)
			computed.Add(1)
		}
		check(state)
		time.Sleep(between)
	}
}

// Returns how many units one goroutine does in a millisecond if nothing disturbs it.
func calibrate() float64 {
	state := uint64(88172645463325252)
	best := 0.0
	for i := 0; i < 50; i++ {
		start := time.Now()
		for j := 0; j < 100; j++ {
			state = unit(state)
		}
		if speed := 100 / millis(time.Since(start)); speed > best {
			best = speed
		}
	}
	check(state)
	return best
}

// Without a use of the result the compiler would leave the work out.
func check(state uint64) {
	if state == 0 {
		panic("a xorshift generator does not reach 0")
	}
}

// Marsaglia's xorshift, some steps of it: nothing but registers.
func unit(state uint64) uint64 {
	for i := 0; i < steps; i++ {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
	}
	return state
}
