// Package wheel makes Python wheels of a project: one for each kind of system, whose command is the server's program
// itself (packages chapter 2).
package wheel

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/lazyregexp"
)

// Options are the options of wheels.
type Options struct {
	stage.Options
	Output   string // a directory
	Validate bool   // check, write nothing
	// Instructions returns a section for the description of a package.
	Instructions func(name, version string) (string, error)
}

// Make makes the wheels of a project. The error can be a [*stage.Failure] or the context's.
func Make(ctx context.Context, p *project.Project, o Options) (list []*stage.Result, err error) {
	s, err := stage.Open(ctx, p, o.Options)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	w, err := describe(s)
	if err != nil {
		s.Fault("%v", err)
		return nil, s.Fail(stage.ErrValidation)
	}
	s.NameAuthor()
	if w.licence, err = s.AddTexts(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{s.List, s.AddRuntime, s.Verify} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	readme, err := s.ReadReadme()
	if err != nil {
		s.Fault("%v", err)
		return nil, s.Fail(stage.ErrValidation)
	}
	instructions, err := o.Instructions(w.name, w.version)
	if err != nil {
		return nil, err
	}
	metadata := w.metadata(s.ID, string(readme), instructions)
	for _, bin := range s.Binaries {
		file := w.file + "-" + w.version + "-py3-none-" + strings.Join(tags[bin.Target], ".") + ".whl"
		r := s.Result(filepath.Join(o.Output, file))
		r.Name, r.Version = w.name, w.version
		r.Platforms, r.Targets = []string{bin.Platform()}, []string{bin.Target.String()}
		if list = append(list, r); o.Validate {
			continue
		}
		files, err := w.files(s.Content.Files(), bin, metadata)
		if err != nil {
			return nil, err
		}
		if err := s.WriteArchive(ctx, r, files); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// tags are the platforms of a wheel for a system. The program for Linux is static.
var tags = map[runtimes.Target][]string{
	{OS: "linux", Arch: "amd64"}:   {"manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"},
	{OS: "linux", Arch: "arm64"}:   {"manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"},
	{OS: "darwin", Arch: "amd64"}:  {"macosx_12_0_x86_64"},
	{OS: "darwin", Arch: "arm64"}:  {"macosx_12_0_arm64"},
	{OS: "windows", Arch: "amd64"}: {"win_amd64"},
	{OS: "windows", Arch: "arm64"}: {"win_arm64"},
}

// A wheel describes the wheels of a project.
type wheel struct {
	name, file, version string // file is the name in file names
	licence             string
}

var (
	validName   = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	separators  = lazyregexp.New(`[-_.]+`)
	preRelease  = lazyregexp.New(`^([0-9.]+)-(alpha|beta|rc)\.?([0-9]+)$`)
	validNumber = lazyregexp.New(`^[0-9]+(\.[0-9]+)*((a|b|rc)[0-9]+)?(\.post[0-9]+)?(\.dev[0-9]+)?$`)
)

// describe returns the name and the version as pip knows them, or why it would refuse them (PKG-202).
func describe(s *stage.Stage) (*wheel, error) {
	if !validName.MatchString(s.ID.Name) {
		return nil, fmt.Errorf("pip accepts no package %q; give another name, of letters, digits, - and _, with --name",
			s.ID.Name)
	}
	version := s.ID.Version
	if m := preRelease.FindStringSubmatch(version); m != nil {
		version = m[1] + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[m[2]] + m[3]
	}
	if !validNumber.MatchString(version) {
		return nil, fmt.Errorf("pip accepts no version %q; give one such as 1.0.0 or 1.0.0rc1 with --version", version)
	}
	name := strings.ToLower(separators.ReplaceAllString(s.ID.Name, "-"))
	if name == "mcp-bash" {
		return nil, errors.New("a command mcp-bash would not serve the project; give another name with --name")
	}
	return &wheel{name: name, file: strings.ReplaceAll(name, "-", "_"), version: version}, nil
}

// metadata returns the METADATA of the wheels. A space must follow the server's name in the registry.
func (w *wheel) metadata(id stage.Identity, readme, instructions string) []byte {
	var b bytes.Buffer
	line := func(name, value string) {
		if value = strings.Join(strings.Fields(value), " "); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	line("Metadata-Version", "2.1")
	line("Name", w.name)
	line("Version", w.version)
	line("Summary", id.Description)
	line("Home-page", id.Homepage)
	line("Author", id.Author)
	line("Author-email", id.Email)
	line("License", id.License)
	line("Keywords", strings.Join(id.Keywords, ","))
	if id.Repository != "" {
		line("Project-URL", "Repository, "+id.Repository)
	}
	line("Description-Content-Type", "text/markdown")
	b.WriteString("\n" + cmp.Or(strings.TrimSpace(readme), "# "+id.Title+"\n\n"+id.Description) + "\n\n" + instructions)
	if id.RegistryName != "" {
		fmt.Fprintf(&b, "\n<!-- mcp-name: %s -->\n", id.RegistryName)
	}
	return b.Bytes()
}

// files returns the files of the wheel for a system. The last one has their hashes.
func (w *wheel) files(content []mcpb.File, bin runtimes.Binary, metadata []byte) (list []mcpb.File, err error) {
	data, info := w.file+"-"+w.version+".data/", w.file+"-"+w.version+".dist-info/"
	command := w.name + strings.TrimPrefix(bin.Binary(), "mcp-bash")
	list = []mcpb.File{{Name: data + "scripts/" + command, Exec: true, Size: bin.Size,
		Open: func() (io.ReadCloser, error) { return boundedfile.Open(bin.File) }}}
	for _, f := range content {
		name, isProject := strings.CutPrefix(f.Name, stage.ServerDir+"/")
		switch {
		case f.Name == w.licence:
			f.Name = info + "licenses/" + f.Name
		case !isProject || f.Name == stage.EntryPoint || strings.HasPrefix(name, runtimes.Dir+"/"):
			continue // the program contains the scripts of the server
		default:
			f.Name = data + "data/share/" + w.name + "/project/" + name
		}
		list = append(list, f)
	}
	text := "Wheel-Version: 1.0\nGenerator: mcp-bash\nRoot-Is-Purelib: false\n"
	for _, tag := range tags[bin.Target] {
		text += "Tag: py3-none-" + tag + "\n"
	}
	list = append(list, mcpb.Bytes(info+"METADATA", false, metadata), mcpb.Bytes(info+"WHEEL", false, []byte(text)))
	mcpb.Sort(list)
	var record bytes.Buffer
	out := csv.NewWriter(&record)
	for _, f := range list {
		in, err := f.Open()
		if err != nil {
			return nil, err
		}
		h := sha256.New()
		size, err := io.Copy(h, in)
		in.Close()
		if err != nil {
			return nil, err
		}
		sum := "sha256=" + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
		out.Write([]string{f.Name, sum, strconv.FormatInt(size, 10)})
	}
	out.Write([]string{info + "RECORD", "", ""})
	out.Flush()
	return append(list, mcpb.Bytes(info+"RECORD", false, record.Bytes())), out.Error()
}
