package suite

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/userfile"
	"mcp-bash/pkg/runtool/cases"
)

// lockWait is the maximum wait for another command that edits a file in the directory.
const lockWait = 5 * time.Second

// update writes the changed expectations of results into their files. Results of a file are in the order of its lines.
func update(ctx context.Context, results []*result) error {
	for len(results) > 0 {
		end := slices.IndexFunc(results, func(r *result) bool { return r.path != results[0].path })
		if end < 0 {
			end = len(results)
		}
		if err := updateFile(ctx, results[:end]); err != nil {
			return &cli.Error{Code: cli.CodeInvalid, Op: "update", Subject: results[0].file, Cause: err}
		}
		results = results[end:]
	}
	return nil
}

// updateFile changes the expectations of a file, the last one first, because the lines before it stay.
func updateFile(ctx context.Context, results []*result) error {
	dir, err := os.OpenRoot(filepath.Dir(results[0].path))
	if err != nil {
		return err
	}
	defer dir.Close()
	o := userfile.Options{Max: cases.MaxFile, Wait: lockWait}
	_, err = userfile.Edit(ctx, dir, filepath.Base(results[0].path), o, func(f userfile.File) (text []byte, err error) {
		if !f.There {
			return nil, fs.ErrNotExist
		}
		text = f.Text
		for _, r := range slices.Backward(results) {
			if text, err = cases.Rewrite(text, r.Line, r.changed); err != nil {
				return nil, err
			}
		}
		return text, nil
	})
	return err
}
