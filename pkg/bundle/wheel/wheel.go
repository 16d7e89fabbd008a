// Package wheel makes Python wheels: one for each kind of system, whose commands are programs (packages chapter 2).
// [Make] makes those of a project, whose command is the server's program. A release makes those of mcp-bash:
//
//	w, err := wheel.New(stage.Identity{Name: "mcp-bash", Version: cli.Version}, "the description")
//	files, err = w.Complete(files, target) // below w.Data()
//	err = mcpb.Write(ctx, out, files, mcpb.Epoch, nil) // the file w.FileName(target)
package wheel

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/text/lazyregexp"
)

// Make makes the wheels of a project. The error can be a [*stage.Failure] or the context's.
func Make(ctx context.Context, s *stage.Stage) (list []*stage.Result, err error) {
	w, err := describe(s.ID)
	if err != nil {
		return nil, s.Reject(stage.ErrValidation, err)
	}
	s.NameAuthor()
	licence, err := s.AddTexts()
	if err != nil {
		return nil, err
	}
	if err := s.Prepare(ctx, nil); err != nil {
		return nil, err
	}
	if w.text, err = s.Readme(w.Name, w.Version, ""); err != nil {
		return nil, s.Reject(stage.ErrValidation, err)
	}
	for _, bin := range s.Binaries {
		r := s.Result(filepath.Join(s.Output, w.FileName(bin.Target)))
		r.Name, r.Version = w.Name, w.Version
		r.Platforms, r.Targets = []string{bin.Platform()}, []string{bin.Target.String()}
		if list = append(list, r); s.Validate {
			continue
		}
		files, err := w.Complete(w.files(s.Content.Files(), bin, licence), bin.Target)
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

// A Wheel describes the wheels of a product. The same values and files make the same bytes.
type Wheel struct {
	stage.Identity        // with the name and the version that pip uses
	text           string // the description, in Markdown
}

var (
	validName   = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	separators  = lazyregexp.New(`[-_.]+`)
	preRelease  = lazyregexp.New(`^([0-9.]+)-(alpha|beta|rc)\.?([0-9]+)$`)
	validNumber = lazyregexp.New(`^[0-9]+(\.[0-9]+)*((a|b|rc)[0-9]+)?(\.post[0-9]+)?(\.dev[0-9]+)?$`)
)

// New returns a description of wheels, with the name and the version in the form that pip uses. The error is the reason
// why pip refuses them.
func New(id stage.Identity, text string) (*Wheel, error) {
	if !validName.MatchString(id.Name) {
		return nil, fmt.Errorf("pip accepts no package %q; give another name, of letters, digits, - and _, with --name",
			id.Name)
	}
	if m := preRelease.FindStringSubmatch(id.Version); m != nil {
		id.Version = m[1] + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[m[2]] + m[3]
	}
	if !validNumber.MatchString(id.Version) {
		return nil, fmt.Errorf("pip accepts no version %q; give one such as 1.0.0 or 1.0.0rc1 with --version", id.Version)
	}
	id.Name = strings.ToLower(separators.ReplaceAllString(id.Name, "-"))
	return &Wheel{id, text}, nil
}

// describe is [New] for a project. The error is also for the name mcp-bash.
func describe(id stage.Identity) (*Wheel, error) {
	w, err := New(id, "")
	if err == nil && w.Name == "mcp-bash" {
		return nil, errors.New("a command mcp-bash would not serve the project; give another name with --name")
	}
	return w, err
}

// base begins the names of the wheels and of the folders in them.
func (w *Wheel) base() string { return strings.ReplaceAll(w.Name, "-", "_") + "-" + w.Version }

// FileName returns the name of the wheel for a system.
func (w *Wheel) FileName(t runtimes.Target) string {
	return w.base() + "-py3-none-" + strings.Join(tags[t], ".") + ".whl"
}

// Data returns the folder of files that pip installs. Files in scripts/ become commands, and files in data/ go below
// the environment's folder.
func (w *Wheel) Data() string { return w.base() + ".data/" }

// Licence returns the name of a licence in the wheel.
func (w *Wheel) Licence(name string) string { return w.base() + ".dist-info/licenses/" + name }

// metadata returns the METADATA of the wheels. A space must follow the server's name in the registry.
func (w *Wheel) metadata() []byte {
	var b bytes.Buffer
	line := func(name, value string) {
		if value = stage.OneLine(value); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	line("Metadata-Version", "2.1")
	line("Name", w.Name)
	line("Version", w.Version)
	line("Summary", w.Description)
	line("Home-page", w.Homepage)
	line("Author", w.Author)
	line("Author-email", w.Email)
	line("License", w.License)
	line("Keywords", strings.Join(w.Keywords, ","))
	if w.Repository != "" {
		line("Project-URL", "Repository, "+w.Repository)
	}
	line("Description-Content-Type", "text/markdown")
	b.WriteString("\n" + w.text)
	if w.RegistryName != "" {
		fmt.Fprintf(&b, "\n<!-- mcp-name: %s -->\n", w.RegistryName)
	}
	return b.Bytes()
}

// files returns the program for a system, and the files of the project.
func (w *Wheel) files(content []mcpb.File, bin runtimes.Binary, licence string) (list []mcpb.File) {
	command := w.Name + strings.TrimPrefix(bin.Binary(), "mcp-bash")
	list = []mcpb.File{bin.Program(w.Data() + "scripts/" + command)}
	for _, f := range content {
		name, isProject := strings.CutPrefix(f.Name, stage.ServerDir+"/")
		switch {
		case f.Name == licence:
			f.Name = w.Licence(f.Name)
		case !isProject || f.Name == stage.EntryPoint || strings.HasPrefix(name, runtimes.Dir+"/"):
			continue // the program contains the scripts of the server
		default:
			f.Name = w.Data() + "data/share/" + w.Name + "/project/" + name
		}
		list = append(list, f)
	}
	return list
}

// Complete returns all files of the wheel for a system. The last one has their hashes.
func (w *Wheel) Complete(list []mcpb.File, t runtimes.Target) ([]mcpb.File, error) {
	info := w.base() + ".dist-info/"
	text := "Wheel-Version: 1.0\nGenerator: mcp-bash\nRoot-Is-Purelib: false\n"
	for _, tag := range tags[t] {
		text += "Tag: py3-none-" + tag + "\n"
	}
	list = append(list, mcpb.Bytes(info+"METADATA", false, w.metadata()), mcpb.Bytes(info+"WHEEL", false, []byte(text)))
	mcpb.Sort(list)
	var record bytes.Buffer
	out := csv.NewWriter(&record)
	for _, f := range list {
		sum, err := f.Sum()
		if err != nil {
			return nil, err
		}
		raw, _ := hex.DecodeString(sum)
		out.Write([]string{f.Name, "sha256=" + base64.RawURLEncoding.EncodeToString(raw), strconv.FormatInt(f.Size, 10)})
	}
	out.Write([]string{info + "RECORD", "", ""})
	out.Flush()
	return append(list, mcpb.Bytes(info+"RECORD", false, record.Bytes())), out.Error()
}
