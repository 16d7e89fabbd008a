package usage

import (
	"regexp"
	"slices"
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
)

// types maps type names that libraries print themselves to kinds. These are certain.
var types = map[string]Kind{
	"string": Text, "strings": Text, "stringarray": Text, "stringslice": Text, "stringtostring": Text, "text": Text,
	"stringtoint": Text, "str": Text, "uuid": Text, "datetime": Text,
	"int": Integer, "ints": Integer, "int32": Integer, "int64": Integer, "uint": Integer, "uint8": Integer,
	"uint16": Integer, "uint32": Integer, "uint64": Integer, "integer": Integer, "integer range": Integer,
	"count": Integer,
	"float": Number, "float32": Number, "float64": Number, "float range": Number, "floats": Number,
	"duration": Duration, "durations": Duration, "bytes": Size,
}

// names are words in the names of values that indicate a kind, the strongest indication
// first.
var names = []struct {
	words *lazyregexp.Regexp
	kind  Kind
}{
	{lazyregexp.New(`(?i)(^|[-_ ])(url|uri)s?$`), URL},
	{lazyregexp.New(`(?i)(^|[-_ ])(files?|filename|filepath|path|paths|pathname|dir|dirs|directory|directories|` +
		`folder|` +
		`fname|file_or_dir|configfile|logfile|infile|outfile|input-file|output-file|tmpdir|workdir|basedir|rootdir|` +
		`socket)$`), Path},
	{lazyregexp.New(`(?i)^(.*[-_])?(file|dir|path)(name)?[0-9]?$`), Path},
	{lazyregexp.New(`(?i)^(string|name|branch|str|pattern|patterns|re|regex|regexp|glob|globs|expr|expression|` +
		`text|label|user|` +
		`username|host|hostname|password|passwd|passphrase|cmd|command|revision|rev|commit|tag|message|msg|title|repo|` +
		`email|` +
		`comment|query|mbox|queue|subject|branch-name|key[=:]value|prefix|suffix|sep|separator|delim|char|regex-pattern)$`),
		Text},
	{lazyregexp.New(`(?i)^(num|number|n|nn|nnn|count|int|integer|lines|cols|columns|width|depth|level|port|` +
		`jobs|threads|` +
		`max|nmerge|(.*[-_])?limit|recvlimit|pid|uid|gid|(min|max)?ttl|percent|digits|n(lines|bytes|um)|retries|tries|` +
		`chars|` +
		`length|(min|max|num)[-_][a-z]+)$`), Integer},
	{lazyregexp.New(`(?i)^(.*[-_])?(size|bytes)$`), Size},
	{lazyregexp.New(`(?i)^(seconds|secs?|milliseconds|millis|ms|minutes|mins|hours|days|interval|timeout|` +
		`duration|delay)$`), Duration},
	{lazyregexp.New(`(?i)^(float|double|ratio|factor|probability|decimal|delta|#)$`), Number},
}

// phrases are phrases in descriptions that indicate a kind.
var phrases = []struct {
	words *lazyregexp.Regexp
	kind  Kind
}{
	{lazyregexp.New(`(?i)\b(with (?:an? )?(?:optional )?(?:unit|suffix)|multiplier suffix|K, ?M, ?G|kibibytes|` +
		`megabytes|in bytes|units? of bytes|include a unit|bytes of (?:the|each))\b`), Size},
	{lazyregexp.New(`(?i)\b(in seconds|in milliseconds|number of (?:milli)?seconds|seconds to wait|in minutes|` +
		`timeout (?:in|of|for)|e\.g\. (?:10s|5m|1h))\b`), Duration},
	{lazyregexp.New(`(?i)^.{0,40}\b(number of|how many|maximum of|at most|line number|port number|` +
		`maximum (?:depth|width|length|number|count)|(?:column|tab|line) width|integer)\b`), Integer},
	{lazyregexp.New(`(?i)^(?:the )?(?:path|file|directory|folder|filename)s?` +
		`(?: (?:to|of|in|from|with|where|containing|for|on|name|into)\b|[,.;(]|$)|\b(?:path to|file to|` +
		`directory (?:to|in|where|containing)|` +
		`(?:read|load|get|obtain) .{0,40}\bfrom (?:an? |the |this )?file|(?:write|save|output) .{0,40}\bto (?:an? |` +
		`the |this )?file|` +
		`(?:config(?:uration)?|input|output|log|profile|key|cert|certs) (?:file|directory))\b(?: name prefix)?$|` +
		`\b(?:profile to|to) (?:this )?file\b|^output file name|(?:config(?:uration)?|log) file\b`), Path},
	{lazyregexp.New(`(?i)\b(the url|a url|base url|url of|url to)\b`), URL},
}

