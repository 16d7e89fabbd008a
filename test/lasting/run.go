//go:build linux

package lasting

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A Config is the input of [Run].
type Config struct {
	Server  string // the program mcp-bash, next to mcp-registry
	Over    string // "stdio" or "http"
	Seed    uint64
	Calls   int
	Dir     string // existing and empty, for all files
	Keep    string // existing folder for the history of a run that failed, or ""
	Memory  int    // bound for one server at rest, in kB; 0: that of a server as it is released
	Servers int    // 0: six, or three over HTTP
	Log     func(format string, args ...any)
}

// Programs are the commands that a run needs.
var Programs = []string{"mcp-bash", "mcp-registry"}

// patience is how long anything may take that must come, on a machine that is busy.
const patience = 90 * time.Second

// A run is a running test.
type run struct {
	Config
	stage  *stage
	slots  []*slot
	began  time.Time
	ctx    context.Context
	cancel context.CancelFunc

	mu         sync.Mutex
	changed    *sync.Cond
	calls      []*call // by number, from 1
	limit      int     // calls of this phase and those before
	quiet      bool
	violations []string
	faults     map[string]int
	skipped    int

	peaks peaks
}

// A call is one request with what came of it.
type call struct {
	N         int       `json:"n"`
	Kind      kind      `json:"kind"`
	Worker    int       `json:"worker"`
	Slot      int       `json:"slot"`
	Sent      time.Time `json:"sent"`
	Got       time.Time `json:"got"`
	End       ending    `json:"end,omitempty"`
	Killed    bool      `json:"killed,omitempty"` // its script, by the plan
	Answers   int       `json:"answers"`
	Quiet     bool      `json:"quiet,omitempty"`
	Stateless bool      `json:"stateless,omitempty"`

	spans []span
	pad   string
	extra bool // made by the test itself, after a fault
}

// An ending is what came of a call.
type ending string

const (
	right   ending = "right"   // the answer that the kind has
	killed  ending = "killed"  // the answer reports that its script was killed
	refused ending = "refused" // no room for its line in the record
	lost    ending = "lost"    // with its server
	left    ending = "left"    // its client did not wait
)

// Run makes a run, which the end of a context cuts short. The error lists what was not as promised.
func Run(ctx context.Context, c Config) (*Figures, error) {
	r := &run{Config: c, began: time.Now(), faults: map[string]int{}, calls: make([]*call, 1, c.Calls+c.Calls/50+1)}
	r.changed = sync.NewCond(&r.mu)
	r.ctx, r.cancel = context.WithCancel(ctx)
	context.AfterFunc(ctx, func() { r.violate("the run was ended") })
	defer r.cancel()
	var err error
	if r.stage, err = newStage(c.Dir); err != nil {
		return nil, err
	}
	if err := errors.Join(r.open(), r.startAll()); err != nil {
		r.closeAll()
		return nil, err
	}
	watch := r.watch()
	r.work()
	took := time.Since(r.began)
	r.closeAll()
	watch()
	record := r.verify()
	f := r.figures(took, record)
	if len(r.violations) == 0 {
		return f, nil
	}
	r.keep()
	return f, errors.New(strings.Join(r.violations, "\n"))
}

// maxViolations is how many violations are listed.
const maxViolations = 20

// violate records that a promise was not kept, and ends the run.
func (r *run) violate(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.violations) < maxViolations {
		r.violations = append(r.violations, fmt.Sprintf(format, args...))
	}
	r.cancel()
	r.changed.Broadcast()
}

// next returns the next call of this phase, or nil at the end.
func (r *run) next(worker int) *call {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.calls) > r.limit || r.ctx.Err() != nil {
		return nil
	}
	return r.add(worker)
}

// extra returns a further call, which a fault needs.
func (r *run) extra() *call {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limit++
	c := r.add(-1)
	c.Kind, c.extra = plain, true
	return c
}

func (r *run) add(worker int) *call {
	c := &call{N: len(r.calls), Worker: worker, Slot: -1, Quiet: r.quiet}
	kind, random := drawCall(r.Seed, c.N)
	c.Kind = kind
	length := random.IntN(100)
	if random.IntN(30) == 0 {
		length = random.IntN(20_000)
	}
	c.pad = strings.Repeat("x", length)
	r.calls = append(r.calls, c)
	r.changed.Broadcast()
	return c
}

// await waits until call n was begun. It reports false at the end of the phase.
func (r *run) await(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.calls) <= min(n, r.limit) && r.ctx.Err() == nil {
		r.changed.Wait()
	}
	return r.ctx.Err() == nil
}

// work makes all calls, phase after phase.
func (r *run) work() {
	workers := r.workers()
	offset := 0
	for i, p := range drawPhases(&r.Config) {
		r.mu.Lock()
		r.limit, r.quiet = p.End+offset, len(p.Faults) == 0
		r.mu.Unlock()
		var busy sync.WaitGroup
		for _, w := range workers {
			busy.Go(w.run)
		}
		r.injectAll(p.Faults, offset, workers)
		busy.Wait()
		if r.ctx.Err() != nil {
			return
		}
		r.mu.Lock()
		offset = r.limit - p.End
		r.mu.Unlock()
		if len(p.Faults) == 0 {
			r.checkRest(i / 2)
		}
	}
}

// keep writes the history of a run that failed, with its records, for people.
func (r *run) keep() {
	if r.Keep == "" {
		return
	}
	dir := filepath.Join(r.Keep, fmt.Sprintf("%s-%d-%d", r.Over, r.Seed, time.Now().Unix()))
	err := os.CopyFS(filepath.Join(dir, "records"), os.DirFS(r.stage.records))
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	for _, p := range drawPhases(&r.Config) {
		encoder.Encode(p)
	}
	for _, c := range r.calls[1:] {
		encoder.Encode(c)
	}
	err = cmp.Or(err, os.WriteFile(filepath.Join(dir, "history.jsonl"), []byte(text.String()), 0o600))
	for _, s := range r.slots {
		for gen, log := range s.logs {
			err = cmp.Or(err, os.WriteFile(fmt.Sprintf("%s/server-%d-%d.log", dir, s.n, gen), log.Bytes(), 0o600))
		}
	}
	r.Log("the history is in %s (%v)", dir, err)
}
