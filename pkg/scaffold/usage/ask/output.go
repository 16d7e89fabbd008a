package ask

import (
	"context"
	"fmt"
	"strings"
)

// Output runs a program with words that make it print something, and returns its standard output.
func (a *Asker) Output(ctx context.Context, file string, words []string) ([]byte, error) {
	ans, err := a.run(ctx, file, words)
	if err == nil {
		err = ans.cause
	}
	if err == nil && ans.status != 0 {
		line, _, _ := strings.Cut(strings.TrimSpace(string(ans.text)), "\n")
		err = fmt.Errorf("exit status %d: %.200q", ans.status, line)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	return ans.out, nil
}

// Version returns the text that a program prints about its version. words are the words that ask
// for it, such as --version.
func (a *Asker) Version(ctx context.Context, program string, words []string) (string, error) {
	file := a.Find(program)
	if file == "" {
		return "", ErrNotFound
	}
	ans, err := a.run(ctx, file, words)
	return string(ans.text), err
}
