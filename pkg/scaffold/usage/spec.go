package usage

import (
	"slices"
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
)

// A spec is the text before the description of an option: its names and its value. Examples
// are "-k, --key=KEYDEF", "-o FILE --output=FILE", "--[no-]verify", "-p, --port <PORT>",
// "--color[=WHEN]" and "--cache / --no-cache".
type spec struct {
	names, negations []string
	value            *Value
	repeat           bool
}

// join adds the names of another spec of the same option.
func (s *spec) join(other spec) {
	s.names = append(s.names, other.names...)
	s.negations = append(s.negations, other.negations...)
	if s.value == nil {
		s.value = other.value
	}
	s.repeat = s.repeat || other.repeat
}

var (
	nameAt = lazyregexp.New(`^(--?)(\[no-?\]|\(no-?\))?([A-Za-z0-9?#@%][A-Za-z0-9_.:+?#@%-]*(?:\[-[a-z-]+\])?)`)
	// numeric matches a placeholder for a number instead of a name: -NUM, -<n>, -n for any
	// digit.
	numeric = lazyregexp.New(`^-(?:NUM|NUMBER|DIGITS?|LINES|num|number|[0-9]{2,}|#)$`)
	// anyNumber matches "-<number>" before other names.
	anyNumber = lazyregexp.New(`^-<[a-z]+>, *(-)`)
	// placeholder matches a word that represents a value.
	placeholder = lazyregexp.New(`^(?:\[[+-]\])?(?:<[^<>]+>(?:[:=,|.-]*<[^<>]+>)*|\{[^{}]+\}|` +
		`[A-Z][A-Z0-9_./:=+|,#-]*(?:=[a-z]+)?(?:\([a-z]+\))?|'[^']+'|"[^"]+"|%[a-z]|#)$`)
	// typeWord matches the types of values that libraries of Go and Python print.
	typeWord = lazyregexp.New(`^(?:string|strings|stringArray|stringSlice|stringToString|stringToInt|int|ints|` +
		`int32|int64|` +
		`uint|uint8|uint16|uint32|uint64|float|float32|float64|floats|duration|durations|bytes|bytesHex|bytesBase64|count|` +
		`ip|ipNet|ipMask|file|files|path|dir|directory|value|list|map|url|template|number|num|n|str|bool)$`)
	lowerWord = lazyregexp.New(`^[a-z][A-Za-z0-9_./:+|=-]*$`)
	dots      = lazyregexp.New(`^ ?(?:,? ?\.\.\.)`)
)

// parseSpec parses the names at the beginning of a text and returns the remaining text,
// which is the description. If whole is true, the whole text is a spec without a
// description.
func parseSpec(text string, whole bool) (s spec, rest string, ok bool) {
	rest = strings.TrimLeft(text, "[ ")
	bracketed := len(rest) != len(text)
	rest = anyNumber.ReplaceAllString(rest, "$1")
	if bracketed && !strings.HasPrefix(text, "[") || len(text) > maxLine {
		return s, text, false
	}
	negative := false
	for {
		m := nameAt.FindStringSubmatch(rest)
		if m == nil {
			return s, text, false
		}
		dashes, no, name := m[1], m[2], m[3]
		after := rest[len(m[0]):]
		name = strings.TrimRight(name, ".:,")
		if n := len(m[0]); len(name) < len(m[3]) {
			after = rest[n-(len(m[3])-len(name)):]
		}
		if name == "" || len(name) > maxName {
			return s, text, false
		}
		full := dashes + name
		switch {
		case numeric.MatchString(full):
		case no != "":
			s.names = append(s.names, full)
			s.negations = append(s.negations, dashes+strings.Trim(no, "[]()")+name)
		case negative:
			s.negations = append(s.negations, full)
		case !slices.Contains(s.names, full):
			s.names = append(s.names, full)
		}
		var v *Value
		if v, after = parseValue(after, dashes == "-" && len(name) == 1, whole); v != nil {
			if s.value == nil || s.value.Name == "" {
				s.value = v
			}
			s.value.Equals = s.value.Equals || v.Equals
			s.value.Optional = s.value.Optional || v.Optional
		}
		if bracketed && strings.HasPrefix(after, "]") {
			after = after[1:]
		}
		if m := dots.FindString(after); m != "" {
			after = after[len(m):]
			s.repeat = true
		}
		next, joined, negated := separator(after)
		if !joined {
			rest = after
			break
		}
		negative = negated
		rest = next
	}
	s.suffixed()
	if len(s.names) == 0 {
		return s, text, false
	}
	switch {
	case rest == "":
	case strings.HasPrefix(rest, "  ") || strings.HasPrefix(rest, " :") || strings.HasPrefix(rest, ": "):
		rest = strings.TrimLeft(rest, " :")
	case whole, strings.HasPrefix(rest, " "):
		rest = strings.TrimLeft(rest, " ")
	case strings.HasPrefix(rest, ":"), strings.HasPrefix(rest, ","), strings.HasPrefix(rest, "."),
		strings.HasPrefix(rest, ")"), strings.HasPrefix(rest, "]"):
		rest = strings.TrimLeft(rest, " :,.)]")
	default:
		return s, text, false
	}
	return s, rest, true
}

