package danger

import (
	"slices"
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
)

// Unproven is the reason to leave out an option whose documentation does not show that it is harmless.
const Unproven = "is not shown to be harmless"

// The vocabulary of [Harmless] has beginnings of words in small letters.
const (
	// shown are words for selecting, limiting, ordering and formatting what is printed, and for how input is read.
	shown = `(?:pretty-?print|print|show|display|list|count|summar|total|report|describ|annotat|` +
		`quiet|silen|verbos|` +
		`suppress|hid(?:e|den|es)\b|omit|ignor|skip|exclud|includ|only\b|limit|restrict|max|` +
		`min(?:imum|imal)?\b|` +
		`at most\b|first\b|last\b|top\b|stop\b|number\b|select|filter|match|search|find\b|grep|` +
		`pattern|regexp?|` +
		`regular expression|glob\b|fixed|case\b|word|insensitive|invert|uniq|distinct|duplicate|` +
		`since\b|until\b|` +
		`before\b|after\b|between\b|range|newer|older|sort|order|revers|group|rank|format|style|` +
		`type|indent|reindent|` +
		`width|height|wrap|pad|align|column|field|line|one-?line|row|header|title|label|table|` +
		`tabs?\b|space|whitespace|` +
		`blank|separat|delimit|quot|escap|encod|charset|character|bytes?\b|unit|size|human|` +
		`precision|decimal|digit|round|` +
		`percent|colou?r|highlight|plain\b|raw\b|ascii|json|csv|tsv|xml|yaml|html|markdown|text\b|` +
		`compact|pretty|short|` +
		`brief|long\b|detail|context|depth|level|recurs|descend|travers|follow|dereferenc|symlink|` +
		`symbolic link|compar|` +
		`differ|diff\b|equal|similar|treat|interpret|consider|assum|expect|detect|pars|read|` +
		`process only|take\b|output|` +
		`input|in-?file|stdin|standard input|nul\b|null\b|zero\b|empty|date|time|timezone|` +
		`seconds?\b|minutes?\b|hours?\b|` +
		`days?\b|utc\b|` +
		`locale|language|resolution|dpi\b|page|quality|threshold|tolerance|seed\b|iteration|` +
		`threads?\b|jobs\b|warn|error|` +
		`statistic|\w*stat\b|stats\b|check|validat|lint|syntax|binary|hex|octal|radix|base\b|` +
		`exit status|dry[- ]?run)`
	// displays are those after which a switch cannot name a thing that it uses.
	displays = `(?:print|show|display|list|count|output|reports?\b|summar\w+|suppress|hid|` +
		`omit|ignor|skip|exclud|includ|highlight|sort|number)`
	// selects are verbs for choosing parts of the result.
	selects = `(?:(?:re-?)?runs? only|limit|restrict|filter|select|exclud|ignor|skip|omit|consider|` +
		`group|sort|highlight|show)`
	// openers are words that can precede them.
	openers = `(?:(?:do not|don't|never|no|also|only|just|always|if set|when set|whether|to|the|a|` +
		`an|all|any|specif\w+|` +
		`sets?|uses?|defin\w+|chooses?|enables?|disables?|turns? o(?:n|ff)|makes?|causes?|this|` +
		`option|controls?|gives?|` +
		`convert|output|default|desired|additional\w*|machine|with|each|it|program|continue|tells?|` +
		`if|other|more|file|` +
		`input|maximum)[,)]? )*`
	// acts are verbs for effects beyond the result.
	acts = `(?:` + deletes + `|sav|stor|dump|redirect|overwrit|clobber|updat|upgrad|downgrad|` +
		`install|renam|mov|cop|link|edit|exec|execut|(?:re-?)?run|runn|invok|call|spawn|launch|` +
		`start|load|import|eval|` +
		`initiali[sz]|sign|upload|download|fetch|retriev|send|submit|post|publish|push|pull|deploy|` +
		`connect|listen|serv|` +
		`detach|fork|reset|synchroni[sz]|migrat|register|reboot|provision|mount|flush|compil|allow|trust|` +
		`authenticat|log|pass(?:es|ing)?(?: \S+){1,3} (?:on )?to|pip)`
	deletes = `delet|remov|eras|destroy|unlink|shred|wip|purg|prun|clean|clear|drop|discard|kill|` +
		`uninstall|vacuum|expir|` +
		`truncat`
	// makes are verbs for the purpose of programs. They are acts if they are about something other than the result.
	makes = `(?:writ|generat|produc|mak|replac|rewrit|strip|fix|unpack|restor|recover|repair|` +
		`rotat|revert|forc|add|put|emit|terminat|evaluat|signal)`
	// content are parts of a text. An act on one of them only changes the result.
	content = `(?:comments?|white ?spaces?|spaces?|blanks?|tabs?|lines?|words?|characters?|chars?|` +
		`case|letters?|columns?|` +
		`fields?|attributes?|tags?|elements?|` +
		`(?:from|in) (?:the )?(?:output|listing|report)|quot\w+|doctype|breaks|newlines?|` +
		`components|accents?|punctuation|` +
		`indentation|separators?|` +
		`output (?:mode|format))`
	// things are nouns for what runs, changes settings, is secret or is elsewhere.
	things = `(?:command|cmd|programs?\b|script|shell|pager|browser|editor|viewer|hook|plug-?in|` +
		`add-?on|modul|librar|` +
		`macro|engine|provider|driver|external|interpreter|executable|interactive|daemon|` +
		`background|config|setting|` +
		`profile\b|specs\b|makefile|preference|\w*rc\b|rc-?file|password|passw|pass ?phrase|gpg\b|mirror|` +
		`connection|cluster|vault|identit|token|secret|credential|private|key ?file|cookie|netrc|` +
		`login|user\b|username|` +
		`prox(?:y|ies)|ur[li]s?\b|\w*server|host|network|remote|` +
		`socket|port\b|cach|log\b|logging|te?mp\b|temporar|log ?file|scratch|backup|snapshot|chdir|chroot|` +
		`working dir|work ?dir|device|owner|permission|privileg|unsafe|in[- ]place|inplace|through\b)`

	// actors are those that a switch can let act.
	actors = `(?:command|cmd|programs?\b|script|shell|pager|browser|editor|viewer|hook|plug-?in|` +
		`add-?on|macro|module|` +
		`driver|helper|cluster|filters\b|external|interpreter|executable|interactive|daemon|` +
		`background|config|network|remote|` +
		`\w*server|cach|te?mp|temporar|scratch|backup|snapshot|unsafe|in[- ]place|inplace|through\b|password|` +
		`pass ?phrase|gpg\b|` +
		`credential|secret|log ?file|chroot|owner|permission|privileg)`
	actor = `^(?:(?:to|also|only|it|will|always|this|the|program|\w+ly) )*`
	ends  = `(?:e|es|s|ing|y|ies|ying)?\b`
)

