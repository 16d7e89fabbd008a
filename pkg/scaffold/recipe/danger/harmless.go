package danger

import (
	_ "embed" // the lists of words
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"mcp-bash/pkg/text/lazyregexp"
)

// Unproven is the reason to leave out an option whose documentation does not show that it is harmless.
const Unproven = "is not shown to be harmless"

// wordLists are lists of expressions for beginnings of words in small letters:
//
//   - shown: for selecting, limiting, ordering and formatting what is printed, and for how input is read. openers can
//     precede them, displays are those after which a switch cannot name a thing that it uses, and selects choose parts
//     of the result.
//   - acts and deletes: verbs for effects beyond the result. makes are verbs for the purpose of programs. They are acts
//     if they are about something other than the result. An act on content, a part of a text, only changes the result.
//   - things: nouns for what runs, changes settings, is secret or is elsewhere. actors are those that a switch can let
//     act, and code is what a program loads by its name.
//   - screens: words for what opens or overwrites something, wherever the first sentence has them. effects are such
//     words, too, but what is shown or selected can have them.
//   - sideFiles: words for files other than the result.
//
//go:embed words.json
var wordLists []byte

// lists replaces the names of lists in braces by their expressions.
var lists = sync.OnceValue(func() *strings.Replacer {
	var all map[string][]string
	if err := json.Unmarshal(wordLists, &all); err != nil {
		panic("words.json: " + err.Error()) // it is compiled in, and tested
	}
	pairs := []string{"{actor}", `(?:(?:to|also|only|it|will|always|this|the|program|\w+ly) )*`,
		"{ends}", `(?:e|es|s|ing|y|ies|ying)?\b`}
	for name, list := range all {
		pairs = append(pairs, "{"+name+"}", "(?:"+strings.Join(list, "|")+")")
	}
	return strings.NewReplacer(pairs...)
})

// using returns an expression with names of lists in braces.
func using(expression string) *lazyregexp.Regexp {
	return lazyregexp.Expanded(expression, expand)
}

func expand(expression string) string { return lists().Replace(expression) }

