package results

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"

	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/wire/mcp"
)

// A Query describes a search.
type Query struct {
	URI        string
	Pattern    string // fixed text; "": return the text instead of searching
	Regexp     bool   // the pattern is a regular expression
	IgnoreCase bool
	Offset     int64 // the byte where the search begins
	Limit      int   // of matches; 0: defaultMatches
}

// Limits of a search.
const (
	// defaultMatches and maxMatches are the numbers of matches in an answer.
	defaultMatches = 50
	maxMatches     = 500
	maxFound       = 16 << 10 // bytes of an answer, without the last line
	maxPattern     = 1 << 10  // bytes
	maxProgram     = 1000     // steps of a regular expression, because the time grows with them
	searchTime     = 10 * time.Second

	window  = 64 << 10 // a longer line is searched in windows of this size
	overlap = maxPattern
	whole   = 500 // a longer line is shown as an excerpt around each match
	around  = 120 // bytes of an excerpt before and after a match
)

// Search returns the lines of a result that match, each with its number and the offset of its first byte, as text. If
// it ends early at a limit, the last line has the offset where to continue.
func (c *Client) Search(ctx context.Context, q Query) (string, error) {
	m, err := q.matcher()
	if err != nil {
		return "", mcp.Errorf(mcp.CodeInvalidParams, "Invalid pattern: %s", err)
	}
	r, done, err := c.open(q.URI)
	if err != nil {
		return "", err
	}
	defer done()
	if media.IsBinary(r.mimeType) {
		return "", mcp.Errorf(mcp.CodeInvalidParams, "The result is %s and has no text to search", r.mimeType)
	}
	if m == nil {
		return readOn(r.file, q.Offset)
	}
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	s := search{matcher: *m, file: r.file, limit: min(q.Limit, maxMatches), at: min(q.Offset, r.file.size)}
	if s.limit <= 0 {
		s.limit = defaultMatches
	}
	if s.line, err = r.file.Lines(0, s.at); err != nil {
		return "", unreadable(err)
	}
	if err := s.run(ctx); err != nil {
		return "", unreadable(err)
	}
	return s.text(), nil
}

// A matcher finds a pattern.
type matcher struct {
	// all returns the first n matches in a text.
	all func(text []byte, n int) [][]int
	// fixed is the pattern if it is not a regular expression. Only lines that contain it are examined, which is much
	// faster.
	fixed []byte
	fold  bool // fixed is in lower case, and compared with text in lower case
}