var (
	beginsShown = lazyregexp.New(`^\W*` + openers + shown + `|^all$`)
	// beginsDenied matches what an option prevents.
	beginsDenied = lazyregexp.New(`^\W*(?:(?:do not|don't|never|disabl\w+) (?:\S+ )|` +
		`(?:run|compile|build)(?:,? but)? (?:without|don't|do not)\b)`)
	beginsDisplay = lazyregexp.New(`^\W*(?:(?:do not|don't|never|also|only|just|always|no) )*` + displays)
	// beginsSelect matches what chooses parts of the result.
	beginsSelect  = lazyregexp.New(`^\W*(?:(?:further|only|just|also|do not|don't) )*` + selects)
	beginsAct     = lazyregexp.New(actor + acts + ends)
	beginsDelete  = lazyregexp.New(actor + `(?:(?:` + deletes + `)` + ends + `|get \w+ from\b)`)
	beginsMake    = lazyregexp.New(actor + makes + ends)
	beginsContent = lazyregexp.New(actor + `(?:` + acts + `|` +
		`` + makes + `)` + ends + ` (?:\S+ ){0,4}?` + content + `\b`)
	// isDone matches an act in the passive, and a file as its target.
	isDone = lazyregexp.New(`\b(?:be|is|are|been|being|gets?) (?:\w+ )?(?:` + acts +
		`|writt|sen|ru|creat|generat)(?:ed|d|ied|en|t|n)\b|` +
		`\b(?:to|into) (?:an? |the |this |that |given |specified |named )*(?:files?|director(?:y|` +
		`ies)|folders?|path)\b|` +
		`\b(?:to|into) /|\bget \w+ from\b|\bfor (?:deletion|removal)\b`)
	// beginsGrant matches what lets something act, and beginsUse what a text names for use.
	beginsGrant = lazyregexp.New(`^\W*(?:this option |it )?(?:enabl|allow|permit|support|accept|trust|assum|` +
		`honou?r|let\b|agree)`)
	// entersMode matches what only names a mode of the program.
	entersMode = lazyregexp.New(`^\W*(?:(?:enabl|activat|us)\w+|(?:run|work|operat)\w* (?:\w+ ){0,2}in) ` +
		`(?:parallel|(?:an? |the )?\w+ mode)\b`)
	beginsUse = lazyregexp.New(`^\W*(?:us(?:e|es|ing)|what to|where to)\b`)
	// dropsGuard matches a protection that a switch turns off, and refers what another option describes.
	dropsGuard = lazyregexp.New(`^\W*(?:no|not|don't|do not|disabl\w*|skip\w*|without|turns? off|` +
		`bypass\w*|ignor\w*) ` +
		`(?:\S+ ){0,3}?(?:sandbox|isolat|secur|safe|protect|certificate|signature|verif|authent|tls\b|ssl\b|` +
		`locks?\b|locking|hooks?\b)|` +
		`^absolute (?:path|name)`)
	refers = lazyregexp.New(`^\W*(?:similar|same|like|ditto)\b[^-]*$`)
	// passesOptions matches names of options whose value has options for something else.
	passesOptions = lazyregexp.New(`\b(?:options?|opts?|args?|arguments?|flags?)$`)
	ownFlags      = lazyregexp.New(`^\W*(?:` + displays + `|regex|regular expression)`) // of the program itself
	namesValue    = lazyregexp.New(`\b(?:prefix|suffix|file|dir|directory)$`)
	// namesCode matches nouns for what a program loads by its name.
	namesCode = lazyregexp.New(`\b(?:reporter|formatter|transformer|transform|resolver|` +
		`preset|adapter|` +
		`parser|handler|` +
		`backend|converter|lua|python|javascript|filter ?graph)s?\b`)
	loadsFormat = lazyregexp.New(`\bformats?\b`) // of Node.js
	resultName  = lazyregexp.New(`^(?:o|out|outputs?|dest(?:ination)?|(?:out|output|dest|` +
		`destination)-?(?:file(?:name)?|dir|directory|` +
		`folder|path|name|document))$`)
	resultHelp = lazyregexp.New(`^(?:(?:if|when) (?:specified|set|given)[, ]+|(?:the )?(?:file|` +
		`directory|folder|` +
		`path) to )?` +
		`(?:writ|sav|stor|plac|put|send|redirect|output|print|export|extract|unpack)(?:e|es|` +
		`s)? (?:(?:the|all|any|final|query|` +
		`generated|executed|processed|downloaded) )*(?:[a-z]+ )?` +
		`(?:to|in|into|as) .*(?:file|path|director|folder|dir\b|prefix|\bname|stdout)|` +
		`^(?:\w+ ){0,2}output (?:file|dir|directory|folder|path|name|file ?name)\b|` +
		`^(?:the )?(?:\w+ )?(?:file|path|directory|folder|name|destination|target)\b.* (?:for|of|` +
		`to put|to write|to save|` +
		`to output) (?:the )?(?:result|output)|^(?:the )?destination (?:file|directory|folder|path)\b|` +
		`\bfile\b.* ['"]?-['"]? (?:for|is|means) (?:stdout|standard output)`)
	// otherObject matches "write to FILE a list of POTS": a list is not the result.
	otherObject = lazyregexp.New(`^(?:writ|sav|print|dump|output|export|stor)\w* (?:to|` +
		`into) \S+ (?:an?|the|all|any) `)
	namesFormat = lazyregexp.New(`\b(?:format|style|column|field|encod)`)
	namesFile   = lazyregexp.New(`\b(?:file|path|name|director(?:y|ies)|folder|stdout|standard output)\b`)
	// sideFile matches words for files other than the result.
	sideFile = lazyregexp.New(`\b(?:log|logs|logging|err|stderr|standard error|warnings?|debug|trac\w*|` +
		`profil\w*|` +
		`diagnostics?|statistics|stats?|reject\w*|backups?|cach\w*|te?mp|temporar\w*|scratch|` +
		`cookies?|headers?|history|` +
		`journal|state|status|lock|pid|keys?|keyout|seed|serial|databases?|index|` +
		`depend\w*|deps|coverage|timing|` +
		`progress|config\w*|settings|socket|host|server|url|pipe|command|script|code|source ?map|` +
		`manifest|module|version)\b`)
	beginsPath   = lazyregexp.New(`(?i)^(?:the |an? )?(?:path|file(?: ?name)?|directory|folder|location)s?\b`)
	enablesShown = lazyregexp.New(`^\W*(?:enabl|activat|support)\w* .*\b` + shown)
	namesThing   = lazyregexp.New(`\b` + things)
	namesActor   = lazyregexp.New(`\b` + actors)
	readsPath    = lazyregexp.New(`\b(?:read|input|infile|from\b|take|search|look|scan|compar|` +
		`match|exclud|ignor|skip|` +
		`includ|contain|restrict|limit|filter|select|only|with\b|bundle|cert)|\bto (?:verify|check|` +
		`query|use|parse)\b|\bbe \w+ed\b|` +
		`\blocation of\b|\bcontents\b|\b(?:list(?:s|ed)?|stored?|contained|patterns?|names?) (?:in|at)\b|` +
		`\b(?:print|show|display|list)\w* .*\b(?:of|files?)\b`)
	condition = lazyregexp.New(` (?:for (?:the|an?|each|every|one|all|any|those|commands)|` +
		`that|which|when|if|unless|because) `)
	clauseEnd = lazyregexp.New(`[.,;:)]+(?: |$)| ?\(|\b(?:and|then|or|but|also|by)\b`)
	// fileKind, exitStatus, goesInto, restricts, typedOn and pathTo match phrases whose words would mislead.
	fileKind   = lazyregexp.New(`(?i)\bfile(?: ?system| ?name|-?type)`)
	exitStatus = lazyregexp.New(`(?i)\b(?:program )?exit[- ](?:code|status)`)
	prefixed   = lazyregexp.New(`^(?:\s*(?:\[[^\]]*\]|\([^)]*\)|<[^>]*>))+\s*`)
	levels     = lazyregexp.New(`(?i)\blog(?:ging)?[- ]?level`)
	shellGlob  = lazyregexp.New(`(?i)\b(?:shell|file)(?:-style)? (?:glob|wildcard|pattern)`)
	goesInto   = lazyregexp.New(`(?i)\b(?:recurs|descend|travers|go|look)\w* into\b|\bruns? recursively\b`)
	restricts  = lazyregexp.New(`(?i)([^,]) (?:that|which) (?:is|are|was|were|(?:has|have) been|(?:would|will) be) \w+`)
	typedOn    = lazyregexp.New(`(?i) (?:on|from|in|at) the command[- ]?line`)
	pathTo     = lazyregexp.New(`(?i)\b(?:paths?|names?) (?:to|of) (?:an? |the )?`)
)

