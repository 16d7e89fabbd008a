// Package settings declares the environment variables that our programs and the SDK read, or set for scripts. Each is a
// row of variables.txt. Its values, the fields of [Fill] and the tables of docs/SETTINGS.md follow from that row:
//
//	NAME | kind MIN..MAX | default | values | set by→read by | effect | status or clause
//
// A default is a number or a text in backquotes. Text after it, or instead of it, is for people.
package settings

import (
	_ "embed"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/cli"
)

//go:embed variables.txt
var variables string

// A Variable is an environment variable.
type Variable struct {
	Name     string
	Kind     Kind
	min, max int    // of a number; 0: none. The minimum of a [Fraction] is in milliseconds
	rest     string // of its row, from the default
}

// A Kind is the form of values.
type Kind string

// The kinds of variables.
const (
	Text      Kind = "text"
	True      Kind = "boolean"  // true only for "true"
	NotFalse  Kind = "notfalse" // false only for "false"
	Flag      Kind = "flag"     // true for "1", "true", "TRUE", "yes" and "on"
	Yes       Kind = "yes"      // true for "true", "1", "yes" and "on", in any case
	NotOff    Kind = "notoff"   // false for "0", "false", "FALSE", "no" and "off"
	Number    Kind = "number"   // decimal digits
	Positive  Kind = "positive" // decimal digits, not zero
	Fraction  Kind = "fraction" // seconds with decimals
	Choice    Kind = "choice"   // one of several words
	Level     Kind = "level"    // one of several words, in any case
	List      Kind = "list"     // words, separated by commas or white space
	Conf      Kind = "conf"     // text in mcpb.conf
	ConfOrEnv Kind = "conf-env" // text in mcpb.conf or in the environment
	Export    Kind = "export"   // set for scripts, and never read
	Path      Kind = "path"     // the path of a file or directory
)

// table returns the variables, sorted by name.
var table = sync.OnceValue(func() []Variable {
	list := make([]Variable, 0, strings.Count(variables, "\n"))
	for row := range strings.Lines(variables) {
		name, rest, _ := strings.Cut(row, " | ")
		kind, rest, _ := strings.Cut(rest, " | ")
		v := Variable{Name: name, Kind: Kind(kind), rest: rest}
		if kind, limits, ok := strings.Cut(kind, " "); ok {
			low, high, _ := strings.Cut(limits, "..")
			v.Kind = Kind(kind)
			v.min, _ = strconv.Atoi(low)
			v.max, _ = strconv.Atoi(high)
		}
		list = append(list, v)
	}
	return list
})

// otherwise returns the value for unset, empty and invalid values.
func (v *Variable) otherwise() string {
	text := v.rest
	if quoted, ok := strings.CutPrefix(text, "`"); ok {
		text, _, _ = strings.Cut(quoted, "`")
		return text
	}
	end := 0
	for end < len(text) && (text[end] == '.' || text[end] >= '0' && text[end] <= '9') {
		end++
	}
	return text[:end]
}

// words returns the values of a [Choice] or [Level].
func (v *Variable) words() []string {
	return Words(strings.ReplaceAll(strings.Split(v.rest, " | ")[1], "`", ""))
}

// Find returns the variable with a name, or nil.
func Find(name string) *Variable {
	list := table()
	compare := func(v Variable, name string) int { return strings.Compare(v.Name, name) }
	i, ok := slices.BinarySearchFunc(list, name, compare)
	if !ok {
		return nil
	}
	return &list[i]
}

// IsConf reports whether the variable may be set in mcpb.conf. It returns false for nil.
func (v *Variable) IsConf() bool { return v != nil && (v.Kind == Conf || v.Kind == ConfOrEnv) }

// where yields the variables that a condition accepts.
func where(accept func(*Variable) bool) iter.Seq[*Variable] {
	return func(yield func(*Variable) bool) {
		list := table()
		for i := range list {
			if accept(&list[i]) && !yield(&list[i]) {
				return
			}
		}
	}
}

// ConfVariables returns the variables of mcpb.conf.
func ConfVariables() iter.Seq[*Variable] { return where((*Variable).IsConf) }

// Paths returns the variables with a path.
func Paths() iter.Seq[*Variable] { return where(func(v *Variable) bool { return v.Kind == Path }) }

// Fill sets the fields of a structure, and of structures in it, whose tag `env:"NAME"` names a variable.
func Fill(env map[string]string, to any) { fill(env, reflect.ValueOf(to).Elem()) }

func fill(env map[string]string, to reflect.Value) {
	of := to.Type()
	for i := range of.NumField() {
		name := of.Field(i).Tag.Get("env")
		if name == "" {
			if to.Field(i).Kind() == reflect.Struct {
				fill(env, to.Field(i))
			}
			continue
		}
		switch field := to.Field(i).Addr().Interface().(type) {
		case *bool:
			*field = Bool(env, name)
		case *int:
			*field = Int(env, name)
		case *time.Duration:
			*field = Duration(env, name)
		case *string:
			*field = String(env, name)
		case *[]string:
			*field = Words(env[name])
		}
	}
}

// Check returns an error if a variable whose name has a prefix is set to something else than its
// kind allows.
func Check(env map[string]string, prefix string) error {
	for err := range Faults(env, prefix) {
		return err
	}
	return nil
}

