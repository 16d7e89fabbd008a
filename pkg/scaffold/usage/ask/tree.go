package ask

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"

	"mcp-bash/pkg/text/lazyregexp"
)

// Limits on the commands of a program (WRAP-2).
const (
	maxLeaves = 1000
	maxLevels = 8
)

// skipped matches commands that are not useful as tools.
var (
	skipped  = lazyregexp.New(`^(?:help|completion|completions|version|shell-completion|__.*)$`)
	obsolete = lazyregexp.New(`(?i)\bdeprecated\b|\bobsolete\b`)
)

// Tree asks the commands of a program and their commands for help, down to a depth. It
// returns the leaves in the order in which the program lists them.
//
// Tree asks programs concurrently. Commands that cannot be read are reported in notes. show is
// called with the number of commands that have answered and that are known, one call at a time.
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
	t := &tree{asker: a, show: show, slots: make(chan struct{}, max(2, runtime.NumCPU()))}
	leaves, more, err := t.below(ctx, words, top, min(depth, maxLevels))
	return leaves, append(notes, more...), err
}

// ErrNoCommands is the error for a program without commands.
var ErrNoCommands = errors.New("lists no commands")

type tree struct {
	asker *Asker
	slots chan struct{}
	mu    sync.Mutex
	asked int // commands that were asked
	done  int // commands that have answered
	show  func(done, total int64)
}

// below asks the commands of one command for help.
func (t *tree) below(ctx context.Context, words []string, parent *Answer, depth int) ([]*Answer, []string, error) {
	type branch struct {
		leaves []*Answer
		notes  []string
		err    error
	}
	branches := make([]branch, len(parent.Subcommands))
	var wait sync.WaitGroup
	for i, c := range parent.Subcommands {
		if skipped.MatchString(c.Name) || obsolete.MatchString(c.Help) || !t.another() {
			continue
		}
		wait.Go(func() {
			own := append(slices.Clone(words), c.Name)
			b := &branches[i]
			t.slots <- struct{}{}
			ans, err := t.asker.Program(ctx, own)
			<-t.slots
			t.answered()
			switch {
			case errors.Is(err, ErrNothing):
				b.notes = append(b.notes, strings.Join(own, " ")+" "+err.Error())
				return
			case err != nil:
				b.err = err
				return
			case same(ans, parent):
				b.notes = append(b.notes, strings.Join(own, " ")+" answers with the help of "+strings.Join(words,
					" ")+", skipped")
				return
			}
			if ans.Summary == "" {
				ans.Summary = c.Help
			}
			b.notes = append(b.notes, ans.Notes...)
			if len(ans.Subcommands) == 0 || depth <= 1 {
				b.leaves = []*Answer{ans}
				return
			}
			var more []string
			b.leaves, more, b.err = t.below(ctx, own, ans, depth-1)
			b.notes = append(b.notes, more...)
		})
	}
	wait.Wait()
	var leaves []*Answer
	var notes []string
	for _, b := range branches {
		if b.err != nil {
			return nil, nil, b.err
		}
		leaves, notes = append(leaves, b.leaves...), append(notes, b.notes...)
	}
	return leaves, notes, nil
}

// another counts a command, and reports whether it can be asked.
func (t *tree) another() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked++
	return t.asked <= maxLeaves
}

// answered reports to show that a command has answered.
func (t *tree) answered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done++
	t.show(int64(t.done), int64(min(t.asked, maxLeaves)))
}

// same reports whether a command answers with the help of the program. The program then does
// not know the command.
func same(ans, parent *Answer) bool {
	if len(parent.Subcommands) == 0 || len(ans.Subcommands) != len(parent.Subcommands) {
		return false
	}
	for i, c := range ans.Subcommands {
		if c.Name != parent.Subcommands[i].Name {
			return false
		}
	}
	return true
}