var (
	beginsShown = using(`^\W*(?:{openers}[,)]? )*{shown}|^all$`)
	// beginsDenied matches what an option prevents.
	beginsDenied = lazyregexp.New(`^\W*(?:(?:do not|don't|never|disabl\w+) (?:\S+ )|` +
		`(?:run|compile|build)(?:,? but)? (?:without|don't|do not)\b)`)
	beginsDisplay = using(`^\W*(?:(?:do not|don't|never|also|only|just|always|no|\w+ly) )*{displays}`)
	// beginsSelect matches what chooses parts of the result.
	beginsSelect  = using(`^\W*(?:(?:further|only|just|also|do not|don't) )*{selects}`)
	beginsAct     = using(`^{actor}(?:{deletes}|{acts}){ends}`)
	beginsDelete  = using(`^{actor}(?:{deletes}{ends}|get \w+ from\b)`)
	beginsMake    = using(`^{actor}{makes}{ends}`)
	beginsContent = using(`^{actor}(?:{deletes}|{acts}|{makes}){ends} (?:\S+ ){0,4}?{content}\b`)
	// isDone matches an act in the passive, and a file as its target.
	isDone = using(`\b(?:be|is|are|been|being|gets?) (?:\w+ )?(?:{deletes}|{acts}|` +
		`writt|sen|ru|creat|generat)(?:ed|d|ied|en|t|n)\b|` +
		`\b(?:to|into) (?:an? |the |this |that |given |specified |named )*(?:files?|director(?:y|` +
		`ies)|folders?|path)\b|\b(?:to|into) /|\bget \w+ from\b|\bfor (?:deletion|removal)\b`)
	// beginsGrant matches what lets something act.
	beginsGrant = lazyregexp.New(`^\W*(?:this option |it )?(?:enabl|allow|permit|support|accept|trust|assum|` +
		`honou?r|let\b|agree)`)
	// entersMode matches what only names a mode of the program.
	entersMode = lazyregexp.New(`^\W*(?:(?:enabl|activat|us)\w+|(?:run|work|operat)\w* (?:\w+ ){0,2}in) ` +
		`(?:parallel|(?:an? |the )?\w+ mode)\b`)
	// dropsGuard matches a protection that a switch turns off, and refers what another option describes.
	dropsGuard = lazyregexp.New(`^\W*(?:no|not|don't|do not|disabl\w*|skip\w*|without|turns? off|` +
		`bypass\w*|ignor\w*) ` +
		`(?:\S+ ){0,3}?(?:sandbox|isolat|secur|safe|protect|certificate|signature|verif|authent|tls\b|ssl\b|` +
		`ask\b|asking\b|confirm|backups?\b|locks?\b|locking|hooks?\b)|^absolute (?:path|name)`)
	refers = lazyregexp.New(`^\W*(?:similar|same|like|ditto)\b[^-]*$|^\W*behaves? (?:as|like)\b|` +
		`^\W*see (?:the )?(?:docs?|documentation|manual|man page)\b|` +
		`^\W*(?:or|as) --?\w|^(?:<|https?:)`)
	// namesOption matches descriptions that only repeat the option.
	namesOption = lazyregexp.New(`^--?\w`)
	// passesOptions matches names of options whose value has options for something else.
	passesOptions = lazyregexp.New(`\b(?:options?|opts?|args?|arguments?|flags?)$`)
	ownFlags      = using(`^\W*(?:{displays}|regex|regular expression)`) // of the program itself
	// namesCode matches nouns for what a program loads by its name.
	namesCode   = using(`\b{code}s?\b`)
	loadsFormat = lazyregexp.New(`\bformats?\b`) // of Node.js
	resultName  = lazyregexp.New(`^(?:o|out|outputs?|dest(?:ination)?|(?:out|output|dest|` +
		`destination)-?(?:file(?:name)?|dir|directory|folder|path|name|document))$`)
	resultHelp = lazyregexp.New(`^(?:(?:if|when) (?:specified|set|given)[, ]+|(?:the )?(?:file|directory|folder|` +
		`path) to )?(?:writ|sav|stor|plac|put|send|redirect|output|print|export|extract|unpack)(?:e|es|` +
		`s)? (?:(?:the|all|any|final|query|generated|executed|processed|downloaded) )*` +
		`(?:(?:output|results?|documents?|contents?|text|data|everything|response|archives?|files?) )?` +
		`(?:to|in|into|as) .*(?:file|path|director|folder|dir\b|prefix|\bname|stdout)|` +
		`^(?:\w+ ){0,2}output (?:file|dir|directory|folder|path|name|file ?name)\b|` +
		`^(?:the )?(?:\w+ )?(?:file|path|directory|folder|name|destination|target)\b.* (?:for|of|` +
		`to put|to write|to save|` +
		`to output) (?:the )?(?:result|output)|^(?:the )?destination (?:file|directory|folder|path)\b|` +
		`\bfile\b.* ['"]?-['"]? (?:for|is|means) (?:stdout|standard output)`)
	// otherObject matches "write to FILE a list of POTS": a list is not the result.
	otherObject = lazyregexp.New(`^(?:writ|sav|print|dump|output|export|stor)\w* (?:to|` +
		`into) \S+ (?:an?|the|all|any) |^(?:also|additionally) `)
	namesFormat = lazyregexp.New(`\b(?:format|style|column|field|encod)`)
	namesFile   = lazyregexp.New(`\b(?:file|path|name|director(?:y|ies)|folder|stdout|standard output)\b`)
	// sideFile matches words for files other than the result.
	sideFile     = using(`\b{sideFiles}\b`)
	beginsPath   = lazyregexp.New(`(?i)^(?:the |an? )?(?:path|file(?: ?name)?|directory|folder|location)s?\b`)
	endsPath     = lazyregexp.New(`(?i)^(?:\S+ ){0,4}(?:file(?: ?name)?|path|directory|folder)s?[.]?(?: \[.*)?$`)
	enablesShown = using(`^\W*(?:enabl|activat|support)\w* .*\b{shown}`)
	namesThing   = using(`\b{things}`)
	namesScreen  = using(`\b{screens}`)
	namesEffect  = using(`\b{effects}`)
	// alsoMakes matches what makes another result.
	alsoMakes  = lazyregexp.New(`^(?:also|additionally) (?:output|generat|writ|creat|produc|sav)`)
	namesActor = using(`\b{actors}`)
	readsPath  = lazyregexp.New(`\b(?:read|input|infile|take|search|look|scan|compar|match|exclud|ignor|skip|` +
		`includ|contain|restrict|with\b|cert)|\bto (?:verify|check|query|use|parse)\b|\bbe \w+ed\b|` +
		`\blocation of\b|\bcontents\b|\b(?:list(?:s|ed)?|stored?|contained|patterns?|names?) (?:in|at)\b|` +
		`\b(?:print|show|display|list)\w* .*\b(?:of|files?)\b`)
	condition = lazyregexp.New(` (?:for (?:the|an?|each|every|one|all|any|those|commands)|` +
		`that|which|when|if|unless|because) `)
	clauseEnd = lazyregexp.New(`[.,;:)]+(?: |$)| ?\(|\b(?:and|then|or|but|also|by)\b`)
	// fileKind, exitStatus, levels, goesInto and pathTo match phrases whose words would mislead.
	fileKind   = lazyregexp.New(`(?i)\bfile(?: ?system| ?name|-?type)`)
	exitStatus = lazyregexp.New(`(?i)\b(?:program )?exit[- ](?:code|status)`)
	prefixed   = lazyregexp.New(`^(?:\s*(?:\[[^\]]*\]|\([^)]*\)|<[^>]*>))+\s*`)
	levels     = lazyregexp.New(`(?i)\blog(?:ging)?[- ]?level`)
	goesInto   = lazyregexp.New(`(?i)\b(?:recurs|descend|travers|go|look)\w* into\b|\bruns? recursively\b`)
	pathTo     = lazyregexp.New(`(?i)\b(?:paths?|names?) (?:to|of) (?:an? |the )?`)
)

