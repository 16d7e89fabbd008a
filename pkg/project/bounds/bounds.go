// Package bounds keeps the limits of a server within what the system allows. A limit that the operator did not set
// takes a share of the system's amount, so that all limits together fit. A limit that the operator set may take more.
package bounds

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/run/capacity"
	"mcp-bash/pkg/run/handoff"
)

// A Reduction is a limit that the system does not allow.
type Reduction struct {
	Name     string
	From, To int
	Set      bool   // by the operator
	Why      string // the amount of the system
}

// The memory that each takes, in bytes (docs/DEPLOY.md).
const (
	perSession = 13_000
	perStream  = 7_000
)

// A Use describes how a server uses the system.
type Use struct {
	HTTP     bool
	Forwards bool // to other replicas, and answers their requests
}

// Fit returns the limits of an environment that are too high for the system, and sets them to those that fit.
func Fit(env map[string]string, c capacity.Capacity, u Use) []Reduction {
	f := &fitting{env: env}
	files := capacity.PartsOf(c.Files)
	f.why = fmt.Sprintf("%d open files, ulimit -n", c.Files)
	if c.Files > 0 {
		slots := int64(files.Running / handoff.FilesOfScript)
		f.limit("MCPBASH_MAX_CONCURRENT_REQUESTS", slots, slots)
		if u.HTTP {
			f.sockets(files.Sockets, u.Forwards)
		}
	}
	f.why = fmt.Sprintf("%d processes", c.Processes)
	if n := int64(c.Processes); n > 0 {
		f.limit("MCPBASH_MAX_CONCURRENT_REQUESTS", n/16, n/2)
		f.limit("MCPBASH_MAX_PARKED_CALLS", n/16, n/2)
		f.limit("MCPBASH_MAX_TASKS", n/8, n/2)
	}
	f.why = cli.Size(c.Memory) + " of memory"
	if n := c.Memory; n > 0 {
		f.limit("MCPBASH_MAX_LINE_BYTES", n/8, n/2)
		f.limit("MCPBASH_MAX_PENDING_BYTES", n/16, n/6) // it limits six kinds of messages
		f.limit("MCPBASH_MAX_TASK_BYTES", n/16, n/2)
		if u.HTTP {
			f.limit("MCPBASH_HTTP_MAX_SESSIONS", n/4/perSession, n/2/perSession)
			f.limit("MCPBASH_HTTP_MAX_STREAMS", n/8/perStream, n/2/perStream)
		}
	}
	f.results(c)
	return f.reduced
}

// A fitting is one call of [Fit].
type fitting struct {
	env     map[string]string
	why     string
	reduced []Reduction
}

// value returns the value of a limit, and whether the operator set it.
func (f *fitting) value(name string) (n int, set bool) {
	if i := slices.IndexFunc(f.reduced, func(r Reduction) bool { return r.Name == name }); i >= 0 {
		return f.reduced[i].To, f.reduced[i].Set
	}
	given, ok := settings.Digits(f.env[name])
	n = settings.Int(f.env, name)
	return n, ok && given == n
}

// limit reduces a limit to share, or to most if the operator set it. At least 1 remains.
func (f *fitting) limit(name string, share, most int64) {
	n, set := f.value(name)
	if set {
		share = most
	}
	if to := int(max(1, min(share, math.MaxInt))); to < n {
		f.reduce(Reduction{Name: name, From: n, To: to, Set: set, Why: f.why})
	}
}

func (f *fitting) reduce(r Reduction) {
	f.env[r.Name] = strconv.Itoa(r.To)
	if i := slices.IndexFunc(f.reduced, func(other Reduction) bool { return other.Name == r.Name }); i >= 0 {
		r.From = f.reduced[i].From
		f.reduced = slices.Delete(f.reduced, i, i+1)
	}
	f.reduced = append(f.reduced, r)
}

// sockets divides files among connections and streams. Between replicas, a request takes two more connections, and a
// stream one.
func (f *fitting) sockets(files int, forwards bool) {
	const connections, streams = "MCPBASH_HTTP_MAX_CONNECTIONS", "MCPBASH_HTTP_MAX_STREAMS"
	perConnection, perStream := 1, 1
	if forwards {
		perConnection, perStream = 3, 2
	}
	a, aSet := f.value(connections)
	b, bSet := f.value(streams)
	a, b = a*perConnection, b*perStream
	rest := files / 2
	if aSet != bSet {
		rest = files / 4 // for the limit that is not set
	}
	switch {
	case a+b <= files:
		return
	case aSet == bSet && b <= rest, aSet && !bSet:
		a = min(a, files-min(b, rest))
		b = min(b, files-a)
	default:
		b = min(b, files-min(a, rest))
		a = min(a, files-b)
	}
	f.limit(connections, int64(a/perConnection), int64(a/perConnection))
	f.limit(streams, int64(b/perStream), int64(b/perStream))
}

// results limits the stored results by the space for temporary files. Limits that the operator did not set follow: a
// client may use half of the server's space, and a result all of its client's.
func (f *fitting) results(c capacity.Capacity) {
	const all, client, one = "MCPBASH_LARGE_RESULT_SERVER_BYTES", "MCPBASH_LARGE_RESULT_SESSION_BYTES",
		"MCPBASH_LARGE_RESULT_MAX_BYTES"
	limit := func(share, most int64) {
		for _, name := range []string{all, client, one} {
			f.limit(name, share, most)
		}
	}
	if n := c.Temp.Free; n > 0 {
		f.why = cli.Size(n) + " free in " + c.Temp.Dir
		limit(n/2, n)
	}
	if n := c.Memory; n > 0 && c.Temp.Memory {
		f.why = cli.Size(n) + " of memory, in which " + c.Temp.Dir + " is"
		limit(n/8, n/2)
	}
	for _, pair := range []struct {
		of, name string
		part     int
	}{{all, client, 2}, {client, one, 1}} {
		n, _ := f.value(pair.of)
		f.why = pair.of + "=" + strconv.Itoa(n)
		f.limit(pair.name, int64(n/pair.part), math.MaxInt)
	}
}

// Lines returns lines for the operator: one for each limit that the operator set, and one for all others.
func Lines(reduced []Reduction) (list []string) {
	var others strings.Builder
	why := "" // of the last limit in others
	for _, r := range reduced {
		if r.Set {
			list = append(list, fmt.Sprintf("mcp-bash: %s is %d, but this system allows %d (%s); %[3]d applies", r.Name, r.From,
				r.To, r.Why))
		} else if !strings.HasPrefix(r.Why, "MCPBASH_") { // it follows from the operator's own choice
			switch {
			case why == r.Why:
				others.WriteString(", ")
			case why != "":
				others.WriteString(" (" + why + "); ")
			}
			fmt.Fprintf(&others, "%s=%d", r.Name, r.To)
			why = r.Why
		}
	}
	if why != "" {
		list = append(list, "mcp-bash: limits of this system: "+others.String()+" ("+why+")")
	}
	return list
}
