package runtimes

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcp-bash/pkg/bundle/internal/web"
	"mcp-bash/pkg/bundle/outdir"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/text/shell"
)

// A Source finds binaries.
type Source struct {
	Env        project.Env
	RuntimeDir string // a directory from the user: DIR/<os>-<arch>/mcp-bash; "" for MCPBASH_RUNTIME_DIR
	Home       string // the installation tree, or "" for the embedded one
	Offline    bool   // whether to download nothing
	Runner     *script.Runner
	Work       string // a private directory for builds
	Web        web.Client
	Note       func(line string)
	Bar        *cli.Bar // the progress; may be nil

	nth, of int64 // the number of the target that is being looked for, and of all targets
}

// A MissingError lists the targets whose binary was not found.
type MissingError struct {
	Targets []Target
	Reasons []string // the reasons, for users
	Dirs    []string // the directories that were searched
	Ways    []string // the ways to get the binaries, for users
}

func (e *MissingError) Error() string {
	var names []string
	for _, t := range e.Targets {
		names = append(names, t.String())
	}
	return "No runtime for: " + strings.Join(names, ", ")
}

// Searched returns the directories that were searched, in one line.
func (e *MissingError) Searched() string {
	if len(e.Dirs) == 0 {
		return "searched no directory: the installation and the cache are missing"
	}
	return "searched for <os>-<arch>/mcp-bash in: " + strings.Join(e.Dirs, ", ")
}

// directories returns the directories that can hold the binaries of several targets.
func (s *Source) directories() []string {
	if dir := s.chosen(); dir != "" {
		return []string{dir}
	}
	list := s.installed()
	if cache, err := s.cache(); err == nil {
		list = append(list, cache)
	}
	return list
}

// ways returns instructions for getting the binaries, one in each line.
func (s *Source) ways() []string {
	archive := "unpack mcp-bash-" + Tag + "-runtimes.tar.gz of the release, " +
		"and pass its directory runtimes with --runtime-dir"
	fewer := "or leave systems out with --platform and --arch"
	if s.chosen() != "" {
		another := "leave out --runtime-dir to search elsewhere"
		if s.RuntimeDir == "" {
			another = "unset MCPBASH_RUNTIME_DIR to search elsewhere"
		}
		return []string{archive, another, fewer}
	}
	download := "set MCPBASH_RELEASE_BASE_URL to the address of the releases, to download them"
	if base := project.Releases(s.Env, s.Home); base != "" {
		download = "set MCPBASH_RELEASE_BASE_URL=" + secrets.Text(base) + ", to download them"
	}
	return []string{s.fromSources(), archive, download, fewer}
}

// fromSources returns the instruction for building the binaries.
func (s *Source) fromSources() string {
	const install = "install Go (https://go.dev/dl), and "
	goes := script.LookPath("go", s.Env["PATH"]) != ""
	if isSource(s.Home) {
		if goes {
			return "run go build ./cmd/mcp-bash in " + shell.Quote(s.Home) + " to see why it fails"
		}
		return install + "run the command again, to build them from " + s.Home
	}
	way := "run the command again with MCPBASH_HOME=DIR, where DIR is a checkout of mcp-bash"
	if checkout := project.Checkout(s.Home); isSource(checkout) {
		way = "run the command again with MCPBASH_HOME=" + shell.Quote(checkout) + ", to build them from the sources"
	}
	if goes {
		return way
	}
	return install + way
}

// Find returns the binaries of targets. If some are missing, it returns the others and a
// [*MissingError]. Otherwise the error is the context's.
func (s *Source) Find(ctx context.Context, targets []Target) ([]Binary, error) {
	var found []Binary
	missing := &MissingError{}
	defer s.Bar.End()
	s.of = int64(len(targets))
	for i, t := range targets {
		s.nth = int64(i)
		b, err := s.find(ctx, t)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			missing.Targets = append(missing.Targets, t)
			missing.Reasons = append(missing.Reasons, fmt.Sprintf("%s: %s", t, cli.Line(secrets.Text(err.Error()))))
		default:
			found = append(found, *b)
		}
	}
	if len(missing.Targets) > 0 {
		missing.Dirs, missing.Ways = s.directories(), s.ways()
		return found, missing
	}
	return found, nil
}