// Faults yields an error for each variable whose name has a prefix, and which is set to something else than its kind
// allows.
func Faults(env map[string]string, prefix string) iter.Seq[error] {
	return func(yield func(error) bool) {
		for v := range where(func(v *Variable) bool { return env[v.Name] != "" && strings.HasPrefix(v.Name, prefix) }) {
			if err := v.check(env[v.Name]); err != nil && !yield(err) {
				return
			}
		}
	}
}

func (v *Variable) check(value string) error {
	n, isNumber := Digits(value)
	_, isDecimal := decimal(value)
	switch {
	case (v.Kind == Number || v.Kind == Positive) && !isNumber, v.Kind == Fraction && !isDecimal:
		return fmt.Errorf("%s must be a number: %q", v.Name, value)
	case v.Kind == Positive && n == 0:
		return fmt.Errorf("%s must be more than 0", v.Name)
	case isNumber && n < v.min:
		return fmt.Errorf("%s must be at least %d", v.Name, v.min)
	case v.Kind == Choice && !slices.Contains(v.words(), value),
		v.Kind == Level && !slices.Contains(v.words(), strings.ToLower(value)):
		return fmt.Errorf("%s must be one of %s: %q", v.Name, strings.Join(v.words(), ", "), value)
	case v.Kind == True && value != "true" && value != "false":
		return fmt.Errorf("%s must be true or false: %q", v.Name, value)
	}
	return nil
}

// Bool returns the value of a variable that is true or false.
func Bool(env map[string]string, name string) bool {
	v, value := Find(name), env[name]
	if value == "" {
		return v.otherwise() == "true"
	}
	switch v.Kind {
	case NotFalse:
		return value != "false"
	case Flag:
		return slices.Contains([]string{"1", "true", "TRUE", "yes", "on"}, value)
	case Yes:
		return slices.Contains([]string{"true", "1", "yes", "on"}, strings.ToLower(value))
	case NotOff:
		return !slices.Contains([]string{"0", "false", "FALSE", "no", "off"}, value)
	}
	return value == "true"
}

// Int returns a number within the variable's limits.
func Int(env map[string]string, name string) int {
	v := Find(name)
	n, _ := strconv.Atoi(v.otherwise())
	return v.number(env, n)
}

// IntOr is [Int] with another default.
func IntOr(env map[string]string, name string, otherwise int) int {
	return Find(name).number(env, otherwise)
}

func (v *Variable) number(env map[string]string, otherwise int) int {
	n, ok := Digits(env[v.Name])
	if !ok || v.Kind == Positive && n == 0 {
		n = otherwise
	}
	if n = max(n, v.min); v.max > 0 {
		n = min(n, v.max)
	}
	return n
}

// Duration returns a time in seconds.
func Duration(env map[string]string, name string) time.Duration {
	v := Find(name)
	if v.Kind != Fraction {
		return Seconds(Int(env, name))
	}
	seconds, ok := decimal(env[name])
	if !ok {
		seconds, _ = decimal(v.otherwise())
	}
	return max(time.Duration(v.min)*time.Millisecond, time.Duration(seconds*float64(time.Second)))
}

// String returns a text, or the word of a [Choice].
func String(env map[string]string, name string) string {
	v, value := Find(name), env[name]
	if value == "" || v.Kind == Choice && !slices.Contains(v.words(), value) {
		return v.otherwise()
	}
	return value
}

// Words splits a list at commas and white space.
func Words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r >= '\t' && r <= '\r' })
}

// Digits parses a number that consists of decimal digits. If it is so large that a sum could overflow, the result is
// the largest 32-bit number.
func Digits(text string) (n int, ok bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil || n > math.MaxInt/2 {
		n = math.MaxInt32
	}
	return n, true
}

func decimal(text string) (seconds float64, ok bool) {
	if text == "" || strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(text, 64)
	return seconds, err == nil && seconds <= math.MaxInt32
}

// Seconds returns a duration of n seconds, or of the largest 32-bit number.
func Seconds(n int) time.Duration {
	return time.Duration(min(n, math.MaxInt32)) * time.Second
}

// ignored are the variables of the Bash edition without effect here. A row is "setting" or "state", then names. The
// other columns are as in variables.txt. A name that ends in * means all names with this prefix.
//
//go:embed ignored.txt
var ignored string

// Ignored returns the names of variables that have no effect. People can set settings. The server of the Bash edition
// keeps its state in the others, which no program sets here.
func Ignored() (settings, state []string) {
	for row := range strings.Lines(ignored) {
		cells := strings.Split(row, " | ")
		if cells[0] == "state" {
			state = append(state, strings.Fields(cells[1])...)
		} else {
			settings = append(settings, strings.Fields(cells[1])...)
		}
	}
	return settings, state
}

// prefix begins the names that belong to mcp-bash.
const prefix = "MCPBASH_"

// Unknown returns a line for each variable that begins with MCPBASH_ and that no program reads. The line has the
// known name that it resembles. but are the names that the project itself uses.
func Unknown(env map[string]string, but []string) (lines []string) {
	var known []string
	for name := range env {
		own, ok := strings.CutPrefix(name, prefix)
		if !ok || Find(name) != nil || slices.Contains(but, name) {
			continue
		}
		if known == nil {
			known = suffixes()
		}
		line := name + " is not a variable of mcp-bash, so only scripts see it"
		if near := cli.Nearest(own, known); near != "" {
			line += cli.Meant(prefix + near)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// suffixes returns the names that programs read, without the prefix.
func suffixes() (list []string) {
	for v := range where(func(v *Variable) bool { return v.Kind != Export && strings.HasPrefix(v.Name, prefix) }) {
		list = append(list, v.Name[len(prefix):])
	}
	return list
}
