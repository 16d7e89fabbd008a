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
	shown = `(?:pretty-?print|print|show|display|list|count|summar|total|report|describ|annotat|quiet|silen|verbos|` +
		`suppress|hid(?:e|den|es)\b|omit|ignor|skip|exclud|includ|only\b|limit|restrict|max|min(?:imum|imal)?\b|` +
		`at most\b|first\b|last\b|top\b|stop\b|number\b|select|filter|match|search|find\b|grep|pattern|regexp?|` +
		`regular expression|glob\b|fixed|case\b|word|insensitive|invert|uniq|distinct|duplicate|since\b|until\b|` +
		`before\b|after\b|between\b|range|newer|older|sort|order|revers|group|rank|format|style|type|indent|reindent|` +
		`width|height|wrap|pad|align|column|field|line|one-?line|row|header|title|label|table|tabs?\b|space|whitespace|` +
		`blank|separat|delimit|quot|escap|encod|charset|character|bytes?\b|unit|size|human|precision|decimal|digit|round|` +
		`percent|colou?r|highlight|plain\b|raw\b|ascii|json|csv|tsv|xml|yaml|html|markdown|text\b|compact|pretty|short|` +
		`brief|long\b|detail|context|depth|level|recurs|descend|travers|follow|dereferenc|symlink|symbolic link|compar|` +
		`differ|diff\b|equal|similar|treat|interpret|consider|assum|expect|detect|pars|read|process only|take\b|output|` +
		`input|in-?file|stdin|standard input|nul\b|null\b|zero\b|empty|date|time|timezone|seconds?\b|minutes?\b|hours?\b|` +
		`days?\b|utc\b|` +
		`locale|language|resolution|dpi\b|page|quality|threshold|tolerance|seed\b|iteration|threads?\b|jobs\b|warn|error|` +
		`statistic|\w*stat\b|stats\b|check|validat|lint|syntax|binary|hex|octal|radix|base\b|exit status|dry[- ]?run)`
	// displays are those after which a switch cannot name a thing that it uses.
	displays = `(?:print|show|display|list|count|output|suppress|hid|omit|ignor|skip|exclud|includ|highlight|sort|number)`
	// openers are words that can precede them.
	openers = `(?:(?:do not|don't|never|no|also|only|just|always|if set|when set|whether|to|the|a|an|all|any|specif\w+|` +
		`sets?|uses?|defin\w+|chooses?|enables?|disables?|turns? o(?:n|ff)|makes?|causes?|this|option|controls?|gives?|` +
		`convert|output|default|desired|additional\w*|machine|with|each|it|program|continue|tells?|if|other|more|file|` +
		`input|maximum)[,)]? )*`
	// acts are verbs for effects beyond the printed result.
	acts = `(?:writ|sav|stor|dump|creat|generat|append|redirect|delet|remov|eras|destroy|unlink|shred|wip|purg|` +
		`prun|clean|clear|drop|discard|kill|signal|terminat|overwrit|clobber|replac|rewrit|modif|alter|chang|` +
		`strip|updat|upgrad|downgrad|install|uninstall|renam|mov|cop|link|fix|edit|exec|execut|run|runn|invok|` +
		`call|spawn|launch|start|load|import|eval|evaluat|initiali[sz]|sign|upload|download|fetch|` +
		`retriev|send|submit|post|publish|push|pull|deploy|connect|listen|serv|detach|fork|extract|unpack|restor|reset|` +
		`vacuum|` +
		`recover|repair|synchroni[sz]|migrat|rotat|revert|register|truncat|reboot|provision|` +
		`mount|lock|forc|flush|compil|allow|trust|authenticat|log|pass|pip)`
	// content are parts of a text. An act on one of them only changes the result.
	content = `(?:comments?|white ?space|spaces?|blanks?|tabs?|lines?|words?|characters?|chars?|case|letters?|columns?|` +
		`fields?|attributes?|quot\w+|doctype|breaks|newlines?|components|accents?|punctuation|indentation|separators?|` +
		`output (?:mode|format))`
	// things are nouns for what runs, changes settings, is secret or is elsewhere.
	things = `(?:command|cmd|programs?\b|script|shell|pager|browser|editor|viewer|hook|plug-?in|add-?on|modul|librar|` +
		`code\b|macro|engine|provider|driver|external|interpreter|executable|interactive|daemon|background|config|setting|` +
		`profile\b|specs\b|makefile|preference|\w*rc\b|rc-?file|environment|password|passw|pass ?phrase|gpg\b|mirror|` +
		`connection|vault|identit|token|secret|credential|private|key ?file|cookie|netrc|login|user\b|username|` +
		`prox(?:y|ies)|ur[li]s?\b|https?|ftp|\w*server|host|network|remote|` +
		`socket|port\b|cach|log\b|logging|te?mp\b|temporar|log ?file|scratch|backup|snapshot|chdir|chroot|` +
		`working dir|work ?dir|device|owner|permission|privileg|root\b|unsafe|in[- ]place|inplace|through\b)`

	// actors are those that a switch can let act.
	actors = `(?:command|cmd|programs?\b|script|shell|pager|browser|editor|viewer|hook|plug-?in|add-?on|macro|module|` +
		`driver|helper|filters\b|external|interpreter|executable|interactive|daemon|background|config|network|remote|` +
		`\w*server|cach|te?mp|temporar|scratch|backup|snapshot|unsafe|in[- ]place|inplace|through\b|password|` +
		`pass ?phrase|gpg\b|` +
		`credential|secret|log ?file|chroot|owner|permission|privileg)`
	actor = `^(?:(?:to|also|only|it|will|always|this|the|program|\w+ly) )*`
	ends  = `(?:e|es|s|ing|y|ies|ying)?\b`
)

