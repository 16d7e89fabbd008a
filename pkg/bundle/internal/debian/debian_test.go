package debian

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/test/debmirror"
)

// Versions in ascending order, as dpkg orders them.
func TestCompareVersions(t *testing.T) {
	ascending := []string{
		"0~~", "0~", "0", "0+b1", "0.1", "1.0~rc1-1", "1.0-1", "1.0-1+b1", "1.0-1.1", "1.0-2", "1.0-10", "1.0a-1",
		"1.0+dfsg-1",
		"1.2.3", "1.10", "2:0.1", "10:0",
	}
	for i, a := range ascending {
		for j, b := range ascending {
			got := compareVersions(a, b)
			if (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s, %s: %d", a, b, got)
			}
		}
	}
	if compareVersions("1.0", "01.0-0") != 0 {
		t.Error("equal versions differ")
	}
}

// dpkg agrees with compareVersions, where it is installed.
func FuzzCompareVersions(f *testing.F) {
	dpkg, _ := exec.LookPath("dpkg")
	for _, pair := range [][2]string{{"1.0", "1.0~1"}, {"2:1-1", "1:2"}, {"1.2.3-4+deb13u1", "1.2.3-4"}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		c := compareVersions(a, b)
		if back := compareVersions(b, a); c < 0 != (back > 0) || c == 0 != (back == 0) {
			t.Fatalf("%q, %q: %d and %d", a, b, c, back)
		}
		if dpkg == "" || strings.ContainsAny(a+b, "\x00") {
			return
		}
		for _, v := range []string{a, b} {
			if exec.Command(dpkg, "--validate-version", "--", v).Run() != nil {
				return
			}
		}
		operator := map[bool]string{true: "lt", false: "ge"}[c < 0]
		if err := exec.Command(dpkg, "--compare-versions", "--", a, operator, b).Run(); err != nil {
			t.Errorf("dpkg: not %q %s %q", a, operator, b)
		}
	})
}

func sourceOf(t testing.TB, m *debmirror.Mirror) *Source {
	t.Helper()
	keyring, err := os.ReadFile(m.Keyring)
	if err != nil {
		t.Fatal(err)
	}
	return &Source{
		Get: get, Cache: t.TempDir(), Keyring: keyring, Now: time.Now(), Progress: func(string, int64, int64) {},
		Archives: []Archive{{URL: m.URL + "/debian", Suite: "trixie"},
			{URL: m.URL + "/debian-security", Suite: "trixie-security"}},
	}
}

func get(ctx context.Context, address string, limit int64, progress func(int64)) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, errors.New(answer.Status)
	}
	return io.ReadAll(Counted(io.LimitReader(answer.Body, limit), progress))
}

