package stage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
)

// WriteArchive packs files under a temporary name, reads the archive back, and renames it to the path of the result. It
// sets the result's hash and size.
func (s *Stage) WriteArchive(ctx context.Context, r *Result, files []mcpb.File) error {
	err := s.WriteFile(ctx, r, func(f *os.File, w io.Writer) error {
		if err := mcpb.Write(ctx, w, files, s.Modified, s.progress(files)); err != nil {
			return err
		}
		info, err := f.Stat()
		if err != nil {
			return err
		}
		return readBack(f, info.Size(), files)
	})
	if err == nil {
		s.Detail("Created archive (%s)", cli.Size(r.Bytes))
	}
	return err
}

// WriteFile creates the file of a result under a temporary name, and renames it. write writes to w and may read f. It
// sets the result's hash and size.
func (s *Stage) WriteFile(ctx context.Context, r *Result, write func(f *os.File, w io.Writer) error) error {
	parent, name := filepath.Split(r.Path)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	dir, err := os.OpenRoot(parent)
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	defer dir.Close()
	temporary := "." + name + ".tmp-"
	project.Sweep(dir, temporary)
	fresh := temporary + rand.Text()
	f, err := dir.OpenFile(fresh, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	defer dir.Remove(fresh) // nothing, once it has its name
	defer f.Close()
	sum := sha256.New()
	if err := errors.Join(write(f, io.MultiWriter(f, sum)), f.Sync()); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	r.SHA256, r.Bytes = hex.EncodeToString(sum.Sum(nil)), info.Size()
	return errors.Join(f.Close(), dir.Rename(fresh, name))
}

func (s *Stage) progress(files []mcpb.File) func(int64) {
	if s.Bar == nil {
		return nil
	}
	total := int64(0)
	for _, f := range files {
		total += f.Size
	}
	var mu sync.Mutex // of the bar
	done := int64(0)
	return func(n int64) {
		mu.Lock()
		defer mu.Unlock()
		done += n
		s.Bar.Show("packing", done, total)
	}
}

// readBack checks that the written archive has the files.
func readBack(f *os.File, size int64, files []mcpb.File) error {
	a, err := mcpb.Read(f, size)
	switch {
	case err != nil:
		return fmt.Errorf("the bundle that was written cannot be read: %w", err)
	case len(a.Entries) != len(files):
		return fmt.Errorf("the bundle that was written has %d files, not %d", len(a.Entries), len(files))
	}
	return nil
}
