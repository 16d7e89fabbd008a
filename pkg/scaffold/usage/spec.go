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

var (
	nameAt = lazyregexp.New(`^(--?)(\[no-?\]|\(no-?\))?([A-Za-z0-9?#@%][A-Za-z0-9_.:+?#@%-]*)`)
	// numeric matches a placeholder for a number instead of a name: -NUM, -n for any digit.
	numeric = lazyregexp.New(`^-(?:NUM|NUMBER|DIGITS?|LINES|num|number|[0-9]{2,}|[0-9]+\.[0-9]+|#)$`)
	// anyNumber matches "-<number>" before other names.
	anyNumber = lazyregexp.New(`^-<[a-z]+>, *(-)`)
	// boostName and boostValue match what Boost prints: "-n [ --number ] arg (=10)".
	boostName  = lazyregexp.New(`^(-\w) \[ (--[\w-]+) \]`)
	boostValue = lazyregexp.New(`^((?:-\w, )?--[\w-]+)( | \[=)arg(?:\(=[^)]*\))?(\]?)(?: \(=[^)]*\))?`)
	// placeholder matches a word that represents a value.
	placeholder = lazyregexp.New(`^(?:\[[+-]\])?(?:<[^<>]+>(?:[:=,|.-]*<[^<>]+>)*|\{[^{}]+\}|` +
		`[A-Z][A-Z0-9_./:=+|,#-]*(?:=[a-z]+)?(?:\([a-z]+\))?|'[^']+'|"[^"]+"|%[a-z]|#)$`)
	// typeWord matches the types of values that libraries of Go and Python print.
	typeWord = lazyregexp.New(`^\+?(?:strings?|stringArray|stringSlice|stringTo(?:String|Int)|u?int(?:s|8|16|32|64)?|` +
		`float(?:s|32|64)?|durations?|bytes(?:Hex|Base64)?|count|ip|ipNet|ipMask|files?|path|dir|directory|value|list|` +
		`map|url|template|number|num|n|str|bool|arg)$`)
	lowerWord = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_./:+|=-]*$`)
	upperWord = lazyregexp.New(`^[A-Z][A-Z0-9_-]*$`)
	dots      = lazyregexp.New(`^ ?(?:\.\.\.| \[ -[^\]]*\])`)
	// innerBrackets matches an optional part of a value: "FILTER[:options]".
	innerBrackets = lazyregexp.New(`\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]`)
	// signed matches a number with an optional sign: "=[-]NUM".
	signed = lazyregexp.New(`^=\[[+-]+\]`)
	// optionalValue matches the text in brackets after an option and a space.
	optionalValue = lazyregexp.New(`^(?:<?[A-Za-z][A-Za-z0-9_|,:.-]*>?|[0-9]+(?:\|[0-9]+)+)(?: ?\.\.\.)?$`)
	// defaultValue matches the default value that kubectl prints in place of a name, up to a colon at
	// the end of the line: "--all=false:".
	defaultValue = lazyregexp.New(`^=(\[.*\]|\{.*\}|'[^']*'|[\w./-]+):$`)
	// shortWords matches several values with names of one or two letters before a description.
	shortWords  = lazyregexp.New(`^ [a-z]{1,2}(?: [a-z]{1,2})+ {2}`)
	wholeNumber = lazyregexp.New(`^-?[0-9]+$`)
)

// parseSpec parses the names at the beginning of a text and returns the remaining text,
// which is the description. If whole is true, the whole text is a spec without a
// description.
func parseSpec(text string, whole bool) (s spec, rest string, ok bool) {
	if rest = text; len(text) > maxLine {
		return s, text, false
	}
	rest = boostName.ReplaceAllString(anyNumber.ReplaceAllString(rest, "$1"), "$1, $2")
	rest = strings.Replace(boostValue.ReplaceAllString(rest, "$1${2}arg$3 "), " [=", " [", 1)
	for next, negative := true, false; next; rest, next, negative = separator(rest) {
		name := ""
		if name, rest = s.name(rest, negative && !s.abbreviates(rest)); name == "" {
			return s, text, false
		}
		v, after := parseValue(rest, isShort(name), whole)
		switch rest = after; {
		case v == nil:
		case s.value == nil:
			s.value = v
		default:
			s.value.Equals, s.value.Optional = s.value.Equals || v.Equals, s.value.Optional || v.Optional
			s.value.dots = s.value.dots || v.dots
		}
		if m := dots.FindString(rest); m != "" {
			rest, s.repeat = rest[len(m):], true
		}
	}
	description := strings.TrimLeft(rest, " :,.)]")
	if len(s.names) == 0 || description == rest && rest != "" && !whole {
		return s, text, false
	}
	return s, description, true
}

