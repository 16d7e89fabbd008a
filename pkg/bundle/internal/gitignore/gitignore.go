// Package gitignore matches paths against the patterns of an ignore file, with the results of "git check-ignore".
//
// Names are compared byte by byte, as Git does on Linux, so case matters on every system.
package gitignore

import (
	"fmt"
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

// Ignores reports whether a slash-separated path relative to the directory of the ignore file is
// ignored. A path below an ignored directory is ignored, even if other patterns match it.
func (rules Rules) Ignores(path string, isDir bool) bool {
	path = latin1(path)
	for i := range len(path) {
		if path[i] == '/' && rules.last(path[:i], true) {
			return true
		}
	}
	return rules.last(path, isDir)
}

// last returns the decision of the last pattern that matches.
func (rules Rules) last(path string, isDir bool) bool {
	base := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(rules) - 1; i >= 0; i-- {
		r := &rules[i]
		name := path
		if r.baseName {
			name = base
		}
		if (isDir || !r.dirOnly) && r.glob.MatchString(name) {
			return !r.keep
		}
	}
	return false
}

// compile compiles a pattern for names with slashes (isPath), or for single names. The expression
// matches texts of [latin1]. ok is false for a malformed pattern, which matches nothing.
func compile(pattern string, isPath bool) (glob *regexp.Regexp, ok bool) {
	var expr strings.Builder
	last := ""
	for i := 0; i < len(pattern); {
		next := ""
		switch c := pattern[i]; {
		case c == '*':
			if next, i = compileStars(pattern, i, isPath); next == last {
				continue
			}
		case c == '[':
			var s set
			if i, ok = s.parse(pattern, i+1); !ok {
				return nil, false
			}
			s['/'] = s['/'] && !isPath // only a slash matches a slash
			next = s.expression()
		case c == '?' && isPath:
			next, i = "[^/]", i+1
		case c == '?':
			next, i = ".", i+1
		default:
			if c == '\\' {
				i++
			}
			if i == len(pattern) {
				return nil, false
			}
			next, i = regexp.QuoteMeta(latin1(pattern[i:i+1])), i+1
		}
		expr.WriteString(next)
		last = next
	}
	glob, err := regexp.Compile("(?s)^" + expr.String() + "$")
	return glob, err == nil
}

// latin1 returns a text with a character for each byte, because Git compares bytes.
func latin1(text string) string {
	runes := make([]rune, len(text))
	for i := range runes {
		runes[i] = rune(text[i])
	}
	return string(runes)
}

// compileStars returns the expression for the stars at i, and the index after them and the
// slash of "**/". Two stars are special only if they are a whole part of the path. Git compares
// the prefix first and treats the rest as the beginning of the pattern, so "a**/b" is special too.
func compileStars(pattern string, i int, isPath bool) (expr string, end int) {
	end = i
	for end < len(pattern) && pattern[end] == '*' {
		end++
	}
	rest, inName, anywhere := pattern[end:], "[^/]*", ".*"
	switch {
	case !isPath:
		return anywhere, end
	case end-i < 2, i > 0 && pattern[i-1] != '/' && strings.ContainsAny(pattern[:i], `*?[\`):
		return inName, end
	case strings.HasPrefix(rest, "/"):
		return "(?:.*/)?", end + 1
	case rest == "", strings.HasPrefix(rest, `\/`):
		return anywhere, end
	}
	return inName, end
}

// A set is a set of bytes.
type set [256]bool

func (s *set) addRange(from, to int) {
	for c := from; c <= to; c++ {
		s[c] = true
	}
}

func (s *set) expression() string {
	list := ""
	for c, isIn := range s {
		if isIn {
			list += fmt.Sprintf(`\x{%x}`, c)
		}
	}
	if list == "" {
		return `[^\x{0}-\x{10ffff}]` // no byte
	}
	return "[" + list + "]"
}

// parse parses a class such as "[!a-z[:digit:]]" after its opening bracket, and returns the
// index after its end.
func (s *set) parse(pattern string, i int) (end int, ok bool) {
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	from := 0 // the first character of a range; 0: no range can begin
	for first := true; ; first = false {
		if i >= len(pattern) {
			return i, false
		}
		c := pattern[i]
		if c == ']' && !first {
			break
		}
		isRange := c == '-' && from != 0 && i+1 < len(pattern) && pattern[i+1] != ']'
		if isRange {
			i++
			c = pattern[i]
		}
		if c == '\\' {
			if i++; i >= len(pattern) {
				return i, false
			}
			c = pattern[i]
		} else if !isRange && strings.HasPrefix(pattern[i:], "[:") {
			close := strings.IndexByte(pattern[i+2:], ']')
			if close < 0 {
				return i, false
			}
			if name, isClass := strings.CutSuffix(pattern[i+2:i+2+close], ":"); isClass {
				if !s.addClass(name) {
					return i, false
				}
				i += 2 + close + 1
				from = 0
				continue
			}
		}
		i++
		if isRange {
			s.addRange(from, int(c))
			from = 0
			continue
		}
		s[c] = true
		from = int(c)
	}
	if negated {
		for c := range s {
			s[c] = !s[c]
		}
	}
	return i + 1, true
}

// addClass adds a class of ASCII characters as Git defines it.
func (s *set) addClass(name string) bool {
	ranges, ok := map[string]string{
		"alnum": "09AZaz", "alpha": "AZaz", "blank": "\t\t  ", "cntrl": "\x00\x1f\x7f\x7f", "digit": "09", "graph": "!~",
		"lower": "az", "print": " ~", "punct": "!/:@[`{~", "upper": "AZ", "xdigit": "09AFaf",
		"space": "\t\n\r\r  ", // without vertical tab and form feed
	}[name]
	for i := 0; i < len(ranges); i += 2 {
		s.addRange(int(ranges[i]), int(ranges[i+1]))
	}
	return ok
}
