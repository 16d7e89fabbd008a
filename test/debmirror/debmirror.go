// Package debmirror serves a small mirror of Debian for tests. Its packages are made by the test, and its
// indexes are signed with a key of the test.
package debmirror

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/ulikunitz/xz"
)

// A Package is a package of the mirror.
type Package struct {
	Name, Version string
	Fields        string            // further lines of the index, such as "Depends: libc6\n"
	Files         map[string]string // by name; a name that ends in a slash is a directory, a value "-> x" a link
	PostInst      string
	Security      bool // in the archive of security updates
}

// A Mirror is a mirror that can be changed between requests.
type Mirror struct {
	URL     string
	Keyring string // the file with its public key
	Date    time.Time
	Valid   time.Duration // 0: its indexes do not expire

	t     testing.TB
	key   *openpgp.Entity
	mu    sync.Mutex
	files map[string][]byte
	asked []string
}

// key makes the key of all mirrors. Making it takes most of the time.
var newKey = sync.OnceValues(func() (*openpgp.Entity, error) {
	return openpgp.NewEntity("Test archive", "", "archive@example.org",
		&packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, DefaultHash: crypto.SHA256})
})

// New starts a mirror with packages, until the test ends.
func New(t testing.TB, packages ...Package) *Mirror {
	t.Helper()
	key, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	m := &Mirror{t: t, key: key, Date: time.Now().Add(-time.Hour), Keyring: filepath.Join(t.TempDir(), "key.gpg")}
	var public bytes.Buffer
	if err := key.Serialize(&public); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.Keyring, public.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	m.Put(packages...)
	server := httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(server.Close)
	m.URL = server.URL
	return m
}

func (m *Mirror) serve(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, r.URL.Path)
	content, ok := m.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Write(content)
}

// Asked returns the paths of the requests since the last call.
func (m *Mirror) Asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer func() { m.asked = nil }()
	return m.asked
}

// Change changes a file of the mirror, without changing the indexes.
func (m *Mirror) Change(path string, change func(content []byte) []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	content, ok := m.files[path]
	if !ok {
		m.t.Fatalf("the mirror has no %s, but %v", path, slices.Sorted(maps.Keys(m.files)))
	}
	m.files[path] = change(slices.Clone(content))
}

// Deb returns the path of the file of a package.
func (p *Package) Deb(arch string) string {
	dir := "/debian"
	if p.Security {
		dir += "-security"
	}
	return dir + "/" + p.filename(arch)
}

func (p *Package) filename(arch string) string {
	return "pool/main/" + p.Name + "_" + p.Version + "_" + arch + ".deb"
}

