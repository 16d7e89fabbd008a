// Package vendoring adds the server to a project, so that all users of the project run the
// same version. It also verifies that nobody has changed the server (cli chapter 16).
package vendoring

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/outdir"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
)

// lockName is the file that records the files of the server. launcher is the script that
// clients start.
const (
	lockName = "vendor.json"
	launcher = "run-server.sh"
	maxLock  = 4 << 20
)

// Options are the options of Vendor and Plan.
type Options struct {
	runtimes.Source        // the source of the server's programs
	Dir             string // absolute
	Targets         []runtimes.Target
	Given           bool   // whether the user chose the targets; otherwise the previous or the default ones are used
	From            string // the origin in vendor.json
	Tree            project.Tree
	Now             time.Time
}

// A Result describes the vendored server.
type Result struct {
	Path, Version, SHA256 string
	Files                 []string
	Bytes                 int64

	// Kept reports that the project's run-server.sh differs from the one of this version. It is kept, and its hash is
	// recorded.
	Kept bool
	// Uncovered reports that vendor.json was written by the Bash edition and does not record
	// run-server.sh.
	Uncovered bool
}

// AppendJSON appends the result as JSON.
func (r *Result) AppendJSON(dst []byte, action string) []byte {
	b := rawjson.Over(dst)
	return b.Object().Name("ok").Bool(true).Name("action").String(action).
		Name("path").String(r.Path).Name("version").String(r.Version).
		Name("sha256").String(r.SHA256).Name("files").Int(len(r.Files)).Name("bytes").Int(int(r.Bytes)).End().Bytes()
}

// targets returns the targets that the user chose, or those that vendor.json records. If there are neither, it returns
// the targets of this machine and of most CI services.
func (o *Options) targets(root *os.Root) []runtimes.Target {
	if o.Given {
		return o.Targets
	}
	var list []runtimes.Target
	if l, err := readLock(root); err == nil {
		for _, t := range runtimes.Targets {
			if rawjson.Path(l.doc, "targets", t.String()) != nil {
				list = append(list, t)
			}
		}
	}
	if len(list) > 0 {
		return list
	}
	usual := runtimes.Target{OS: "linux", Arch: "amd64"}
	for _, t := range runtimes.Targets {
		if t == runtimes.Host || t == usual {
			list = append(list, t)
		}
	}
	return list
}

// Exists reports whether the project already has a server.
func Exists(dir string) bool {
	list, err := os.ReadDir(filepath.Join(dir, runtimes.Dir))
	return err == nil && len(list) > 0
}

// Plan returns the result that Vendor would have. It changes nothing.
func Plan(o Options) (*Result, error) {
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r := &Result{Path: filepath.Join(o.Dir, runtimes.Dir), Version: cli.Version}
	var binaries []runtimes.Binary
	for _, t := range o.targets(root) {
		binaries = append(binaries, runtimes.Binary{Target: t})
	}
	for _, f := range runtimes.Layout(runtimes.Dir, o.Tree, binaries) {
		r.Files = append(r.Files, f.Name)
		r.Bytes += f.Size
	}
	r.Files = append(r.Files, runtimes.Dir+"/"+lockName)
	if _, err := root.Lstat(launcher); errors.Is(err, fs.ErrNotExist) {
		r.Files = append(r.Files, launcher)
	}
	return r, nil
}

// Vendor adds the server to a project. It replaces an existing server in one step after the
// new one is complete, and keeps it after an error. The error can be a
// [*runtimes.MissingError] or the context's.
func Vendor(ctx context.Context, o Options) (*Result, error) {
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	work, err := project.MakeWorkDir(o.Env)
	if err != nil {
		return nil, err
	}
	defer work.Remove()
	find := o.Source
	find.Runner, find.Work = new(script.Runner), work.Path
	binaries, err := find.Find(ctx, o.targets(root))
	if err != nil {
		return nil, err
	}
	start, _, err := launcherSum(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ours, err := runtimes.Launcher(launcher).Sum()
	if err != nil {
		return nil, err
	}
	files := runtimes.Layout(runtimes.Dir, o.Tree, binaries) // the server's, except vendor.json
	for n := range files {
		files[n].Name = strings.TrimPrefix(files[n].Name, runtimes.Dir+"/")
	}
	sums, err := outdir.SumsOf(ctx, files)
	if err != nil {
		return nil, err
	}
	r := &Result{Path: filepath.Join(o.Dir, runtimes.Dir), Version: cli.Version, Kept: start != "" && start != ours,
		SHA256: sums.Digest(strings.Compare, "")}
	for _, f := range files {
		r.Files = append(r.Files, runtimes.Dir+"/"+f.Name)
		r.Bytes += f.Size
	}
	files = append(files, mcpb.Bytes(lockName, false, o.lock(r.SHA256, sums, binaries, cmp.Or(start, ours))))
	if err := outdir.Replace(ctx, r.Path, files, nil); err != nil {
		return nil, err
	}
	_, _, err = runtimes.Launcher(launcher).Create(root, launcher, true)
	if errors.Is(err, fs.ErrExist) {
		err = nil // the project's owner may have changed it
	}
	return r, err
}

func launcherSum(root *os.Root) (sum string, mode fs.FileMode, err error) {
	info, err := root.Lstat(launcher)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", 0, err
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("not a regular file")
	}
	if err == nil {
		sum, err = mcpb.FileIn(root, launcher).Sum()
	}
	if err != nil {
		return "", 0, fmt.Errorf("%s: %w", launcher, fsys.Cause(err))
	}
	return sum, info.Mode(), nil
}

