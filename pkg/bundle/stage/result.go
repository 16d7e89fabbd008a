package stage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/secrets"
)

// Line prints a line of the progress on standard output. Problems go to standard error.
func (s *Stage) Line(format string, args ...any) {
	cli.Printf(s.Out, "%s\n", fmt.Sprintf(format, args...))
}

func (s *Stage) Done(format string, args ...any) { s.Line("  ✓ "+format, args...) }

func (s *Stage) Detail(format string, args ...any) {
	if s.Verbose {
		s.Line("    "+format, args...)
	}
}

// Note prints a remark on standard error.
func (s *Stage) Note(format string, args ...any) {
	cli.Printf(s.Err, "  %s\n", secrets.Logins(fmt.Sprintf(format, args...)))
}

func (s *Stage) Warn(format string, args ...any) {
	text := problem(format, args)
	if s.Strict {
		s.Fault("%s", text)
		return
	}
	s.Warnings = append(s.Warnings, text)
	cli.Printf(s.Err, "  ⚠ Warning: %s\n", text)
}

func (s *Stage) WarnHint(text, hint string) {
	s.Warn("%s", text)
	cli.Printf(s.Err, "    → %s\n", hint)
}

// Fault reports a problem that prevents the bundle.
func (s *Stage) Fault(format string, args ...any) {
	text := problem(format, args)
	if slices.Contains(s.faults, text) { // two checks read the same file
		return
	}
	s.faults = append(s.faults, text)
	cli.Printf(s.Err, "  ✗ %s\n", text)
}

// problem returns a warning or a fault on one line, without logins in URLs.
func problem(format string, args []any) string {
	return cli.Line(secrets.Logins(fmt.Sprintf(format, args...)))
}

// A Result is a bundle or a plugin.
type Result struct {
	Path, Name, Version, SHA256 string
	Bytes                       int64
	Platforms                   []string
	Targets                     []string
	Tools, Resources, Prompts   int
	Manifest                    []byte
	Warnings                    []string
	Programs                    []string // the packages of npm with the programs
}

// Result returns the result for a product at a path.
func (s *Stage) Result(path string) *Result {
	r := &Result{Path: path, Name: s.ID.Name, Version: s.ID.Version, Platforms: s.Platforms(), Warnings: s.Warnings,
		Tools: len(s.Tools), Resources: s.resources, Prompts: len(s.Prompts)}
	for _, t := range s.Supported() {
		r.Targets = append(r.Targets, t.String())
	}
	return r
}

// ShowResult prints what a product contains.
func (s *Stage) ShowResult(r *Result) {
	s.Done("Included %d tools, %d resources, %d prompts", r.Tools, r.Resources, r.Prompts)
	s.Done("Target platforms: %s", strings.Join(r.Platforms, " "))
}

// AppendJSON appends the result for programs.
func (r *Result) AppendJSON(dst []byte) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("ok").Bool(true).Name("path").String(r.Path).Name("name").String(r.Name).
		Name("version").String(r.Version).Name("sha256").String(r.SHA256).Name("bytes").Int(int(r.Bytes)).
		Name("platforms").Strings(r.Platforms).Name("targets").Strings(r.Targets).Name("tools").Int(r.Tools).
		Name("resources").Int(r.Resources).Name("prompts").Int(r.Prompts).Name("warnings").Strings(r.Warnings)
	if len(r.Programs) > 0 {
		b.Name("programs").Strings(r.Programs)
	}
	return b.End().Bytes()
}

// WriteArchive packs files under a temporary name, reads the archive back, and renames it to the path of the result. It
// sets the result's hash and size.
func (s *Stage) WriteArchive(ctx context.Context, r *Result, files []mcpb.File) error {
	total, done := int64(0), int64(0)
	for _, f := range files {
		total += f.Size
	}
	err := s.WriteFile(ctx, r, func(f *os.File, w io.Writer) error {
		err := mcpb.Write(ctx, w, files, s.Modified, func(size int64) {
			done += size
			s.Bar.Show("packing", done, total)
		})
		if err != nil {
			return err
		}
		size, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		a, err := mcpb.Read(f, size)
		switch {
		case err != nil:
			return fmt.Errorf("the bundle that was written cannot be read: %w", err)
		case len(a.Entries) != len(files):
			return fmt.Errorf("the bundle that was written has %d files, not %d", len(a.Entries), len(files))
		}
		return nil
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
	var dir *os.Root
	err := os.MkdirAll(parent, 0o755)
	if err == nil {
		dir, err = os.OpenRoot(parent)
	}
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	defer dir.Close()
	temporary := "." + name + ".tmp-"
	project.Sweep(dir, temporary)
	fresh := temporary + rand.Text()
	f, err := dir.OpenFile(fresh, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("--output: %w", fsys.About(err, r.Path))
	}
	defer dir.Remove(fresh) // after the renaming, there is nothing to remove
	defer f.Close()
	sum := sha256.New()
	if err := errors.Join(write(f, io.MultiWriter(f, sum)), f.Sync()); err != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path == f.Name() {
			e.Path = r.Path
		}
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
