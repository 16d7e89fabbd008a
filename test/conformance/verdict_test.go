package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestScenarios(t *testing.T) {
	list := `Required for 2025-11-25 (3 scenarios):

Server scenarios (test against a server):
  - server-initialize
  - ping

Client scenarios (test against a client):
  - auth/pre-registration

Run and reported, but never scored:
  extension (1):
    - auth/dpop [client]
  pending (1):
    - json-schema-2020-12 [server]
`
	if got := scenarios(list); !slices.Equal(got, []string{"server-initialize", "ping", "json-schema-2020-12"}) {
		t.Errorf("%q", got)
	}
}

func TestJudge(t *testing.T) {
	const good, warning, bad = `{"id":"a","status":"SUCCESS"}`,
		`{"id":"b","status":"WARNING","errorMessage":"better not"}`, `{"id":"c","status":"FAILURE"}`
	for name, tc := range map[string]struct {
		checks map[string]string
		faults []string
		want   string // in what is printed; "" when all is well
	}{
		"passes":                {map[string]string{"ping": good}, nil, ""},
		"a warning":             {map[string]string{"ping": good + "," + warning}, nil, "warning b: better not"},
		"a failure":             {map[string]string{"ping": good + "," + bad}, nil, "failure c"},
		"nothing was looked at": {map[string]string{"ping": `{"id":"a","status":"SKIPPED"}`}, nil, "looked at nothing"},
		"did not run":           {map[string]string{"ping-pong": good}, nil, "did not run"},
		"the server's fault":    {map[string]string{"ping": good}, []string{"S: not JSON"}, "S: not JSON"},
		"may fail":              {map[string]string{"ping": good, "tasks-status-notifications": warning}, nil, ""},
		"need not be excluded": {map[string]string{"ping": good, "tasks-status-notifications": good}, nil,
			"take it off the list"},
	} {
		dir := t.TempDir()
		names := []string{"ping"}
		for scenario, checks := range tc.checks {
			results := filepath.Join(dir, "server-"+scenario+"-2026-01-01T00-00-00Z")
			if err := os.Mkdir(results, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(results, "checks.json"), []byte("["+checks+"]"), 0o644); err != nil {
				t.Fatal(err)
			}
			if excluded[scenario] != "" {
				names = append(names, scenario)
			}
		}
		var out strings.Builder
		err := conclude(&out, revisions[0], dir, names, tc.faults)
		if (err != nil) != (tc.want != "") || !strings.Contains(out.String(), tc.want) {
			t.Errorf("%s: %v\n%s", name, err, out.String())
		}
	}
	if conclude(new(strings.Builder), "", t.TempDir(), nil, nil) == nil {
		t.Error("no scenarios at all pass")
	}
}
