package project

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// How values are read from the environment (E-1, P-2700, tools
// T-703): whatever does not have the form expected means the default.

// on: true only for exactly "true".
func (e Env) on(name string) bool { return e[name] == "true" }

// flag: "1 true TRUE yes on" are true, and so is nothing where def is true.
func (e Env) flag(name string, def bool) bool {
	switch e[name] {
	case "":
		return def
	case "1", "true", "TRUE", "yes", "on":
		return true
	}
	return false
}

// yes: "true 1 yes on" in any case.
func (e Env) yes(name string) bool {
	switch strings.ToLower(e[name]) {
	case "true", "1", "yes", "on":
		return true
	}
	return false
}

// count: decimal digits.
func (e Env) count(name string, def int) int {
	n, ok := Digits(e[name])
	if !ok {
		return def
	}
	return n
}

// positive: decimal digits other than zero.
func (e Env) positive(name string, def int) int {
	if n, ok := Digits(e[name]); ok && n > 0 {
		return n
	}
	return def
}

// Bounded reads a limit: decimal digits other than zero, of which more than
// most count as most.
func (e Env) Bounded(name string, def, most int) int { return min(e.positive(name, def), most) }

// Digits reads a number that is all decimal digits. One of more digits than
// fit is as large as none would be.
func Digits(s string) (int, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		n = math.MaxInt32 // more digits than fit: as good as no limit
	}
	return n, true
}

// seconds: a whole number of seconds.
func (e Env) seconds(name string, def int) time.Duration { return Seconds(e.count(name, def)) }

// fraction: seconds with decimals, at least least.
func (e Env) fraction(name string, def, least time.Duration) time.Duration {
	s := e[name]
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return def
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f > math.MaxInt32 {
		return def
	}
	return max(least, time.Duration(f*float64(time.Second)))
}

// Seconds returns n seconds, or as many as a Duration holds.
func Seconds(n int) time.Duration {
	return time.Duration(min(n, math.MaxInt32)) * time.Second
}

// words splits a list at commas and white space.
func (e Env) words(name string) []string {
	return strings.FieldsFunc(e[name], func(r rune) bool {
		return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f' || r == '\v'
	})
}
