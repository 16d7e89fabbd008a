package image

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/rand"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"mcp-bash/pkg/bundle/internal/debian"
	"mcp-bash/pkg/bundle/internal/oci"
	"mcp-bash/pkg/bundle/internal/web"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/requirements"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/weburl"
)

// Places in an image (H-603).
const (
	imageProgram = "/opt/mcp-bash/bin/mcp-bash"
	imageProject = "/srv/project"
	imagePort    = 8000
)

// Formats of an image, the default first.
var Formats = []string{"oci", "docker"}

const debianRelease = "trixie"

// DefaultMirror contains the directories debian and debian-security.
const DefaultMirror = "https://deb.debian.org"

const snapshots = "https://snapshot.debian.org/archive"

// Options are the options of an image.
type Options struct {
	stage.Options
	Output       string   // a file ending in .tar, or a directory
	Format       string   // one of Formats
	Tag          string   // its name for container engines; "" for the project's name and version
	Mirror       string   // "" for DefaultMirror
	Snapshot     string   // a time such as 20261101T000000Z, or ""
	Keyring      string   // a file with the keys of the mirror, or "" for those of Debian
	Packages     []string // further packages
	RegistryName string   // the name of the server in the MCP registry, or ""
	Web          web.Client
}

// An Result is an image that was made.
type Result struct {
	Path, Format, Tag, Name, Version, Digest string
	Bytes                                    int64 // of the file or the files at Path
	Images                                   []PlatformImage
	Warnings                                 []string
}

// A PlatformImage is the part of an image for one platform.
type PlatformImage struct {
	Platform, Digest string
	Bytes            int64 // of its layers
	Packages         int   // from Debian
}

// AppendJSON appends the result for programs (H-609).
func (r *Result) AppendJSON(dst []byte) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("ok").Bool(true).Name("path").String(r.Path).Name("format").String(r.Format).
		Name("tag").String(r.Tag).Name("name").String(r.Name).Name("version").String(r.Version).
		Name("digest").String(r.Digest).Name("size").Int(int(r.Bytes)).Name("platforms").Array()
	for _, i := range r.Images {
		b.Object().Name("platform").String(i.Platform).Name("digest").String(i.Digest).Name("size").Int(int(i.Bytes)).
			Name("packages").Int(i.Packages).End()
	}
	b.End().Name("warnings").Strings(r.Warnings).End()
	return b.Bytes()
}

// A maker makes an image from a stage.
type maker struct {
	*stage.Stage
	o      Options
	source *debian.Source
	needs  []need
	layout *oci.Layout
	tag    string
}

// Make makes a container image of a project. The error can be a [*stage.Failure] or the context's.
func Make(ctx context.Context, p *project.Project, o Options) (*Result, error) {
	s, err := stage.Open(ctx, p, o.Options)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	i := &maker{Stage: s, o: o}
	if err := i.List(ctx); err != nil {
		return nil, err
	}
	if i.tag, err = i.chooseTag(); err != nil {
		i.Fault("%v", err)
		return nil, i.Fail(stage.ErrConfiguration)
	}
	if err := i.configureSource(); err != nil {
		i.Fault("%v", err)
		return nil, i.Fail(stage.ErrConfiguration)
	}
	if i.needs, err = i.readNeeds(); err != nil {
		i.Fault("%v", err)
		return nil, i.Fail(stage.ErrValidation)
	}
	if err := i.FindRuntimes(ctx); err != nil {
		return nil, err
	}
	i.Done("Validated project structure")
	format := oci.OCI
	if i.o.Format == "docker" {
		format = oci.Docker
	}
	if i.layout, err = oci.New(i.WorkDir("image"), format); err != nil {
		return nil, err
	}
	projectLayer, err := i.layout.AddLayer(func(w *tar.Writer) error { return i.writeProject(ctx, w) })
	if err != nil {
		return nil, err
	}
	r := &Result{Format: i.o.Format, Tag: i.tag, Name: i.ID.Name, Version: i.ID.Version}
	var descriptors []v1.Descriptor
	for _, bin := range i.Binaries {
		d, one, err := i.platform(ctx, bin, projectLayer)
		if err != nil {
			return nil, err
		}
		descriptors, r.Images = append(descriptors, d), append(r.Images, one)
	}
	i.Bar.End()
	digest, err := i.layout.Finish(descriptors, i.tag)
	if err != nil {
		return nil, err
	}
	r.Digest, r.Warnings = digest.String(), i.Warnings()
	return r, i.write(ctx, r)
}

