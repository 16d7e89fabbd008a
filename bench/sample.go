package main

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A sample contains one value of a server for each round of a comparison. Samples of the same rounds belong
// together: a disturbance of a round affects all.
type sample []float64

func (s sample) quantile(q float64) float64 {
	sorted := slices.Sorted(slices.Values(s))
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

func (s sample) median() float64 { return s.quantile(0.5) }

// resamples is how often a comparison is repeated on rounds drawn by lot.
const resamples = 1000

// compare applies f to two samples. It also returns the interval that contains 95 % of the values of f for randomly
// drawn rounds (a bootstrap).
func compare(a, b sample, f func(a, b sample) float64) (value, low, high float64) {
	lot := rand.New(rand.NewPCG(1, 2)) // the same figures give the same interval
	n := min(len(a), len(b))
	drawn := make(sample, 0, resamples)
	as, bs := make(sample, n), make(sample, n)
	for range resamples {
		for i := range n {
			round := lot.IntN(n)
			as[i], bs[i] = a[round], b[round]
		}
		drawn = append(drawn, f(as, bs))
	}
	return f(a, b), drawn.quantile(0.025), drawn.quantile(0.975)
}

func ratio(a, b sample) float64      { return a.median() / b.median() }
func difference(a, b sample) float64 { return a.median() - b.median() }

// meanDifference is for values that belong together in pairs, while the pairs differ a lot.
func meanDifference(a, b sample) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] - b[i]
	}
	return sum / float64(len(a))
}

// A task is the work of one server in a round. It returns a value for each measured figure.
type task func() ([]float64, error)

// rounds runs the tasks n times. It chooses a random order for each round, because a task affects the next one.
// The first warmUp rounds do not count. The samples are indexed by task and figure.
func rounds(n, warmUp int, tasks []task) ([][]sample, error) {
	lot := rand.New(rand.NewPCG(3, 4))
	all := make([][]sample, len(tasks))
	for round := range warmUp + n {
		for _, who := range lot.Perm(len(tasks)) {
			values, err := tasks[who]()
			if err != nil {
				return nil, err
			}
			if round < warmUp {
				continue
			}
			if all[who] == nil {
				all[who] = make([]sample, len(values))
			}
			for figure, v := range values {
				all[who][figure] = append(all[who][figure], v)
			}
		}
	}
	return all, nil
}

// timed is the task of doing something n times: the median of what one time
// takes, in milliseconds.
func timed(n int, do func() error) task {
	return func() ([]float64, error) {
		took := make(sample, n)
		for i := range took {
			began := time.Now()
			if err := do(); err != nil {
				return nil, err
			}
			took[i] = milliseconds(time.Since(began))
		}
		return []float64{took.median()}, nil
	}
}

// rated is the task of doing n things in one go: how many it is a second.
func rated(n int, do func(n int) error) task {
	return func() ([]float64, error) {
		began := time.Now()
		if err := do(n); err != nil {
			return nil, err
		}
		return []float64{float64(n) / time.Since(began).Seconds()}, nil
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
