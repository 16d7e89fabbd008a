package tool

import (
	"strings"
	"testing"
)

const endScript = "#!/usr/bin/env bash\nlook\nfalse\ntrue\nfalse\n"

// T-190: the record of the last command, as sdk/last-command.sh writes it.
func TestReadEnd(t *testing.T) {
	for _, tc := range []struct {
		record, command string
		line            int
	}{
		{"5\n1\n/t.sh\n0\nfalse\n", "false", 5},
		{"1\n1\n/t.sh\n0\nfalse\n", "false", 0}, // in the trap for EXIT, two lines have this command
		{"1\n1\n/t.sh\n0\nlook\n", "look", 2},
		{"1\n2\n/t.sh\n/t.sh\nf\nmain\n9\n0\ntrue\n", "true", 4},
		{"1\n2\n/lib.sh\n/t.sh\nlook\nmain\n2\n0\ngrep -q x y\n", "look", 2},
		{"1\n2\n/lib.sh\n/t.sh\nlook\nmain\n99\n0\nx\n", "", 99},
		{"1\n1\n/t.sh\n0\n", "", 0},
		{"1\n1\n/t.sh\n", "", 0},
		{"1\n-1\n/t.sh\n0\nx\n", "", 0},
		{"1\n99999999999\n/t.sh\n0\nx\n", "", 0},
		{"", "", 0},
	} {
		if command, line := readEnd(tc.record, "/t.sh", []byte(endScript)); command != tc.command || line != tc.line {
			t.Errorf("%q: %q in line %d", tc.record, command, line)
		}
	}
}

// T-190: scripts can write anything to the file of the record.
func FuzzReadEnd(f *testing.F) {
	f.Add("1\n2\n/lib.sh\n/t.sh\nlook\nmain\n2\n0\ngrep -q x y\n")
	f.Add("5\n1\n/t.sh\n0\nfalse\n")
	f.Add("9223372036854775807\n4611686018427387904\n/t.sh\n")
	f.Fuzz(func(t *testing.T, record string) {
		command, _ := readEnd(record, "/t.sh", []byte(endScript))
		if !strings.Contains(record, command) && !strings.Contains(endScript, command) {
			t.Errorf("%q: %q", record, command)
		}
	})
}