// chosen returns the directory that the user chose, or "". No other source is used then.
func (s *Source) chosen() string { return cmp.Or(s.RuntimeDir, s.Env["MCPBASH_RUNTIME_DIR"]) }

// installed returns the directories of the installation that can hold the binaries of several targets.
func (s *Source) installed() []string {
	if s.Home == "" {
		return nil
	}
	return []string{filepath.Join(s.Home, "runtimes"), filepath.Join(s.Home, "bin")}
}

func (s *Source) find(ctx context.Context, t Target) (*Binary, error) {
	if dir := s.chosen(); dir != "" {
		return check(filepath.Join(dir, filepath.FromSlash(t.Path())), t)
	}
	var sources []func() (*Binary, error)
	inFile := func(file string) {
		sources = append(sources, func() (*Binary, error) { return check(file, t) })
	}
	for _, dir := range s.installed() {
		inFile(filepath.Join(dir, filepath.FromSlash(t.Path())))
	}
	if isSource(s.Home) {
		sources = append(sources, func() (*Binary, error) { return s.build(ctx, t) })
	}
	if t == Host {
		inFile(script.Sibling("mcp-bash"))
	}
	var reasons []error
	for _, get := range append(sources, func() (*Binary, error) { return s.download(ctx, t) }) {
		b, err := get()
		if err == nil || ctx.Err() != nil {
			return b, err
		}
		if !errors.Is(err, os.ErrNotExist) { // the error lists the directories
			reasons = append(reasons, err)
		}
	}
	return nil, cmp.Or(errors.Join(reasons...), errors.New("not found"))
}

// begin reports slow work on a target.
func (s *Source) begin(work string) {
	s.Bar.End()
	s.Note(work)
	s.show(work, s.nth, s.of)
}

func (s *Source) show(work string, done, total int64) {
	s.Bar.Show(fmt.Sprintf("%s (%d of %d)", work, s.nth+1, s.of), done, total)
}

// isSource reports whether a directory contains the sources of this program, as it does for
// a binary of "make build".
func isSource(dir string) bool {
	if dir == "" {
		return false
	}
	text, err := boundedfile.Read(filepath.Join(dir, "go.mod"), 1<<20)
	if err != nil || !bytes.HasPrefix(text, []byte("module mcp-bash\n")) {
		return false
	}
	info, err := os.Stat(filepath.Join(dir, "cmd", "mcp-bash"))
	return err == nil && info.IsDir()
}

// BuildCommand returns the go command's arguments and variables for building packages. With the same version of Go, the
// same sources produce the same bytes in any directory, whatever the environment has. The programs contain no HTTP/2
// and no debug information, and functions are aligned to 16 bytes instead of 32. They report commit, the output of
// release/commit.sh, unless it is "".
func BuildCommand(t Target, out, packages, commit string) (args []string, env map[string]string) {
	linker := "-ldflags=-s -w -funcalign=16"
	if commit != "" {
		linker += " -X mcp-bash/pkg/cli.commit=" + commit
	}
	return []string{"build", "-trimpath", "-buildvcs=false", "-tags=nethttpomithttp2", linker, "-o", out, packages},
		map[string]string{
			"GOOS": t.OS, "GOARCH": t.Arch, "CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off", "GOAMD64": "",
			"GOARM64": "", "GOEXPERIMENT": "", "GOFIPS140": "off", "GOTOOLCHAIN": "local",
		}
}

const buildTime = 10 * time.Minute

func (s *Source) build(ctx context.Context, t Target) (*Binary, error) {
	compiler := script.LookPath("go", s.Env["PATH"])
	if compiler == "" {
		return nil, errors.New("building it from the sources needs go, which is not on PATH")
	}
	s.begin("building " + t.String())
	file := filepath.Join(s.Work, t.String(), t.Binary())
	argv, settings := BuildCommand(t, file, "./cmd/mcp-bash", "")
	env := s.Env.Clone()
	maps.Copy(env, settings)
	if s.Offline {
		env["GOPROXY"] = "off"
	}
	r := s.Runner.Run(ctx, script.Spec{
		Argv: append([]string{compiler}, argv...),
		Dir:  s.Home, Env: env.Entries(), Timeout: buildTime, StdoutLimit: 1 << 20, StderrLimit: 1 << 20,
	})
	switch {
	case r.Cause != nil:
		return nil, fmt.Errorf("building it: %w", r.Cause)
	case r.Status != 0:
		return nil, fmt.Errorf("building it failed: %s", strings.TrimSpace(string(r.Stderr)))
	}
	return check(file, t)
}

