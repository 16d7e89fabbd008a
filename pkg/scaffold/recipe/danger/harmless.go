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
		`input|stdin|standard input|nul\b|null\b|zero\b|empty|date|time|timezone|seconds?\b|minutes?\b|hours?\b|` +
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
	acts = `(?:writ|sav|stor|dump|creat|generat|record|append|redirect|delet|remov|eras|destroy|unlink|shred|wip|purg|` +
		`prun|clean|clear|drop|discard|kill|signal|terminat|abort|overwrit|clobber|replac|rewrit|modif|alter|chang|add|` +
		`insert|strip|updat|upgrad|downgrad|install|uninstall|renam|mov|cop|link|fix|edit|exec|execut|run|runn|invok|` +
		`call|spawn|launch|start|load|import|eval|evaluat|initiali[sz]|sign|encrypt|decrypt|verif|upload|download|fetch|` +
		`retriev|send|submit|post|publish|push|pull|deploy|connect|listen|serv|detach|fork|extract|unpack|restor|reset|` +
		`recover|repair|mount|lock|forc|allow|trust|authenticat|log|pass|pip|collaps|minif|compress|condens|squeez)`
	// content are parts of a text. An act on one of them only changes the result.
	content = `(?:comments?|white ?space|spaces?|blanks?|tabs?|lines?|words?|characters?|chars?|case|letters?|columns?|` +
		`fields?|attributes?|quot\w+|doctype|breaks?|newlines?|components|accents?|punctuation|indentation|separators?)`
	// things are nouns for what runs, changes settings, is secret or is elsewhere.
	things = `(?:command|cmd|programs?\b|script|shell|pager|browser|editor|viewer|hook|plug-?in|add-?on|modul|librar|` +
		`code\b|macro|engine|provider|driver|external|interpreter|executable|interactive|daemon|background|config|setting|` +
		`profile\b|preference|\w*rc\b|rc-?file|environment|password|passw|passphrase|token|secret|credential|private|` +
		`key ?file|cookie|netrc|login|user\b|username|prox(?:y|ies)|ur[li]s?\b|https?|ftp|server|host|network|remote|` +
		`socket|port\b|cach|log\b|log ?file|te?mp\b|temporar|scratch|backup|snapshot|chdir|chroot|working dir|work ?dir|` +
		`device|owner|permission|privileg|root\b|unsafe|in[- ]place|inplace|through\b)`

	actor = `^(?:(?:to|also|only|automatically|it|will|always|this|the|program) )*`
	ends  = `(?:e|es|s|ing|y|ies|ying)?\b`
)

var (
	beginsShown   = lazyregexp.New(`^\W*` + openers + shown)
	beginsDenied  = lazyregexp.New(`^\W*(?:do not|don't|never) (?:actually |really )?` + acts + ends)
	beginsDisplay = lazyregexp.New(`^\W*(?:(?:do not|don't|never|also|only|just|always|no) )*` + displays)
	beginsAct     = lazyregexp.New(actor + acts + ends)
	beginsContent = lazyregexp.New(actor + acts + ends + ` (?:\S+ ){0,4}?` + content + `\b`)
	// isDone matches an act in the passive, and a file as its target.
	isDone = lazyregexp.New(`\b(?:be|is|are|been|being|gets?) (?:\w+ )?(?:` + acts +
		`|writt|sen|ru)(?:ed|d|ied|en|t|n)\b|` +
		`\b(?:to|into) (?:an? |the |this |that |given |specified |named )*(?:files?|director(?:y|ies)|folders?|path)\b`)
	namesThing = lazyregexp.New(`\b` + things)
	namesInput = lazyregexp.New(`\binput\b`)
	readsPath  = lazyregexp.New(`\b(?:read|input|infile|from\b|take|search|look|scan|compar|match|exclud|ignor|skip|` +
		`includ)|\b(?:list(?:s|ed)?|stored?|contained|patterns?|names?) in\b`)
	clauseEnd = lazyregexp.New(`[.,;:)]+(?: |$)| ?\(|\b(?:and|then|or|but|also|by)\b`)
	// fileKind, exitStatus and pathTo match phrases whose words would mislead.
	fileKind   = lazyregexp.New(`(?i)\bfile(?: ?system| ?name|-?type)`)
	exitStatus = lazyregexp.New(`(?i)\b(?:program )?exit[- ](?:code|status)`)
	pathTo     = lazyregexp.New(`(?i)\b(?:paths?|names?) (?:to|of) (?:an? |the )?`)
)

// plainWords returns a text in small letters, without phrases that would mislead.
func plainWords(text string) string {
	text = exitStatus.ReplaceAllString(fileKind.ReplaceAllString(text, "name"), "exit status")
	return strings.ToLower(pathTo.ReplaceAllString(text, ""))
}

// Harmless reports whether the documentation of an option shows that it only shapes the printed result (WRAP-26).
// These are the rules:
//
//   - It is for selecting, limiting, ordering or formatting, or for how input is read. The beginning of its
//     description or its name shows this.
//   - No clause of the description begins with another act, except one on a part of the text. It mentions no act in
//     the passive, and no file as a target.
//   - A text as value is not a program, a setting, a secret or an address. A path is one that is read.
func Harmless(o Option) bool {
	var names []string
	for _, name := range o.Names {
		if name = words(name); len(name) > 1 {
			names = append(names, plainWords(strings.ReplaceAll(name, "-", " ")))
		}
	}
	whole, help := plainWords(first(o.Help)), strings.TrimSpace(plainWords(Affirmed(first(o.Help))))
	clauses := clauseEnd.Split(help, -1)
	about := strings.Join(names, " ") + " " + strings.ReplaceAll(words(o.Value), "-", " ") + " " + clauses[0]
	free := o.Takes && !harmless.MatchString(o.Value)
	isContent := beginsContent.MatchString(help)
	isShown := func(name string) bool {
		last := name[strings.LastIndexByte(name, ' ')+1:]
		return beginsShown.MatchString(name) || beginsShown.MatchString(last) && !beginsAct.MatchString(name)
	}
	begins := beginsShown.MatchString(whole) || beginsDenied.MatchString(whole) ||
		namesInput.MatchString(clauseEnd.Split(whole, 2)[0])
	switch {
	case !begins && !isContent && !slices.ContainsFunc(names, isShown),
		!isContent && slices.ContainsFunc(names, func(name string) bool {
			return beginsAct.MatchString(name) && !isShown(name)
		}),
		slices.ContainsFunc(clauses, acting), isDone.MatchString(help):
		return false
	case free:
		return !namesThing.MatchString(about) && (!pathValue.MatchString(o.Value) || readsPath.MatchString(about+" "+help))
	case o.Value == "":
		return beginsDisplay.MatchString(whole) || beginsDenied.MatchString(whole) || !namesThing.MatchString(about)
	}
	return true // a number or a choice
}

// acting reports whether a clause begins with an act on more than a part of the text.
func acting(clause string) bool {
	clause = strings.TrimSpace(clause)
	return beginsAct.MatchString(clause) && !beginsContent.MatchString(clause) && !beginsShown.MatchString(clause)
}