var (
	beginsShown  = lazyregexp.New(`^\W*` + openers + shown)
	beginsDenied = lazyregexp.New(`^\W*(?:do not|don't|never) (?:actually |really )?` + acts + ends +
		`|^\W*(?:run|compile|build)(?:,? but)? (?:without|don't|do not)\b`)
	beginsDisplay = lazyregexp.New(`^\W*(?:(?:do not|don't|never|also|only|just|always|no) )*` + displays)
	beginsAct     = lazyregexp.New(actor + acts + ends)
	beginsContent = lazyregexp.New(actor + acts + ends + ` (?:\S+ ){0,4}?` + content + `\b`)
	// isDone matches an act in the passive, and a file as its target.
	isDone = lazyregexp.New(`\b(?:be|is|are|been|being|gets?) (?:\w+ )?(?:` + acts +
		`|writt|sen|ru)(?:ed|d|ied|en|t|n)\b|` +
		`\b(?:to|into) (?:an? |the |this |that |given |specified |named )*(?:files?|director(?:y|ies)|folders?|path)\b|` +
		`\b(?:to|into) /|\bget \w+ from\b|\bfor (?:deletion|removal)\b`)
	// beginsGrant matches what lets something act, and beginsUse what a text names for use.
	beginsGrant = lazyregexp.New(`^\W*(?:this option |it )?(?:enabl|allow|permit|support|activat|accept|trust|assum|` +
		`honou?r|let\b|agree)`)
	beginsUse = lazyregexp.New(`^\W*(?:us(?:e|es|ing)|what to|where to)\b`)
	// dropsGuard matches a protection that a switch turns off, and refers what another option describes.
	dropsGuard = lazyregexp.New(`^\W*(?:no|not|don't|do not|disabl\w*|skip\w*|without|turns? off|bypass\w*|ignor\w*) ` +
		`(?:\S+ ){0,3}?(?:sandbox|isolat|secur|safe|protect|certificate|signature)`)
	refers = lazyregexp.New(`^\W*(?:similar|same|like|ditto)\b[^-]*$`)
	// passesOptions matches names of options whose value has options for something else.
	passesOptions = lazyregexp.New(`\b(?:options?|opts?|args?|arguments?|flags?)$`)
	namesValue    = lazyregexp.New(`\b(?:prefix|suffix|file|dir|directory)$`)
	// namesCode matches nouns for what a program loads by its name.
	namesCode = lazyregexp.New(`\b(?:reporter|formatter|formatting|transformer|transform|resolver|preset|adapter|` +
		`parser|handler|` +
		`backend|converter|lua|python|javascript|filter ?graph)s?\b`)
	resultName = lazyregexp.New(`^(?:o|out|outputs?|dest(?:ination)?|(?:out|output|dest|` +
		`destination)-?(?:file(?:name)?|dir|directory|` +
		`folder|path|name|document))$`)
	resultHelp = lazyregexp.New(`^(?:(?:if|when) (?:specified|set|given)[, ]+|(?:the )?(?:file|directory|folder|` +
		`path) to )?` +
		`(?:writ|sav|stor|plac|put|send|redirect|output|print|export)(?:e|es|s)? (?:(?:the|all|any|final|query|generated|` +
		`executed|processed|downloaded) )*(?:(?:outputs?|results?|documents?|files|images?|issues|archive|templates|it|` +
		`them) )?` +
		`(?:to|in|into|as) .*(?:file|path|director|folder|\bdir|prefix|\bname|stdout)|` +
		`^(?:\w+ ){0,2}output (?:file|dir|directory|folder|path|name|file ?name)\b|` +
		`^(?:the )?(?:\w+ )?(?:file|path|directory|folder|name|destination|target)\b.* (?:for|of|to put|to write|to save|` +
		`to output) (?:the )?(?:result|output)|^(?:the )?destination (?:file|directory|folder|path)\b|` +
		`\bfile\b.* ['"]?-['"]? (?:for|is|means) (?:stdout|standard output)`)
	namesFormat = lazyregexp.New(`\b(?:format|style|column|field|encod)`)
	namesFile   = lazyregexp.New(`\b(?:file|path|name|director(?:y|ies)|folder|stdout|standard output)\b`)
	// sideFile matches words for files other than the result.
	sideFile = lazyregexp.New(`\b(?:log|logs|logging|errors?|err|stderr|standard error|warnings?|debug|trac\w*|` +
		`profil\w*|` +
		`diagnostics?|statistics|stats?|reject\w*|backups?|cach\w*|te?mp|temporar\w*|scratch|cookies?|headers?|history|` +
		`state|status|lock|pid|keys?|keyout|random|seed|serial|databases?|index|depend\w*|deps|metadata|coverage|timing|` +
		`progress|config\w*|settings|socket|host|server|url|pipe|command|script|code|source ?map|manifest|module|version)\b`)
	beginsPath = lazyregexp.New(`(?i)^(?:the |an? )?(?:path|file(?: ?name)?|directory|folder|location)s?\b`)
	namesThing = lazyregexp.New(`\b` + things)
	namesActor = lazyregexp.New(`\b` + actors)
	readsPath  = lazyregexp.New(`\b(?:read|input|infile|from\b|take|search|look|scan|compar|match|exclud|ignor|skip|` +
		`includ|contain|restrict|limit|filter|select|only|with\b|bundle|cert)|\bto (?:verify|check|query|use|parse|be)\b|` +
		`\blocation of\b|\bcontents\b|\b(?:list(?:s|ed)?|stored?|contained|patterns?|names?) (?:in|at)\b|` +
		`\b(?:print|show|display|list)\w* .*\b(?:of|files?)\b`)
	clauseEnd = lazyregexp.New(`[.,;:)]+(?: |$)| ?\(|\b(?:and|then|or|but|also|by)\b`)
	// fileKind, exitStatus, goesInto and pathTo match phrases whose words would mislead.
	fileKind   = lazyregexp.New(`(?i)\bfile(?: ?system| ?name|-?type)`)
	exitStatus = lazyregexp.New(`(?i)\b(?:program )?exit[- ](?:code|status)`)
	prefixed   = lazyregexp.New(`^(?:\s*(?:\[[^\]]*\]|\([^)]*\)|<[^>]*>))+\s*`)
	levels     = lazyregexp.New(`(?i)\blog(?:ging)?[- ]?level`)
	shellGlob  = lazyregexp.New(`(?i)\b(?:shell|file)(?:-style)? (?:glob|wildcard|pattern)`)
	goesInto   = lazyregexp.New(`(?i)\b(?:recurs|descend|travers|go|look)\w* into\b`)
	pathTo     = lazyregexp.New(`(?i)\b(?:paths?|names?) (?:to|of) (?:an? |the )?`)
)

