// Package image makes container images of projects, without a container engine and without root (http, Images). It
// packs Debian packages, the server and the project as layers. For the engines that people have, it also writes a
// Containerfile with its context.
package image

import (
	"archive/tar"
	"cmp"
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"mcp-bash/pkg/bundle/internal/debian"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/outdir"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/requirements"
	"mcp-bash/pkg/text/weburl"
)

// The paths and the port in an image.
const (
	imageHome    = "/opt/mcp-bash"
	imageProgram = imageHome + "/bin/mcp-bash"
	imageProject = "/srv/project"
	imagePort    = 8000
)

// Project is the prefix of the names of a project's files in [Read].
const Project = "srv/project/"

// The formats of an image.
const (
	OCI     = "oci"     // an OCI layout
	Docker  = "docker"  // an OCI layout that docker load of any version reads too
	Context = "context" // a Containerfile with its context
)

// Options are the options of an image.
type Options struct {
	Output   string   // a file ending in .tar, or a directory
	Format   string   // one of the formats
	Tag      string   // the image's name; "" for the project's name and version
	Base     string   // the base image of a Containerfile; "" for that of Debian
	Mirror   string   // "" for DefaultMirror
	Snapshot string   // a time such as 20261101T000000Z, or ""
	Keyring  string   // a file with the keys of the mirror, or "" for those of Debian
	Packages []string // additional Debian packages
}

// A Result is an image that was made.
type Result struct {
	Path, Format, Tag, Name, Version string
	Digest                           string // "" for a context
	Bytes                            int64  // of the file or the files at Path
	Images                           []PlatformImage
	Warnings                         []string
}

// A PlatformImage is the part of an image for one platform.
type PlatformImage struct {
	Platform, Digest string
	Bytes            int64 // of its layers
	Packages         int   // from Debian
}

// AppendJSON appends the result for programs.
func (r *Result) AppendJSON(dst []byte) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("ok").Bool(true).Name("path").String(r.Path).Name("format").String(r.Format).
		Name("tag").String(r.Tag).Name("name").String(r.Name).Name("version").String(r.Version)
	if r.Format != Context {
		b.Name("digest").String(r.Digest)
	}
	b.Name("size").Int(int(r.Bytes)).Name("platforms").Array()
	for _, i := range r.Images {
		b.Object().Name("platform").String(i.Platform)
		if r.Format != Context {
			b.Name("digest").String(i.Digest).Name("size").Int(int(i.Bytes)).Name("packages").Int(i.Packages)
		}
		b.End()
	}
	return b.End().Name("warnings").Strings(r.Warnings).End().Bytes()
}

type maker struct {
	*stage.Stage
	o     Options
	r     *Result
	needs []requirements.Dependency
}

// Make makes a container image of a project. The error can be a [*stage.Failure] or the context's.
func Make(ctx context.Context, s *stage.Stage, o Options) (*Result, error) {
	err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	i := &maker{Stage: s, o: o, r: &Result{Format: o.Format, Name: s.ID.Name, Version: s.ID.Version}}
	if i.r.Tag, err = i.chooseTag(); err != nil {
		return nil, s.Reject(stage.ErrConfiguration, err)
	}
	required, err := requirements.Read(s.Staged)
	if err != nil {
		return nil, s.Reject(stage.ErrValidation, fmt.Errorf("server.d/requirements.json: %w", err))
	}
	if required != nil {
		i.needs = required.Dependencies
	}
	if o.Format == Context {
		err = i.write(ctx, i.ID.FileName("-context"), contextMark, i.contextFiles)
	} else {
		err = i.write(ctx, i.ID.FileName(".tar"), "oci-layout", i.layoutFiles)
	}
	i.r.Warnings = s.Warnings
	return i.r, err
}

func (i *maker) chooseTag() (string, error) {
	usual := weburl.ImageName(i.ID.Name, i.ID.Version)
	if i.o.Tag == "" {
		return usual, nil
	}
	err := weburl.CheckImage(i.o.Tag)
	if strings.Contains(i.o.Tag, "@") {
		err = weburl.ErrImage // only the build determines the digest
	}
	if err != nil {
		return "", fmt.Errorf("--tag %q: %w", i.o.Tag, err)
	}
	if !strings.Contains(path.Base(i.o.Tag), ":") {
		return i.o.Tag + usual[strings.Index(usual, ":"):], nil
	}
	return i.o.Tag, nil
}

