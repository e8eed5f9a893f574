package main

// The work of MutexBenchmark, SpawnBenchmark, SleepBenchmark and TimersBenchmark.

import (
	"math/rand"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// ---- lock

const (
	contenders          = 100
	locks               = 200
	lockLongOperations  = contenders * locks
	shortLocks          = 10_000
	lockShortOperations = contenders * shortLocks
)

// Each goroutine gives its thread away while it holds the lock, so all others come to wait.
func lockLong(int) {
	var lock sync.Mutex
	contend(func() {
		for i := 0; i < locks; i++ {
			lock.Lock()
			runtime.Gosched()
			lock.Unlock()
		}
	})
}

// Each goroutine holds the lock for an addition.
func lockShort(int) {
	var lock sync.Mutex
	count := 0
	contend(func() {
		for i := 0; i < shortLocks; i++ {
			lock.Lock()
			count++
			lock.Unlock()
		}
	})
	if count != lockShortOperations {
		panic("the lock does not exclude")
	}
}

func contend(body func()) {
	bodies := make([]func(), contenders)
	for i := range bodies {
		bodies[i] = body
	}
	together(bodies...)
}

// ---- read-write lock, permits

const (
	sharedLocks      = 5_000
	sharedOperations = contenders * sharedLocks
	writeEvery       = 100
	yieldEvery       = 10
)

// One time in 100 each goroutine writes, and gives its thread away while it does.
func sharedLock(int) {
	var lock sync.RWMutex
	written := 0
	contend(func() {
		last := 0
		for i := 1; i <= sharedLocks; i++ {
			if i%writeEvery == 0 {
				lock.Lock()
				written++
				runtime.Gosched()
				lock.Unlock()
			} else {
				lock.RLock()
				if written < last {
					panic("a number that only grows has shrunk")
				}
				last = written
				lock.RUnlock()
			}
		}
	})
	if written != sharedOperations/writeEvery {
		panic("the lock does not exclude")
	}
}

// A channel with a buffer is Go's semaphore. One time in 10 a goroutine gives its thread away.
func permits(count int) {
	semaphore := make(chan struct{}, count)
	var holders atomic.Int32
	contend(func() {
		for i := 1; i <= sharedLocks; i++ {
			semaphore <- struct{}{}
			if holders.Add(1) > int32(count) {
				panic("more goroutines hold a permit than there are")
			}
			if i%yieldEvery == 0 {
				runtime.Gosched()
			}
			holders.Add(-1)
			<-semaphore
		}
	})
}

// ---- spawn

const spawned = 1_000_000

func spawn(int) {
	var all sync.WaitGroup
	all.Add(spawned)
	for i := 0; i < spawned; i++ {
		go all.Done()
	}
	all.Wait()
}

// ---- sleep

const (
	sleepers = 100_000
	naps     = 10
	nap      = 10 * time.Millisecond
)

func sleep(string, bool) func() readings {
	for i := 0; i < 10; i++ {
		sleepOnce()
	}
	return func() readings {
		cpu := cpuTime()
		start := time.Now()
		sleepOnce()
		return readings{"wall time": millis(time.Since(start)), "CPU time": millis(cpuTime() - cpu)}
	}
}

func sleepOnce() {
	var all sync.WaitGroup
	all.Add(sleepers)
	for i := 0; i < sleepers; i++ {
		go func() {
			for j := 0; j < naps; j++ {
				time.Sleep(nap)
			}
			all.Done()
		}()
	}
	all.Wait()
}

// ---- timers

func timers(parameter string, quick bool) func() readings {
	random := rand.New(rand.NewSource(42))
	delays := make([]time.Duration, number(parameter))
	for i := range delays {
		delays[i] = time.Second + time.Duration(random.Int63n(int64(59*time.Second)))
	}
	warmUp := delays
	if len(warmUp) > 50_000 {
		warmUp = warmUp[:50_000]
	}
	for i := 0; i < 20; i++ {
		setAndCancel(warmUp)
	}
	return func() readings {
		runtime.GC()
		cpu := cpuTime()
		numbers := setAndCancel(delays)
		time.Sleep(100 * time.Millisecond) // cancelled timers are removed later
		numbers["CPU of all threads"] = float64(cpuTime()-cpu) / float64(len(delays))
		return numbers
	}
}

func setAndCancel(delays []time.Duration) readings {
	pending := make([]*time.Timer, 0, len(delays))
	start := time.Now()
	for _, delay := range delays {
		pending = append(pending, time.AfterFunc(delay, func() {}))
	}
	middle := time.Now()
	for _, timer := range pending {
		timer.Stop()
	}
	end := time.Now()
	each := func(d time.Duration) float64 { return float64(d) / float64(len(delays)) }
	return readings{
		"add":          each(middle.Sub(start)),
		"cancel":       each(end.Sub(middle)),
		"add + cancel": each(end.Sub(start)),
	}
}

// ---- memory

// Measures once, before the first window: the goroutines stay until the program ends.
func waitingMemory(parameter string, quick bool) func() readings {
	count := number(parameter)
	nothing := make(chan int)
	var started sync.WaitGroup
	started.Add(count)
	before := usedMemory()
	for i := 0; i < count; i++ {
		go func() {
			started.Done()
			<-nothing
		}()
	}
	started.Wait()
	time.Sleep(time.Second) // until the last ones wait
	each := float64(usedMemory()-before) / float64(count)
	return func() readings { return readings{"heap": each} }
}

// The bytes of live objects and of the stacks of goroutines, after a collection.
func usedMemory() uint64 {
	debug.FreeOSMemory()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.HeapAlloc + memory.StackInuse
}

// ---- clocks

// User and system time of this process, all threads.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func millis(d time.Duration) float64 {
	return float64(d) / float64(time.Millisecond)
}