// Put replaces the packages of the mirror, for two architectures.
func (m *Mirror) Put(packages ...Package) {
	files := map[string][]byte{}
	for _, archive := range []struct{ dir, suite string }{{"debian", "trixie"}, {"debian-security", "trixie-security"}} {
		release := "Origin: Test\nCodename: " + archive.suite + "\nDate: " + m.Date.UTC().Format(time.RFC1123) + "\n"
		if m.Valid > 0 {
			release += "Valid-Until: " + m.Date.Add(m.Valid).UTC().Format(time.RFC1123) + "\n"
		}
		release += "Acquire-By-Hash: yes\nSHA256:\n"
		for _, arch := range []string{"amd64", "arm64"} {
			var index strings.Builder
			for _, p := range packages {
				if p.Security != (archive.dir != "debian") {
					continue
				}
				deb := p.build(arch)
				files[p.Deb(arch)] = deb
				fmt.Fprintf(&index, "Package: %s\nVersion: %s\nArchitecture: %s\n%sFilename: %s\nSize: %d\nSHA256: %x\n\n",
					p.Name, p.Version, arch, p.Fields, p.filename(arch), len(deb), sha256.Sum256(deb))
			}
			packed := packXZ([]byte(index.String()))
			dir := "main/binary-" + arch
			release += fmt.Sprintf(" %x %d %s/Packages.xz\n", sha256.Sum256(packed), len(packed), dir)
			name := fmt.Sprintf("/%s/dists/%s/%s/by-hash/SHA256/%x", archive.dir, archive.suite, dir, sha256.Sum256(packed))
			files[name] = packed
		}
		files["/"+archive.dir+"/dists/"+archive.suite+"/InRelease"] = m.Sign(release)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files = files
}

// Sign signs a text with the key of the mirror.
func (m *Mirror) Sign(text string) []byte {
	var b bytes.Buffer
	w, err := clearsign.Encode(&b, m.key.PrivateKey, &packet.Config{DefaultHash: crypto.SHA256})
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return b.Bytes()
}

// build makes the file of a package.
func (p *Package) build(arch string) []byte {
	control := fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: %s\n%s", p.Name, p.Version, arch, p.Fields)
	files := map[string]string{"control": control, "md5sums": "00  usr/bin/x\n"}
	if p.PostInst != "" {
		files["postinst"] = p.PostInst
	}
	return Ar([]Member{
		{"debian-binary", []byte("2.0\n")}, {"control.tar.gz", packGzip(packTar(files))},
		{"data.tar.xz", packXZ(packTar(p.Files))},
	})
}

// A Member is a file of an ar archive.
type Member struct {
	Name    string
	Content []byte
}

// Ar makes an ar archive.
func Ar(members []Member) []byte {
	b := bytes.NewBufferString("!<arch>\n")
	for _, m := range members {
		fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", m.Name, 0, 0, 0, "100644", len(m.Content))
		b.Write(m.Content)
		if len(m.Content)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

func packTar(files map[string]string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	dirs := map[string]bool{}
	var add func(name, content string)
	add = func(name, content string) {
		dir := path.Dir(strings.TrimSuffix(name, "/"))
		if dir != "." && !dirs[dir] {
			add(dir+"/", "")
		}
		h := &tar.Header{Name: "./" + name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content)),
			ModTime: time.Unix(1_700_000_000, 0)}
		target, isLink := strings.CutPrefix(content, "-> ")
		switch {
		case strings.HasSuffix(name, "/"):
			h.Typeflag, h.Mode, h.Size = tar.TypeDir, 0o755, 0
			dirs[strings.TrimSuffix(name, "/")] = true
			if name == "tmp/" {
				h.Mode = 0o1777
			}
		case isLink:
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, target, 0
		case strings.Contains(name, "bin/"):
			h.Mode = 0o4755
		}
		if err := w.WriteHeader(h); err == nil && h.Size > 0 {
			w.Write([]byte(content))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !dirs[strings.TrimSuffix(name, "/")] {
			add(name, files[name])
		}
	}
	w.Close()
	return b.Bytes()
}

func packGzip(content []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(content)
	w.Close()
	return b.Bytes()
}

func packXZ(content []byte) []byte {
	var b bytes.Buffer
	w, err := xz.WriterConfig{DictCap: 1 << 16}.NewWriter(&b)
	if err != nil {
		panic(err)
	}
	w.Write(content)
	w.Close()
	return b.Bytes()
}

// System returns packages with the names that every image contains.
func System() []Package {
	list := []Package{{
		Name: "base-files", Version: "13", Fields: "Pre-Depends: awk\n",
		Files: map[string]string{"bin": "-> usr/bin", "lib": "-> usr/lib", "etc/os-release": "ID=debian\n", "tmp/": ""},
	}, {
		Name: "mawk", Version: "1.3", Fields: "Provides: awk\nDepends: libc6 (>= 2.36)\nPriority: required\n",
		Files:    map[string]string{"usr/bin/mawk": "mawk"},
		PostInst: "#!/bin/sh\nupdate-alternatives --quiet --install \\\n  /usr/bin/awk awk /usr/bin/mawk 5\n",
	}, {
		Name: "original-awk", Version: "1", Fields: "Provides: awk\nPriority: optional\n",
		Files: map[string]string{"usr/bin/original-awk": "awk"},
	}, {
		Name: "libc6", Version: "2.41-12", Fields: "Source: glibc\n",
		Files: map[string]string{"lib/libc.so.6": "libc", "usr/share/doc/libc6/copyright": "licence",
			"usr/share/doc/libc6/NEWS": "news", "usr/share/man/man7/libc.7": "manual"},
	}, {
		Name: "libc6", Version: "2.41-12+deb13u1", Fields: "Source: glibc (2.41-12)\n", Security: true,
		Files: map[string]string{"usr/lib/libc.so.6": "repaired", "usr/share/doc/libc6/copyright": "licence"},
	}, {
		Name: "ca-certificates", Version: "2025", Fields: "Depends: openssl (>= 1.1.1), debconf (>= 0.5) | debconf-2.0\n",
		Files: map[string]string{"usr/share/ca-certificates/mozilla/B.crt": "B\n",
			"usr/share/ca-certificates/mozilla/A.crt": "A"},
	}}
	for _, name := range []string{"bash", "coreutils", "dash", "findutils", "grep", "libc-bin", "sed"} {
		list = append(list, Package{Name: name, Version: "1", Fields: "Depends: libc6 (>= 2.36)\n",
			Files: map[string]string{"usr/bin/" + name: name}})
	}
	return list
}