// layoutFiles returns the files of the image as an OCI layout.
func (i *maker) layoutFiles(ctx context.Context) ([]mcpb.File, error) {
	source, err := i.openSource()
	if err != nil {
		return nil, i.Reject(stage.ErrConfiguration, err)
	}
	if err := i.FindRuntimes(ctx); err != nil {
		return nil, err
	}
	i.Done("Validated project structure")
	l := &layout{dir: i.WorkDir("image"), tag: i.r.Tag}
	l.manifest, l.config, l.layer = types.OCIManifestSchema1, types.OCIConfigJSON, types.OCILayer
	if i.r.Format == Docker { // images in the OCI format cannot have a health check
		l.manifest, l.config, l.layer = types.DockerManifestSchema2, types.DockerConfigJSON, types.DockerLayer
	}
	if err := os.Mkdir(l.dir, 0o700); err != nil {
		return nil, err
	}
	projectLayer, err := l.addLayer(i.ID.Name+" "+i.ID.Version, func(w *tar.Writer) error {
		files := i.Content.Files()
		for n := range files {
			files[n].Name = imageProject[1:] + strings.TrimPrefix(files[n].Name, stage.ServerDir)
		}
		return i.writeLayer(ctx, w, files, nil)
	})
	if err != nil {
		return nil, err
	}
	var images []v1.Descriptor
	for _, bin := range i.Binaries {
		layers, packages, err := i.addServer(ctx, l, source, bin)
		if err != nil {
			return nil, err
		}
		layers = append(layers, projectLayer)
		platform := &v1.Platform{OS: bin.OS, Architecture: bin.Arch}
		d := l.addImage(platform, i.containerConfig(), i.Modified, layers...)
		one := PlatformImage{Platform: bin.OS + "/" + bin.Arch, Digest: d.Digest.String(), Packages: packages}
		for _, layer := range layers {
			one.Bytes += layer.Size
		}
		i.Done("%s: %d Debian packages, %s", one.Platform, packages, cli.Size(one.Bytes))
		images, i.r.Images = append(images, d), append(i.r.Images, one)
	}
	i.Bar.End()
	digest, err := l.finish(images)
	i.r.Digest = digest.String()
	return l.files, err
}