// plainWords returns a text in small letters, without phrases that would mislead.
func plainWords(text string) string {
	text = exitStatus.ReplaceAllString(fileKind.ReplaceAllString(text, "name"), "exit status")
	text = goesInto.ReplaceAllString(typedOn.ReplaceAllString(restricts.ReplaceAllString(text, "$1"), ""), "recurse")
	text = shellGlob.ReplaceAllString(levels.ReplaceAllString(text, "verbosity"), "pattern")
	return prefixed.ReplaceAllString(strings.ToLower(pathTo.ReplaceAllString(text, "")), "")
}

// A reading has the texts of an option in small letters.
type reading struct {
	Option
	names   []string // long names with spaces
	whole   string   // the first sentence of the description
	clauses []string // of what it affirms
	about   string   // the names, the value and the first clause, without words of the command
	subject string   // the same, up to a condition or a purpose
	content bool     // it acts on parts of a text
	shown   bool     // it begins with a word for shaping the result
	open    bool     // its value is a text, which can name something
}

func read(o Option) *reading {
	r := &reading{Option: o, whole: plainWords(First(o.Help)), open: o.Takes && !isNumber(o)}
	for _, name := range o.Names {
		if name = words(name); len(name) > 1 {
			r.names = append(r.names, plainWords(strings.ReplaceAll(name, "-", " ")))
		}
	}
	affirmed := strings.TrimSpace(plainWords(Affirmed(First(o.Help))))
	r.clauses = clauseEnd.Split(affirmed, -1)
	named := strings.Join(append(slices.Clone(r.names), strings.ReplaceAll(words(o.Value), "-", " ")), " ") + " "
	r.about = without(named+r.clauses[0], o.Command)
	r.subject = without(named+condition.Split(r.clauses[0], 2)[0], o.Command)
	if r.denies() {
		r.clauses[0] = ""
	}
	r.content = beginsContent.MatchString(affirmed)
	r.shown = r.content || beginsShown.MatchString(r.whole) || r.any(r.names, showsName) ||
		r.whole == "" && beginsShown.MatchString(plainWords(words(o.Value)))
	return r
}

