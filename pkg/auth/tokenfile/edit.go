package tokenfile

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"mcp-bash/pkg/files/secretfile"
	"mcp-bash/pkg/files/userfile"
)

// The errors of edits, wrapped.
var (
	ErrExists  = errors.New("a token with this name exists")
	ErrUnknown = errors.New("no token has this name")
)

const lockWait = 10 * time.Second // for another edit

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
	doc, _, err := load(path, edited)
	if err != nil {
		return nil, err
	}
	return doc.Tokens, nil
}

// edited is the rule for commands. Root edits files of the users that servers run as.
var edited = secretfile.Rule{Max: maxBytes, Secret: true, AnyOwner: true}

// edit changes a file. Only a new file may be missing.
func edit(ctx context.Context, path string, create bool, change func(*document) error) error {
	return edited.Edit(ctx, path, lockWait, func(f userfile.File) ([]byte, error) {
		doc, err := &document{Tokens: []Token{}}, error(nil)
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
}
