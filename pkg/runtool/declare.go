package runtool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/userfile"
	"mcp-bash/pkg/json/jsonedit"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/item"
)

// lockWait is the maximum wait for another command that edits a file of the tool.
const lockWait = 5 * time.Second

// declareIn adds a declaration to a tool's metadata file. Existing declarations and all other bytes of the file stay
// (CLI-815). approve gets the change before it is made.
func (r *run) declareIn(ctx context.Context, tool json.RawMessage, d *declaration, s *surroundings,
	approve func(c change) bool) (c change, err error) {
	script := filepath.FromSlash(rawjson.TextOf(tool, "path"))
	dir, err := os.OpenRoot(filepath.Join(r.project.Tools, filepath.Dir(script)))
	if err != nil {
		return c, fsys.Cause(err)
	}
	defer dir.Close()
	names := item.MetadataNames(filepath.Base(script))
	for _, name := range names {
		if name == "" {
			continue
		}
		c.file = path.Join(filepath.Base(r.project.Tools), filepath.ToSlash(filepath.Dir(script)), name)
		err := c.declareInFile(ctx, dir, name, d, s, approve)
		if !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				err = fmt.Errorf("%s: %w", c.file, err)
			}
			return c, err
		}
	}
	return c, fmt.Errorf("%s has no metadata file, neither %s nor %s; put it where the tool is described",
		r.tool, names[0], names[1])
}

// A change replaces the text of a metadata file.
type change struct {
	file          string // relative to the project
	before, after []byte
}

func (c *change) isEmpty() bool { return bytes.Equal(c.before, c.after) }

// Errors of changes that are not made.
var (
	errRefused = errors.New("refused")
	errChanged = errors.New("the file has changed meanwhile; run this again")
)

// declareInFile asks without holding the lock of the file, because a person may take long to answer.
func (c *change) declareInFile(ctx context.Context, dir *os.Root, name string, d *declaration, s *surroundings,
	approve func(c change) bool) error {
	o := userfile.Options{Max: item.MaxMetadata, Wait: lockWait}
	_, err := userfile.Edit(ctx, dir, name, o, func(f userfile.File) ([]byte, error) {
		if !f.There {
			return nil, fs.ErrNotExist
		}
		text, err := merged(f.Text, d, s)
		if err != nil {
			return nil, err
		}
		c.before, c.after = f.Text, text
		return f.Text, nil
	})
	switch {
	case err != nil || c.isEmpty():
		return err
	case !approve(*c):
		return errRefused
	}
	_, err = userfile.Edit(ctx, dir, name, o, func(f userfile.File) ([]byte, error) {
		if !bytes.Equal(f.Text, c.before) {
			return nil, errChanged
		}
		return c.after, nil
	})
	return err
}

func merged(text []byte, d *declaration, s *surroundings) ([]byte, error) {
	f, err := jsonedit.Dialect{}.Open(text)
	if err != nil {
		return nil, err
	}
	if err := addTo(f, names(d.capabilities), nil, strings.EqualFold, "capabilities"); err != nil {
		return nil, err
	}
	if len(d.extras) == 0 {
		return f.Bytes(), nil
	}
	if given, err := f.Get("confine"); err != nil {
		return nil, err
	} else if given == nil {
		err := f.Set(extrasJSON(d.extras), "confine")
		return f.Bytes(), err
	}
	for _, list := range extraLists {
		if entries := d.extras[list]; len(entries) > 0 {
			var values []json.RawMessage
			if list == connectList {
				values = slices.Collect(rawjson.Elements(rawjson.Get(extrasJSON(d.extras), list)))
			}
			has := func(there, entry string) bool { return s.has(list, there, entry) }
			if err := addTo(f, entries, values, has, "confine", list); err != nil {
				return nil, err
			}
		}
	}
	return f.Bytes(), nil
}

// addTo adds missing elements to an array: texts, or the values that the texts represent. has reports whether an
// element that is there makes a text unnecessary.
func addTo(f *jsonedit.File, texts []string, values []json.RawMessage, has func(there, text string) bool,
	path ...string) error {
	given, err := f.Get(path...)
	if err != nil {
		return err
	}
	if given != nil && rawjson.KindOf(given) != rawjson.Array {
		return fmt.Errorf("%s is not an array", strings.Join(path, "."))
	}
	var b rawjson.Builder
	b.Array()
	var there []string
	for one := range rawjson.Elements(given) {
		b.Raw(one)
		text, ok := rawjson.Text(one)
		if !ok {
			text = string(one)
		}
		there = append(there, text)
	}
	same := given != nil
	for i, text := range texts {
		if slices.ContainsFunc(there, func(have string) bool { return has(have, text) }) {
			continue
		}
		same = false
		if values != nil {
			b.Raw(values[i])
		} else {
			b.String(text)
		}
	}
	if same {
		return nil
	}
	return f.Set(b.End().Bytes(), path...)
}