var (
	validTag = lazyregexp.New(`^(?:[A-Za-z0-9.-]+(?::[0-9]+)?/)?` + // host and port
		`[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?$`)
	otherThanName = lazyregexp.New(`[^a-z0-9]+`)
	otherThanTag  = lazyregexp.New(`[^A-Za-z0-9._-]`)
)

func (i *maker) chooseTag() (string, error) {
	tag := otherThanTag.ReplaceAllString(i.ID.Version, "-")
	if i.o.Tag == "" {
		name := strings.Trim(otherThanName.ReplaceAllString(strings.ToLower(i.ID.Name), "-"), "-")
		return cmp.Or(name, "server") + ":" + tag, nil
	}
	m := validTag.FindStringSubmatch(i.o.Tag)
	if m == nil {
		return "", fmt.Errorf("--tag %q: not a name of an image such as example.com/team/demo:1.0.0", i.o.Tag)
	}
	if err := weburl.CheckImage(i.o.Tag); err != nil {
		return "", fmt.Errorf("--tag %q: %w", i.o.Tag, err)
	}
	if m[1] == "" {
		return i.o.Tag + ":" + tag, nil
	}
	return i.o.Tag, nil
}

func (i *maker) configureSource() error {
	cache, err := project.CacheDir(i.Project.Env)
	if err != nil {
		return err
	}
	s := &debian.Source{
		Get: i.download, Cache: filepath.Join(cache, "debian"), Keyring: debian.DefaultKeyring, Offline: i.Offline,
		Now:      time.Now(),
		Progress: func(what string, done, total int64) { i.Bar.Show(what, done, total) },
	}
	if i.o.Keyring != "" {
		if s.Keyring, err = boundedfile.Read(i.o.Keyring, 1<<20); err != nil {
			return fmt.Errorf("--keyring %s: %w", i.o.Keyring, err)
		}
	}
	mirror, at := strings.TrimRight(cmp.Or(i.o.Mirror, DefaultMirror), "/"), ""
	if i.o.Snapshot != "" {
		if s.Now, err = time.Parse("20060102T150405Z", i.o.Snapshot); err != nil {
			return fmt.Errorf("--snapshot %q: not a time such as 20261101T000000Z", i.o.Snapshot)
		}
		mirror, at = strings.TrimRight(cmp.Or(i.o.Mirror, snapshots), "/"), "/"+i.o.Snapshot
	}
	s.Archives = []debian.Archive{
		{URL: mirror + "/debian" + at, Suite: debianRelease, Home: DefaultMirror + "/debian"},
		{URL: mirror + "/debian-security" + at, Suite: debianRelease + "-security",
			Home: DefaultMirror + "/debian-security"},
	}
	i.source = s
	return nil
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

func (i *maker) platform(ctx context.Context, bin runtimes.Binary,
	projectLayer oci.Layer) (d v1.Descriptor, r PlatformImage, err error) {
	name := bin.OS + "/" + bin.Arch
	index, err := i.source.Index(ctx, bin.Arch)
	if err != nil {
		return d, r, i.packagesFailed(ctx, err)
	}
	names := slices.Concat(basePackages, i.o.Packages)
	for _, n := range i.needs {
		at := slices.IndexFunc(n.packages, index.Has)
		if at < 0 {
			return d, r, i.packagesFailed(ctx, fmt.Errorf("no Debian package for %s; name it in server.d/requirements.json: "+
				`{"name": %q, "debian": "PACKAGE"}`, strings.Join(n.programs, " or "), n.programs[0]))
		}
		names = append(names, n.packages[at])
	}
	packages, err := index.Resolve(names)
	if err == nil {
		err = i.source.Fetch(ctx, packages)
	}
	if err != nil {
		return d, r, i.packagesFailed(ctx, err)
	}
	total := int64(0)
	for _, p := range packages {
		total += p.Size
	}
	var programs map[string]bool
	base, err := i.layout.AddLayer(func(w *tar.Writer) error {
		programs, err = writePackages(ctx, w, i.source, packages, i.Modified, func(done int64) {
			i.Bar.Show("packing "+name, done, total)
		})
		return err
	})
	if err != nil {
		return d, r, err
	}
	for _, n := range i.needs {
		has := func(program string) bool { return hasProgram(programs, program) }
		if !slices.ContainsFunc(n.programs, has) && n.programs[0] != "mcp-bash" {
			return d, r, i.packagesFailed(ctx, fmt.Errorf("the Debian package %s does not contain %s; name the right one in "+
				`server.d/requirements.json: {"name": %q, "debian": "PACKAGE"}`, strings.Join(n.packages, ", "),
				strings.Join(n.programs, " or "), n.programs[0]))
		}
	}
	ours, err := i.layout.AddLayer(func(w *tar.Writer) error { return i.writeServer(w, bin, packages) })
	if err != nil {
		return d, r, err
	}
	layers := []oci.Layer{base, ours, projectLayer}
	d, err = i.layout.AddImage(&oci.Image{
		Arch: bin.Arch, Config: i.containerConfig(), Layers: layers, Created: i.Modified,
		History: []string{"Debian packages", "mcp-bash " + cli.Version, i.ID.Name + " " + i.ID.Version},
	})
	r = PlatformImage{Platform: name, Digest: d.Digest.String(), Packages: len(packages)}
	for _, l := range layers {
		r.Bytes += l.Size
	}
	i.Done("%s: %d Debian packages, %s", name, len(packages), cli.Size(r.Bytes))
	return d, r, err
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

// A layerWriter writes files of a layer that belong to root.
type layerWriter struct {
	*tar.Writer
	modified time.Time
	dirs     map[string]bool
}

func (i *maker) layerWriter(w *tar.Writer) *layerWriter {
	return &layerWriter{w, i.Modified, map[string]bool{".": true}}
}

// header writes a header, after those of the directories around it.
func (w *layerWriter) header(h *tar.Header) error {
	dir := path.Dir(strings.TrimSuffix(h.Name, "/"))
	if !w.dirs[dir] {
		w.dirs[dir] = true
		if err := w.header(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755}); err != nil {
			return err
		}
	}
	h.ModTime, h.Format = w.modified, tar.FormatPAX
	return w.WriteHeader(h)
}

func (w *layerWriter) file(f mcpb.File, name string) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	mode := int64(0o644)
	if f.Exec {
		mode = 0o755
	}
	if err := w.header(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: f.Size}); err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return err
}

