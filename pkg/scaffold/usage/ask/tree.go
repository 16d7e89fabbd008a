package ask

import (
	"context"
	"errors"
	"slices"
	"strings"

	"mcp-bash/pkg/scaffold/usage"
	"mcp-bash/pkg/text/lazyregexp"
)

// Limits on the commands of a program (WRAP-2).
const (
	maxLeaves = 1000
	maxLevels = 8
)

// skipped and obsolete match commands that are not useful as tools.
var (
	skipped  = lazyregexp.New(`^(?:help|completion|completions|version|shell-completion|__.*)$`)
	obsolete = lazyregexp.New(`(?i)\bdeprecated\b|\bobsolete\b`)
)

// ErrNoCommands is the error for a program without commands.
var ErrNoCommands = errors.New("lists no commands")

// Tree asks the commands of a program and their commands for help, down to a depth. It returns the
// leaves in the order in which the program lists them. Commands that cannot be read are reported in
// notes. show is called with the number of commands that have answered and that are known.
func (a *Asker) Tree(ctx context.Context, words []string, depth int, show func(done, total int64)) (leaves []*Answer,
	notes []string, err error) {
	top, err := a.Program(ctx, words)
	if err != nil {
		return nil, nil, err
	}
	notes = top.Notes
	if len(top.Subcommands) == 0 {
		return nil, notes, ErrNoCommands
	}
	var asked, known int64 // the number of commands
	var below func(words []string, parent *Answer, depth int) error
	below = func(words []string, parent *Answer, depth int) error {
		list := slices.DeleteFunc(slices.Clone(parent.Subcommands), func(c usage.Subcommand) bool {
			return skipped.MatchString(c.Name) || obsolete.MatchString(c.Help)
		})
		known += int64(len(list))
		for _, c := range list {
			if asked == maxLeaves {
				return nil
			}
			own := append(slices.Clone(words), c.Name)
			ans, err := a.Program(ctx, own)
			asked++
			show(asked, min(known, maxLeaves))
			line := strings.Join(own, " ")
			switch {
			case errors.Is(err, ErrNothing):
				notes = append(notes, line+" "+err.Error())
				continue
			case err != nil:
				return err
			case slices.Equal(ans.Subcommands, parent.Subcommands): // it does not know the command
				notes = append(notes, line+" answers with the help of "+strings.Join(words, " ")+", skipped")
				continue
			}
			if ans.Summary == "" {
				ans.Summary = c.Help
			}
			notes = append(notes, ans.Notes...)
			if len(ans.Subcommands) == 0 || depth <= 1 {
				leaves = append(leaves, ans)
			} else if err := below(own, ans, depth-1); err != nil {
				return err
			}
		}
		return nil
	}
	err = below(words, top, min(depth, maxLevels))
	return leaves, notes, err
}
