//go:build linux

package lasting

import (
	"math/rand/v2"
)

// A kind is a kind of call.
type kind string

// The kinds of calls.
const (
	plain    kind = "plain"    // a script that prints its arguments
	sdk      kind = "sdk"      // a script that uses the SDK
	confined kind = "confined" // a script that the kernel confines
	fail     kind = "fail"     // a script that fails
	large    kind = "large"    // a script whose output is stored
	hang     kind = "hang"     // a script that ends by its timeout
	cancel   kind = "cancel"   // a call that its client gives up
	read     kind = "read"
	prompt   kind = "prompt"
	complete kind = "complete"
	list     kind = "list"
	ping     kind = "ping"
)

// shares are the calls of each kind in a thousand.
var shares = []struct {
	kind  kind
	share int
}{
	{plain, 484}, {sdk, 250}, {confined, 100}, {fail, 6}, {large, 4}, {hang, 1}, {cancel, 5},
	{read, 50}, {prompt, 40}, {complete, 10}, {list, 20}, {ping, 30},
}

// drawCall returns the kind of call n, and the source of its other properties.
func drawCall(seed uint64, n int) (kind, *rand.Rand) {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	at := r.IntN(1000)
	for _, s := range shares {
		if at -= s.share; at < 0 {
			return s.kind, r
		}
	}
	panic("the shares are not a thousand")
}

// A fault is one line of the plan. After the call At, the fault happens to the server Slot. Pick decides the rest.
type fault struct {
	At   int    `json:"at"`
	Kind string `json:"kind"`
	Slot int    `json:"slot"`
	Pick uint64 `json:"pick"`
}

// The kinds of faults.
const (
	killScript  = "script killed"
	replaceFile = "file replaced" // with a time of up to a day before or after now
	fillDisk    = "disk full"     // of the record of calls
	stopClock   = "clock jumps"   // the server is stopped, and finds that time has passed
	killServer  = "server killed"
	endServer   = "server ended" // with a signal
	vanish      = "client gone"
)

// faultShares are the faults of each kind in a hundred. A client on standard streams takes its server with it.
var faultShares = map[string][]struct {
	kind  string
	share int
}{
	"stdio": {{killScript, 54}, {replaceFile, 26}, {fillDisk, 6}, {stopClock, 6}, {killServer, 4}, {vanish, 4}},
	"http": {{killScript, 45}, {replaceFile, 25}, {fillDisk, 6}, {stopClock, 6}, {killServer, 3}, {endServer, 3},
		{vanish, 12}},
}

// callsPerFault is the mean number of calls between two faults.
const callsPerFault = 25

// A phase is a part of a run: the calls before End that no phase before had.
type phase struct {
	End    int
	Faults []fault // none in a quiet phase
}

// drawPhases returns the plan of a run.
func drawPhases(c *Config) (phases []phase) {
	r := rand.New(rand.NewPCG(c.Seed, 0))
	round := min(max(c.Calls/3, 200), 10_000)
	for from := 0; from < c.Calls; from += round {
		end := min(from+round, c.Calls)
		loud := phase{End: from + (end-from)*4/5}
		for at := from + 1; ; {
			if at += 1 + r.IntN(2*callsPerFault-1); at >= loud.End {
				break
			}
			loud.Faults = append(loud.Faults, fault{At: at, Kind: drawFault(c.Over, r), Slot: r.IntN(1 << 16), Pick: r.Uint64()})
		}
		phases = append(phases, loud, phase{End: end})
	}
	return phases
}

func drawFault(over string, r *rand.Rand) string {
	at := r.IntN(100)
	for _, s := range faultShares[over] {
		if at -= s.share; at < 0 {
			return s.kind
		}
	}
	panic("the shares are not a hundred")
}