// abbreviates reports whether the names so far are short forms of the next one: "-J / --jpath".
func (s *spec) abbreviates(next string) bool {
	return strings.HasPrefix(next, "--") && !strings.HasPrefix(next, "--no") && !slices.ContainsFunc(s.names,
		func(name string) bool { return len(name) > 2 })
}

// name reads one name, which turns the option off if negative is true.
func (s *spec) name(text string, negative bool) (name, rest string) {
	m := nameAt.FindStringSubmatch(text)
	if m == nil {
		return "", text
	}
	bare := strings.TrimRight(m[3], ".:,")
	if bare == "" || len(bare) > maxName {
		return "", text
	}
	name, rest = m[1]+bare, text[len(m[0])-len(m[3])+len(bare):]
	switch {
	case m[1] == "-" && len(bare) > 1 && strings.Trim(bare, bare[:1]) == "" && len(s.names) > 0: // -v, -vv
		s.repeat = true
	case numeric.MatchString(name), slices.Contains(s.names, name):
	case negative:
		s.negations = append(s.negations, name)
	default:
		s.names = append(s.names, name)
		if m[2] != "" {
			s.negations = append(s.negations, m[1]+strings.Trim(m[2], "[]()")+bare)
		}
	}
	return name, rest
}

// separators are the separators between the names of an option.
var separators = []string{", or ", ", ", " | ", " or ", " ", ",", "|", "/", ";"}

// farName matches long names after two spaces, as in "-i FILE  --input=FILE  read it".
var farName = lazyregexp.New(`^ {2,}--[a-z][a-z-]*(?:=[^ ,]+| [A-Z]{2,}|[ =][<[][\w-]+[>\]])?` +
	`(?:, --[a-z-]+(?:=[^ ,]+)?)*(?: {2}|$)`)

// separator skips the separator between two names. click prints " / " before the name that
// turns an option off.
func separator(text string) (rest string, ok, negated bool) {
	if after, found := strings.CutPrefix(text, " / "); found && strings.HasPrefix(after, "-") {
		return after, true, true
	}
	if m := farName.FindString(text); m != "" {
		return strings.TrimLeft(text, " "), true, false
	}
	for _, s := range separators {
		after, found := strings.CutPrefix(text, s)
		if trimmed := strings.TrimLeft(after, " "); found && s != " " && strings.HasPrefix(trimmed, "-") {
			after = trimmed
		}
		if found && nameAt.MatchString(after) {
			return after, true, false
		}
	}
	return text, false, false
}

// parseValue parses the value right after a name, and returns the remaining text.
func parseValue(text string, short, whole bool) (*Value, string) {
	switch {
	case defaultValue.MatchString(text):
		return byDefault(defaultValue.FindStringSubmatch(text)[1]), ""
	case strings.HasPrefix(text, "=[]"): // pflag's default of a list
		return (&Value{Name: "strings", Equals: true}).named(), text[3:]
	case strings.HasPrefix(text, "[=") || strings.HasPrefix(text, "[<") || short && strings.HasPrefix(text, "["),
		strings.HasPrefix(text, "=[") && !signed.MatchString(text):
		body, rest := cutWord(strings.TrimPrefix(text, "="))
		v := &Value{Name: strings.Trim(body, "[]= "), Optional: text[0] == '[', Equals: strings.Contains(text[:2], "=")}
		return v.named(), strings.TrimPrefix(rest, "]")
	case strings.HasPrefix(text, "="), strings.HasPrefix(text, "<"):
		word, rest := cutWord(strings.TrimPrefix(text, "="))
		return (&Value{Name: word, Equals: text[0] == '='}).more(rest, whole)
	case strings.HasPrefix(text, " [") && !strings.HasPrefix(text, " [-"):
		return inBrackets(text, whole)
	case strings.HasPrefix(text, " ") && !strings.HasPrefix(text, "  "):
		return nextWord(text, whole)
	}
	return nil, text
}

// listType matches the type of a list that optionator prints: "[String]", "[path::String]".
var listType = lazyregexp.New(`^(?:\w+::)?(?:String|Number|Int|Float|Object|RegExp)$`)

// inBrackets parses a value in brackets after a space. It is optional, but click puts choices there.
func inBrackets(text string, whole bool) (*Value, string) {
	word, rest := cutWord(text[1:])
	inner := strings.Trim(word, "[]")
	switch {
	case optionalValue.MatchString(inner) && (whole || atBoundary(rest)):
		list := listType.MatchString(inner)
		return (&Value{Name: inner, Optional: !list && !strings.ContainsAny(inner, "|<"), dots: list}).named(), rest
	case strings.IndexByte(word, ']') < len(word)-1: // "[protocol://]host[:port]"
		return &Value{Name: cut(innerBrackets.ReplaceAllString(word, ""), maxName)}, rest
	}
	return nil, text
}