// without returns the words of a text, separated by single spaces, without those of a command in singular or plural.
func without(text string, command []string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(text), func(field string) bool {
		return slices.ContainsFunc(command, func(word string) bool {
			return strings.TrimSuffix(word, "s") == strings.TrimSuffix(field, "s")
		})
	}), " ")
}

func (r *reading) any(texts []string, is func(text string) bool) bool {
	return slices.ContainsFunc(texts, is)
}

// denies reports whether the description begins with what the option prevents.
func (r *reading) denies() bool { return beginsDenied.MatchString(r.whole) }

// showsName reports whether a name begins or ends with a word for shaping the result.
func showsName(name string) bool {
	last := name[strings.LastIndexByte(name, ' ')+1:]
	return beginsShown.MatchString(name) || beginsShown.MatchString(last) && !beginsAct.MatchString(name)
}

// Harmless reports whether the documentation of an option shows that it only shapes the result (WRAP-26).
// A switch, a number and a choice cannot name a program, a file or an address. So they are harmless, unless the
// documentation declares an act. A text must also not name something that acts, and a path must be one that is read.
func Harmless(o Option) bool {
	r := read(o)
	switch {
	case r.unguards(), r.unexplained(), r.acts():
		return false
	case r.open:
		return r.harmlessText()
	case o.Value == "":
		return r.harmlessSwitch()
	}
	return true // a number or a choice
}

