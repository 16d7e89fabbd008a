package image

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/bundle/internal/debian"
	"mcp-bash/pkg/bundle/internal/web"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/requirements"
	"mcp-bash/pkg/text/lazyregexp"
)

// A rootFS writes the files of Debian packages as one layer, in one pass. Scripts of packages do not run: links of
// alternatives and the list of certificates are made here.
type rootFS struct {
	w        *tar.Writer
	modified time.Time

	owners       map[string]string // the package of each file; "" for directories
	programs     map[string]bool   // executable files and links to files
	certificates map[string][]byte
	alternatives map[string]alternative // by the path of the link
}

type alternative struct {
	target   string
	priority int
}

// writePackages writes the layer. It returns the programs in it. It calls progress with the number of bytes of packages
// that were packed.
func writePackages(ctx context.Context, w *tar.Writer, source *debian.Source, packages []*debian.Package,
	modified time.Time, progress func(done int64)) (programs map[string]bool, err error) {
	r := &rootFS{w: w, modified: modified, owners: map[string]string{}, programs: map[string]bool{},
		certificates: map[string][]byte{}, alternatives: map[string]alternative{}}
	packed := int64(0)
	for _, p := range packages {
		if err := r.unpack(ctx, source, p, func(done int64) { progress(packed + done) }); err != nil {
			return nil, fmt.Errorf("package %s: %w", p.Name, err)
		}
		packed += p.Size
	}
	return r.programs, r.finish()
}

func (r *rootFS) unpack(ctx context.Context, source *debian.Source, p *debian.Package, progress func(int64)) error {
	f, err := source.Open(ctx, p, func(int64) {})
	if err != nil {
		return err
	}
	defer f.Close()
	d, err := debian.OpenDeb(debian.Counted(f, progress))
	if err != nil {
		return err
	}
	for {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		file, err := d.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = r.add(p.Name, file, d)
		}
		if err != nil {
			return err
		}
	}
	r.readAlternatives(d.PostInst)
	// Scanners of images read these files instead of dpkg's database.
	status := "var/lib/dpkg/status.d/" + p.Name
	if err := r.addBytes(status, d.Control); err != nil || len(d.MD5Sums) == 0 {
		return err
	}
	return r.addBytes(status+".md5sums", d.MD5Sums)
}

// leftOut are directories whose files no program needs. Licences stay.
var leftOut = []string{
	"usr/share/man", "usr/share/info", "usr/share/locale", "usr/share/lintian", "usr/share/bash-completion",
	"usr/share/zsh", "usr/share/fish", "usr/share/gtk-doc", "usr/share/doc-base",
}

func isLeftOut(name string) bool {
	for _, dir := range leftOut {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	rest, isDoc := strings.CutPrefix(name, "usr/share/doc/")
	return isDoc && strings.Contains(rest, "/") && path.Base(rest) != "copyright"
}

const certificateDir = "usr/share/ca-certificates/"

const maxCertificate = 1 << 20

// add adds a file of a package, or one without an owner.
func (r *rootFS) add(owner string, h *tar.Header, content io.Reader) error {
	if h.Name == "" || isLeftOut(h.Name) {
		return nil
	}
	before, exists := r.owners[h.Name]
	isDir := h.Typeflag == tar.TypeDir
	switch h.Name {
	case "bin", "sbin", "lib", "lib64": // as a directory, or as the link that replaces the directory
		if exists {
			return nil
		}
		h.Typeflag, h.Linkname, h.Mode, isDir, owner = tar.TypeSymlink, "usr/"+h.Name, 0o777, false, ""
	}
	if exists && isDir && before == "" {
		return nil
	}
	if exists {
		return fmt.Errorf("package %s has the file /%s too", before, h.Name)
	}
	if isDir {
		owner = ""
	}
	r.owners[h.Name] = owner
	if h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink || h.Typeflag == tar.TypeReg && h.Mode&0o111 != 0 {
		r.programs[h.Name] = true
	}
	if strings.HasPrefix(h.Name, certificateDir) && strings.HasSuffix(h.Name, ".crt") {
		text, err := io.ReadAll(io.LimitReader(content, maxCertificate))
		if err != nil {
			return err
		}
		r.certificates[h.Name], content = text, bytes.NewReader(text)
	}
	if isDir {
		h.Name += "/"
	}
	if err := r.w.WriteHeader(h); err != nil || h.Size == 0 {
		return err
	}
	_, err := io.Copy(r.w, content)
	return err
}

func (r *rootFS) addBytes(name string, content []byte) error {
	return r.add("", &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content)),
		ModTime: r.modified, Format: tar.FormatPAX}, bytes.NewReader(content))
}

