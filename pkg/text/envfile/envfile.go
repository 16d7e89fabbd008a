// Package envfile parses files of NAME=value lines, such as mcpb.conf, like a shell but without running one.
package envfile

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"mcp-bash/pkg/text/lazyregexp"
)

// MaxSize limits a file, in bytes. The same limit applies to a value with its variables expanded.
const MaxSize = 1 << 20

// A ShellError is the error for a line that is not a simple assignment. Only a shell can
// evaluate it.
type ShellError struct {
	Line   int
	Reason string
}

func (e *ShellError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Parse returns the variables that a text assigns. It supports NAME=value with or without
// quotes, "export", comments, and lines continued by a backslash. $NAME and ${NAME} are
// expanded to variables of earlier lines, or else of outer. The error for other syntax of
// shells is a [*ShellError]. Other errors mean that the file is too large or not a text.
func Parse(text []byte, outer func(name string) string) (map[string]string, error) {
	switch {
	case len(text) > MaxSize:
		return nil, fmt.Errorf("larger than %d bytes", MaxSize)
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		return nil, fmt.Errorf("not a UTF-8 text")
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	p := &parser{text: string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))), outer: outer,
		values: map[string]string{}}
	for !p.done() {
		if err := p.line(); err != nil {
			return nil, err
		}
	}
	return p.values, nil
}

type parser struct {
	text   string
	at     int
	outer  func(string) string
	values map[string]string
}

func (p *parser) done() bool { return p.at == len(p.text) }

// peek returns the next byte, or 0 at the end.
func (p *parser) peek() byte {
	if p.done() {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) shell(format string, args ...any) error {
	return &ShellError{1 + strings.Count(p.text[:p.at], "\n"), fmt.Sprintf(format, args...)}
}

// line parses one assignment, comment or empty line, with its line end.
func (p *parser) line() error {
	p.space()
	if p.ended() {
		return nil
	}
	name := p.name()
	if name == "export" && (p.peek() == ' ' || p.peek() == '\t') {
		p.space()
		name = p.name()
	}
	if name == "" || p.peek() != '=' {
		return p.shell("not NAME=value")
	}
	p.at++
	value, err := p.value()
	if err != nil {
		return err
	}
	p.space()
	if !p.ended() {
		return p.shell("something follows the value; put a value with spaces in quotes")
	}
	p.values[name] = value
	return nil
}

// space skips blanks, and line ends after a backslash.
func (p *parser) space() {
	for {
		switch {
		case p.peek() == ' ' || p.peek() == '\t':
			p.at++
		case strings.HasPrefix(p.text[p.at:], "\\\n"):
			p.at += 2
		default:
			return
		}
	}
}

// ended reports whether the rest of the line is empty or a comment, and skips it then.
func (p *parser) ended() bool {
	if c := p.peek(); !p.done() && c != '\n' && c != '#' {
		return false
	}
	if end := strings.IndexByte(p.text[p.at:], '\n'); end >= 0 {
		p.at += end + 1
	} else {
		p.at = len(p.text)
	}
	return true
}

func (p *parser) name() string {
	start := p.at
	for c := p.peek(); c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || p.at > start && c >= '0' &&
		c <= '9'; c = p.peek() {
		p.at++
	}
	return p.text[start:p.at]
}

// value parses a value, which consists of quoted and unquoted parts.
func (p *parser) value() (string, error) {
	var b strings.Builder
	if p.peek() == '~' {
		return "", p.shell("~ stands for a home directory in a shell")
	}
	for {
		if b.Len() > MaxSize {
			return "", fmt.Errorf("a value of more than %d bytes", MaxSize)
		}
		c := p.peek()
		switch {
		case p.done() || c == ' ' || c == '\t' || c == '\n':
			return b.String(), nil
		case c == '\'':
			end := strings.IndexByte(p.text[p.at+1:], '\'')
			if end < 0 {
				return "", p.shell("a quote is not closed")
			}
			b.WriteString(p.text[p.at+1 : p.at+1+end])
			p.at += end + 2
		case c == '"':
			if err := p.quoted(&b); err != nil {
				return "", err
			}
		case c == '$':
			if err := p.variable(&b, " \t\n"); err != nil {
				return "", err
			}
		case c == '\\':
			p.at++
			if p.done() {
				return "", p.shell("a line that is continued, and no next")
			}
			if p.peek() != '\n' {
				b.WriteByte(p.peek())
			}
			p.at++
		case strings.IndexByte("`;&|<>()", c) >= 0, c == ':' && strings.HasPrefix(p.text[p.at:], ":~"):
			return "", p.shell("%q outside of quotes means something to a shell", c)
		default:
			b.WriteByte(c)
			p.at++
		}
	}
}

func (p *parser) quoted(b *strings.Builder) error {
	for p.at++; !p.done(); {
		switch c := p.peek(); c {
		case '"':
			p.at++
			return nil
		case '`':
			return p.shell("a command in backquotes")
		case '$':
			if err := p.variable(b, " \t\n\"/.,:%"); err != nil {
				return err
			}
		case '\\':
			p.at++
			switch next := p.peek(); next {
			case '$', '`', '"', '\\':
				b.WriteByte(next)
			case '\n':
			default:
				b.WriteByte('\\')
				continue
			}
			p.at++
		default:
			b.WriteByte(c)
			p.at++
		}
		if b.Len() > MaxSize {
			return fmt.Errorf("a value of more than %d bytes", MaxSize)
		}
	}
	return p.shell("a quote is not closed")
}

// ofBash matches the variables that Bash sets itself.
var ofBash = lazyregexp.New(`^(?:_|BASH.*|COMP_WORDBREAKS|DIRSTACK|EPOCH(?:REALTIME|SECONDS)|EUID|FUNCNAME|` +
	`GROUPS|HISTCMD|HOSTNAME|HOSTTYPE|IFS|LINENO|MACHTYPE|OLDPWD|OPTERR|OPTIND|OSTYPE|PIPESTATUS|PPID|PS4|PWD|` +
	`RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID)$`)

// variable parses $NAME or ${NAME}. A dollar sign before a character of plainBefore has no special
// meaning.
func (p *parser) variable(b *strings.Builder, plainBefore string) error {
	p.at++
	braced := p.peek() == '{'
	if braced {
		p.at++
	}
	name := p.name()
	switch {
	case strings.HasPrefix(p.text[p.at:], "\\\n"):
		return p.shell("a line that is continued within $...")
	case braced && (name == "" || p.peek() != '}'):
		return p.shell("more than a name in ${...}")
	case braced:
		p.at++
	case name == "":
		if c := p.peek(); !p.done() && strings.IndexByte(plainBefore, c) < 0 {
			return p.shell("$%c means something to a shell", c)
		}
		b.WriteByte('$')
		return nil
	}
	value, ok := p.values[name]
	if !ok {
		if ofBash.MatchString(name) {
			return p.shell("Bash gives $%s a value", name)
		}
		value = p.outer(name)
	}
	b.WriteString(value)
	return nil
}
