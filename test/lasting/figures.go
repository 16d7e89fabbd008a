//go:build linux

package lasting

import (
	"runtime"
	"slices"
	"time"
)

// Figures are what is kept of a run, as one line of JSON.
type Figures struct {
	Date       string         `json:"date"`
	Commit     string         `json:"commit"`
	Go         string         `json:"go"`
	CPUs       int            `json:"cpus"`
	Over       string         `json:"over"`
	Seed       uint64         `json:"seed"`
	Calls      int            `json:"calls"`
	Kinds      map[kind]int   `json:"kinds"`
	Stateless  int            `json:"stateless"`
	Ends       map[ending]int `json:"ends"`
	Faults     map[string]int `json:"faults"`
	Servers    int            `json:"servers"`
	Seconds    float64        `json:"seconds"`
	Rate       float64        `json:"rate"` // calls in a second
	P50        float64        `json:"p50_ms"`
	P99        float64        `json:"p99_ms"`
	PlainP50   float64        `json:"plain_p50_ms"`
	PlainP99   float64        `json:"plain_p99_ms"`
	Memory     int            `json:"peak_memory_kb"` // of one server
	Files      int            `json:"peak_descriptors"`
	Scripts    int            `json:"peak_scripts"`
	Lines      int            `json:"record_lines"`
	Recovered  int            `json:"record_recovered"` // torn lines
	Missed     int            `json:"record_missed"`    // lines without room
	Violations int            `json:"violations"`
}

func (r *run) figures(took time.Duration, all *record) *Figures {
	f := &Figures{
		Date: r.began.UTC().Format(time.RFC3339), Go: runtime.Version(), CPUs: runtime.NumCPU(), Over: r.Over, Seed: r.Seed,
		Calls: len(r.calls) - 1, Kinds: map[kind]int{}, Ends: map[ending]int{}, Faults: r.faults,
		Seconds: float64(took.Milliseconds()) / 1000, Memory: r.peaks.Memory, Files: r.peaks.Descriptors,
		Scripts: r.peaks.Processes, Lines: all.lines, Recovered: all.recovered, Missed: all.missed,
		Violations: len(r.violations),
	}
	var every, scripts []time.Duration
	for _, c := range r.calls[1:] {
		f.Kinds[c.Kind]++
		f.Ends[c.End]++
		if c.Stateless {
			f.Stateless++
		}
		if c.End == right && c.Kind != hang {
			every = append(every, c.Got.Sub(c.Sent))
			if c.Kind == plain {
				scripts = append(scripts, c.Got.Sub(c.Sent))
			}
		}
	}
	for _, s := range r.slots {
		f.Servers += len(s.logs)
	}
	f.Rate = float64(int(10*float64(f.Calls)/max(took.Seconds(), 0.001))) / 10
	f.P50, f.P99 = percentile(every, 50), percentile(every, 99)
	f.PlainP50, f.PlainP99 = percentile(scripts, 50), percentile(scripts, 99)
	return f
}

// percentile returns a time in milliseconds.
func percentile(took []time.Duration, n int) float64 {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return float64(took[(len(took)-1)*n/100].Microseconds()) / 1000
}
