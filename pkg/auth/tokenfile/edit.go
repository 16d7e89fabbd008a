package tokenfile

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/files/userfile"
)

// The errors of edits, wrapped.
var (
	ErrExists  = errors.New("a token with this name exists")
	ErrUnknown = errors.New("no token has this name")
)

const (
	fileMode = 0o600
	lockWait = 10 * time.Second // for another edit
)

// Create adds a token to a file, which it creates if necessary. It sets the hash of t and returns
// the token, which nothing else can restore. The error may be [ErrExists].
func Create(ctx context.Context, path string, t Token) (secret string, err error) {
	if err := t.check(); err != nil {
		return "", err
	}
	secret = generate()
	t.Hash = sha256.Sum256([]byte(secret))
	err = edit(ctx, path, true, func(doc *document) error {
		switch {
		case slices.ContainsFunc(doc.Tokens, func(other Token) bool { return other.Name == t.Name }):
			return ErrExists
		case len(doc.Tokens) >= maxTokens:
			return fmt.Errorf("there are %d tokens already", maxTokens)
		}
		doc.Tokens = append(doc.Tokens, t)
		return nil
	})
	return secret, err
}

// Revoke removes a token from a file. The error may be [ErrUnknown].
func Revoke(ctx context.Context, path, name string) error {
	return edit(ctx, path, false, func(doc *document) error {
		at := slices.IndexFunc(doc.Tokens, func(t Token) bool { return t.Name == name })
		if at < 0 {
			return ErrUnknown
		}
		doc.Tokens = slices.Delete(doc.Tokens, at, at+1)
		return nil
	})
}

// List returns the tokens of a file.
func List(path string) ([]Token, error) {
	doc, _, err := load(path)
	if err != nil {
		return nil, err
	}
	return doc.Tokens, nil
}

// edit changes a file. Only a new file may be missing.
func edit(ctx context.Context, path string, create bool, change func(*document) error) error {
	if err := trust.CheckAbove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if physical, err := filepath.EvalSymlinks(path); err == nil {
		path = physical
	}
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	o := userfile.Options{Max: maxBytes, Mode: fileMode, Wait: lockWait}
	_, err = userfile.Edit(ctx, dir, filepath.Base(path), o, func(f userfile.File) ([]byte, error) {
		doc := &document{Tokens: []Token{}}
		if f.There {
			if doc, err = parse(f.Text); err != nil {
				return nil, err
			}
		} else if !create {
			return nil, fs.ErrNotExist
		}
		if err := change(doc); err != nil {
			return nil, err
		}
		text, err := json.MarshalIndent(doc, "", "  ")
		return append(text, '\n'), err
	})
	return err
}