// lock returns the content of vendor.json. The version comes first, for programs that look for updates. start is the
// hash of run-server.sh.
func (o *Options) lock(sum string, sums outdir.Sums, binaries []runtimes.Binary, start string) []byte {
	var b rawjson.Builder
	b.Object().Name("version").String(cli.Version).Name("sha256").String(sum).Name("vendored_from").String(o.From).
		Name("vendored_at").String(o.Now.UTC().Format(time.RFC3339)).Name("format_version").Int(2).Name("targets").Object()
	for _, bin := range binaries {
		b.Name(bin.String()).Object().Name("sha256").String(sums["bin/"+bin.Path()]).Name("bytes").Int(int(bin.Size)).End()
	}
	b.End().Name("launcher").String(start).Name("files")
	sums.AppendTo(&b)
	return append(rawjson.AppendIndent(nil, b.End().Bytes(), 0), '\n')
}

type lock struct {
	doc          json.RawMessage
	version, sum string
}

func readLock(root *os.Root) (*lock, error) {
	text, err := boundedfile.ReadIn(root, path.Join(runtimes.Dir, lockName), maxLock)
	if err != nil {
		return nil, err
	}
	return parseLock(text)
}

func parseLock(text []byte) (*lock, error) {
	doc, err := rawjson.Check(text)
	if err != nil || len(text) > maxLock || rawjson.KindOf(doc) != rawjson.Object {
		return nil, fmt.Errorf("%s is not valid JSON", lockName)
	}
	return &lock{doc, rawjson.TextOf(doc, "version"), rawjson.TextOf(doc, "sha256")}, nil
}

// A Mismatch is the error for a tree that differs from vendor.json.
type Mismatch struct {
	Recorded, Current string
	Details           []string // the files that differ, or nil if unknown
}

func (m *Mismatch) Error() string { return "vendor --verify: FAILED" }

// ErrNoLock and ErrNoSum are errors of Verify.
var (
	ErrNoLock = errors.New("no " + lockName + " found")
	ErrNoSum  = errors.New(lockName + " is missing the sha256 field")
)

// Verify compares the server in a project with vendor.json. The error can be a [*Mismatch],
// [ErrNoLock] or [ErrNoSum].
func Verify(dir string) (*Result, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	l, err := readLock(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNoLock
	case err != nil:
		return nil, err
	case l.sum == "":
		return nil, ErrNoSum
	}
	r := &Result{Path: filepath.Join(dir, runtimes.Dir), Version: l.version, SHA256: l.sum}
	tree, err := root.OpenRoot(runtimes.Dir)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	var odd []string
	sums, err := outdir.Read(tree, lockName, func(f mcpb.File, isRegular bool) {
		started := strings.HasPrefix(f.Name, "bin/") || strings.HasPrefix(f.Name, "providers/")
		switch {
		case !isRegular:
			odd = append(odd, f.Name+": not a regular file")
			return
		case started && !f.Exec && filepath.Separator == '/':
			odd = append(odd, f.Name+": not executable")
		}
		r.Bytes += f.Size
		r.Files = append(r.Files, runtimes.Dir+"/"+f.Name)
	})
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(sums, func(_, sum string) bool { return sum == "" })
	if r.Uncovered = l.isOld(); !r.Uncovered {
		odd = append(odd, l.checkLauncher(root)...)
	}
	return r, l.compare(sums, odd)
}

// isOld reports whether the Bash edition wrote vendor.json.
func (l *lock) isOld() bool { return rawjson.Get(l.doc, "format_version") == nil }

func (l *lock) checkLauncher(root *os.Root) []string {
	switch sum, mode, err := launcherSum(root); {
	case errors.Is(err, fs.ErrNotExist):
		return []string{launcher + ": missing"}
	case err != nil:
		return []string{err.Error()}
	case sum != rawjson.TextOf(l.doc, "launcher"):
		return []string{launcher + ": changed"}
	case mode&0o100 == 0 && filepath.Separator == '/':
		return []string{launcher + ": not executable"}
	}
	return nil
}

func (l *lock) compare(sums outdir.Sums, odd []string) error {
	current := sums.Digest(strings.Compare, "")
	same := current == l.sum
	if l.isOld() { // the order depends on the locale of the Bash edition
		for _, prefix := range []string{"", "./", runtimes.Dir + "/"} {
			for _, compare := range []func(a, b string) int{strings.Compare, likeLocale} {
				same = same || sums.Digest(compare, prefix) == l.sum
			}
		}
	}
	if same && len(odd) == 0 {
		return nil
	}
	if files := rawjson.Get(l.doc, "files"); files != nil {
		odd = append(odd, outdir.Recorded(files).Changes(sums)...)
	}
	slices.Sort(odd)
	return &Mismatch{l.sum, current, slices.Compact(odd)}
}

// likeLocale compares names as most locales do: only letters and digits first, and without
// case.
func likeLocale(a, b string) int {
	plain := func(s string) string {
		return strings.ToLower(strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return -1
		}, s))
	}
	return cmp.Or(strings.Compare(plain(a), plain(b)), strings.Compare(a, b))
}