// nextWord parses the word after a space: a value, or the beginning of the description.
func nextWord(text string, whole bool) (*Value, string) {
	word, rest := cutWord(text[1:])
	bare := strings.TrimRight(word, ",.:")
	plainWord := innerBrackets.ReplaceAllString(bare, "")
	switch {
	case bare == "or":
		return nil, text
	case placeholder.MatchString(plainWord):
	case typeWord.MatchString(plainWord) && (whole || atBoundary(rest)):
	case lowerWord.MatchString(plainWord) && (whole || atBoundary(word[len(bare):]+rest) && word+rest != bare):
	case shortWords.MatchString(text): // "--arg a v   set a to v"
		return &Value{Name: bare, Several: true}, text[len(shortWords.FindString(text)):]
	default:
		return nil, text
	}
	v := &Value{Name: bare, dots: strings.HasSuffix(word, "...")}
	if !v.dots {
		rest = word[len(bare):] + rest
	}
	return v.more(rest, whole)
}

// byDefault returns the value of an option that is described by its default. It is nil for a switch.
func byDefault(text string) *Value {
	v := &Value{Name: "string", Equals: true}
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

// more parses further placeholders for values of the same option.
func (v *Value) more(rest string, whole bool) (*Value, string) {
	if m := dots.FindString(rest); m != "" {
		v.dots, rest = true, rest[len(m):]
	}
	for strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "  ") {
		word, after := cutWord(rest[1:])
		repeated := strings.HasSuffix(word, "]") && strings.Contains(word, "...")
		prose := len(word) == 1 && len(v.Name) > 1 // "-f FILE A list"
		if !repeated && word != v.Name && (prose || !placeholder.MatchString(word)) {
			break
		}
		v.dots = v.dots || repeated
		v.Several = v.Several || !repeated && word != "RANGE" // click's INTEGER RANGE
		rest = after
	}
	return v.named(), rest
}

// named removes the markup of a placeholder from the name, and parses the choices that the
// name lists.
func (v *Value) named() *Value {
	name, _, dotted := strings.Cut(v.Name, "...")
	v.dots = v.dots || dotted && name != "" && !strings.HasSuffix(name, ",") // "=..." is any value
	// optionator prints "path::String".
	name = strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(name), ",["), "::String")
	if at := strings.Index(name, "[="); at > 0 { // pflag's value of an option without one: "uint[=100]"
		name, v.Optional = name[:at], v.Optional || name[0] != '<' // not "<var>[=<val>]"
	}
	if v.Choices = listed(name); dotted && strings.HasPrefix(name, "(") { // "(A|B)...": letters in one word
		v.Choices, v.dots = nil, false
	}
	v.marked = v.marked || v.Equals || strings.HasPrefix(name, "<") || upperWord.MatchString(name)
	v.Name = cut(strings.Trim(name, `<>{}[]'"`), maxName)
	return v
}

// noun matches words that stand for a value, so alternatives between them are not choices.
var noun = lazyregexp.New(`^(?i:data|addr(?:ess)?|port|level|args?|mode|options?|interface|provider|date|time|` +
	`dur(?:ation)?|num(?:ber)?|user|group|string|pattern|name|url|host|size|value|id|text|regex|glob|expr|command)$`)

// listed returns the choices that a name lists: {a,b}, [a|b], a|b.
func listed(name string) []string {
	inner := strings.Trim(name, "<>[](){}")
	list := strings.Split(inner, "|")
	if strings.HasPrefix(name, "{") && strings.Contains(name, ",") {
		list = strings.Split(inner, ",")
	}
	if len(list) < 2 || len(list) > maxChoices {
		return nil
	}
	for i, one := range list {
		one = strings.Trim(strings.TrimSpace(one), `'"`)
		if one == "" || strings.ContainsAny(one, " <>()[]") || len(one) > maxName || noun.MatchString(one) ||
			pathName.MatchString(one) {
			return nil // FILE|DIR: either is a placeholder
		}
		list[i] = one
	}
	return list
}

var boundary = lazyregexp.New(`^(?:  |,| ?\|| -| \[ |\]| :|: )`)

// atBoundary reports whether rest is empty or begins with a separator.
func atBoundary(rest string) bool {
	return rest == "" || boundary.MatchString(rest)
}

// cutWord splits off the first word. Text in brackets belongs to the word.
func cutWord(text string) (word, rest string) {
	var closing []byte
	for i := range len(text) {
		c, next := text[i], byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		depth := len(closing)
		switch at := strings.IndexByte("<{[(", c); {
		case at >= 0:
			closing = append(closing, ">}])"[at])
		case depth > 0 && c == closing[depth-1]:
			closing = closing[:depth-1]
		case depth == 0 && (strings.IndexByte(" ,]);", c) >= 0 || (c == '|' || c == '/') && next == '-'):
			return text[:i], text[i:]
		}
	}
	return text, ""
}
