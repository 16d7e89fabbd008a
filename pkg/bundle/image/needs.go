package image

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/bundle/internal/debian"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/requirements"
)

const debianRelease = "trixie"

// DefaultMirror contains the directories debian and debian-security.
const DefaultMirror = "https://deb.debian.org"

const snapshots = "https://snapshot.debian.org/archive"

// openSource returns the archive that packages come from.
func (i *maker) openSource() (*debian.Source, error) {
	cache, err := project.CacheDir(i.Project.Env)
	if err != nil {
		return nil, err
	}
	s := &debian.Source{
		Get: i.download, Cache: filepath.Join(cache, "debian"), Keyring: debian.DefaultKeyring, Offline: i.Offline,
		Now:      time.Now(),
		Progress: func(what string, done, total int64) { i.Bar.Show(what, done, total) },
	}
	if i.o.Keyring != "" {
		if s.Keyring, err = boundedfile.Read(i.o.Keyring, 1<<20); err != nil {
			return nil, fmt.Errorf("--keyring %s: %w", i.o.Keyring, err)
		}
	}
	mirror, at := strings.TrimRight(cmp.Or(i.o.Mirror, DefaultMirror), "/"), ""
	if i.o.Snapshot != "" {
		if s.Now, err = time.Parse("20060102T150405Z", i.o.Snapshot); err != nil {
			return nil, fmt.Errorf("--snapshot %q: not a time such as 20261101T000000Z", i.o.Snapshot)
		}
		mirror, at = strings.TrimRight(cmp.Or(i.o.Mirror, snapshots), "/"), "/"+i.o.Snapshot
	}
	s.Archives = []debian.Archive{
		{URL: mirror + "/debian" + at, Suite: debianRelease, Home: DefaultMirror + "/debian"},
		{URL: mirror + "/debian-security" + at, Suite: debianRelease + "-security",
			Home: DefaultMirror + "/debian-security"},
	}
	return s, nil
}

func (i *maker) download(ctx context.Context, address string, limit int64,
	progress func(done int64)) ([]byte, error) {
	client := i.o.Web
	client.Progress = func(done, _ int64) { progress(done) }
	return client.Get(ctx, address, limit)
}

var basePackages = []string{
	"base-files", "bash", "ca-certificates", "coreutils", "dash", "findutils", "grep", "libc-bin", "mawk", "sed",
}

// A need is a program that a project requires, with the packages that may contain it.
type need struct {
	programs []string
	packages []string
}

func (i *maker) readNeeds() (list []need, err error) {
	r, err := requirements.Read(i.Staged)
	if err != nil {
		return nil, fmt.Errorf("server.d/requirements.json: %w", err)
	}
	if r == nil {
		return nil, nil
	}
	for _, d := range r.Dependencies {
		n := need{programs: d.Programs}
		if d.Debian != "" {
			n.packages = []string{d.Debian}
		} else {
			for _, program := range d.Programs {
				n.packages = append(n.packages, debian.PackageOf(path.Base(program)))
			}
		}
		list = append(list, n)
	}
	return list, nil
}

// choosePackages downloads the packages of an image, with their dependencies.
func (i *maker) choosePackages(ctx context.Context, source *debian.Source, arch string) ([]*debian.Package, error) {
	index, err := source.Index(ctx, arch)
	if err != nil {
		return nil, err
	}
	names := slices.Concat(basePackages, i.o.Packages)
	for _, n := range i.needs {
		at := slices.IndexFunc(n.packages, index.Has)
		if at < 0 {
			return nil, fmt.Errorf("no Debian package for %s; name it in server.d/requirements.json: "+
				`{"name": %q, "debian": "PACKAGE"}`, strings.Join(n.programs, " or "), n.programs[0])
		}
		names = append(names, n.packages[at])
	}
	packages, err := index.Resolve(names)
	if err == nil {
		err = source.Fetch(ctx, packages)
	}
	return packages, err
}

// checkNeeds returns an error if the programs of an image lack one that the project requires.
func (i *maker) checkNeeds(programs map[string]bool) error {
	for _, n := range i.needs {
		has := func(program string) bool { return hasProgram(programs, program) }
		if !slices.ContainsFunc(n.programs, has) && n.programs[0] != "mcp-bash" {
			return fmt.Errorf("the Debian package %s does not contain %s; name the right one in "+
				`server.d/requirements.json: {"name": %q, "debian": "PACKAGE"}`, strings.Join(n.packages, ", "),
				strings.Join(n.programs, " or "), n.programs[0])
		}
	}
	return nil
}

func (i *maker) packagesFailed(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	i.Bar.End()
	i.Fault("%v", err)
	switch {
	case errors.Is(err, debian.ErrSignature):
		i.Note("  → Pass the public keys of the mirror with --keyring FILE")
	case errors.Is(err, debian.ErrOffline):
		i.Note("  → Run it once without --offline")
	}
	return i.Fail(stage.ErrPackages)
}
