package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/runtool/cases"
)

// A test is a case with the file that it is in.
type test struct {
	cases.Case
	file string // for people
	path string

	isTrial  bool         // the call is in the tool's metadata
	recorded *trail.Entry // nil unless it is a request of a record
	skip     string       // why it is not made again, or ""
}

// title returns the place of a test and its name.
func (t *test) title() string {
	place := t.file
	if t.Line > 0 {
		place = fmt.Sprintf("%s:%d", t.file, t.Line)
	}
	return place + " " + cmp.Or(t.Name, t.Tool)
}

// load reads the cases of files, or those of the project. The file "-" is stdin.
func load(ctx context.Context, p *project.Project, files []string, stdin io.Reader) ([]*test, error) {
	label := func(file string) string { return file }
	read := func(file string) ([]byte, error) {
		if file == "-" {
			return boundedfile.ReadStream(ctx, stdin, cases.MaxFile)
		}
		return boundedfile.Read(file, cases.MaxFile)
	}
	if len(files) == 0 {
		var err error
		if files, err = list(filepath.Join(p.Root, project.TestsDir)); err != nil {
			return nil, err
		}
		label = func(file string) string { return folder.Label(p.Root, file) }
		read = func(file string) ([]byte, error) { // not through links that lead out of the project
			f, err := boundedfile.OpenBelow(p.Root, file)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			return boundedfile.ReadAll(f, cases.MaxFile)
		}
	}
	var tests []*test
	var faults []string
	for _, file := range files {
		var list []cases.Case
		var err error
		if isRecord(file) {
			var recorded []*test
			recorded, err = loadRecord(file)
			tests = append(tests, recorded...)
		} else if text, unread := read(file); unread != nil {
			err = unread
		} else {
			list, err = cases.Parse(text)
		}
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				faults = append(faults, cli.Sprintf("%s: %s", label(file), line))
			}
		}
		for _, c := range list {
			tests = append(tests, &test{Case: c, file: label(file), path: file})
		}
	}
	if faults != nil {
		return nil, &cli.Error{Code: cli.CodeInvalid, Cause: cli.Lines(strings.Join(faults, "\n")), Bare: true}
	}
	return tests, nil
}

// list returns the files with cases in a folder, sorted.
func list(dir string) (files []string, err error) {
	d, err := folder.Open(dir)
	if err != nil {
		if folder.Missing(err) || errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, cli.Failf(cli.CodeInvalid, "%s cannot be read: %v", dir, fsys.Cause(err))
	}
	defer d.Close()
	entries, err := d.List(make([]byte, 32<<10))
	if err != nil {
		return nil, cli.Failf(cli.CodeInvalid, "%s cannot be read: %v", dir, fsys.Cause(err))
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name); !e.IsDir && (ext == ".yaml" || ext == ".yml") {
			files = append(files, filepath.Join(dir, e.Name))
		}
	}
	slices.Sort(files)
	return files, nil
}