func isPlaceholderName(s string) bool {
	for _, n := range names {
		if n.words.MatchString(s) {
			return true
		}
	}
	return s == "STRING" || s == "WORD" || s == "VALUE" || s == "PATTERN" || s == "NAME"
}

var (
	// possible matches lists of choices in descriptions.
	possible = lazyregexp.New(`(?i)(?:\[possible values: |possible values(?: are)?:? |\(choices: |` +
		`choices are:? |choices: |` +
		`must be one of:? |may be one of:? |can be one of:? |is one of:? |one of:? |either |allowed values(?: are)?:? |` +
		`valid values(?: are)?:? |supported (?:values|formats)(?: are)?:? |values: |options: |` +
		`(?:supported|valid|allowed|possible|available|recogni[sz]ed) [a-z -]{0,40}(?:are|is):? |` +
		`(?:may|can|must|should) be |: |[A-Z]{2,} is |\(|\{)(.*)`)
	quotedWord = lazyregexp.New(`^[(]?['"` + "`" + `]([^'"` + "`" + ` ]{1,40})['"` + "`" +
		`](?: ?\((?:the )?default\)| \([^)]{1,60}\))?`)
	bareWord   = lazyregexp.New(`^[{(]?([A-Za-z0-9][A-Za-z0-9_.+-]{0,39})`)
	statedKind = lazyregexp.New(`\b([A-Z]{1,12})(?: arguments?)? (?:may|can) (?:have a multiplier suffix|` +
		`be followed by .{0,30}suffix)`)
	defaultOf = lazyregexp.New("(?i)[(\\[][^()\\[\\]]{0,60}?\\bdefaults?(?: value| is|s to)?[ " +
		":=]+([^()\\[\\]]{1,80})[)\\]]|" +
		"\\b(?:defaults to|the default is|default is|default value is|default:) ?[\"'`]?([^\\s\"'`;,()]{1,60})")
)

// decide determines the kind of an option's value from the value's name and the description.
func (v *Value) decide(help string) {
	if v.Default == "" {
		v.Default = defaultIn(help)
	}
	name := strings.Trim(v.Name, "<>[]{}=. ")
	lower := strings.ToLower(name)
	if len(v.Choices) > 1 {
		v.Kind, v.Sure = Choice, Certain
		return
	}
	v.Choices = nil
	if m := braced.FindStringSubmatch(help); m != nil && types[lower] != Integer {
		v.Kind, v.Sure, v.Choices = Choice, Certain, strings.Split(m[1], "|")
		return
	}
	if list := bracketed(help); len(list) > 1 {
		v.Kind, v.Sure, v.Choices = Choice, Certain, list
		return
	}
	if kind, ok := types[lower]; ok {
		v.Kind, v.Sure = kind, Certain
		if kind != Text {
			return
		}
		v.Sure = Guessed
	}
	for _, n := range names {
		if v.Kind == "" && n.words.MatchString(name) {
			v.Kind, v.Sure = n.kind, Likely
			if n.kind == Text {
				break
			}
			if lower == "level" { // often a word
				v.Sure = Guessed
			}
			if n.kind == Size && phrases[2].words.MatchString(help) && !phrases[0].words.MatchString(help) {
				v.Kind = Integer
			}
			if n.kind == Integer && phrases[0].words.MatchString(help) {
				v.Kind = Size
			}
			if n.kind == Integer && (phrases[1].words.MatchString(help) && !phrases[2].words.MatchString(help)) {
				v.Kind = Duration
			}
			return
		}
	}
	if list := choicesIn(help); len(list) > 1 {
		v.Kind, v.Sure, v.Choices = Choice, Likely, list
		return
	}
	if v.Kind == Text && v.Sure == Likely {
		return
	}
	if name != "" && regexp.MustCompile(`\b(?:file|FILE|directory) `+regexp.QuoteMeta(name)+`\b`).MatchString(help) {
		v.Kind, v.Sure = Path, Guessed
		return
	}
	for _, t := range phrases {
		if t.words.MatchString(help) && (t.kind != Path || lower != "string" || v.Sure == Guessed) {
			v.Kind, v.Sure = t.kind, Guessed
			return
		}
	}
	if v.Kind == "" {
		v.Kind, v.Sure = Text, Likely
		if name == "" {
			v.Sure = Guessed
		}
	}
}

