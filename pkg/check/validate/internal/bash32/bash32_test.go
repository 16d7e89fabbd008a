package bash32

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// quotedReplacement is the name of a replacement whose quotes 3.2 keeps.
const quotedReplacement = `a quoted replacement in quotes, "${x/a/"b"}"`

// uses are lines with newer features, and their names (CLI-1013).
var uses = map[string]string{
	"declare -A map":                  "an associative array",
	"f() { local -A map; }":           "an associative array",
	"typeset -rA map":                 "an associative array",
	"f() { local -n ref=$1; }":        "a reference (declare -n)",
	"declare -n ref=x":                "a reference (declare -n)",
	"declare -g x=1":                  "declare -g",
	"declare -l x":                    "declare -l",
	"declare -u x":                    "declare -u",
	"mapfile -t lines <f":             "mapfile",
	"readarray lines <f":              "readarray",
	`echo "${x,,}"`:                   "${x,,}",
	"echo ${x^}":                      "${x^}",
	"echo ${x^^}":                     "${x^^}",
	"echo ${x,}":                      "${x,}",
	"echo ${x@Q}":                     "${x@...}",
	"cmd &>>log":                      "&>>",
	"a |& b":                          "|&",
	"coproc cat":                      "coproc",
	"[[ -v x ]]":                      "[[ -v ]]",
	"[[ -R x ]]":                      "[[ -R ]]",
	"test -v x":                       "test -v",
	"[ -v x ]":                        "test -v",
	"wait -n":                         "wait -n",
	`echo "${x:1:-1}"`:                "a negative length",
	`echo "${x[-1]}"`:                 "a negative index",
	"x[-1]=a":                         "a negative index",
	"case x in a) b ;& c) d ;; esac":  ";& in case",
	"case x in a) b ;;& c) d ;; esac": ";;& in case",
	"printf '%(%F)T' -1":              "printf %(...)T",
	"read -N 3 x":                     "read -N",
	"read -i y -e x":                  "read -i",
	"read -t 0.5 x":                   "read -t with a fraction",
	"shopt -s globstar":               "shopt globstar",
	`echo $'\u00e9'`:                  `$'\u...'`,
	"exec {fd}>file":                  "{fd}>",
	"echo $BASHPID":                   "$BASHPID",
	"echo ${EPOCHSECONDS}":            "$EPOCHSECONDS",
	"x=$(y=$(mapfile a))":             "mapfile",
	`echo "$(echo "${x,,}")"`:         "${x,,}",
	"cat <<E\n${x,,}\nE":              "${x,,}",
	`y="one of ${x// /"$b"}"`:         quotedReplacement,
	`y="${x/a/";"}"`:                  quotedReplacement,
	`y="${x/a/'; '}"`:                 quotedReplacement,
	`y="${x/a/\;}"`:                   quotedReplacement,
	`y=$(echo "${x// /"$b"}")`:        quotedReplacement,
	"cat <<E\n${x// /\"$b\"}\nE":      quotedReplacement,
}

func TestUses(t *testing.T) {
	for text, want := range uses {
		found := newerIn([]byte("#!/usr/bin/env bash\n" + text + "\n"))
		if len(found) != 1 || found[0].What != want || found[0].Since == "" || found[0].Instead == "" {
			t.Errorf("%s: %+v, not %s", text, found, want)
		}
	}
}