// H-605: the progress of each step counts the bytes that arrived or were read. It grows, and ends at the total. It is
// called for each part of a package that arrives.
func TestProgress(t *testing.T) {
	bash := debmirror.Package{Name: "bash", Version: "1"}
	m := debmirror.New(t, bash)
	s := sourceOf(t, m)
	var steps []string
	seen := map[string][]int64{}
	totals := map[string]int64{}
	s.Progress = func(what string, done, total int64) {
		if seen[what] == nil {
			steps = append(steps, what)
		}
		seen[what], totals[what] = append(seen[what], done), total
	}
	s.Get = func(ctx context.Context, address string, limit int64, progress func(int64)) ([]byte, error) {
		content, err := get(ctx, address, limit, func(int64) {})
		progress(int64(len(content)) / 3)
		progress(int64(len(content)))
		return content, err
	}
	x, err := s.Index(t.Context(), "amd64")
	if err != nil {
		t.Fatal(err)
	}
	list, err := x.Resolve([]string{"bash"})
	if err == nil {
		err = s.Fetch(t.Context(), list)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range steps {
		if strings.HasPrefix(what, "reading trixie") {
			continue // an index of unknown size
		}
		done := seen[what]
		if len(done) < 2 || !slices.IsSorted(done) || done[len(done)-1] != totals[what] {
			t.Errorf("%s: %d of %d", what, done, totals[what])
		}
	}
	size := list[0].Size
	last := steps[len(steps)-1]
	if done := seen["downloading Debian packages"]; len(done) < 2 || done[0] != size/3 || totals[last] != size {
		t.Errorf("%q: %d of %d", steps, done, size)
	}
	for _, what := range []string{"downloading the packages of trixie", "reading the packages of trixie"} {
		if !slices.Contains(steps, what) {
			t.Errorf("%q lacks %q", steps, what)
		}
	}
}

func namesOf(packages []*Package) string {
	var names []string
	for _, p := range packages {
		names = append(names, p.Name+"="+p.Version)
	}
	return strings.Join(names, " ")
}

// H-604: Resolve selects the newest version of each package, with its dependencies. Packages that
// only the scripts of dpkg need are left out.
func TestResolve(t *testing.T) {
	m := debmirror.New(t, append(debmirror.System(),
		debmirror.Package{Name: "tool", Version: "2", Fields: "Depends: bash | nothing, libtool (= 5)\n"},
		debmirror.Package{Name: "tool-old", Version: "2", Fields: "Depends: libtool (<< 5)\n"},
		debmirror.Package{Name: "libtool", Version: "5"},
		debmirror.Package{Name: "lonely", Version: "1", Fields: "Depends: none\n"},
		debmirror.Package{Name: "enemy", Version: "1", Fields: "Conflicts: bash\n"})...)
	x, err := sourceOf(t, m).Index(t.Context(), "amd64")
	if err != nil {
		t.Fatal(err)
	}
	for names, want := range map[string]string{
		"base-files":       "base-files=13 libc6=2.41-12+deb13u1 mawk=1.3",
		"ca-certificates":  "ca-certificates=2025",
		"tool":             "bash=1 libc6=2.41-12+deb13u1 libtool=5 tool=2",
		"lonely":           "package lonely needs none, which the archive does not have",
		"tool-old":         "package tool-old needs libtool, which the archive does not have",
		"unknown":          "package unknown is not in Debian",
		"enemy bash":       "packages enemy and bash cannot be in one system",
		"awk original-awk": "libc6=2.41-12+deb13u1 mawk=1.3 original-awk=1",
	} {
		list, err := x.Resolve(strings.Fields(names))
		got := namesOf(list)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", names, got, want)
		}
	}
	list, err := x.Resolve([]string{"libc6"})
	if err != nil || list[0].Source != "glibc" || list[0].SourceVersion != "2.41-12" {
		t.Errorf("%+v, %v", list, err)
	}
}