// suffixed replaces "--reference[-if-able]" with its two names.
func (s *spec) suffixed() {
	for i, name := range s.names {
		if at := strings.IndexByte(name, '['); at > 2 {
			s.names[i] = name[:at]
			s.names = append(s.names, name[:at]+strings.Trim(name[at:], "[]"))
		}
	}
}

// separators are the separators between the names of an option.
var separators = []string{", or ", ", ", " | ", " or ", " ", ",", "|", "/", ";"}

// separator skips the separator between two names. click prints " / " before the name that
// turns an option off.
func separator(text string) (rest string, ok, negated bool) {
	if after, found := strings.CutPrefix(text, " / "); found && strings.HasPrefix(after, "-") {
		return after, true, true
	}
	for _, s := range separators {
		after, found := strings.CutPrefix(text, s)
		if trimmed := strings.TrimLeft(after, " "); found && s != " " && strings.HasPrefix(trimmed, "-") {
			after = trimmed
		}
		if found && nameAt.MatchString(after) && !strings.HasPrefix(after, "- ") {
			return after, true, false
		}
	}
	return text, false, false
}

// parseValue parses the value right after a name, and returns the remaining text.
func parseValue(text string, short, whole bool) (*Value, string) {
	v := &Value{}
	switch {
	case strings.HasPrefix(text, "=") && defaultValue.MatchString(text):
		return byDefault(defaultValue.FindStringSubmatch(text)[1]), ""
	case strings.HasPrefix(text, "[=") || strings.HasPrefix(text, "[ =") || strings.HasPrefix(text, "=[") &&
		!signed.MatchString(text):
		v.Optional, v.Equals = true, true
		body, rest := bracket(text[strings.IndexByte(text, '['):])
		v.Name = strings.Trim(body, "[]= ")
		return v.named(), strings.TrimPrefix(rest, "]")
	case strings.HasPrefix(text, "[<") || short && strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "[-"):
		v.Optional = true
		body, rest := bracket(text)
		v.Name = strings.Trim(body, "[] ")
		return v.named(), rest
	case strings.HasPrefix(text, "="):
		v.Equals = true
		word, rest := cutWord(text[1:])
		if v.Name = word; word == "" { // "--type=" without a word for the value
			return v, rest
		}
		return v.more(rest, whole)
	case strings.HasPrefix(text, "<"):
		word, rest := cutWord(text)
		v.Name = word
		return v.more(rest, whole)
	case strings.HasPrefix(text, " [") && !strings.HasPrefix(text, " [-"):
		body, rest := bracket(text[1:])
		if inner := strings.Trim(body, "[]"); optionalValue.MatchString(inner) && (whole || atBoundary(rest)) {
			v.Name, v.Several = strings.TrimSuffix(inner, "..."), strings.HasSuffix(inner, "...")
			v.Optional = !strings.Contains(inner, "|") // click puts choices in brackets
			return v.named(), rest
		}
		if word, rest := cutWord(text[1:]); len(word) > len(body) && (whole || atBoundary(rest)) { // "[protocol://]host"
			v.Name = cut(innerBrackets.ReplaceAllString(word, ""), maxName)
			return v, rest
		}
		return nil, text
	case strings.HasPrefix(text, " ") && !strings.HasPrefix(text, "  "):
		word, rest := cutWord(text[1:])
		if word == "" || strings.HasPrefix(word, "-") {
			return nil, text
		}
		bare := strings.TrimRight(word, ",.:")
		plainWord := innerBrackets.ReplaceAllString(bare, "")
		if strings.HasPrefix(bare, "[") {
			plainWord = bare
		}
		switch {
		case placeholder.MatchString(plainWord) && (whole || !isProse(word, rest)):
		case typeWord.MatchString(plainWord) && (whole || atBoundary(rest)):
		case lowerWord.MatchString(plainWord) && (whole || atBoundary(rest) && rest != ""):
		case shortWord.MatchString(plainWord) && shortWords.MatchString(rest): // "--arg a v   set a to v"
			v.Words = 2 + strings.Count(strings.TrimRight(shortWords.FindString(rest), " "), " ") - 1
			v.Name, rest = bare, rest[len(strings.TrimRight(shortWords.FindString(rest), " ")):]
			return v.named(), rest
		default:
			return nil, text
		}
		if bare != word && strings.HasSuffix(word, "...") {
			v.Several = true
		} else if bare != word {
			rest = word[len(bare):] + rest
		}
		v.Name = bare
		return v.more(rest, whole)
	case short && len(text) > 0 && text[0] >= 'A' && text[0] <= 'Z': // -nNUM
		word, rest := cutWord(text)
		if len(word) > 1 && placeholder.MatchString(word) {
			v.Name = word
			return v.named(), rest
		}
	}
	return nil, text
}