// unguards reports whether an option turns off a protection, or passes options to something else.
func (r *reading) unguards() bool {
	value := strings.ReplaceAll(words(r.Value), "-", " ")
	passes := r.any(r.names, passesOptions.MatchString) ||
		r.open && passesOptions.MatchString(value) && !strings.Contains(r.Value, ":")
	return r.any(append(slices.Clone(r.names), r.whole), dropsGuard.MatchString) ||
		passes && !ownFlags.MatchString(r.whole)
}

// unexplained reports whether nothing shows what an option does, or it only lets something act.
func (r *reading) unexplained() bool {
	switch {
	case r.any(r.names, showsName), r.denies():
		return false
	case refers.MatchString(r.whole):
		return true
	case r.shown, entersMode.MatchString(r.whole):
		return false
	}
	grants := r.any(append(slices.Clone(r.names), r.whole), beginsGrant.MatchString)
	return r.whole == "" && (r.Value == "" || r.open) ||
		grants && (namesActor.MatchString(r.about) || !enablesShown.MatchString(r.clauses[0]))
}

// acts reports whether an option does more than shaping the result. A number or a choice does if it deletes.
func (r *reading) acts() bool {
	if r.Value != "" && !r.open {
		return !r.content && r.any(append(slices.Clone(r.names), r.clauses[0]), beginsDelete.MatchString)
	}
	named := func(name string) bool {
		return !showsName(name) &&
			(beginsAct.MatchString(name) || beginsMake.MatchString(name) && sideFile.MatchString(r.about))
	}
	return !r.content && r.any(r.names, named) || r.any(r.clauses, acting) ||
		isDone.MatchString(strings.Join(r.clauses, ", "))
}

