package main

import (
	"testing"
	"time"
)

// Each work checks its own result, and panics if it is wrong.
func TestWorks(t *testing.T) {
	for name, run := range map[string]func(){
		"lock":              func() { lockLong(0) },
		"lock-short":        func() { lockShort(0) },
		"ping-pong":         func() { pingPong(0) },
		"shared lock":       func() { sharedLock(0) },
		"one permit":        func() { permits(1) },
		"ten permits":       func() { permits(10) },
		"skynet":            func() { skynetOnce(0) },
		"sieve":             func() { sieve(0) },
		"spawn":             func() { spawn(0) },
		"rendezvous":        func() { transfer(0) },
		"buffered":          func() { transfer(16) },
		"chain":             func() { chain(0) },
		"parallel":          func() { parallel(16) },
		"select of 1":       func() { selectOf(1) },
		"select of 2":       func() { selectOf(2) },
		"select of 4":       func() { selectOf(4) },
		"set and cancel":    func() { setAndCancel([]time.Duration{time.Second, time.Minute}) },
		"one sleep of each": sleepOnce,
	} {
		t.Run(name, func(t *testing.T) { run() })
	}
}

func TestNumbersArePerOperation(t *testing.T) {
	window := batches(1_000, func(int) { time.Sleep(50 * time.Millisecond) })("", true)
	if nanos := window()["time"]; nanos < 50_000 || nanos > 5_000_000 {
		t.Errorf("a thousandth of 50 ms is not %v ns", nanos)
	}
}

func TestCalibration(t *testing.T) {
	perMilli := calibrate()
	start := time.Now()
	state := uint64(88172645463325252)
	for i := 0.0; i < 20*perMilli; i++ {
		state = unit(state)
	}
	check(state)
	if took := time.Since(start); took < 15*time.Millisecond {
		t.Errorf("20 ms of work were done in %v", took)
	}
}
