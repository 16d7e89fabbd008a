package bounds

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/run/capacity"
)

type have = capacity.Capacity

type limits map[string]int

type env = map[string]string

var served = Use{HTTP: true}

const (
	connections = "MCPBASH_HTTP_MAX_CONNECTIONS"
	streams     = "MCPBASH_HTTP_MAX_STREAMS"
	sessions    = "MCPBASH_HTTP_MAX_SESSIONS"
	slots       = "MCPBASH_MAX_CONCURRENT_REQUESTS"
	parked      = "MCPBASH_MAX_PARKED_CALLS"
	tasks       = "MCPBASH_MAX_TASKS"
	pending     = "MCPBASH_MAX_PENDING_BYTES"
	stored      = "MCPBASH_LARGE_RESULT_SERVER_BYTES"
	client      = "MCPBASH_LARGE_RESULT_SESSION_BYTES"
	single      = "MCPBASH_LARGE_RESULT_MAX_BYTES"
)

// P-1807: each limit follows from what the system allows. The limits that fit stay.
func TestFit(t *testing.T) {
	free := func(bytes int64) capacity.Space { return capacity.Space{Dir: "/tmp", Free: bytes} }
	for name, tc := range map[string]struct {
		env  env
		c    have
		use  Use
		want limits
	}{
		"nothing is known": {nil, have{}, served, nil},
		"a large machine": {nil, have{Files: 524288, Memory: 16 << 30, Processes: 30000, Temp: free(50 << 30)},
			Use{HTTP: true, Forwards: true}, nil},
		"1024 files": {nil, have{Files: 1024}, served, limits{connections: 192, streams: 192}},
		"1024 files, replicas": {nil, have{Files: 1024}, Use{HTTP: true, Forwards: true},
			limits{connections: 64, streams: 96}},
		"1024 files, standard input": {nil, have{Files: 1024}, Use{}, nil},
		"256 files":                  {nil, have{Files: 256}, Use{}, limits{slots: 4}},
		"8 files":                    {nil, have{Files: 8}, served, limits{slots: 1, connections: 1, streams: 2}},
		"few connections are wanted": {env{connections: "10"}, have{Files: 1024}, served,
			limits{streams: 374}},
		"many connections are wanted": {env{connections: "5000"}, have{Files: 1024}, served,
			limits{connections: 288, streams: 96}},
		"many streams are wanted": {env{streams: "5000"}, have{Files: 1024}, served,
			limits{connections: 96, streams: 288}},
		"many of both": {env{connections: "5000", streams: "300"}, have{Files: 1024}, served,
			limits{connections: 192, streams: 192}},
		"both fit":      {env{connections: "80", streams: "304"}, have{Files: 1024}, served, nil},
		"512 processes": {nil, have{Processes: 512}, served, limits{parked: 32, tasks: 64}},
		"512 processes, set": {env{parked: "100", slots: "300"}, have{Processes: 512}, Use{},
			limits{slots: 256, tasks: 64}},
		"512 MiB of memory": {nil, have{Memory: 512 << 20}, served,
			limits{pending: 32 << 20, "MCPBASH_MAX_TASK_BYTES": 32 << 20, streams: 9586}},
		"128 MiB of memory": {nil, have{Memory: 128 << 20}, served,
			limits{pending: 8 << 20, "MCPBASH_MAX_TASK_BYTES": 8 << 20, "MCPBASH_MAX_LINE_BYTES": 16 << 20,
				sessions: 2581, streams: 2396}},
		"512 MiB of memory, set": {env{pending: "80000000", sessions: "30000"}, have{Memory: 512 << 20},
			served, limits{"MCPBASH_MAX_TASK_BYTES": 32 << 20, sessions: 20648, streams: 9586}},
		"256 MiB for files": {nil, have{Temp: free(256 << 20)}, Use{},
			limits{stored: 128 << 20, client: 64 << 20, single: 64 << 20}},
		"256 MiB for files, set": {env{stored: "200000000", client: "150000000", single: "150000000"},
			have{Temp: free(256 << 20)}, Use{}, nil},
		"256 MiB for files, more is set": {env{stored: "1000000000", client: "900000000"},
			have{Temp: free(256 << 20)}, Use{},
			limits{stored: 256 << 20, client: 256 << 20, single: 128 << 20}},
		"files in memory": {nil, have{Memory: 4 << 30, Temp: capacity.Space{Dir: "/tmp", Free: 8 << 30, Memory: true}},
			Use{}, limits{stored: 512 << 20, client: 256 << 20}},
		"an invalid value counts as the default": {env{connections: "many"}, have{Files: 1024},
			served, limits{connections: 192, streams: 192}},
	} {
		own := env{}
		maps.Copy(own, tc.env)
		reduced := Fit(own, tc.c, tc.use)
		got := limits{}
		for _, r := range reduced {
			if got[r.Name] = r.To; settings.Int(own, r.Name) != r.To || r.From <= r.To || r.Why == "" {
				t.Errorf("%s: %+v, but %s", name, r, own[r.Name])
			}
		}
		if !maps.Equal(got, tc.want) {
			t.Errorf("%s: %v, not %v", name, got, tc.want)
		}
		if again := Fit(own, tc.c, tc.use); again != nil {
			t.Errorf("%s: the result does not fit: %v", name, again)
		}
	}
}

// P-1807: with any number of files, the connections and streams take at most their part of them.
func TestFilesSuffice(t *testing.T) {
	for files := 128; files < 100_000; files = files*5/4 + 1 {
		for _, forwards := range []bool{false, true} {
			own := env{}
			Fit(own, have{Files: files}, Use{HTTP: true, Forwards: forwards})
			each, other := 1, 1
			if forwards {
				each, other = 3, 2
			}
			sockets := settings.Int(own, connections)*each + settings.Int(own, streams)*other
			if part := capacity.PartsOf(files).Sockets; sockets > part {
				t.Errorf("%d files, forwards %t: %d sockets, not at most %d", files, forwards, sockets, part)
			}
		}
	}
}

// P-1807: a limit of the operator that is not met gets its own line, with both numbers.
func TestLines(t *testing.T) {
	own := env{connections: "5000"}
	got := Lines(Fit(own, have{Files: 1024, Temp: capacity.Space{Dir: "/tmp", Free: 256 << 20}}, served))
	want := []string{
		"mcp-bash: MCPBASH_HTTP_MAX_CONNECTIONS is 5000, but this system allows 288 " +
			"(1024 open files, ulimit -n); 288 applies",
		"mcp-bash: limits of this system: MCPBASH_HTTP_MAX_STREAMS=96 (1024 open files, ulimit -n); " +
			"MCPBASH_LARGE_RESULT_SERVER_BYTES=134217728 (256.0M free in /tmp)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if got := Lines(nil); got != nil {
		t.Error(got)
	}
}
