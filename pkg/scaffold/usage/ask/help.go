package ask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/scaffold/usage"
	"mcp-bash/pkg/text/lazyregexp"
)

// shortAsks matches a text that documents -h as the option for help.
var (
	shortAsks = lazyregexp.New(`(?i)(?:^|[\s'"\[|(])-h(?:[\s'"\],]|\b)[^\n]{0,30}\b(?:help|usage)|try [^\n]{0,40} -h\b`)
	// allAsks matches words for the whole help: "--help all", "--help=all", "--help <output|all>", "--help-all".
	allAsks   = lazyregexp.New(`--help([ =-])(?:<[\w|-]*\|)?all\b`)
	usageMark = lazyregexp.New(`(?im)^\s*(?:usage|synopsis)\b|^[ \t]+-{1,2}[A-Za-z]`)
	refusal   = lazyregexp.New(`(?i)unknown|unrecogni[sz]ed|invalid|illegal|not a (?:git )?command|no such|` +
		`no manual entry|unexpected`)
)

func looksLikeUsage(text []byte) bool { return usageMark.Match(text) }

// help asks for the help text with --help. If the program does not know --help, it tries -h
// or the command help. It never tries words that could have another effect (WRAP-13).
func (a *Asker) help(ctx context.Context, words []string, found *Answer) error {
	var asks [][]string
	ask := func(more ...string) { asks = append(asks, append(slices.Clone(words[1:]), more...)) }
	if words[0] == "git" && len(words) > 1 { // its --help is the manual page
		ask("-h")
	} else {
		ask("--help")
	}
	for i := 0; i < len(asks); i++ {
		ans, err := a.run(ctx, found.File, asks[i])
		if err != nil {
			return err
		}
		ignored, described := "", looksLikeUsage(ans.text)
		switch {
		case errors.Is(ans.cause, script.ErrTimedOut):
			ignored = fmt.Sprintf(": not done after %v, so it was ended", a.limit)
		case ans.cause != nil:
			ignored = fmt.Sprintf(": prints more than %d bytes, which are ignored", textLimit)
		case len(words) == 1 && len(ans.text) > 0 && !described && ans.status == 0:
			ignored = " prints no usage: the program may do something else when it is asked for help"
		}
		if ignored != "" {
			found.Notes = append(found.Notes, strings.Join(append([]string{words[0]}, asks[i]...), " ")+ignored)
			continue
		}
		p := &usage.Program{}
		if ans.status == 0 || described { // not an error message that describes no options
			if p = usage.Help(ans.text, words); found.Program == nil || p.Size() > found.Size() {
				found.Program = p
			}
			if i == 0 {
				err = a.referred(ctx, found.File, words, string(ans.text), p)
			}
		}
		switch {
		case err != nil:
			return err
		case i > 0:
			continue
		}
		if m := allAsks.FindSubmatch(ans.text); m != nil {
			ask(strings.Fields("--help" + string(m[1]) + "all")...)
		}
		if len(p.Options) == 0 && shortAsks.Match(ans.text) {
			ask("-h")
		}
		if len(p.Options) == 0 && len(words) > 1 && refusal.Match(ans.text) {
			asks = append(asks, append([]string{"help"}, words[1:]...))
		}
	}
	return nil
}

// about matches a line that refers to more options: Use "brew help flags" for all flags. quotedCommand matches the
// command.
var (
	about         = lazyregexp.New(`(?i)\b(?:run|use|see|try)\b.*\b(?:details|flags|options)\b`)
	quotedCommand = lazyregexp.New("[\"'`]([a-z][\\w -]{2,60})[\"'`]")
)

// referred adds the options that the help text of a command refers to (WRAP-10).
func (a *Asker) referred(ctx context.Context, file string, words []string, text string, p *usage.Program) error {
	var lines []string
	for line := range strings.Lines(text) {
		if about.MatchString(line) {
			lines = append(lines, line)
		}
	}
	for _, m := range quotedCommand.FindAllStringSubmatch(strings.Join(lines, ""), 3) {
		more := strings.Fields(m[1])
		lists := slices.Contains(more, "options") || slices.Contains(more, "help") && len(more) > 2 // not only "brew help"
		if len(words) == 1 || more[0] != words[0] || !lists {
			continue
		}
		ans, err := a.run(ctx, file, more[1:])
		if err != nil {
			return err
		}
		if ans.cause == nil && ans.status == 0 {
			p.Merge(&usage.Program{Options: usage.Help(ans.text, words).Options, Loose: true})
		}
	}
	return nil
}