// Limits on downloads, in bytes and time.
const (
	maxSums      = 1 << 20
	maxArchive   = 256 << 20
	downloadTime = 5 * time.Minute
)

// cache returns the directory of downloaded binaries of this version.
func (s *Source) cache() (string, error) {
	dir, err := project.CacheDir(s.Env)
	return filepath.Join(dir, cli.Version), err
}

// download returns a binary of the release from the cache or the network. A downloaded
// archive must match the release's SHA256SUMS.
func (s *Source) download(ctx context.Context, t Target) (*Binary, error) {
	cache, cacheErr := s.cache()
	file := ""
	if cacheErr == nil {
		file = filepath.Join(cache, t.String(), t.Binary())
		if b, err := cached(file, t); err == nil {
			return b, nil
		}
	}
	base := s.Env["MCPBASH_RELEASE_BASE_URL"]
	switch {
	case base == "":
		return nil, os.ErrNotExist
	case s.Offline:
		return nil, errors.New("not downloaded because of --offline")
	case cacheErr != nil:
		return nil, cacheErr
	}
	work := "downloading " + t.String()
	s.begin(work)
	ctx, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	name := t.Archive(Tag)
	dir, err := url.JoinPath(base, Tag)
	if err != nil {
		return nil, fmt.Errorf("MCPBASH_RELEASE_BASE_URL: %w", err)
	}
	sums, err := s.Web.Get(ctx, dir+"/SHA256SUMS", maxSums)
	if err != nil {
		return nil, err
	}
	want := sumOf(string(sums), name)
	if want == "" {
		return nil, fmt.Errorf("SHA256SUMS missing entry for %s", name)
	}
	client := s.Web
	client.Progress = func(done, total int64) { s.show(work, s.nth*total+done, s.of*total) }
	archive, err := client.Get(ctx, dir+"/"+name, maxArchive)
	if err != nil {
		return nil, err
	}
	if got := sha256.Sum256(archive); hex.EncodeToString(got[:]) != want {
		return nil, fmt.Errorf("SHA256 checksum verification failed for: %s", name)
	}
	binary, err := extract(archive, "mcp-bash/bin/"+t.Binary(), t.OS == "windows")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := outdir.Put(file, binary, 0o700); err != nil {
		return nil, err
	}
	return cached(file, t)
}

// cached returns the binary in a file of the cache, if no other user could have put it
// there.
func cached(file string, t Target) (*Binary, error) {
	for _, path := range []string{filepath.Dir(filepath.Dir(file)), filepath.Dir(file), file} {
		info, err := os.Lstat(path)
		if err == nil {
			err = trust.CheckOwn(path, info)
		}
		if err != nil {
			return nil, err
		}
	}
	return check(file, t)
}

func sumOf(sums, name string) string {
	for line := range strings.Lines(sums) {
		if f := strings.Fields(line); len(f) == 2 && strings.TrimPrefix(f[1], "*") == name {
			return strings.ToLower(f[0])
		}
	}
	return ""
}

// extract returns one file of an archive. It ignores all others.
func extract(archive []byte, name string, isZip bool) ([]byte, error) {
	missing := fmt.Errorf("no %s in it", name)
	if isZip {
		z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
		if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
			return nil, err
		}
		f, err := z.Open(name)
		if err != nil {
			return nil, missing
		}
		defer f.Close()
		return readBinary(f)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	for t := tar.NewReader(io.LimitReader(unzipped, 4*maxArchive)); ; {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return nil, missing
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			return nil, err
		case h.Name == name && h.Typeflag == tar.TypeReg:
			return readBinary(t)
		}
	}
}

func readBinary(r io.Reader) ([]byte, error) {
	binary, err := io.ReadAll(io.LimitReader(r, maxBinary+1))
	if err == nil && len(binary) > maxBinary {
		err = fmt.Errorf("a program larger than %d bytes", maxBinary)
	}
	return binary, err
}
