package gitignore

import "strings"

// A glob is a compiled pattern: a literal prefix, then tokens. A literal suffix can follow,
// because comparing it is fastest.
type glob struct {
	prefix, suffix string
	tokens         []token
}

// A token matches a part of a name.
type token struct {
	kind kind
	set  *set // for a class
}

type kind int

const (
	class kind = iota // one byte out of a set
	star              // any bytes but slashes
	stars             // any bytes
	dirs              // nothing, or any bytes and a slash: "**/"
)

// A set is a set of bytes.
type set [256]bool

// compile compiles a pattern for names with slashes (isPath), or for single names. ok is
// false for a malformed pattern, which matches nothing.
func compile(pattern string, isPath bool) (g glob, ok bool) {
	at := strings.IndexAny(pattern, `*?[\`)
	if at < 0 {
		at = len(pattern)
	}
	g.prefix, pattern = pattern[:at], pattern[at:]
	plain := 0 // the start of the literal end of the pattern
	for i := 0; i < len(pattern); {
		start, t := i, token{set: new(set)}
		switch c := pattern[i]; c {
		case '*':
			t.kind, i = compileStars(pattern, i, isPath)
			t.set = nil
		case '?':
			t.set.addRange(0, 255)
			i++
		case '[':
			if i, ok = t.set.parse(pattern, i+1); !ok {
				return g, false
			}
		case '\\':
			if i+1 == len(pattern) {
				return g, false
			}
			t.set[pattern[i+1]] = true
			i += 2
		default:
			t.set[c] = true
			i++
		}
		if strings.IndexByte(`*?[\`, pattern[start]) >= 0 {
			plain = i
		}
		if t.set != nil && isPath && pattern[i-1] != '/' {
			t.set['/'] = false // only a slash matches a slash
		}
		if n := len(g.tokens); t.kind == class || n == 0 || g.tokens[n-1].kind != t.kind {
			g.tokens = append(g.tokens, t)
		}
	}
	g.suffix = pattern[plain:]
	return g, true
}

// compileStars parses the stars at i, and the slash of "**/". Two stars are special only if
// they are a whole part of the path. Git compares the prefix first and treats the rest as
// the beginning of the pattern, so "a**/b" is special too.
func compileStars(pattern string, i int, isPath bool) (kind, int) {
	end := i
	for end < len(pattern) && pattern[end] == '*' {
		end++
	}
	rest := pattern[end:]
	switch {
	case !isPath:
		return stars, end
	case end-i < 2, i > 0 && pattern[i-1] != '/':
		return star, end
	case strings.HasPrefix(rest, "/"):
		return dirs, end + 1
	case rest == "", strings.HasPrefix(rest, `\/`):
		return stars, end
	}
	return star, end
}

func (s *set) addRange(from, to int) {
	for c := from; c <= to; c++ {
		s[c] = true
	}
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
	in := func(c int, ranges string) bool {
		for i := 0; i < len(ranges); i += 2 {
			if c >= int(ranges[i]) && c <= int(ranges[i+1]) {
				return true
			}
		}
		return false
	}
	var ranges string
	switch name {
	case "alnum":
		ranges = "09AZaz"
	case "alpha":
		ranges = "AZaz"
	case "blank":
		ranges = "\t\t  "
	case "cntrl":
		ranges = "\x00\x1f\x7f\x7f"
	case "digit":
		ranges = "09"
	case "graph":
		ranges = "!~"
	case "lower":
		ranges = "az"
	case "print":
		ranges = " ~"
	case "punct":
		ranges = "!/:@[`{~"
	case "space":
		ranges = "\t\n\r\r  " // without vertical tab and form feed
	case "upper":
		ranges = "AZ"
	case "xdigit":
		ranges = "09AFaf"
	default:
		return false
	}
	for c := range s {
		s[c] = s[c] || in(c, ranges)
	}
	return true
}

// match reports whether the glob matches a whole name. The time is at most quadratic in the
// length of the name.
func (g *glob) match(name string) bool {
	name, ok := strings.CutPrefix(name, g.prefix)
	if !ok || !strings.HasSuffix(name, g.suffix) {
		return false
	}
	// reach marks the prefixes of the name that the tokens so far match.
	reach, next := make([]bool, len(name)+1), make([]bool, len(name)+1)
	reach[0] = true
	for i := range g.tokens {
		if !g.tokens[i].step(name, reach, next) {
			return false
		}
		reach, next = next, reach
	}
	return reach[len(name)]
}

// step sets next to the prefixes of the name that one more token matches, and reports
// whether there are any.
func (t *token) step(name string, reach, next []bool) (any bool) {
	clear(next)
	open := false // a star that began earlier can continue here
	for at, ok := range reach {
		switch t.kind {
		case class:
			if ok && at < len(name) && t.set[name[at]] {
				next[at+1], any = true, true
			}
			continue
		case star:
			open = ok || open && name[at-1] != '/'
			next[at] = open
		case stars:
			open = ok || open
			next[at] = open
		case dirs:
			next[at] = ok || open && name[at-1] == '/'
			open = ok || open
		}
		any = any || next[at]
	}
	return any
}