// Comments, strings and here documents are not code. Features of 3.2 are not reported.
func TestNothingNew(t *testing.T) {
	for _, text := range []string{
		"# declare -A map; mapfile x", "echo 'declare -A map' \"mapfile\"", "cat <<'E'\n${x,,}\nmapfile\nE",
		"cat <<E\nmapfile x |& y\nE", "echo mapfile", "declare -a list", "local_A=1", "export -n x", "cmd &>log",
		`echo "${x:1:2}" "${x: -1}" "${x[0]}" "${x[n-1]}"`, "wait", "wait $!", "read -t 5 x", "read -n 1 x",
		"[[ -n ${x+set} ]]", "printf '%s' '%(' x", "printf '100%% (x)'", "case x in a) b ;; esac", "shopt -s nullglob",
		`echo $'\x41'`, `echo '\u00e9'`, "exec 3>file", "echo ${x/a/b} ${x%%.*} ${!x} ${#x}", "printf -v x %s y",
		`echo '${x,,}'`, `git log --format='%(refname)'`, "x+=(a)", "[[ $a =~ b ]]", "cat <<<x",
		"((BASH_VERSINFO[0] >= 4)) && declare -A map", "if [[ $BASH_VERSION > 4 ]]; then mapfile x; fi",
		`y=${x// /"$b"}`, `y=a${x// /";"}b`, `[[ ${x// /"$b"} == y ]]`, `y="${x// /$b}"`, `y="${x//"a"/b}"`, `y="${x:-"$b"}"`,
		`y="${x// /\"}"`, `y="${x// /$'\n'}"`, "cat <<'E'\n${x// /\"$b\"}\nE",
		"if then", // Bash reports it
	} {
		if found := newerIn([]byte(text + "\n")); found != nil {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

// The number of reported uses in a script is limited.
func TestMany(t *testing.T) {
	if n := len(newerIn([]byte(strings.Repeat("mapfile x\n", 100)))); n != maxUses {
		t.Error(n)
	}
}

// On Bash 3.2, each of the uses fails or behaves differently. The test needs a Bash 3.2 on PATH.
func TestAgainstBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	version, _ := exec.Command(bash, "-c", "printf %s $BASH_VERSINFO").Output()
	if string(version) != "3" {
		t.Skip("bash is of version " + string(version))
	}
	for text, what := range uses {
		switch what {
		case "[[ -R ]]", "$BASHPID", "$EPOCHSECONDS", `$'\u...'`, "read -t with a fraction", "a negative index", "coproc",
			"wait -n", "test -v", "{fd}>", "read -N", "read -i", "printf %(...)T", "declare -g", "declare -l", "declare -u":
			continue // no error, or an error with other causes
		}
		file := filepath.Join(t.TempDir(), "x.sh")
		script := "set -e\nx=abc\nf() { :; }\n" + text + "\ndeclare -f f >/dev/null && f x\n"
		if what == quotedReplacement {
			script = "x='a b' b=z\n" + text + "\nprintf %s \"$y\""
		}
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		if what == quotedReplacement {
			if out, err := exec.Command(bash, file).CombinedOutput(); err != nil || !bytes.ContainsAny(out, `"'\`) {
				t.Errorf("Bash 3.2 removes the quotes of %q: %s, %v", text, out, err)
			}
			continue
		}
		if out, err := exec.Command(bash, file).CombinedOutput(); err == nil && len(out) == 0 {
			t.Errorf("Bash 3.2 does %q without complaint", text)
		}
	}
}

// FuzzNewer parses arbitrary scripts.
func FuzzNewer(f *testing.F) {
	for text := range uses {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, u := range newerIn(text) {
			if u.Line < 1 || u.What == "" {
				t.Errorf("%+v", u)
			}
		}
	})
}

// T-34: Defines finds functions, and not comments or strings.
func TestFunction(t *testing.T) {
	for text, want := range map[string]struct {
		line  int
		calls bool
	}{
		"f() { g \"$@\" || return 1; }":                {1, true},
		"x=1\nfunction f {\n  if ! g a; then :; fi\n}": {2, true},
		"f() { h; }\nh() { g; }":                       {1, true},
		"f() { x=$(g); }":                              {1, true},
		"f() { # g\n  :; }":                            {1, false},
		"f() { echo g; echo 'g'; }":                    {1, false},
		"f() { cat <<E\ng\nE\n}":                       {1, false},
		"g() { :; }\nf() { :; }":                       {2, false},
		"g":                                            {0, true},
		"f() {":                                        {0, false},
		"":                                             {0, false},
	} {
		line, calls := 0, false
		if s, ok := Read([]byte(text)); ok {
			line, calls = s.Defines("f"), s.Calls("g")
		}
		if line != want.line || calls != want.calls {
			t.Errorf("T-34: %q: %d, %v", text, line, calls)
		}
	}
}

// CLI-1031: variables, commands and comparisons of a script, with lines.
func TestRead(t *testing.T) {
	s, ok := Read([]byte("A=${B:-1}\nC=${C-}\nexport D=x\nif [ \"$E\" = 1.0 ]; then . \"$F/lib\"; fi\n" +
		"[[ $G == v* && $H > 1 && -v I ]]\ncase ${J%.*} in a|b) read -r K ;; esac\ndeclare -F L\n# $M\n"))
	if !ok {
		t.Fatal("it cannot be read")
	}
	name := func(n Name) string { return fmt.Sprintf("%s:%d", n.Name, n.Line) }
	var reads, sets, runs, compared []string
	for _, r := range s.Reads {
		reads = append(reads, name(r))
	}
	for _, set := range s.Settings {
		sets = append(sets, fmt.Sprintf("%s=%s,%v", name(set.Name), set.Value, set.ReadsOwn))
	}
	for _, c := range s.Commands {
		runs = append(runs, fmt.Sprintf("%d:%s", c.Line, strings.Join(c.Words, " ")))
	}
	for _, c := range s.Compared {
		compared = append(compared, name(c.Name)+" "+c.With)
	}
	for what, both := range map[string][2]string{
		"reads":    {strings.Join(reads, " "), "B:1 C:2 E:4 F:4 G:5 H:5 I:5 J:6"},
		"sets":     {strings.Join(sets, " "), "A:1=,false C:2=,true D:3=x,false K:6=,false"},
		"runs":     {strings.Join(runs, "; "), "3:export D; 4:[ $E = 1.0 ]; 4:. $F/lib; 6:read -r K; 7:declare -F L"},
		"compared": {strings.Join(compared, "; "), "E:4 1.0; G:5 v*; J:6 a; J:6 b"},
	} {
		if both[0] != both[1] {
			t.Errorf("CLI-1031: %s: %s, not %s", what, both[0], both[1])
		}
	}
	if _, ok := Read([]byte("if")); ok {
		t.Error("what cannot be read was read")
	}
}

// SDK-192: no shell file of the product has a replacement whose quotes Bash 3.2 keeps.
func TestQuotedReplacements(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../../../../..", func(path string, d fs.DirEntry, err error) error {
		if name := d.Name(); err == nil && d.IsDir() && (name == ".git" || name == "node_modules" || name == "dist") {
			return fs.SkipDir
		}
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".sh" && filepath.Ext(path) != ".bash" {
			return err
		}
		text, err := os.ReadFile(path)
		files++
		for _, use := range newerIn(text) {
			if use.What == quotedReplacement {
				t.Errorf("%s:%d: %s", path, use.Line, use.What)
			}
		}
		return err
	})
	if err != nil || files < 100 {
		t.Errorf("%d files, %v", files, err)
	}
}

func newerIn(text []byte) []Use {
	s, ok := Read(text)
	if !ok {
		return nil
	}
	return s.Newer()
}