// matcher returns nil for no pattern.
func (q *Query) matcher() (*matcher, error) {
	if len(q.Pattern) > maxPattern {
		return nil, fmt.Errorf("it has more than %d bytes", maxPattern)
	}
	if q.Pattern == "" {
		return nil, nil
	}
	pattern := q.Pattern
	if !q.Regexp {
		pattern = regexp.QuoteMeta(pattern)
	}
	if q.IgnoreCase {
		pattern = "(?i:" + pattern + ")"
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if q.Regexp && steps(tree) > maxProgram {
		return nil, errors.New("it is too complex; write fewer or shorter repetitions")
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	m := &matcher{all: re.FindAllIndex}
	if !q.Regexp && !q.IgnoreCase {
		m.fixed = []byte(q.Pattern)
	} else if !q.Regexp && isASCII(pattern) {
		m.fixed, m.fold = lower([]byte(q.Pattern)), true
	}
	return m, nil
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// lower returns a copy of a text with the letters of ASCII in lower case.
func lower(text []byte) []byte {
	low := make([]byte, len(text))
	for i, b := range text {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		low[i] = b
	}
	return low
}

// steps returns approximately how many steps the program of a regular expression has. Repetitions
// are counted before they are expanded, which could need much memory.
func steps(re *syntax.Regexp) int {
	n := 1
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpRepeat:
		n = 0
	}
	for _, sub := range re.Sub {
		n = min(n+steps(sub), maxProgram+1)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Max, re.Min+1)
	}
	return min(n, maxProgram+1)
}

// readOn returns as much text after an offset as fits into an answer.
func readOn(file *File, offset int64) (string, error) {
	text := make([]byte, max(0, min(maxFound, file.size-offset)))
	n, err := file.ReadAt(text, offset)
	if err != nil && err != io.EOF {
		return "", unreadable(err)
	}
	text = text[:n]
	next := offset + int64(n)
	if next < file.size {
		cut := bytes.LastIndexByte(text, '\n') + 1
		if cut == 0 {
			cut = Cut(text, len(text)-1)
		}
		text, next = text[:cut], offset+int64(cut)
	}
	end := ""
	if next < file.size {
		end = fmt.Sprintf("\n[%d of %d bytes. Continue with offset %d.]", next, file.size, next)
	}
	return string(text) + end, nil
}

// A search is one pass over a file.
type search struct {
	matcher
	file  *File
	limit int

	at      int64 // the byte that is searched next
	line    int   // its line, from 0
	matches int
	found   []byte
	full    bool // a limit of the answer is reached
	late    bool // the time is over
}

// run searches from s.at to the end of the file or a limit.
func (s *search) run(ctx context.Context) error {
	buffer := make([]byte, min(window, s.file.size-s.at))
	for s.at < s.file.size && !s.full {
		if s.late = ctx.Err() != nil; s.late {
			return nil
		}
		n, err := s.file.ReadAt(buffer[:min(int64(len(buffer)), s.file.size-s.at)], s.at)
		if n == 0 {
			return err
		}
		text := buffer[:n]
		end := bytes.LastIndexByte(text, '\n') + 1
		switch {
		case s.at+int64(n) >= s.file.size:
			s.lines(text)
		case end > 0:
			s.lines(text[:end])
		default: // only matches that begin before the overlap are complete
			s.excerpts(text, n-overlap)
		}
	}
	return nil
}

// lines searches whole lines.
func (s *search) lines(text []byte) {
	look := text
	if s.fold {
		look = lower(text)
	}
	for len(text) > 0 && !s.full {
		if s.fixed != nil {
			look = look[len(look)-len(text):]
			from := bytes.Index(look, s.fixed)
			before := len(text)
			if from >= 0 {
				before = bytes.LastIndexByte(text[:from], '\n') + 1
			}
			s.line += bytes.Count(text[:before], newline)
			s.at, text = s.at+int64(before), text[before:]
			if from < 0 {
				return
			}
		}
		end := bytes.IndexByte(text, '\n') + 1
		line := text[:max(0, end-1)]
		if end == 0 {
			line, end = text, len(text)
		}
		next := s.at + int64(end)
		if len(line) > whole {
			s.excerpts(line, len(line))
		} else if s.all(line, 1) != nil {
			s.add(s.at, line)
		}
		if s.at < next && s.full && len(line) > whole {
			return // the line goes on
		}
		s.line += bytes.Count(text[:end], newline)
		s.at, text = next, text[end:]
	}
}

// excerpts searches a part of a long line, and shows each match that begins before a limit with its
// surroundings. It moves on to the limit, or behind the last match.
func (s *search) excerpts(text []byte, before int) {
	base, next := s.at, s.at+int64(before)
	for _, m := range s.all(text, -1) {
		from, to := m[0], m[1]
		if from >= before || s.full {
			break
		}
		if from == to {
			continue // an empty match is at every position
		}
		left, right := max(0, from-around), min(len(text), min(to, from+whole)+around)
		for left > 0 && left < from && !utf8.RuneStart(text[left]) {
			left++
		}
		s.add(base+int64(from), text[left:Cut(text, right)])
		next = max(next, base+int64(to))
		if s.full {
			next = base + int64(to)
		}
	}
	s.at = next
}

// add adds a match to the answer.
func (s *search) add(at int64, text []byte) {
	s.found = fmt.Appendf(s.found, "%d:%d:", s.line, at)
	s.found = append(append(s.found, text...), '\n')
	s.matches++
	s.full = s.matches == s.limit || len(s.found) > maxFound-2*whole
}

// text returns the answer.
func (s *search) text() string {
	noun := "matches"
	if s.matches == 1 {
		noun = "match"
	}
	rest := fmt.Sprintf("[%d %s, to the end of %d bytes.]", s.matches, noun, s.file.size)
	if s.at < s.file.size {
		why := "The answer is full."
		if s.late {
			why = "The time is over."
		}
		rest = fmt.Sprintf("[%d %s. %s Continue with offset %d of %d.]", s.matches, noun, why, s.at, s.file.size)
	}
	return string(s.found) + rest
}