// H-605: a file with a wrong checksum, signature, name or time is not used.
func TestFailClosed(t *testing.T) {
	flip := func(content []byte) []byte {
		content[len(content)/2] ^= 1
		return content
	}
	bash := debmirror.Package{Name: "bash", Version: "1"}
	const release = "/debian/dists/trixie/InRelease"
	for name, tc := range map[string]struct {
		change func(m *debmirror.Mirror, s *Source)
		want   string
	}{
		"good": {func(*debmirror.Mirror, *Source) {}, ""},
		"another key": {func(_ *debmirror.Mirror, s *Source) { s.Keyring = DefaultKeyring },
			"the signature of the index cannot be verified"},
		"no key": {func(_ *debmirror.Mirror, s *Source) { s.Keyring = nil }, "keyring"},
		"damaged package": {func(m *debmirror.Mirror, _ *Source) { m.Change(bash.Deb("amd64"), flip) },
			"not the one of the signed index"},
		"longer package": {func(m *debmirror.Mirror, _ *Source) {
			m.Change(bash.Deb("amd64"), func(c []byte) []byte { return append([]byte("x"), c...) })
		}, "not the one of the signed index"},
		"changed text": {func(m *debmirror.Mirror, _ *Source) {
			m.Change(release, func(c []byte) []byte { return bytes.Replace(c, []byte("Test"), []byte("Tesu"), 1) })
		}, "the signature of the index cannot be verified"},
		"unsigned": {func(m *debmirror.Mirror, _ *Source) {
			m.Change(release, func([]byte) []byte { return []byte("Codename: trixie\n") })
		}, "not a signed text"},
		"text in front": {func(m *debmirror.Mirror, _ *Source) {
			m.Change(release, func(c []byte) []byte { return append([]byte("Codename: x\n\n"), c...) })
		}, "not a signed text"},
		"text behind": {func(m *debmirror.Mirror, _ *Source) {
			m.Change(release, func(c []byte) []byte { return append(c, "\nCodename: x\n"...) })
		}, "not a signed text"},
		"another suite": {func(m *debmirror.Mirror, _ *Source) {
			m.Change(release, func([]byte) []byte {
				return m.Sign("Codename: bookworm\nDate: Mon, 02 Jan 2006 15:04:05 UTC\nSHA256:\n " +
					strings.Repeat("0", 64) + " 1 x\n")
			})
		}, `it is for "bookworm", not for "trixie"`},
		"expired": {func(m *debmirror.Mirror, s *Source) {
			m.Valid = 7 * 24 * time.Hour
			m.Put(bash)
			s.Now = s.Now.Add(8 * 24 * time.Hour)
		}, "it expired at"},
		"from the future": {func(m *debmirror.Mirror, s *Source) { s.Now = s.Now.Add(-72 * time.Hour) }, ""},
		"missing": {func(m *debmirror.Mirror, _ *Source) {
			m.Change(bash.Deb("amd64"), func([]byte) []byte { return nil })
		}, "not the one of the signed index"},
	} {
		t.Run(name, func(t *testing.T) {
			m := debmirror.New(t, bash)
			s := sourceOf(t, m)
			tc.change(m, s)
			x, err := s.Index(t.Context(), "amd64")
			if err == nil {
				var list []*Package
				if list, err = x.Resolve([]string{"bash"}); err == nil {
					err = s.Fetch(t.Context(), list)
				}
			}
			if name == "from the future" {
				if err == nil {
					t.Error("an index of the future was accepted")
				}
				return
			}
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

// H-605: the second run downloads the signed indexes only, a run with --offline nothing. A
// damaged file of the cache is downloaded again.
func TestCache(t *testing.T) {
	m := debmirror.New(t, debmirror.System()...)
	s := sourceOf(t, m)
	run := func() error {
		x, err := s.Index(t.Context(), "amd64")
		if err != nil {
			return err
		}
		list, err := x.Resolve([]string{"bash"})
		if err != nil {
			return err
		}
		return s.Fetch(t.Context(), list)
	}
	s.Offline = true
	if err := run(); !errors.Is(err, ErrOffline) || len(m.Asked()) > 0 {
		t.Errorf("offline without a cache: %v", err)
	}
	s.Offline = false
	if err := run(); err != nil || len(m.Asked()) != 6 { // two indexes with their lists, two packages
		t.Errorf("first run: %v", err)
	}
	if err := run(); err != nil || len(m.Asked()) != 2 {
		t.Errorf("second run: %v", err)
	}
	s.Offline = true
	if err := run(); err != nil || len(m.Asked()) > 0 {
		t.Errorf("offline: %v", err)
	}
	entries, err := os.ReadDir(s.Cache)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "InRelease") {
			if err := os.WriteFile(s.Cache+"/"+e.Name(), []byte("damaged"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Offline = false
	if err := run(); err != nil || len(m.Asked()) != 6 {
		t.Errorf("after damage: %v", err)
	}
}

// DefaultKeyring contains only the keys of the Debian release that images contain.
func TestDefaultKeyring(t *testing.T) {
	keys, err := readKeys(DefaultKeyring)
	if err != nil || len(keys) != 3 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	for _, key := range keys {
		if name := fmt.Sprint(key.PrimaryIdentity().Name); !strings.Contains(name, "13/trixie") {
			t.Error(name)
		}
	}
}

func debOf(t testing.TB, p debmirror.Package) []byte {
	t.Helper()
	m := debmirror.New(t, p)
	var content []byte
	m.Change(p.Deb("amd64"), func(c []byte) []byte { content = c; return c })
	return content
}

// Files below /bin and /lib are below /usr; set-user-ID is lost.
func TestDeb(t *testing.T) {
	d, err := OpenDeb(bytes.NewReader(debOf(t, debmirror.Package{Name: "a", Version: "1", PostInst: "script",
		Files: map[string]string{"bin/a": "A", "lib/x/y": "Y", "etc/l": "-> ../x"}})))
	if err != nil || string(d.PostInst) != "script" || !bytes.HasPrefix(d.Control, []byte("Package: a\n")) {
		t.Fatal(err)
	}
	var got []string
	for {
		f, err := d.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, _ := io.ReadAll(d)
		got = append(got, fmt.Sprintf("%s %c %o %s%s", f.Name, f.Typeflag, f.Mode, content, f.Linkname))
	}
	want := "bin 5 755 |usr/bin/a 0 755 A|etc 5 755 |etc/l 2 644 ../x|lib 5 755 |usr/lib/x 5 755 |usr/lib/x/y 0 644 Y"
	if text := strings.Join(got, "|"); text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
}

// Even a damaged package contains no names that lead out of the image.
func FuzzDeb(f *testing.F) {
	f.Add(debOf(f, debmirror.Package{Name: "a", Version: "1", Files: map[string]string{"bin/a": "A", "etc/l": "-> ../x"}}))
	f.Add(debmirror.Ar([]debmirror.Member{{Name: "debian-binary", Content: []byte("2.0\n")}, {Name: "data.tar"}}))
	f.Add([]byte("!<arch>\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := OpenDeb(bytes.NewReader(text))
		if err != nil {
			return
		}
		for {
			file, err := d.Next()
			if err != nil {
				return
			}
			if strings.HasPrefix(file.Name, "/") || strings.Contains("/"+file.Name+"/", "/../") || file.Mode&^0o1777 != 0 {
				t.Errorf("%q %o", file.Name, file.Mode)
			}
			io.Copy(io.Discard, io.LimitReader(d, 1<<20))
		}
	})
}

// Every package of an index has a name below the mirror and a checksum.
func FuzzPackages(f *testing.F) {
	f.Add("Package: a\nVersion: 1\nArchitecture: amd64\nFilename: pool/a.deb\nSize: 5\nSHA256: " +
		strings.Repeat("0", 64) +
		"\nDepends: b (>= 1) | c:any, d\n e\nProvides: v (= 2)\n")
	f.Add("Package: a\n\nPackage")
	f.Fuzz(func(t *testing.T, text string) {
		x := &Index{}
		if x.add(text, &Archive{}, "amd64") != nil {
			return
		}
		x.sort()
		for name, list := range x.byName {
			for _, p := range list {
				if p.Name != name || !isSHA256(p.SHA256) || p.Size <= 0 || strings.HasPrefix(p.Filename, "/") ||
					strings.Contains("/"+p.Filename+"/", "/../") {
					t.Errorf("%+v", p)
				}
			}
			x.Resolve([]string{name})
		}
	})
}

// An index that was parsed has a name, a date and checksums.
func FuzzRelease(f *testing.F) {
	f.Add("Codename: trixie\nDate: Sat, 21 Nov 2026 09:15:44 UTC\nSHA256:\n " + strings.Repeat("0", 64) + " 5 main/x\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRelease(text)
		if err == nil && (r.codename == "" || r.date.IsZero() || len(r.files) == 0) {
			t.Errorf("%+v", r)
		}
	})
}
