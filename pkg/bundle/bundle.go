// Package bundle makes an MCP bundle of a project: one file that a client installs
// (cli chapter 14).
//
// It copies the project's content to a private tree (content), builds the registry there
// (registry), writes the manifest (manifest) and checks everything (check). Then it packs the tree
// under a temporary name, reads it back, and replaces a bundle of the same name. An error before
// that leaves the existing bundle unchanged.
package bundle

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
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/bundle/internal/gitignore"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/run/script"
)

// Options are the options of a bundle.
type Options struct {
	Output, Name, Version string
	Targets               []runtimes.Target
	AllTargets            bool // a missing one is a failure
	RuntimeDir            string
	Offline               bool
	NoExec                bool // mcpb.conf is never run
	NoSmoke               bool
	Strict                bool
	Verbose               bool
	Validate              bool // check, write nothing
	ManifestOnly          bool // write the manifest to Out, and nothing else
	ManifestVersion       string
	Format                Format // "" for Bundle
	File                  string // its name in Output; "" for one of name and version

	Home string       // the installation tree, "" for the copy in the binary
	Tree project.Tree // that copy
	Out  io.Writer    // progress, for people
	Err  io.Writer    // faults and warnings
	Bar  *cli.Bar     // the progress; may be nil

	modified time.Time // of the files in a bundle (CLI-1433)
}

// A Result is what was made.
type Result struct {
	Path, Name, Version, SHA256      string
	Bytes                            int64
	Platforms                        []string
	Targets                          []runtimes.Target
	Tools, Resources, Prompts, Files int
	Manifest                         []byte
	Warnings                         []string
}

// AppendJSON appends the result for programs (CLI-1402).
func (r *Result) AppendJSON(dst []byte) []byte {
	var targets []string
	for _, t := range r.Targets {
		targets = append(targets, t.String())
	}
	b := rawjson.Over(dst)
	b.Object().Name("ok").Bool(true).Name("path").String(r.Path).Name("name").String(r.Name).
		Name("version").String(r.Version).Name("sha256").String(r.SHA256).Name("bytes").Int(int(r.Bytes)).
		Name("platforms").Strings(r.Platforms).Name("targets").Strings(targets).Name("tools").Int(r.Tools).
		Name("resources").Int(r.Resources).Name("prompts").Int(r.Prompts).Name("warnings").Strings(r.Warnings).End()
	return b.Bytes()
}

// The subjects of a [Failure].
var (
	ErrConfiguration = errors.New("bundle configuration failed")
	errValidation    = errors.New("bundle validation failed")
	ErrRuntime       = errors.New("bundle runtime missing")
)

// A Failure is the error for a bundle with faults, which were printed.
type Failure struct {
	About  error
	Faults []string
}

func (f *Failure) Error() string { return f.About.Error() + ": " + strings.Join(f.Faults, "; ") }

func (f *Failure) Unwrap() error { return f.About }

const stageDir = "bundle"

type builder struct {
	p      *project.Project
	o      Options
	say    printer
	runner *script.Runner
	work   *project.TempDir

	config   config
	id       identity
	user     userConfig
	content  collector
	images   images
	staged   *project.Project
	offered  offered
	static   bool
	binaries []runtimes.Binary
	forImage bool // for a container image instead of a bundle

	hasLicence bool // of a plugin
}

// Make makes the bundle of a project. The error is a [*Failure], the context's, or
// another one.
func Make(ctx context.Context, p *project.Project, o Options) (*Result, error) {
	b, err := newBuilder(p, o)
	if err != nil {
		return nil, err
	}
	defer b.work.Remove()
	result, err := b.make(ctx)
	if err != nil {
		return nil, b.failure(err)
	}
	return result, nil
}

func newBuilder(p *project.Project, o Options) (*builder, error) {
	o.modified = mcpb.Epoch
	if seconds, err := strconv.ParseInt(p.Env["SOURCE_DATE_EPOCH"], 10, 64); err == nil {
		o.modified = time.Unix(seconds, 0).UTC()
	}
	b := &builder{p: p, o: o, runner: new(script.Runner),
		say: printer{out: o.Out, err: o.Err, loud: o.Verbose, strict: o.Strict}}
	project.CleanTmp(p.TmpRoot)
	work, err := project.MakeWorkDir(p.Env)
	if err != nil {
		return nil, fmt.Errorf("no room for the bundle to be put together: %w; "+
			"set MCPBASH_TMP_ROOT to a writable directory", err)
	}
	b.work = work
	return b, nil
}

// failure returns an error with the faults that were printed, if the error stands for them.
func (b *builder) failure(err error) error {
	for _, about := range []error{ErrConfiguration, errValidation, ErrRuntime, ErrPackages} {
		if err == about {
			return &Failure{about, b.say.faults}
		}
	}
	return err
}