// defaultValue matches the default value that kubectl prints in place of a name, up to a colon at
// the end of the line: "--all=false:".
var defaultValue = lazyregexp.New(`^=(\[.*\]|\{.*\}|'[^']*'|[\w./-]+):$`)

// byDefault returns the value of an option that is described by its default. It is nil for a switch.
func byDefault(text string) *Value {
	v := &Value{Name: "string", Default: strings.Trim(text, "'[]{}"), Equals: true}
	switch {
	case text == "false":
		return nil
	case text == "true":
		v.Choices = []string{"true", "false"}
	case text[0] == '[':
		v.Name = "strings"
	case wholeNumber.MatchString(text):
		v.Name = "int"
	}
	return v
}

var wholeNumber = lazyregexp.New(`^-?[0-9]+$`)

// shortWord and shortWords match several values with names of one or two letters. Two or
// more spaces and a description follow.
var (
	shortWord  = lazyregexp.New(`^[a-z]{1,2}$`)
	shortWords = lazyregexp.New(`^(?: [a-z]{1,2})+ {2,}`)
)

// innerBrackets matches an optional part of a value: "FILTER[:options]".
var innerBrackets = lazyregexp.New(`\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]`)

// signed matches a number with an optional sign: "=[-]NUM".
var signed = lazyregexp.New(`^=\[[+-]+\]`)

// optionalValue matches the text in brackets after an option and a space.
var optionalValue = lazyregexp.New(`^(?:<?[A-Za-z][A-Za-z0-9_|,:.-]*>?)(?: ?\.\.\.)?$`)

// more parses further placeholders for values of the same option.
func (v *Value) more(rest string, whole bool) (*Value, string) {
	if m := dots.FindString(rest); m != "" {
		v.Several, rest = true, rest[len(m):]
	}
	v.Words = 1
	for strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "  ") {
		word, after := cutWord(rest[1:])
		if strings.HasPrefix(word, "[") && strings.HasSuffix(strings.TrimSpace(word), "]") && strings.Contains(word, "...") {
			v.Several, rest = true, after
			continue
		}
		if word != v.Name && !placeholder.MatchString(word) || !whole && isProse(word, after) {
			break
		}
		if word != "RANGE" { // click's INTEGER RANGE
			v.Words++
		}
		rest = after
	}
	return v.named(), rest
}

