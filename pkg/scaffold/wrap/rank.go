package wrap

import (
	"cmp"
	"slices"
	"strings"

	"mcp-bash/pkg/scaffold/usage"
	"mcp-bash/pkg/text/lazyregexp"
)

// A ranking estimates which options of a program are used most (WRAP-6). It considers what
// the program itself shows, and names that mean the same in most programs.
type ranking struct {
	program      *usage.Program
	mentions     map[*usage.Option]int // in descriptions of other options
	alphabetical bool                  // the position of an option has no meaning
}

var (
	// everyday matches options that people often use, in most programs that have them.
	everyday = lazyregexp.New(`^--?(?:` +
		`all|recursive|output|output-document|format|long|human-readable|reverse|sort|limit|number|` +
		`numeric-sort|lines|bytes|max-count|max-?depth|depth|mindepth|include|exclude|ignore-case|name|iname|` +
		`type|size|mtime|file|directory|pattern|filter|query|search|since|until|after|before|author|grep|` +
		`oneline|stat|graph|patch|location|header|request|data|user|user-agent|branch|tag|message|summarize|` +
		`total|key|unique|field-separator|delimiter|fields|count|line-number|files-with-matches|` +
		`only-matching|word-regexp|invert-match|context|after-context|before-context|extended-regexp|` +
		`fixed-strings|brief|unified|check|diff|in-place|list|extract|create|gzip|state|status|label|title|` +
		`body|config|width|target(?:-.*)?|language|host|port|password|keep|preserve|symbolic|parents|timeout|` +
		`method|hidden|silent|fail|no-ignore|extension|expression|compress|decompress|stdout|glob|staged|` +
		`cached|dry-run|head|show-.*|max-procs|max-args|null|print0|archive|delete|update|force|insecure|get|` +
		`form|json|parameter|prepare|warmup|runs|identity|priority|follow|unit|full` + `)$`)
	// everydayLetters are such options that only have a short name.
	everydayLetters = "lratnofR1"
	noisyOption     = lazyregexp.New(`^--?(?:verbose|quiet|silent|debug|trace|log-.*|v|q|loglevel|no-messages)$`)
	rareHelp        = lazyregexp.New(`(?i)\b(?:SELinux|security context|EBCDIC|obsolescent|advanced use|` +
		`internal use|rarely|debugging|compatibility)\b`)
	mentioned = lazyregexp.New(`(?:^|[\s"'(\[,/])(--?[A-Za-z0-9][A-Za-z0-9-]*)`)
)

func newRanking(p *usage.Program) *ranking {
	r := &ranking{program: p, mentions: map[*usage.Option]int{}}
	ordered, pairs, last := 0, 0, ""
	for _, o := range p.Options {
		key := strings.ToLower(strings.TrimLeft(o.Names[0], "-"))
		if last != "" {
			pairs++
			if cmp.Compare(last, key) <= 0 {
				ordered++
			}
		}
		last = key
		r.read(o)
	}
	r.alphabetical = pairs >= 8 && ordered*100 >= pairs*75
	return r
}

// read counts which other options an option's description names. "-lt" names -l and -t.
func (r *ranking) read(o *usage.Option) {
	seen := map[*usage.Option]bool{o: true}
	note := func(other *usage.Option) {
		if other != nil && !seen[other] {
			seen[other] = true
			r.mentions[other]++
		}
	}
	for _, m := range mentioned.FindAllStringSubmatch(o.Help, 50) {
		name := m[1]
		if found := r.program.Find(name); found != nil {
			note(found)
			continue
		}
		if len(name) > 4 || strings.HasPrefix(name, "--") {
			continue
		}
		var letters []*usage.Option
		for _, c := range name[1:] {
			letters = append(letters, r.program.Find("-"+string(c)))
		}
		if !slices.Contains(letters, nil) {
			for _, other := range letters {
				note(other)
			}
		}
	}
}

// of returns the rank of the option with index at.
func (r *ranking) of(o *usage.Option, at int) int {
	score := 4 * min(2, r.mentions[o])
	if !r.alphabetical {
		score += 10 - 10*at/max(1, len(r.program.Options))
	}
	short, long, known := false, false, false
	for _, name := range o.Names {
		score += 10 * min(3, r.program.Examples[name])
		short = short || len(name) == 2
		long = long || len(name) > 2
		known = known || everyday.MatchString(name)
	}
	known = known || short && !long && strings.Contains(everydayLetters, o.Names[0][1:])
	if known {
		score += 14
	}
	if short {
		score += 6
	}
	if short && long {
		score += 2
	}
	if o.Sure == usage.Certain {
		score += 3
	}
	if strings.HasPrefix(o.Name(), "--no-") {
		score -= 3
	}
	if noisyOption.MatchString(o.Name()) || rareHelp.MatchString(o.Help) {
		score -= 12
	}
	if o.Required {
		score += 1000
	}
	return score
}
