// Package gitignore matches paths against the patterns of an ignore file, with the
// results of "git check-ignore" (CLI-1417).
//
// Names are compared byte by byte, as Git does on Linux, so case matters on every system.
package gitignore

import (
	"regexp"
	"strings"
)

// Rules are the patterns of one ignore file, in their order.
type Rules []rule

type rule struct {
	glob     *regexp.Regexp
	keep     bool // "!": the paths it matches are not ignored
	dirOnly  bool // "name/"
	baseName bool // without a slash: compared with the last part of a path
}

// A Decision is the result of the rules for a path.
type Decision int

const (
	Unmentioned Decision = iota // no pattern matches
	Ignored
	Kept // the last pattern that matches begins with "!"
)

// Parse parses the text of an ignore file. Malformed patterns such as "[a" match nothing, as
// in Git.
func Parse(text string) Rules {
	var rules Rules
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.TrimSuffix(line, "\r")
		line, _, _ = strings.Cut(line, "\x00") // Git reads lines as C strings
		if r, ok := parseRule(trimSpaces(line)); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

// trimSpaces removes trailing spaces unless a backslash escapes them.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

func parseRule(line string) (r rule, ok bool) {
	line, r.keep = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	if line == "" {
		return r, false
	}
	r.baseName = !strings.Contains(line, "/")
	r.glob, ok = compile(strings.TrimPrefix(line, "/"), !r.baseName)
	return r, ok
}

// Decide returns the result for a slash-separated path relative to the directory of the
// ignore file. A path below an ignored directory is ignored, even if other patterns match
// it.
func (rules Rules) Decide(path string, isDir bool) Decision {
	path = latin1(path)
	for i := range len(path) {
		if path[i] == '/' && rules.last(path[:i], true) == Ignored {
			return Ignored
		}
	}
	return rules.last(path, isDir)
}

func (rules Rules) last(path string, isDir bool) Decision {
	base := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(rules) - 1; i >= 0; i-- {
		r := &rules[i]
		name := path
		if r.baseName {
			name = base
		}
		switch {
		case r.dirOnly && !isDir || !r.glob.MatchString(name):
		case r.keep:
			return Kept
		default:
			return Ignored
		}
	}
	return Unmentioned
}