func (b *builder) make(ctx context.Context) (*Result, error) {
	if b.o.Format == PluginFolder {
		if err := checkFolder(b.o.Output); err != nil {
			return nil, err
		}
	}
	root, err := b.prepare(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := b.addRuntime(ctx); err != nil {
		return nil, err
	}
	var manifest []byte
	if b.o.Format.isPlugin() {
		if err := b.addManifests(); err != nil {
			return nil, err
		}
		b.checkPlugin()
	} else {
		manifest = b.manifest()
		b.check(manifest)
	}
	if len(b.say.faults) > 0 {
		return nil, errValidation
	}
	if err := b.smoke(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		b.say.fault("%v", err)
		return nil, errValidation
	}
	if err := b.collectCache(); err != nil {
		return nil, err
	}
	b.say.done("Validated project structure")
	result := b.result(manifest)
	switch {
	case b.o.ManifestOnly, b.o.Validate:
		return result, nil
	}
	b.say.line("Bundling project...")
	if manifest != nil {
		b.say.done("Generated manifest.json")
	}
	b.say.done("Included %d tools, %d resources, %d prompts", result.Tools, result.Resources, result.Prompts)
	b.say.done("Target platforms: %s", strings.Join(result.Platforms, " "))
	if !b.o.Format.isPlugin() {
		files := b.content.files
		mcpb.Sort(files)
		files = append([]mcpb.File{mcpb.Bytes(mcpb.ManifestName, false, manifest)}, files...)
		return result, b.write(ctx, files, result)
	}
	files, err := b.finishPlugin(ctx, result)
	if err != nil {
		return nil, err
	}
	if b.o.Format == PluginFolder {
		return result, b.writeFolder(ctx, files)
	}
	return result, b.write(ctx, files, result)
}

// prepare checks the project and copies its files to the staged tree, which it opens, with the registry.
func (b *builder) prepare(ctx context.Context) (*os.Root, error) {
	b.say.line("Validating project...")
	if err := b.configure(ctx); err != nil {
		return nil, err
	}
	stage := filepath.Join(b.work.Path, stageDir)
	if err := os.MkdirAll(filepath.Join(stage, serverDir), 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(stage)
	if err != nil {
		return nil, err
	}
	b.content = collector{ctx: ctx, work: root}
	if err := b.fillStage(ctx); err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

func (b *builder) fillStage(ctx context.Context) error {
	if err := b.collect(); err != nil {
		return err
	}
	b.stage()
	b.say.verbose("Pre-generating registry cache for static mode...")
	if err := b.buildRegistry(ctx); err != nil {
		return err
	}
	if len(b.offered.tools)+len(b.offered.prompts)+b.offered.resources == 0 {
		b.say.warn("No tools, resources, or prompts found")
	}
	if len(b.say.faults) > 0 {
		return errValidation
	}
	return nil
}

func (b *builder) fileName() string {
	if b.o.File != "" {
		return b.o.File
	}
	if b.o.Format == PluginArchive {
		return b.id.fileName("-plugin.zip")
	}
	return b.id.fileName(".mcpb")
}

func (b *builder) result(manifest []byte) *Result {
	r := &Result{
		Name: b.id.name, Version: b.id.version, Platforms: b.platforms(), Manifest: manifest, Warnings: b.say.warnings,
		Tools: len(b.offered.tools), Resources: b.offered.resources, Prompts: len(b.offered.prompts),
		Files: len(b.content.files) + 1, Path: filepath.Join(b.o.Output, b.fileName()),
	}
	if b.o.Format == PluginFolder {
		r.Path = b.o.Output
	}
	for _, bin := range b.binaries {
		r.Targets = append(r.Targets, bin.Target)
	}
	return r
}

func (b *builder) configure(ctx context.Context) error {
	file := filepath.Join(b.p.Server, "server.meta.json")
	text, err := b.p.ReadFile(file, mcpb.MaxManifest)
	switch doc, errJSON := rawjson.Check(text); {
	case errors.Is(err, fs.ErrNotExist):
		b.say.fault("Missing required server.d/server.meta.json")
		b.say.note(`  → Run "mcp-bash init" to create project structure`)
		return errValidation
	case err != nil:
		b.say.fault("server.d/server.meta.json: %v", err)
		return errValidation
	case errJSON != nil || rawjson.KindOf(doc) != rawjson.Object:
		b.say.fault("Invalid JSON in server.d/server.meta.json")
		return errValidation
	default:
		b.config.meta = rawjson.Normal(doc)
	}
	b.checkScriptEnv()
	if b.config.conf, err = b.readConf(ctx); err == nil {
		b.id, err = b.identify(ctx)
	}
	if err == nil {
		b.user, err = b.readUserConfig()
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		b.say.fault("%v", err)
		return ErrConfiguration
	}
	b.say.verbose("Resolved metadata: %s v%s", b.id.name, b.id.version)
	b.say.verbose("Author: %s", b.id.author)
	if !item.IsSemver(b.id.version) {
		b.say.warnHint(fmt.Sprintf("Version %q is not valid semver (expected MAJOR.MINOR.PATCH)", b.id.version),
			"MCPB clients may reject non-semver versions")
	} else if b.id.version != b.p.Meta.Version {
		b.say.warn("the bundle has version %s, but its server has %s; set both in server.d/server.meta.json",
			b.id.version, b.p.Meta.Version)
	}
	if len(b.say.faults) > 0 {
		return errValidation
	}
	return nil
}

func (b *builder) collect() error {
	if text, err := b.p.ReadFile(filepath.Join(b.p.Root, ignoreName), maxIgnore); err == nil {
		b.content.selection.ignore = gitignore.Parse(string(text))
	} else if !errors.Is(err, fs.ErrNotExist) {
		b.say.fault("%s: %v", ignoreName, err)
	}
	root, err := openSource(b.p.Root, "")
	if err != nil {
		return err
	}
	defer root.root.Close()
	defaults := []defaultEntry{
		{"tools", b.p.Tools}, {"resources", b.p.Resources}, {"prompts", b.p.Prompts}, {"completions", b.p.Completions},
		{"server.d", b.p.Server}, {"lib", filepath.Join(b.p.Root, "lib")}, {"providers", b.p.Providers}, {"ui", b.p.UI},
		{"config", filepath.Join(b.p.Root, "config")}, {"VERSION", filepath.Join(b.p.Root, "VERSION")},
	}
	for _, name := range b.startedScripts() {
		if !slices.ContainsFunc(defaults, func(d defaultEntry) bool { return d.name == name }) {
			defaults = append(defaults, defaultEntry{name, filepath.Join(b.p.Root, name)})
		}
	}
	var places []string // in the project, of what is included
	for _, d := range defaults {
		places = append(places, d.name)
		if rel, err := filepath.Rel(b.p.Root, d.dir); err == nil {
			places = append(places, filepath.ToSlash(rel))
		}
	}
	included := b.readInclude(root, places)
	for _, d := range defaults {
		if err := b.collectDefault(root, d.name, d.dir); err != nil {
			return err
		}
	}
	if err := b.collectIncluded(root, included); err != nil {
		return err
	}
	switch {
	case b.forImage:
	case b.o.Format.isPlugin():
		err = b.collectPlugin(root)
	default:
		b.images, err = b.addImages(root)
	}
	if err != nil {
		return err
	}
	b.checkQuoted()
	b.report()
	for _, i := range included {
		places = append(places, i.name)
	}
	places = append(places, b.config.files()...)
	if b.o.Format.isPlugin() {
		places = append(places, skillsDir)
	}
	if rest := b.notIncluded(root, places); len(rest) == 1 {
		b.say.note("Not included: %s; add it with MCPB_INCLUDE", rest[0])
	} else if len(rest) > 1 {
		b.say.note("Not included: %s; add them with MCPB_INCLUDE", cli.Some(rest, shown))
	}
	return nil
}

// checkQuoted searches the files that the manifest quotes for secrets.
func (b *builder) checkQuoted() {
	for _, name := range append(b.config.files(), confFile) {
		if content, err := b.p.ReadFile(b.inProject(name), mcpb.MaxManifest); err == nil {
			b.content.isSecret(path.Clean(filepath.ToSlash(name)), content, true)
		}
	}
}

// report prints what the collector found since the last report.
func (b *builder) report() {
	c := &b.content
	for _, fault := range c.faults {
		b.say.fault("%s", fault)
	}
	if len(c.leftOut) > 0 {
		b.say.warn("Left out: %s", cli.Some(c.leftOut, shown))
	}
	for _, refused := range c.refused {
		b.say.warn("Refused: %s", refused)
	}
	if len(c.refused) > 0 || c.secrets {
		b.say.note("  → Name a file that holds no secret in MCPB_INCLUDE (%s) to include it", confFile)
	}
	if len(c.unscanned) > 0 {
		b.say.note("Searched for secrets in the first %d MB only: %s", maxScan>>20, cli.Some(c.unscanned, shown))
	}
	c.faults, c.leftOut, c.refused, c.unscanned, c.secrets = nil, nil, nil, nil, false
}

// shown is the number of names in a message.
const shown = 8

func openSource(dir, base string) (*source, error) {
	physical, err := fsys.Physical(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(physical)
	if err != nil {
		return nil, err
	}
	return &source{root, physical, base}, nil
}

// A defaultEntry is a part that every project may have, and its directory or file.
type defaultEntry struct{ name, dir string }

// collectDefault adds one of the directories that every project may have.
func (b *builder) collectDefault(root *source, name, dir string) error {
	if _, err := os.Lstat(dir); err != nil {
		return nil
	}
	b.say.verbose("Copied %s", name)
	to := path.Join(serverDir, name)
	if rel, err := filepath.Rel(b.p.Root, dir); err == nil && filepath.IsLocal(rel) {
		return b.content.tree(root, filepath.ToSlash(rel), to)
	}
	elsewhere, err := openSource(dir, name) // one of MCPBASH_TOOLS_DIR and its like
	if err != nil {
		return err
	}
	defer elsewhere.root.Close()
	return b.content.tree(elsewhere, ".", to)
}

// findRuntimes finds the server's programs for the chosen systems.
func (b *builder) findRuntimes(ctx context.Context) error {
	find := runtimes.Source{
		Env: b.p.Env, RuntimeDir: b.o.RuntimeDir, Home: b.o.Home, Offline: b.o.Offline, Runner: b.runner,
		Work: filepath.Join(b.work.Path, "built"), Note: func(line string) { b.say.verbose("%s", line) },
		Bar: b.o.Bar,
	}
	var err error
	b.binaries, err = find.Find(ctx, b.o.Targets)
	var missing *runtimes.MissingError
	if !errors.As(err, &missing) {
		return err
	}
	fatal := b.o.AllTargets || b.o.Strict || len(b.binaries) == 0
	headline := b.say.warn
	if fatal {
		headline = b.say.fault
	}
	headline("%v", missing)
	for _, reason := range missing.Reasons {
		if fatal {
			b.say.note("  %s", reason)
		} else {
			b.say.verbose("%s", reason)
		}
	}
	b.say.note("  %s", missing.Searched())
	for _, way := range missing.Ways {
		b.say.note("  → %s", way)
	}
	if fatal {
		return ErrRuntime
	}
	isHost := func(bin runtimes.Binary) bool { return bin.Target == runtimes.Host }
	if !b.forImage && !slices.ContainsFunc(b.binaries, isHost) {
		b.say.fault("No runtime for: %s", runtimes.Host)
		return ErrRuntime
	}
	return nil
}

func (b *builder) addRuntime(ctx context.Context) error {
	if err := b.findRuntimes(ctx); err != nil {
		return err
	}
	files := append(runtimes.Layout(serverDir+"/"+runtimes.Dir, b.o.Tree, b.binaries), runtimes.Launcher(entryPoint))
	size := int64(0)
	for _, f := range files {
		size += f.Size
		if err := b.content.add(f); err != nil {
			b.say.fault("%v", err)
			return errValidation
		}
	}
	b.say.done("Bundled framework (%s)", cli.Size(size))
	return nil
}

// write packs the files under a temporary name, reads the archive back, and renames it.
func (b *builder) write(ctx context.Context, files []mcpb.File, r *Result) error {
	if err := os.MkdirAll(b.o.Output, 0o755); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	dir, err := os.OpenRoot(b.o.Output)
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	defer dir.Close()
	name := b.fileName()
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
	counted := &counter{w: io.MultiWriter(f, sum)}
	if err := mcpb.Write(ctx, counted, files, b.o.modified, b.progress(files)); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), readBack(f, counted.n, files)); err != nil {
		return err
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err := errors.Join(f.Close(), dir.Rename(fresh, name)); err != nil {
		return err
	}
	r.SHA256, r.Bytes = hex.EncodeToString(sum.Sum(nil)), counted.n
	b.say.verbose("Created archive (%s)", cli.Size(counted.n))
	return nil
}

func (b *builder) progress(files []mcpb.File) func(int64) {
	if b.o.Bar == nil {
		return nil
	}
	total := int64(0)
	for _, f := range files {
		total += f.Size
	}
	var mu sync.Mutex
	done := int64(0)
	return func(n int64) {
		mu.Lock()
		defer mu.Unlock()
		done += n
		b.o.Bar.Show("packing", done, total)
	}
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// readBack checks that the written archive can be read.
func readBack(f *os.File, size int64, files []mcpb.File) error {
	a, err := mcpb.Read(f, size)
	if err != nil {
		return fmt.Errorf("the bundle that was written cannot be read: %w", err)
	}
	if len(a.Entries) != len(files) {
		return fmt.Errorf("the bundle that was written has %d files, not %d", len(a.Entries), len(files))
	}
	first := a.Find(files[0].Name)
	if first == nil {
		return errors.New("the bundle that was written lacks a file")
	}
	written, err := mcpb.File{Open: first.Open}.Sum()
	if err != nil {
		return err
	}
	want, err := files[0].Sum()
	if err == nil && written != want {
		err = errors.New("the bundle that was written has another " + files[0].Name)
	}
	return err
}