// acting reports whether a clause begins with an act on more than a part of the text.
func acting(clause string) bool {
	clause = strings.TrimSpace(clause)
	if beginsContent.MatchString(clause) || beginsShown.MatchString(clause) || beginsSelect.MatchString(clause) ||
		entersMode.MatchString(clause) {
		return false
	}
	return beginsAct.MatchString(clause) ||
		beginsMake.MatchString(clause) && (sideFile.MatchString(clause) || strings.HasSuffix(clause, " report"))
}

// harmlessText reports whether a text names nothing that acts, and a path is one that is read.
func (r *reading) harmlessText() bool {
	return (beginsSelect.MatchString(r.whole) || (r.shown || !beginsUse.MatchString(r.whole)) &&
		!namesThing.MatchString(r.subject) && (r.Compiled || !namesCode.MatchString(r.about))) &&
		!(r.Node && loadsFormat.MatchString(r.about)) &&
		(!isPath(r.Option) || readsPath.MatchString(r.about+" "+strings.Join(r.clauses, ", ")))
}

// harmlessSwitch reports whether a switch lets nothing act. A name such as --data-prefix may have a value that the
// documentation omits.
func (r *reading) harmlessSwitch() bool {
	return beginsDisplay.MatchString(r.whole) || r.denies() ||
		!namesActor.MatchString(r.subject) && !r.any(r.names, namesValue.MatchString)
}

// namesResult reports whether an option only names the file or the folder of the result, such as --output.
// It is not dangerous: the path is below the roots. Logs, reports about errors and other files are not the result.
func namesResult(o Option) bool {
	if !o.Takes || isNumber(o) {
		return false
	}
	help, named := plainWords(Affirmed(First(o.Help))), false
	about := help
	for _, name := range o.Names {
		name = words(name)
		named = named || resultName.MatchString(name)
		about += " " + strings.ReplaceAll(name, "-", " ")
	}
	isSide := sideFile.MatchString(about) || otherObject.MatchString(help) ||
		namesFormat.MatchString(help) && !resultHelp.MatchString(help)
	return !isSide && (resultHelp.MatchString(help) ||
		named && (pathValue.MatchString(o.Value) || namesFile.MatchString(help)))
}

// isPath reports whether the value of an option is a path, by its name or by the description.
func isPath(o Option) bool {
	return pathValue.MatchString(o.Value) || beginsPath.MatchString(o.Help)
}