// plainWords returns a text in small letters, without phrases that would mislead.
func plainWords(text string) string {
	text = exitStatus.ReplaceAllString(fileKind.ReplaceAllString(text, "name"), "exit status")
	text = goesInto.ReplaceAllString(text, "recurse")
	text = shellGlob.ReplaceAllString(levels.ReplaceAllString(text, "verbosity"), "pattern")
	return prefixed.ReplaceAllString(strings.ToLower(pathTo.ReplaceAllString(text, "")), "")
}

// Harmless reports whether the documentation of an option shows that it only shapes the result (WRAP-26).
// A switch, a number and a choice cannot name a program, a file or an address. So they are harmless, unless the
// documentation declares an act. A text must also not name something that acts, and a path must be one that is read.
func Harmless(o Option) bool {
	var names []string
	for _, name := range o.Names {
		if name = words(name); len(name) > 1 {
			names = append(names, plainWords(strings.ReplaceAll(name, "-", " ")))
		}
	}
	whole, help := plainWords(First(o.Help)), strings.TrimSpace(plainWords(Affirmed(First(o.Help))))
	clauses, texts := clauseEnd.Split(help, -1), append(slices.Clone(names), whole)
	value := strings.ReplaceAll(words(o.Value), "-", " ")
	about := strings.Join(names, " ") + " " + value + " " + clauses[0]
	if beginsDenied.MatchString(whole) {
		clauses[0] = ""
	}
	isContent := beginsContent.MatchString(help)
	isShown := func(name string) bool {
		last := name[strings.LastIndexByte(name, ' ')+1:]
		return beginsShown.MatchString(name) || beginsShown.MatchString(last) && !beginsAct.MatchString(name)
	}
	begins := isContent || beginsShown.MatchString(whole) || beginsDenied.MatchString(whole) ||
		slices.ContainsFunc(names, isShown) || help == "" && beginsShown.MatchString(plainWords(words(o.Value)))
	isNumber := o.Value != "" && (!o.Takes || harmless.MatchString(o.Value)) // or a choice, or a format
	isAct := func(name string) bool {
		return beginsAct.MatchString(name) && !isShown(name) &&
			!(isNumber && (beginsShown.MatchString(whole) || help == "" && begins))
	}
	switch {
	case !begins && (help == "" || slices.ContainsFunc(texts, beginsGrant.MatchString)),
		refers.MatchString(whole) && !slices.ContainsFunc(names, isShown),
		slices.ContainsFunc(texts, dropsGuard.MatchString),
		o.Takes && passesOptions.MatchString(value) && !strings.Contains(o.Value, ":"),
		!isContent && slices.ContainsFunc(names, isAct), slices.ContainsFunc(names, passesOptions.MatchString),
		slices.ContainsFunc(clauses, acting), isDone.MatchString(help):
		return false
	case o.Takes && !harmless.MatchString(o.Value):
		return (begins || !beginsUse.MatchString(whole)) && !namesThing.MatchString(about) &&
			(o.Compiled || !namesCode.MatchString(about)) && (!isPath(o) || readsPath.MatchString(about+" "+help))
	case o.Value == "": // a name such as --data-prefix may have a value that the documentation omits
		return beginsDisplay.MatchString(whole) || beginsDenied.MatchString(whole) || !namesActor.MatchString(about) &&
			!slices.ContainsFunc(names, namesValue.MatchString)
	}
	return true // a number or a choice
}

// namesResult reports whether an option only names the file or the folder of the result, such as --output.
// It is not dangerous: the path is below the roots. Logs, reports about errors and other files are not the result.
func namesResult(o Option) bool {
	if !o.Takes || harmless.MatchString(o.Value) {
		return false
	}
	help, named := plainWords(Affirmed(First(o.Help))), false
	about := help
	for _, name := range o.Names {
		name = words(name)
		named = named || resultName.MatchString(name)
		about += " " + strings.ReplaceAll(name, "-", " ")
	}
	isSide := sideFile.MatchString(about) || namesFormat.MatchString(help) && !resultHelp.MatchString(help)
	return !isSide && (resultHelp.MatchString(help) ||
		named && (pathValue.MatchString(o.Value) || namesFile.MatchString(help)))
}

// isPath reports whether the value of an option is a path, by its name or by the description.
func isPath(o Option) bool {
	return pathValue.MatchString(o.Value) || beginsPath.MatchString(o.Help)
}

// acting reports whether a clause begins with an act on more than a part of the text.
func acting(clause string) bool {
	clause = strings.TrimSpace(clause)
	return beginsAct.MatchString(clause) && !beginsContent.MatchString(clause) && !beginsShown.MatchString(clause)
}