func (r *rootFS) addDir(name string, mode int64, id int) error {
	return r.add("", &tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: mode, Uid: id, Gid: id, ModTime: r.modified,
		Format: tar.FormatPAX}, nil)
}

var installsAlternative = lazyregexp.New(`--install\s+/(\S+)\s+\S+\s+/(\S+)\s+(\d+)`)

// readAlternatives finds the links that a script of a package would create with literal names,
// such as /usr/bin/awk.
func (r *rootFS) readAlternatives(script []byte) {
	text := strings.ReplaceAll(string(script), "\\\n", " ")
	for _, m := range installsAlternative.FindAllStringSubmatch(text, -1) {
		link, target := m[1], m[2]
		priority, err := strconv.Atoi(m[3])
		if err != nil || strings.ContainsAny(link+target, "$\"'`") || slices.Contains(strings.Split(link, "/"), "..") {
			continue
		}
		if was, ok := r.alternatives[link]; !ok || priority > was.priority {
			r.alternatives[link] = alternative{target, priority}
		}
	}
}

// imageUser is the user and the group of the server in an image.
const (
	imageUser     = 65532
	imageUserHome = "/home/nonroot"
)

// finish adds the files that no package contains.
func (r *rootFS) finish() error {
	var errs []error
	for _, link := range slices.Sorted(maps.Keys(r.alternatives)) {
		target := r.alternatives[link].target
		if _, exists := r.owners[link]; !exists && r.programs[target] {
			errs = append(errs, r.add("", &tar.Header{Name: link, Typeflag: tar.TypeSymlink, Linkname: "/" + target, Mode: 0o777,
				ModTime: r.modified, Format: tar.FormatPAX}, nil))
		}
	}
	var bundle []byte
	for _, name := range slices.Sorted(maps.Keys(r.certificates)) {
		bundle = append(append(bundle, bytes.TrimRight(r.certificates[name], "\n")...), '\n')
	}
	for _, dir := range []string{"etc", "etc/ssl", "etc/ssl/certs", "home", "opt", "srv", "usr", "var"} {
		errs = append(errs, r.addDir(dir, 0o755, 0))
	}
	if len(bundle) > 0 {
		errs = append(errs, r.addBytes("etc/ssl/certs/ca-certificates.crt", bundle))
	}
	id := strconv.Itoa(imageUser)
	errs = append(errs, r.addDir("tmp", 0o1777, 0), r.addDir(imageUserHome[1:], 0o700, imageUser),
		r.addBytes("etc/passwd", []byte("root:x:0:0:root:/root:/usr/sbin/nologin\n"+
			"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"+
			"nonroot:x:"+id+":"+id+":nonroot:"+imageUserHome+":/usr/sbin/nologin\n")),
		r.addBytes("etc/group", []byte("root:x:0:\nnogroup:x:65534:\nnonroot:x:"+id+":\n")))
	if _, exists := r.owners["etc/nsswitch.conf"]; !exists {
		errs = append(errs, r.addBytes("etc/nsswitch.conf", []byte("passwd: files\ngroup: files\nhosts: files dns\n")))
	}
	return errors.Join(errs...)
}

var searchPath = []string{"opt/mcp-bash/bin", "usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin"}

func hasProgram(programs map[string]bool, name string) bool {
	if full, isPath := strings.CutPrefix(name, "/"); isPath {
		return programs[full] || programs["usr/"+full]
	}
	return slices.ContainsFunc(searchPath, func(dir string) bool { return programs[path.Join(dir, name)] })
}

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
		Get: func(ctx context.Context, address string, limit int64, progress func(done int64)) ([]byte, error) {
			client := web.Client{Progress: func(done, _ int64) { progress(done) }}
			return client.Get(ctx, address, limit)
		},
		Cache: filepath.Join(cache, "debian"), Keyring: debian.DefaultKeyring, Offline: i.Offline, Now: time.Now(),
		Progress: i.Bar.Show,
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

var basePackages = []string{
	"base-files", "bash", "ca-certificates", "coreutils", "dash", "findutils", "grep", "libc-bin", "mawk", "sed",
}

// packagesOf returns the packages that may contain a program that the project requires.
func packagesOf(d requirements.Dependency) (list []string) {
	if d.Debian != "" {
		return []string{d.Debian}
	}
	for _, program := range d.Programs {
		list = append(list, debian.PackageOf(path.Base(program)))
	}
	return list
}

