package shellscript

import (
	"fmt"
	"testing"
)

// ADD-50: a call is a trial only if every command before the option changes nothing, and the script then ends.
func TestTrial(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// Options in loops, and in tests of the first argument.
		{"while [ $# -gt 0 ]; do case $1 in -n) shift ;; -h|--help) echo usage; exit ;; esac; done; rm x", "--help 0"},
		{"while getopts hn: o; do case $o in h) echo usage; exit 1 ;; esac; done; rm x", "-h 1"},
		{"for a; do case $a in --help) echo usage; exit 0 ;; esac; done; rm x", "--help 0"},
		{"while (($#)); do k=$1; shift; case $k in --help) echo; exit ;; esac; done; rm x", "--help 0"},
		{"case ${1:-} in --version) echo 1; exit ;; esac; rm x", "--version 0"},
		{"if [ \"$1\" = --help ]; then echo usage; exit 0; fi; rm x", "--help 0"},
		{"[[ $1 == -h || $1 == --help ]] && { echo usage; exit 3; }; rm x", "--help 3"},
		{"if [ $# -eq 0 ] || [ \"$1\" = -h ]; then echo usage; exit 2; fi; rm x", "-h 2"},
		{"[ $# -gt 0 ] && [ \"$1\" = -h ] && exit; rm x", "-h 0"},
		{"main() { case $1 in -h) echo usage; exit 0 ;; esac; rm x; }; main \"$@\"", "-h 0"},
		{"usage() { cat <<E\nusage\nE\nexit ${1:-2}; }\ncase $1 in -h) usage 0 ;; --help) usage ;; esac; rm x", "--help 2"},
		{"d=$(cd \"$(dirname \"$0\")\" && pwd); readonly d; set -eu; case $1 in -h) sed -n 2,4p \"$0\"; exit ;; esac; rm x",
			"-h 0"},
		{"t=$(mktemp); trap 'echo ended' EXIT; case $1 in -h) exit ;; esac; rm x", "-h 0"},
		{". ./lib.sh; case $1 in -h) exit ;; esac", "-h 0"},
		{"o=$(getopt -o h -- \"$@\") || exit 2; eval set -- \"$o\"; while :; do case $1 in -h) exit ;; esac; done; rm x",
			"-h 0"},
		// Something can happen first.
		{"mkdir -p out; case $1 in --help) echo usage; exit 0 ;; esac", "line 1"},
		{"echo a\necho b >log; case $1 in --help) echo usage; exit 0 ;; esac", "line 2"},
		{"prepare() { curl x; }\nprepare\ncase $1 in --help) echo usage; exit 0 ;; esac", "line 1"},
		{"x=$(curl y); case $1 in --help) exit ;; esac", "line 1"},
		{"$EDITOR x; case $1 in --help) exit ;; esac", "line 1"},
		{"sleep 9 & case $1 in --help) exit ;; esac", "line 1"},
		{"cat <(rm x); case $1 in --help) exit ;; esac", "line 1"},
		{"trap 'rm -rf /tmp/x' EXIT; case $1 in --help) exit ;; esac", "line 1"},
		{"eval set -- \"$X\"; case $1 in --help) exit ;; esac", "line 1"},
		{"o=$(curl x); eval set -- \"$o\"; case $1 in --help) exit ;; esac", "line 1"},
		{"eval \"$X\"; case $1 in --help) exit ;; esac", "line 1"},
		{"sed -i s/a/b/ x; case $1 in --help) exit ;; esac", "line 1"},
		{". \"$X\"; case $1 in --help) exit ;; esac", "line 1"},
		{"k=$1; shift; case $k in --help) exit ;; esac; rm x", "--help 0"},
		{"while [ $# -gt 0 ]; do [ \"$1\" = -h ] && exit; shift; done; rm x", "-h 0"},
		{"{ case $1 in --help) exit ;; esac; rm x; }", "--help 0"},
		{"case $1 in --help) rm x; exit ;; esac", "line 1"},
		{"while :; do rm x; case $1 in --help) exit ;; esac; done", "line 1"},
		{"[ -n \"$(rm x)\" ] || [ \"$1\" = --help ] && exit; rm x", "line 1"},
		{"! [ \"$1\" = --help ] && exit; rm x", "line 0"},
		{"[[ $# -eq 0 || $1 == -h ]] && exit", "-h 0"},
		{"f() ( rm x ); f \"$@\"; case $1 in --help) exit ;; esac", "line 1"},
		{"command rm -v x; case $1 in --help) exit ;; esac", "line 1"},
		{"usage() { echo; exit; }; case $1 in --help) usage >log ;; esac", "line 1"},
		{"usage() { echo; exit; }; case $1 in --help) usage \"$(rm x)\" ;; esac", "line 1"},
		{"case $1 in --help) exit $(rm x) ;; esac", "line 1"},
		{"main() { case $1 in --help) exit ;; esac; }; main \"$@\" >log", "line 1"},
		{"main() { case $1 in --help) exit ;; esac; } >log; main \"$@\"", "line 1"},
		{"main() { case $1 in --help) exit ;; esac; }; main \"$@\" &", "line 1"},
		{"case $1 in x$(rm y)) exit ;; --help) exit ;; esac", "line 0"},
		{"while rm x; do case $1 in --help) exit ;; esac; done", "line 1"},
		// The script does not end, or another branch comes first.
		{"case $1 in --help) echo usage ;; esac; rm x", "line 0"},
		{"usage() { echo; return 0; }; case $1 in --help) usage ;; esac; rm x", "line 0"},
		{"case $1 in -*) rm x ;; --help) exit ;; esac", "line 0"},
		{"name=$1; shift; case $1 in --help) exit ;; esac", "line 0"},
		{"case $1 in $X) rm x ;; --help) exit ;; esac", "line 0"},
		{"case $1 in --help) [ -t 1 ] && exit; rm x ;; esac", "line 0"},
		{"[ -n \"$X\" ] && [ \"$1\" = --help ] && exit; rm x", "line 0"},
		{"while getopts h: o; do case $o in h) exit ;; esac; done; rm x", "line 0"},
		{"case $2 in --help) exit ;; esac; rm x", "line 0"},
		{"rm \"$1\"", "line 0"},
	} {
		s, err := Read([]byte(c.text), func(name string) []byte {
			if name != "lib.sh" {
				return nil
			}
			return []byte("die() { rm x; }\nX=1\n")
		})
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		got := fmt.Sprintf("line %d", s.NoTrialLine)
		if s.Trial != nil {
			got = fmt.Sprintf("%s %d", s.Trial.Word, s.Trial.Status)
		}
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}
