package envfile

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
)

func outer(name string) string { return map[string]string{"HOME": "/home/ada", "EMPTY": ""}[name] }

// CLI-1405: assignments are parsed without a shell.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"# nothing\n\n":               "",
		"A=b":                         "b",
		"A=b # c":                     "b",
		"A=b#c":                       "b#c",
		"export A=b":                  "b",
		"  export\tA='b c'\r\n":       "b c",
		"\ufeffA=b":                   "b",
		"A=":                          "",
		"A=''":                        "",
		`A="b"'c'd`:                   "bcd",
		`A="b\"c\$d\\e\f"`:            `b"c$d\e\f`,
		`A=b\ c`:                      "b c",
		"A=b\\\nc":                    "bc",
		"A=\"b\\\nc\"":                "bc",
		"A=\"b\nc\"":                  "b\nc",
		"B=x\nA=$B${B}y":              "xxy",
		`A="$HOME/x"`:                 "/home/ada/x",
		"A='$HOME'":                   "$HOME",
		"A=$NOBODY":                   "",
		"A=b\nA=c":                    "c",
		`A="cost: $"`:                 "cost: $",
		"A=grüße":                     "grüße",
		"A=key=VAR,key2=VAR2":         "key=VAR,key2=VAR2",
		"A=*.sh":                      "*.sh",
		"A=\"v1 && v2; `literal\" \\": "?",
	} {
		got, err := Parse([]byte(text), outer)
		if want == "?" {
			if err == nil {
				t.Errorf("%q: read as %q", text, got["A"])
			}
		} else if err != nil || got["A"] != want {
			t.Errorf("%q: %q, %v; want %q", text, got["A"], err, want)
		}
	}
}

// The error for shell syntax differs from the error for an invalid text.
func TestRefused(t *testing.T) {
	for _, text := range []string{
		"A=$(date)", "A=`date`", `A="$(date)"`, "if true; then A=b; fi", "A=b; B=c", "A=b B=c", "exit 7", "A=~/x",
		"A=$'x'",
		"A=${B:-c}", "A=(a b)", "A+=b", "A = b", "A='b", `A="b`, "A=b | c", "A=$1", "1A=b", "A=b:~/c", "A[1]=b", "A=${",
		"A=$$", "A=$_", "A=${UID}", `A="$RANDOM"`, "A=$BASH_VERSION", "A=$PWD",
	} {
		_, err := Parse([]byte(text), outer)
		var shell *ShellError
		if !errors.As(err, &shell) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"A=\x00", "A=\xff", strings.Repeat("#", MaxSize+1)} {
		_, err := Parse([]byte(text), outer)
		var shell *ShellError
		if err == nil || errors.As(err, &shell) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if _, err := Parse([]byte("A=b\n\nB=$(x)"), outer); err == nil || !strings.HasPrefix(err.Error(), "line 3: ") {
		t.Errorf("%v", err)
	}
}

// A value that doubles with every line stays bounded.
func TestGrowth(t *testing.T) {
	text := "A=" + strings.Repeat("x", 1000) + "\n" + strings.Repeat("A=$A$A\n", 64)
	if _, err := Parse([]byte(text), outer); err == nil || !strings.Contains(err.Error(), "1048576") {
		t.Errorf("%v", err)
	}
	if _, err := Parse([]byte(strings.ReplaceAll(text, "$A$A", `"$A$A"`)), outer); err == nil {
		t.Error("grew within quotes")
	}
}

// For any text that Parse accepts, the values are the same as in Bash.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"A=b # c", `A="b\"$HOME\x"'c'\ d`, "B=1\nexport A=${B}\\\n2", "A=$B\\\nB", "A=$(x)",
		"A=~", "A=b:c", "A=!x", "A={a,b}", "A=[a-z]?", "A=$_", "A=$UID"} {
		f.Add(text)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		f.Skip("no bash")
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse([]byte(text), outer)
		if err != nil || len(got) == 0 || strings.ContainsAny(text, "\r\ufeff") {
			return
		}
		for name := range got {
			if name != "A" && name != "B" {
				return // Bash may treat this variable specially
			}
		}
		cmd := exec.Command(bash, "--norc", "-c", text+"\nprintf '%s\\1%s' \"$A\" \"$B\"")
		cmd.Env = []string{"HOME=/home/ada", "EMPTY=", "LC_ALL=C.UTF-8"}
		out, err := cmd.Output()
		if want := got["A"] + "\x01" + got["B"]; err != nil || string(out) != want {
			t.Errorf("%q: %q, in Bash %q (%v)", text, want, out, err)
		}
	})
}