func (w *layerWriter) link(name, target string) error {
	return w.header(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777})
}

// writeProject writes the layer of the project: the files of a bundle.
func (i *maker) writeProject(ctx context.Context, tw *tar.Writer) error {
	w := i.layerWriter(tw)
	for _, f := range i.Content.Files() {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if err := w.file(f, strings.TrimPrefix(imageProject, "/")+strings.TrimPrefix(f.Name, stage.ServerDir)); err != nil {
			return err
		}
	}
	return nil
}

// writeServer writes the layer of the server: its program, its tree and the inventory of software.
func (i *maker) writeServer(tw *tar.Writer, bin runtimes.Binary, packages []*debian.Package) error {
	w := i.layerWriter(tw)
	home := strings.TrimPrefix(path.Dir(path.Dir(imageProgram)), "/")
	var files []mcpb.File
	for _, f := range runtimes.Layout(home, i.Tree, []runtimes.Binary{bin}) {
		switch name := strings.TrimPrefix(f.Name, home+"/"); name {
		case "bin/mcp-bash", "bin/mcp-jq": // scripts that choose a program by the system
		case "bin/" + bin.Path():
			f.Name = home + "/bin/mcp-bash"
			files = append(files, f)
		default:
			files = append(files, f)
		}
	}
	info, err := buildinfo.ReadFile(bin.File)
	if err != nil {
		return err
	}
	files = append(files, mcpb.Bytes(home+"/sbom.spdx.json", false, i.inventory(bin, packages, info)))
	mcpb.Sort(files)
	for _, f := range files {
		if err := w.file(f, f.Name); err != nil {
			return err
		}
	}
	return errors.Join(w.link(home+"/bin/mcp-jq", "mcp-bash"), w.link("usr/local/bin/mcp-bash", imageProgram))
}