// braced matches the choices of "{open|closed|all}" in a description.
var braced = lazyregexp.New(`\{([a-z][\w-]*(?:\|[a-z][\w-]*)+)\}`)

// bracketed returns the choices of "[possible values: a, b]".
func bracketed(help string) []string {
	const start = "[possible values: "
	at := strings.Index(help, start)
	if at < 0 {
		return nil
	}
	inner, _, ok := strings.Cut(help[at+len(start):], "]")
	if !ok {
		return nil
	}
	var list []string
	for one := range strings.SplitSeq(inner, ",") {
		if one = strings.TrimSpace(one); one != "" && len(list) < maxChoices {
			list = append(list, one)
		}
	}
	return list
}

// choicesIn returns the choices that a description seems to list.
func choicesIn(help string) []string {
	for at := 0; at < len(help); {
		m := possible.FindStringSubmatchIndex(help[at:])
		if m == nil {
			return nil
		}
		lead := help[at+m[0] : at+m[2]]
		text := help[at+m[2] : at+m[3]]
		strict := strings.ContainsAny(lead[len(lead)-1:], "({") || strings.HasSuffix(lead, ": ") && len(lead) < 4 ||
			strings.HasSuffix(lead, " be ") || strings.HasSuffix(lead, " is ") || strings.EqualFold(lead, "either ")
		if list := enumeration(text, strict); len(list) > 1 {
			return list
		}
		at += m[0] + 1
		if next := strings.IndexAny(help[at:], " ({:"); next > 0 {
			at += next
		}
	}
	return nil
}

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// plainList matches a list of three or more words that ends its sentence.
var plainList = lazyregexp.New(`^[a-z][\w-]*(?:, [a-z][\w-]*)+,? or [a-z][\w-]*[.;)]`)

// enumeration parses "'a', 'b' or 'c'" and, if not strict, also "a, b or c".
func enumeration(text string, strict bool) (list []string) {
	pattern := bareWord
	if quotedWord.MatchString(text) {
		pattern = quotedWord
	} else if strict && !(strings.Contains(text, ", or ") && plainList.MatchString(text)) {
		return nil
	}
	for len(list) < maxChoices {
		m := pattern.FindStringSubmatch(text)
		if m == nil {
			break
		}
		word := strings.TrimRight(m[1], ".")
		if word == "" || !strings.ContainsRune(alphanumeric, rune(word[0])) {
			return nil
		}
		if !slices.Contains(list, word) {
			list = append(list, word)
		}
		text = text[len(m[0]):]
		if word != m[1] { // the end of the sentence
			break
		}
		next := ""
		for _, s := range []string{", or ", ", and ", " or ", " and ", ", ", "|", "/", "; "} {
			if strings.HasPrefix(text, s) {
				next = s
				break
			}
		}
		if next == "" {
			if pattern == bareWord && text != "" && !strings.ContainsAny(text[:1], ").;]}") {
				return nil // the prose continues
			}
			break
		}
		text = text[len(next):]
	}
	return list
}

// defaultIn returns the default value that a description states, or "".
func defaultIn(help string) string {
	m := defaultOf.FindStringSubmatch(help)
	if m == nil {
		return ""
	}
	value := m[1]
	if value == "" {
		value = m[2]
	}
	value = strings.Trim(strings.TrimRight(strings.TrimSpace(value), ".,"), "\"'`")
	if strings.ContainsRune(value, ' ') && len(value) > 30 || value == "none" || value == "None" || value == "the" ||
		value == "to" || value == "a" {
		return ""
	}
	return value
}
