package shellscript

import (
	"strings"
	"testing"
)

// ADD-23: an argument that can reach an arithmetic expression is an integer, because Bash runs the command
// in x[$(command)] there. "+" marks a plain text: part of a text that gets there, or of the output of a program.
func TestDataFlow(t *testing.T) {
	for _, c := range []struct{ text, integers string }{
		// Expressions.
		{`echo $(($1)) $((a[$2]))`, "1 2"},
		{`x=$1; ((x > 3)); let y=$2; echo $[$3]`, "x 2 3"},
		{`for ((i = 0; i < $1; i++)); do echo $i; done`, "1"},
		{`[[ $1 -gt 3 || 4 -lt $2 ]] && [ "$3" -eq 2 ]; test 2 -le "$4"`, "1 2 3 4"},
		{`s=$1; echo ${s:$2:$3}`, "2 3"},
		{`a=(1 2); echo ${a[$1]} ${#a[$2]}; a[$3]=1; a=([$4]=1); a[$5]+=2`, "1 2 3 4 5"},
		{`[[ -v a[$1] ]]; [ -v "$2" ]; test -v "a[$3]"; [[ -R $4 ]]`, "1 2 3 4"},
		{`unset "a[$1]" $2; read "a[$3]"; printf -v "a[$4]" x`, "1 2 3 4"},
		{`declare "a[$1]=x"; echo ${!2} ${3@P}`, "1 2 3"},
		{`OPTIND=$1; RANDOM=$2; PS4=$3 BASH_ENV="$4" x; compgen -W "$5"`, "optind random 3 4 5"},
		{`declare -A t; k=$1; unset "t[$k]"; read "t[$2]"; printf -v "t[$3]" x; declare "t[$4]=1"`, "k 2 3 4 +input"},
		{`declare -i n; n=$1; f() { local -i m=$1; }; f "$2"`, "n m"},
		{`declare -n r=$1; r=2`, "r"},
		// Data flow through variables, functions and commands.
		{`set -- $(wc -l "$2"; echo "$3"); echo $(($2))`, "+2 3"},
		{`set -- $1; echo $(($2))`, "1"},
		{`set -- "$2" "$1"; echo $(($1))`, "2"},
		{`set -- x "$@"; echo $(($2)) "$1"`, "arguments"},
		{`f() { set -- $1; echo $(($2)); }; f "$1"`, "1"},
		{`f() { shift; echo $(($1)); }; f x "$1"`, "1"},
		{`f() { echo $(($2)); }; f $x "$1"; f "$2"`, "1"},
		{`f() { local a=$1; g "$a"; }; g() { ((v = $1)); }; f "$1"`, "a"},
		{`trap 'x' EXIT; a=$1; b=${a:-3}; c=$b; ((c))`, "a"},
		{`list=("$1" x); for i in "${list[@]}"; do ((s += i)); done`, "1"},
		{`for x in "$@"; do ((s += x)); done`, "x"},
		{`for x; do ((s += x)); done`, "x"},
		{`for i in 1 2; do ((s += $1)); shift; done; echo "$2"`, "1 3"},
		{`while [ $# -gt 0 ]; do ((s += $1)); shift; done`, "arguments"},
		{`read n <<< "$1"; ((n))`, "1"},
		{"read n <<E\n$1\nE\n((n))", "1"},
		{`read n < <(echo "$1"); ((n))`, "1"},
		{`echo "$1" | while read n; do ((s += n)); done`, "1"},
		{`echo "$1" | { read; ((REPLY)); }`, "1"},
		{`f() { read n; ((n)); }; f <<< "$1"; printf %s "$2" | f`, "1 2"},
		{`mapfile -t list <<< "$1"; ((list[0]))`, "1"},
		{`exec <<< "$1"; read n; ((n))`, "1 +input"},
		{`printf -v n %s "$1"; ((n))`, "1"},
		{`printf -v "$v" %s "$1"; x=1; ((x))`, "1"},
		{`f() { local -n to=$1; to=$2; }; f n "$1"; m=n; n=1; ((m))`, "to"},
		{`x=$1; name=x; ((name))`, "x"},
		{`: "${x:=$1}"; ((x))`, "1"},
		{`x=${y:-$1}; ((x)); z=${y/a/$2}; ((z))`, "1 2"},
		{`n=$(echo "$1"); ((n))`, "1"},
		{`f() { echo "$1"; }; n=$(f "$1"); ((n))`, "1"},
		{`x=${1}0; ((x))`, "1"},
		// Plain texts.
		{`x=n$1; ((x))`, "+1"},
		{`IFS=: read h m <<< "$1"; ((h))`, "+1"},
		{`n=$(du -s "$1" | cut -f1); ((n)); echo "$2"`, "+1 +2"},
		{`n=$(awk -v x="$1" '{ print x }' log); ((n))`, "+1"},
		{`while read n; do ((s += n)); done`, "+input"},
		// No data flow.
		{`echo "$1"; n=3; ((n > 2))`, ""},
		{`((${#1} > 3)); [ -n "$1" ]`, ""},
		{`n=$(grep -c "$1" "$2"); ((n))`, ""},
		{`(( $(wc -l < "$1") > 3 )); (( $(find "$2" | wc -l) ))`, ""},
		{`while read n; do ((s += n)); done < "$1"`, ""},
		{`echo "${1@Q}" "${2@U}"`, ""},
		{`declare -A t; t[$1]=1; echo ${t[$2]} ${t[$1]}`, ""},
		{`declare -A t; t[$1]=1; for k in "${!t[@]}"; do ((t[$k])); done`, "1"},
		{`n=$(log "$1" >&2; echo 3); ((n))`, ""},
		{`for i in "${!list[@]}"; do ((i)); done; list=("$1")`, ""},
		{`[ "$(du -s "$1")" -gt 3 ]`, ""},
	} {
		s, err := Read([]byte(c.text), nil)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		var got []string
		for _, a := range s.Arguments {
			name := a.Name
			if strings.HasPrefix(name, "arg") && len(name) == 4 {
				name = name[3:]
			}
			if a.Kind == Integer {
				got = append(got, name)
			} else if a.NoCommands {
				got = append(got, "+"+name)
			}
		}
		if got := strings.Join(got, " "); got != c.integers {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.integers)
		}
	}
}