// containerConfig returns the configuration of containers of the image (H-603, H-606).
func (i *maker) containerConfig() v1.Config {
	id := strconv.Itoa(imageUser)
	env := []string{
		"PATH=/" + strings.Join(searchPath, ":/") + ":/bin",
		"LANG=C.UTF-8", "HOME=/home/nonroot", "MCPBASH_PROJECT_ROOT=" + imageProject, "MCPBASH_TOOL_ALLOWLIST=*",
	}
	if i.Static {
		env = append(env, "MCPBASH_STATIC_REGISTRY=1")
	}
	return v1.Config{
		User: id + ":" + id, Env: env, Entrypoint: []string{imageProgram}, Cmd: []string{"serve"},
		WorkingDir: imageProject, StopSignal: "SIGTERM", Labels: i.labels(),
		ExposedPorts: map[string]struct{}{strconv.Itoa(imagePort) + "/tcp": {}},
		Healthcheck: &v1.HealthConfig{
			Test: []string{"CMD", imageProgram, "health", "--server"}, Interval: 30 * time.Second, Timeout: 10 * time.Second,
			StartPeriod: 5 * time.Second, Retries: 3,
		},
	}
}

// labels describe the image to engines and catalogues (H-606).
func (i *maker) labels() map[string]string {
	id := i.ID
	list := map[string]string{
		"org.opencontainers.image.title": id.Title, "org.opencontainers.image.description": id.Description,
		"org.opencontainers.image.version": id.Version,
		"org.opencontainers.image.created": i.Modified.UTC().Format(time.RFC3339),
	}
	for name, value := range map[string]string{
		"authors": id.Author, "source": id.Repository,
		"url":           id.Homepage,
		"documentation": id.Documentation,
		"licenses":      id.License,
	} {
		if value != "" {
			list["org.opencontainers.image."+name] = value
		}
	}
	if i.o.RegistryName != "" {
		list["io.modelcontextprotocol.server.name"] = i.o.RegistryName
	}
	var b rawjson.Builder
	list["io.docker.server.metadata"] = string(b.Object().Name("name").String(id.Name).Name("title").String(id.Title).
		Name("description").String(id.Description).Name("type").String("server").End().Bytes())
	return list
}

// write puts the image in its place, and keeps what was there if that fails.
func (i *maker) write(ctx context.Context, r *Result) error {
	out := cmp.Or(i.o.Output, i.ID.FileName(".tar"))
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	r.Path = out
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	fresh := filepath.Join(filepath.Dir(out), "."+filepath.Base(out)+".tmp-"+rand.Text())
	if strings.HasSuffix(out, ".tar") {
		err = i.writeTar(fresh, r)
	} else if err = isReplaceable(out); err == nil {
		if err = os.Mkdir(fresh, 0o755); err == nil {
			err = i.layout.WriteDir(fresh)
		}
		r.Bytes = sizeOf(fresh)
		if err == nil {
			err = os.RemoveAll(out)
		}
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = os.Rename(fresh, out)
	}
	if err != nil {
		os.RemoveAll(fresh)
		return fmt.Errorf("--output: %w", err)
	}
	return nil
}

func (i *maker) writeTar(file string, r *Result) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = i.layout.WriteTar(f, i.Modified)
	if info, errStat := f.Stat(); errStat == nil {
		r.Bytes = info.Size()
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// isReplaceable returns an error unless a path is missing, an empty directory or an OCI layout.
func isReplaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) == 0:
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, "oci-layout")); err != nil {
		return fmt.Errorf("%s: a directory with other files; name a new one, or a file that ends in .tar", dir)
	}
	return nil
}

func sizeOf(dir string) (size int64) {
	filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}