// plainWords returns a text in small letters, without phrases that would mislead.
func plainWords(text string) string {
	text = exitStatus.ReplaceAllString(fileKind.ReplaceAllString(text, "name"), "exit status")
	text = levels.ReplaceAllString(goesInto.ReplaceAllString(text, "recurse"), "verbosity")
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
	case r.unguards(), r.unexplained(), r.acts(), r.effects():
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
	case refers.MatchString(r.whole), namesOption.MatchString(r.Help):
		return true
	case r.any(r.names, showsName), r.denies(), r.shown, entersMode.MatchString(r.whole):
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
	return !r.content && r.any(r.names, named) || r.any(r.clauses, acting) || alsoMakes.MatchString(r.whole) ||
		isDone.MatchString(strings.Join(r.clauses, ", "))
}

// effects reports whether the first sentence mentions an effect beyond the result, wherever it does.
func (r *reading) effects() bool {
	if r.Value != "" && !r.open || r.denies() {
		return false
	}
	text := without(strings.Join(append(slices.Clone(r.names), r.clauses...), ", "), r.Command)
	shapes := beginsDisplay.MatchString(r.whole) || beginsSelect.MatchString(r.whole)
	return namesScreen.MatchString(text) || !shapes && namesEffect.MatchString(text)
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
	return (beginsSelect.MatchString(r.whole) ||
		!namesThing.MatchString(r.subject) && (r.Compiled || !namesCode.MatchString(r.about))) &&
		!(r.Node && loadsFormat.MatchString(r.about)) &&
		(!isPath(r.Option) || readsPath.MatchString(r.about+" "+strings.Join(r.clauses, ", ")))
}

// harmlessSwitch reports whether a switch lets nothing act.
func (r *reading) harmlessSwitch() bool {
	return beginsDisplay.MatchString(r.whole) || r.denies() || !namesActor.MatchString(r.subject)
}

// namesResult reports whether an option only names the file or the folder of the result, such as --output.
// It is not dangerous: the path is below the roots. Logs, reports about errors and other files are not the result.
func namesResult(o Option) bool {
	if !o.Takes || isNumber(o) {
		return false
	}
	help := plainWords(Affirmed(First(o.Help)))
	about := help
	for _, name := range o.Names {
		about += " " + strings.ReplaceAll(words(name), "-", " ")
	}
	// A long name has more meaning than a letter.
	names := slices.DeleteFunc(slices.Clone(o.Names), func(name string) bool { return len(name) == 2 })
	if len(names) == 0 {
		names = o.Names
	}
	named := slices.ContainsFunc(names, func(name string) bool { return name != "-O" && IsResult(name) })
	isSide := sideFile.MatchString(about) || otherObject.MatchString(help) ||
		namesFormat.MatchString(help) && !resultHelp.MatchString(help)
	return !isSide && (resultHelp.MatchString(help) ||
		named && (pathValue.MatchString(o.Value) || namesFile.MatchString(help)))
}

// IsResult reports whether an option or an operand has the name of the result, such as --output or outFile.
func IsResult(name string) bool { return resultName.MatchString(words(name)) }

// isPath reports whether the value of an option is a path, by its name or by the description.
func isPath(o Option) bool {
	return pathValue.MatchString(o.Value) || beginsPath.MatchString(o.Help) || endsPath.MatchString(First(o.Help))
}
