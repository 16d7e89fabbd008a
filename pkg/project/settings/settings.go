// Package settings lists the environment variables that our programs and the SDK read, or set for scripts. It parses
// their values. docs/contract/env.md describes the same variables, and a test compares both.
package settings

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// A Variable is an environment variable.
type Variable struct {
	Name    string
	Kind    Kind
	Default string // for unset, empty and invalid values; of a [Choice], all values, the default first
	Min     int    // smaller numbers count as Min; in milliseconds for a [Fraction]
	Max     int    // larger numbers count as Max; 0: no limit
	Users   string // the programs that set it → those that read it, as in env.md
	Doc     string // the purpose, in one line
}

// A Kind is the form of values (E-1).
type Kind int

// The kinds of variables.
const (
	Text      Kind = iota
	True           // true only for "true"
	NotFalse       // false only for "false"
	Flag           // true for "1", "true", "TRUE", "yes" and "on"
	Yes            // true for "true", "1", "yes" and "on", in any case
	NotOff         // false for "0", "false", "FALSE", "no" and "off"
	Number         // decimal digits
	Positive       // decimal digits, not zero
	Fraction       // seconds with decimals
	Choice         // one of several words
	List           // words, separated by commas or white space
	Conf           // text in mcpb.conf
	ConfOrEnv      // text in mcpb.conf or in the environment (CLI-1406)
	Export         // set for scripts, and never read
	Path           // the path of a file or directory (E-12)
)

// Find returns the variable with a name, or nil.
func Find(name string) *Variable {
	i := sort.Search(len(variables), func(i int) bool { return variables[i].Name >= name })
	if i == len(variables) || variables[i].Name != name {
		return nil
	}
	return &variables[i]
}

// IsConf reports whether the variable may be set in mcpb.conf. It returns false for nil.
func (v *Variable) IsConf() bool { return v != nil && (v.Kind == Conf || v.Kind == ConfOrEnv) }

// ConfVariables returns the variables of mcpb.conf.
func ConfVariables() iter.Seq[*Variable] {
	return func(yield func(*Variable) bool) {
		for i := range variables {
			if v := &variables[i]; v.IsConf() && !yield(v) {
				return
			}
		}
	}
}

// Paths yields the names of variables with a path.
func Paths(yield func(name string) bool) {
	for i := range variables {
		if variables[i].Kind == Path && !yield(variables[i].Name) {
			return
		}
	}
}

// Check returns an error if a variable whose name has a prefix is set to something else than its
// kind allows.
func Check(env map[string]string, prefix string) error {
	for i := range variables {
		v := &variables[i]
		value := env[v.Name]
		if value == "" || !strings.HasPrefix(v.Name, prefix) {
			continue
		}
		n, isNumber := Digits(value)
		_, isDecimal := decimal(value)
		switch {
		case (v.Kind == Number || v.Kind == Positive) && !isNumber, v.Kind == Fraction && !isDecimal:
			return fmt.Errorf("%s must be a number: %q", v.Name, value)
		case v.Kind == Positive && n == 0:
			return fmt.Errorf("%s must be more than 0", v.Name)
		case v.Kind == True && value != "true" && value != "false":
			return fmt.Errorf("%s must be true or false: %q", v.Name, value)
		}
	}
	return nil
}

// Bool returns the value of a variable that is true or false.
func Bool(env map[string]string, name string) bool {
	v, value := Find(name), env[name]
	if value == "" {
		return v.Default == "true"
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
	n, _ := strconv.Atoi(Find(name).Default)
	return IntOr(env, name, n)
}

// IntOr is [Int] with another default.
func IntOr(env map[string]string, name string, otherwise int) int {
	v := Find(name)
	n, ok := Digits(env[name])
	if !ok || v.Kind == Positive && n == 0 {
		n = otherwise
	}
	if n = max(n, v.Min); v.Max > 0 {
		n = min(n, v.Max)
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
		seconds, _ = decimal(v.Default)
	}
	return max(time.Duration(v.Min)*time.Millisecond, time.Duration(seconds*float64(time.Second)))
}

// String returns a text, or the word of a [Choice].
func String(env map[string]string, name string) string {
	v, value := Find(name), env[name]
	if v.Kind == Choice {
		words := strings.Fields(v.Default)
		if !slices.Contains(words, value) {
			return words[0]
		}
	} else if value == "" {
		return v.Default
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
