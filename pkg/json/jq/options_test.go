package jq

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// SDK-14: the command line.
func TestParseOptions(t *testing.T) {
	for _, tc := range []struct {
		args  string
		check func(o *options) bool
	}{
		{"", func(o *options) bool { return !o.hasFilter && o.indent == "  " }},
		{"-rc .a f g", func(o *options) bool {
			return o.raw && o.indent == "" && o.filter == ".a" && reflect.DeepEqual(o.files, []string{"f", "g"})
		}},
		{"-Rsc", func(o *options) bool { return o.rawInput && o.slurp && o.indent == "" }},
		{"-Rs -er -nc -jS -aM", func(o *options) bool {
			return o.rawInput && o.slurp && o.exitStatus && o.noInput && o.raw && o.join && o.sorted && o.ascii
		}},
		{"--null-input --raw-input --slurp --compact-output --raw-output --join-output --ascii-output --sort-keys " +
			"--exit-status --monochrome-output --unbuffered", func(o *options) bool {
			return o.noInput && o.rawInput && o.slurp && o.indent == "" && o.raw && o.join && o.ascii && o.sorted &&
				o.exitStatus && o.direct
		}},
		{"-c --tab", func(o *options) bool { return o.indent == "\t" }},
		{"--tab -c", func(o *options) bool { return o.indent == "" }},
		{"--indent 3", func(o *options) bool { return o.indent == "   " }},
		{"--indent 0", func(o *options) bool { return o.indent == "" }},
		{". --arg a 1 file --arg a 2 --argjson b {}", func(o *options) bool {
			return len(o.named) == 2 && string(o.named[0].value) == `"1"` && string(o.named[1].value) == `{}` &&
				len(o.files) == 1
		}},
		{"--args . a -n b --jsonargs {} [1] --args c -- -d", func(o *options) bool {
			return o.noInput && len(o.files) == 0 &&
				string(o.arguments()) == `{"positional":["a","b",{},[1],"c","-d"],"named":{}}`
		}},
		{"-- -1 -n", func(o *options) bool { return o.filter == "-1" && o.files[0] == "-n" }},
		{". -", func(o *options) bool { return o.files[0] == "-" }},
		{"-nf prog in", func(o *options) bool {
			return o.noInput && o.fromFile && o.filter == "prog" &&
				o.files[0] == "in"
		}},
		{"-L one -Ltwo -nLthree .", func(o *options) bool {
			return reflect.DeepEqual(o.libraries,
				[]string{"one", "two", "three"})
		}},
		{"--slurpfile a f --rawfile b g --argfile c h .", func(o *options) bool {
			return len(o.named) == 3 &&
				o.named[1].file == "g"
		}},
		{"-h --nonsense", func(o *options) bool { return o.help }},
		{"--version", func(o *options) bool { return o.version }},
		{"-V", func(o *options) bool { return o.version }},
	} {
		o, err := parseOptions(strings.Fields(tc.args))
		if err != nil {
			t.Errorf("%s: %v", tc.args, err)
		} else if !tc.check(o) {
			t.Errorf("%s: %+v", tc.args, o)
		}
	}
	if o, err := parseOptions([]string{""}); err != nil || !o.hasFilter || o.filter != "" {
		t.Errorf("an empty filter: %+v, %v", o, err)
	}
}

// SDK-14: an option that is missing here names the remedy.
func TestParseOptionsErrors(t *testing.T) {
	for args, want := range map[string]string{
		"--foo":                "Unknown option --foo; write -- before a filter or file that begins with a dash",
		"-rx":                  "Unknown option -rx; write -- before a filter or file that begins with a dash",
		"--raw-output=1":       "Unknown option --raw-output=1; write -- before a filter or file that begins with a dash",
		"-c --seq":             "missing --seq",
		"--stream .":           "missing --stream",
		"--stream-errors":      "missing --stream-errors",
		"--color-output":       "missing --color-output",
		"-rC .":                "missing -C",
		"--arg x":              "--arg must be followed by NAME TEXT",
		"--argjson x {":        "Invalid JSON text passed to --argjson x: unexpected end at byte 1",
		"--jsonargs . 1 nope":  "Invalid JSON text passed to --jsonargs: a value expected at byte 0",
		"--indent 9":           `--indent takes a number from 0 to 7, not "9"`,
		"--indent x":           `--indent takes a number from 0 to 7, not "x"`,
		"--indent":             "--indent must be followed by N",
		"-L":                   "-L must be followed by DIR",
		"--rawfile only":       "--rawfile must be followed by NAME FILE",
		"-n --from-file":       "--from-file needs a file with the filter",
		"--slurpfile a -- .a ": "", // a file can have any name
	} {
		if missing, ok := strings.CutPrefix(want, "missing "); ok {
			want = "the jq of mcp-bash does not have the option " + missing + ": install jq, which scripts then get as " +
				"MCPBASH_JSON_TOOL_BIN"
		}
		_, err := parseOptions(strings.Fields(args))
		var usage *usageError
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", args, err)
			}
		} else if !errors.As(err, &usage) || err.Error() != want {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// FuzzOptions checks that any command line is accepted or is a usage error, and that no word is lost.
func FuzzOptions(f *testing.F) {
	for _, seed := range []string{"-rc\n.a\nfile", "--arg\na\nb\n.", "-L\x00dir", "--args\n.\na\n--\n-b", "--indent\n7",
		"-Ldir\n--argjson\na\n{}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\n")
		o, err := parseOptions(args)
		if err != nil {
			var usage *usageError
			if !errors.As(err, &usage) {
				t.Fatalf("%q: %v", args, err)
			}
			return
		}
		if operands := len(o.files) + len(o.positional); operands > 0 && !o.hasFilter || operands >= len(args) {
			t.Fatalf("%q: %+v", args, o)
		}
		for _, set := range o.named {
			if (set.value == nil) == (set.flag == "") {
				t.Fatalf("%q: %+v", args, set)
			}
		}
	})
}