// named removes the markup of a placeholder from the name, and parses the choices that the
// name lists.
func (v *Value) named() *Value {
	name := v.Name
	if strings.HasSuffix(name, "...") {
		name, v.Several = strings.TrimSuffix(name, "..."), true
	}
	if list := listed(name); len(list) > 1 {
		v.Choices = list
	}
	v.marked = v.marked || v.Equals || strings.HasPrefix(name, "<") || upperWord.MatchString(name)
	v.Name = cut(strings.Trim(name, `<>{}[]'"`), maxName)
	if v.Words == 1 {
		v.Words = 0
	}
	return v
}

// listed returns the choices that a name lists: {a,b}, [a|b], a|b.
func listed(name string) []string {
	inner := strings.Trim(name, "<>[](){}")
	var list []string
	switch {
	case strings.HasPrefix(name, "{") && strings.Contains(name, ","):
		list = strings.Split(inner, ",")
	case strings.Contains(inner, "|"):
		list = strings.Split(inner, "|")
	case onOff.MatchString(inner):
		list = strings.Split(inner, "/")
	default:
		return nil
	}
	for i, one := range list {
		one = strings.Trim(strings.TrimSpace(one), `'"`)
		if one == "" || strings.ContainsAny(one, " <>()[]") || len(one) > maxName {
			return nil
		}
		if upperWord.MatchString(one) && len(one) > 1 && !strings.HasPrefix(name, "{") && strings.ToUpper(inner) == inner &&
			(pathName.MatchString(one) || noun.MatchString(one)) {
			return nil // FILE|DIR: either is a placeholder
		}
		if noun.MatchString(one) {
			return nil // date|duration
		}
		list[i] = one
	}
	if len(list) > maxChoices {
		return nil
	}
	return list
}

var (
	onOff = lazyregexp.New(`^(?:on/off|yes/no|true/false)$`)
	noun  = lazyregexp.New(`^(?i:data|filename|address|addr|port|level|args?|mode|options?|interface|provider|` +
		`date|time|dur|duration|file|path|dir|directory|number|num|user|group|string|` +
		`pattern|name|` +
		`url|host|size|value|id|text|regex|glob|expr|command)$`)
)

var upperWord = lazyregexp.New(`^[A-Z][A-Z0-9_-]*$`)

// atBoundary reports whether rest is empty or begins with a separator.
func atBoundary(rest string) bool {
	return rest == "" || strings.HasPrefix(rest, "  ") || strings.HasPrefix(rest, ",") || strings.HasPrefix(rest, " |") ||
		strings.HasPrefix(rest, " -") || strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "]") ||
		strings.HasPrefix(rest, " :")
}

// isProse reports whether a word in capitals begins a description: one capital before an
// ordinary word, as in "-a A list".
func isProse(word, rest string) bool {
	if next, _ := cutWord(strings.TrimPrefix(rest, " ")); len(next) == 1 && placeholder.MatchString(next) {
		return false // "--pair A B"
	}
	return len(word) == 1 && strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "  ") && !strings.HasPrefix(rest,
		" -")
}

// cutWord splits off the first word. Text in brackets belongs to the word.
func cutWord(text string) (word, rest string) {
	depth := 0
	var closing []byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '<' || c == '{' || c == '[' || c == '(':
			closing = append(closing, map[byte]byte{'<': '>', '{': '}', '[': ']', '(': ')'}[c])
			depth++
		case depth > 0 && c == closing[depth-1]:
			closing, depth = closing[:depth-1], depth-1
		case depth == 0 && (c == ' ' || c == ',' || c == ']' || c == ')' || c == '|' && i+1 < len(text) && text[i+1] == '-' ||
			c == ';' || c == '/' && i+1 < len(text) && text[i+1] == '-'):
			return text[:i], text[i:]
		case depth > 0 && c == ' ' && i+1 < len(text) && text[i+1] == ' ': // a bracket that is not closed
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// bracket splits off a pair of brackets with its contents.
func bracket(text string) (body, rest string) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return text[:i+1], text[i+1:]
			}
		}
	}
	return text, ""
}