// addServer adds the layers of the Debian packages and of the server. It returns the number of packages, too.
func (i *maker) addServer(ctx context.Context, l *layout, source *debian.Source,
	bin runtimes.Binary) (layers []*layer, count int, err error) {
	packages, err := i.choosePackages(ctx, source, bin.Arch)
	if err != nil {
		return nil, 0, i.packagesFailed(ctx, err)
	}
	total := int64(0)
	for _, p := range packages {
		total += p.Size
	}
	var programs map[string]bool
	base, err := l.addLayer("Debian packages", func(w *tar.Writer) error {
		programs, err = writePackages(ctx, w, source, packages, i.Modified, func(done int64) {
			i.Bar.Show("packing "+bin.OS+"/"+bin.Arch, done, total)
		})
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	if err := i.checkNeeds(programs); err != nil {
		return nil, 0, i.packagesFailed(ctx, err)
	}
	ours, err := l.addLayer("mcp-bash "+cli.Version, func(w *tar.Writer) error {
		return i.writeServer(ctx, w, bin, packages)
	})
	return []*layer{base, ours}, len(packages), err
}

// writeLayer writes files, links (their targets by name) and the parent directories of all. Everything belongs to root.
func (i *maker) writeLayer(ctx context.Context, w *tar.Writer, files []mcpb.File, links map[string]string) error {
	dirs := map[string]bool{".": true}
	var header func(name string) tar.Header
	header = func(name string) tar.Header {
		if dir := path.Dir(name); !dirs[dir] {
			dirs[dir] = true
			h := header(dir)
			h.Typeflag, h.Name, h.Mode = tar.TypeDir, dir+"/", 0o755
			w.WriteHeader(&h) // the next call returns its error
		}
		return tar.Header{Name: name, ModTime: i.Modified, Format: tar.FormatPAX}
	}
	for _, f := range files {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if err := f.WriteTar(w, header(f.Name)); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(links)) {
		h := header(name)
		h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, links[name], 0o777
		if err := w.WriteHeader(&h); err != nil {
			return err
		}
	}
	return nil
}

// writeServer writes the layer of the server: its program, its tree and the inventory of software.
func (i *maker) writeServer(ctx context.Context, w *tar.Writer, bin runtimes.Binary, packages []*debian.Package) error {
	home := imageHome[1:]
	files := runtimes.Tree(home, i.Tree, bin)
	info, err := buildinfo.ReadFile(bin.File)
	if err != nil {
		return err
	}
	files = append(files, mcpb.Bytes(home+"/sbom.spdx.json", false, i.inventory(bin, packages, info)))
	mcpb.Sort(files)
	return i.writeLayer(ctx, w, files, map[string]string{home + "/bin/mcp-jq": "mcp-bash",
		"usr/local/bin/mcp-bash": imageProgram})
}

// environment returns the variables of containers of the image.
func (i *maker) environment() []string {
	return append([]string{
		"PATH=/" + strings.Join(searchPath, ":/") + ":/bin",
		"LANG=C.UTF-8", "HOME=" + imageUserHome, "MCPBASH_PROJECT_ROOT=" + imageProject,
	}, i.Environment()...)
}

// containerConfig returns the configuration of containers of the image.
func (i *maker) containerConfig() v1.Config {
	id := strconv.Itoa(imageUser)
	return v1.Config{
		User: id + ":" + id, Env: i.environment(), Entrypoint: []string{imageProgram}, Cmd: []string{"serve"},
		WorkingDir: imageProject, StopSignal: "SIGTERM", Labels: i.labels(),
		ExposedPorts: map[string]struct{}{strconv.Itoa(imagePort) + "/tcp": {}},
		Healthcheck: &v1.HealthConfig{
			Test: []string{"CMD", imageProgram, "health", "--server"}, Interval: 30 * time.Second, Timeout: 10 * time.Second,
			StartPeriod: 5 * time.Second, Retries: 3,
		},
	}
}

// labels describe the image to engines and catalogues.
func (i *maker) labels() map[string]string {
	id := i.ID
	list := map[string]string{}
	for name, value := range map[string]string{
		"title": id.Title, "description": id.Description, "version": id.Version, "authors": id.Author,
		"created": i.Modified.UTC().Format(time.RFC3339), "source": id.Repository, "url": id.Homepage,
		"documentation": id.Documentation, "licenses": id.License,
	} {
		if value != "" {
			list["org.opencontainers.image."+name] = value
		}
	}
	if id.RegistryName != "" {
		list["io.modelcontextprotocol.server.name"] = id.RegistryName
	}
	var b rawjson.Builder
	list["io.docker.server.metadata"] = string(b.Object().Name("name").String(id.Name).Name("title").String(id.Title).
		Name("description").String(id.Description).Name("type").String("server").End().Bytes())
	return list
}

// write writes an image to its path, as an archive or a directory of its files. If that fails, the path is unchanged.
// mark is a file that only a directory with an image has.
func (i *maker) write(ctx context.Context, name, mark string, make func(context.Context) ([]mcpb.File, error)) error {
	out, err := filepath.Abs(cmp.Or(i.o.Output, name))
	if err != nil {
		return err
	}
	i.r.Path = out
	isArchive := strings.HasSuffix(out, ".tar")
	if !isArchive {
		err = outdir.CheckReplaceable(out, mark)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(out), 0o755)
	}
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	files, err := make(ctx)
	if err != nil {
		return err
	}
	mcpb.Sort(files)
	if isArchive {
		r := stage.Result{Path: out}
		err := i.WriteFile(ctx, &r, func(_ *os.File, w io.Writer) error {
			t := tar.NewWriter(w)
			for _, f := range files {
				if err := f.WriteTar(t, tar.Header{Name: f.Name, ModTime: i.Modified}); err != nil {
					return err
				}
			}
			return t.Close()
		})
		i.r.Bytes = r.Bytes
		return err
	}
	for _, f := range files {
		i.r.Bytes += f.Size
	}
	if err := outdir.Replace(ctx, out, files, nil); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	return nil
}