// choosePackages downloads the packages of an image, with their dependencies.
func (i *maker) choosePackages(ctx context.Context, source *debian.Source, arch string) ([]*debian.Package, error) {
	index, err := source.Index(ctx, arch)
	if err != nil {
		return nil, err
	}
	names := slices.Concat(basePackages, i.o.Packages)
	for _, d := range i.needs {
		packages := packagesOf(d)
		at := slices.IndexFunc(packages, index.Has)
		if at < 0 {
			return nil, fmt.Errorf("no Debian package for %s; name it in server.d/requirements.json: "+
				`{"name": %q, "debian": "PACKAGE"}`, strings.Join(d.Programs, " or "), d.Programs[0])
		}
		names = append(names, packages[at])
	}
	packages, err := index.Resolve(names)
	if err == nil {
		err = source.Fetch(ctx, packages)
	}
	return packages, err
}

// checkNeeds returns an error if the programs of an image lack one that the project requires.
func (i *maker) checkNeeds(programs map[string]bool) error {
	for _, d := range i.needs {
		has := func(program string) bool { return hasProgram(programs, program) }
		if !slices.ContainsFunc(d.Programs, has) && d.Programs[0] != "mcp-bash" {
			return fmt.Errorf("the Debian package %s does not contain %s; name the right one in "+
				`server.d/requirements.json: {"name": %q, "debian": "PACKAGE"}`, strings.Join(packagesOf(d), ", "),
				strings.Join(d.Programs, " or "), d.Programs[0])
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

// inventory lists the software of an image in SPDX 2.3: Debian packages and Go modules.
func (i *maker) inventory(bin runtimes.Binary, packages []*debian.Package, info *debug.BuildInfo) []byte {
	var list rawjson.Builder
	list.Array()
	var related []string
	add := func(name, version, source, download, purl string) {
		id := "SPDXRef-Package-" + strconv.Itoa(len(related)+1)
		related = append(related, id)
		list.Object().Name("SPDXID").String(id).Name("name").String(name).Name("versionInfo").String(version).
			Name("downloadLocation").String(download).Name("filesAnalyzed").Bool(false).
			Name("licenseConcluded").String("NOASSERTION").Name("licenseDeclared").String("NOASSERTION").
			Name("copyrightText").String("NOASSERTION").Name("sourceInfo").String(source).Name("externalRefs").Array().
			Object().Name("referenceCategory").String("PACKAGE-MANAGER").Name("referenceType").String("purl").
			Name("referenceLocator").String(purl).End().End().End()
	}
	add("mcp-bash", cli.Version, "built with "+info.GoVersion, "NOASSERTION", "pkg:generic/mcp-bash@"+cli.Version)
	for _, p := range packages {
		add(p.Name, p.Version, "built from the source package "+p.Source+" "+p.SourceVersion, p.Address(), p.PURL())
	}
	add("stdlib", strings.TrimPrefix(info.GoVersion, "go"), "part of mcp-bash", "NOASSERTION",
		"pkg:golang/stdlib@"+strings.TrimPrefix(info.GoVersion, "go"))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		add(m.Path, m.Version, "part of mcp-bash; checksum "+m.Sum, "https://"+m.Path, "pkg:golang/"+m.Path+"@"+m.Version)
	}
	content := list.End().Bytes()
	sum := sha256.Sum256(content)
	var b rawjson.Builder
	b.Object().Name("spdxVersion").String("SPDX-2.3").Name("dataLicense").String("CC0-1.0").
		Name("SPDXID").String("SPDXRef-DOCUMENT").
		Name("name").String("Debian " + debianRelease + " and mcp-bash for " + bin.String()).
		Name("documentNamespace").String("https://spdx.org/spdxdocs/mcp-bash-" + hex.EncodeToString(sum[:16])).
		Name("creationInfo").Object().Name("created").String(i.Modified.UTC().Format(time.RFC3339)).
		Name("creators").Strings([]string{"Tool: mcp-bash-" + cli.Version}).End().
		Name("packages").Raw(content).Name("relationships").Array()
	for _, id := range related {
		b.Object().Name("spdxElementId").String("SPDXRef-DOCUMENT").Name("relationshipType").String("DESCRIBES").
			Name("relatedSpdxElement").String(id).End()
	}
	return append(b.End().End().Bytes(), '\n')
}
