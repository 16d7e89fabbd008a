package ask

import "context"

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
