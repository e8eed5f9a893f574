package main

// The work of ChannelBenchmark, SelectBenchmark, SieveBenchmark and SkynetBenchmark.

import "sync"

const (
	values       = 1_000_000
	many         = 10_000
	valuesOfMany = values / many
)

func transfer(capacity int) {
	c := make(chan int, capacity)
	together(
		func() { send(c, values) },
		func() { receive(c, values) })
}

func chain(capacity int) {
	links := make([]chan int, many)
	for i := range links {
		links[i] = make(chan int, capacity)
	}
	bodies := []func(){func() { send(links[0], valuesOfMany) }}
	for i := 1; i < many; i++ {
		from, to := links[i-1], links[i]
		bodies = append(bodies, func() {
			for j := 0; j < valuesOfMany; j++ {
				to <- <-from
			}
		})
	}
	bodies = append(bodies, func() { receive(links[many-1], valuesOfMany) })
	together(bodies...)
}

func parallel(capacity int) {
	var bodies []func()
	for i := 0; i < many; i++ {
		c := make(chan int, capacity)
		bodies = append(bodies,
			func() { send(c, valuesOfMany) },
			func() { receive(c, valuesOfMany) })
	}
	together(bodies...)
}

func selectOf(clauses int) {
	c := make([]chan int, clauses)
	var bodies []func()
	for i := range c {
		c[i] = make(chan int)
		one := c[i]
		bodies = append(bodies, func() { send(one, values/clauses) })
	}
	receivers := map[int]func(){
		1: func() {
			for i := 0; i < values; i++ {
				select {
				case <-c[0]:
				}
			}
		},
		2: func() {
			for i := 0; i < values; i++ {
				select {
				case <-c[0]:
				case <-c[1]:
				}
			}
		},
		4: func() {
			for i := 0; i < values; i++ {
				select {
				case <-c[0]:
				case <-c[1]:
				case <-c[2]:
				case <-c[3]:
				}
			}
		},
	}
	together(append(bodies, receivers[clauses])...)
}

const trips = 50_000

// Two goroutines wake each other: a round trip over two channels.
func pingPong(int) {
	ping, pong := make(chan int), make(chan int)
	together(
		func() {
			for i := 0; i < trips; i++ {
				ping <- i
				<-pong
			}
		},
		func() {
			for i := 0; i < trips; i++ {
				pong <- <-ping
			}
		})
}

func send(c chan<- int, count int) {
	for i := 0; i < count; i++ {
		c <- 63
	}
}

func receive(c <-chan int, count int) {
	for i := 0; i < count; i++ {
		<-c
	}
}

// Runs each body in a goroutine and awaits all of them.
func together(bodies ...func()) {
	var all sync.WaitGroup
	all.Add(len(bodies))
	for _, body := range bodies {
		body := body
		go func() {
			defer all.Done()
			body()
		}()
	}
	all.Wait()
}

// ---- skynet

const (
	leaves    = 1_000_000
	skynetSum = int64(leaves) * (leaves - 1) / 2
)

func skynetOnce(int) {
	result := make(chan int64)
	go skynet(result, 0, leaves)
	if sum := <-result; sum != skynetSum {
		panic("wrong sum")
	}
}

func skynet(parent chan<- int64, number int64, size int64) {
	if size == 1 {
		parent <- number
		return
	}
	results := make(chan int64)
	for i := int64(0); i < 10; i++ {
		go skynet(results, number+i*(size/10), size/10)
	}
	var sum int64
	for i := 0; i < 10; i++ {
		sum += <-results
	}
	parent <- sum
}

// ---- prime sieve

const (
	primes    = 2_000
	lastPrime = 17_389

	// How often a number is handed over.
	sieveOperations = 2_042_625
)

// Ends each filter by a 0 after the last number.
func sieve(int) {
	from := make(chan int)
	go func(to chan<- int) {
		for n := 2; n <= lastPrime; n++ {
			to <- n
		}
		to <- 0
	}(from)
	found := 0
	for prime := <-from; prime != 0; prime = <-from {
		found++
		to := make(chan int)
		go filter(prime, from, to)
		from = to
	}
	if found != primes {
		panic("wrong number of primes")
	}
}

func filter(prime int, from <-chan int, to chan<- int) {
	for n := <-from; n != 0; n = <-from {
		if n%prime != 0 {
			to <- n
		}
	}
	to <- 0
}
