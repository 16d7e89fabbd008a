package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/hosts"
	"mcp-bash/pkg/provider/location"
	"mcp-bash/test/internet"
)

const anywhere = 1 << 30 // a limit that no file reaches

func failure(t *testing.T, err error) provider.Failure {
	t.Helper()
	var f *provider.Failure
	if !errors.As(err, &f) {
		t.Fatalf("no failure: %v", err)
	}
	return *f
}

// library returns a repository that has all features.
func library(f format) (r *repository, first, second string) {
	r = newRepository(f)
	files := map[string]file{
		"README": {"100644", "first\n"}, "run.sh": {"100755", "#!/bin/sh\n"}, "old": {"100664", "old mode\n"},
		"guide/intro.md": {"100644", "intro\n"}, "guide/deep/a:b c%": {"100644", "odd name\n"}, "empty": {"100644", ""},
		"nul": {"100644", "a\x00b\xff\n"}, "sub": {"160000", strings.Repeat("12", f.size)},
		"link": {"120000", "guide/intro.md"}, "guide/up": {"120000", "../README"},
		"dirlink":          {"120000", "./guide/deep"},
		"guide/deep/twice": {"120000", "../../link"}, "out": {"120000", "../etc/passwd"},
		"absolute":  {"120000", "/etc/passwd"},
		"guide/out": {"120000", "../../x"}, "loop": {"120000", "loop"}, "ring1": {"120000", "ring2"},
		"ring2":    {"120000", "ring1"},
		"dangling": {"120000", "none"}, "through": {"120000", "dirlink/../intro.md"}, "todir": {"120000", "guide"},
		"tosub": {"120000", "sub"},
		"long":  {"120000", strings.Repeat("./", maxTarget/2) + "README"},
	}
	for i := range 18 { // l0 links to l1, and so on; l16 to a file
		files[fmt.Sprintf("l%d", i)] = file{"120000", fmt.Sprintf("l%d", i+1)}
	}
	files["l17"] = file{"100644", "end of links\n"}
	first = r.commit("one", files)
	files["README"] = file{"100644", "second\n"}
	second = r.commit("two", files)
	r.refs["HEAD"], r.refs["refs/heads/main"], r.refs["refs/heads/feature/x"] = second, second, first
	r.refs["refs/heads/main2"], r.refs["refs/tags/main"] = first, first // main is both a branch and a tag
	r.refs["refs/tags/light"], r.refs["refs/tags/20240101"] = first, first
	r.refs["refs/pull/7/head"] = first
	r.peeled["refs/tags/v1.2"], r.peeled["refs/tags/nested"] = first, first
	r.tag("nested", r.tag("v1.2", first, "commit"), "tag")
	r.tag("file", r.add(blobObject, "a tag of a file\n"), "blob")
	return r, first, second
}

// RES-126: a file of git-lfs is returned as its pointer. Filters of .gitattributes do not run.
func TestLargeFilePointer(t *testing.T) {
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" +
		"4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
	r := newRepository(sha1Format)
	r.refs["HEAD"] = r.commit("one", map[string]file{"big.bin": {"100644", pointer},
		".gitattributes": {"100644", "*.bin filter=lfs diff=lfs merge=lfs -text\n"},
		".lfsconfig":     {"100644", "[lfs]\n\turl = https://127.0.0.1/\n"}})
	in := newInternet(t, &server{repository: r})
	data, err := newProvider(in, nil).Read(t.Context(), repoURI+"big.bin", anywhere)
	if err != nil || string(data) != pointer || len(in.Lookups) != 1 {
		t.Errorf("RES-126: %q, %v, lookups %v", data, err, in.Lookups)
	}
}

// RES-121, RES-123, RES-125: reads from servers of all kinds.
func TestRead(t *testing.T) {
	for _, s := range []*server{{}, {filter: true}, {old: true}} {
		for _, f := range []format{sha1Format, sha256Format} {
			r, first, second := library(f)
			s := &server{repository: r, filter: s.filter, old: s.old}
			t.Run(fmt.Sprintf("filter %v, old %v, %s", s.filter, s.old, f.name), func(t *testing.T) {
				t.Parallel()
				testRead(t, s, first, second)
			})
		}
	}
}

func testRead(t *testing.T, s *server, first, second string) {
	in := newInternet(t, s)
	p := newProvider(in, nil)
	for uri, want := range map[string]string{
		"README": "second\n", "/README": "second\n", ":README": "second\n", "HEAD:README": "second\n",
		"main:README":            "second\n",
		"refs/heads/main:README": "second\n", "main2:README": "first\n", "refs/tags/main:README": "first\n",
		"feature/x:README": "first\n", "feature%2Fx:README": "first\n", "refs/pull/7/head:README": "first\n",
		"light:README": "first\n", "v1.2:README": "first\n", "refs/tags/v1.2:README": "first\n",
		"nested:/README":  "first\n",
		first + ":README": "first\n", strings.ToUpper(second) + ":README": "second\n",
		second[:7] + ":README": "second\n", strings.ToUpper(second[:20]) + ":README": "second\n",
		first[:12] + ":README": "first\n", "20240101:README": "first\n",
		"run.sh": "#!/bin/sh\n", "old": "old mode\n", "empty": "", "nul": "a\x00b\xff\n", "guide/intro.md": "intro\n",
		"guide//./intro.md":          "intro\n",
		"main:guide/deep/a:b%20c%25": "odd name\n", "main:guide%2Fdeep%2Fa%3Ab%20c%25": "odd name\n",
		"link": "intro\n", "guide/up": "second\n", "dirlink/a%3Ab%20c%25": "odd name\n", "dirlink/twice": "intro\n",
		"through":          "intro\n",
		"todir/deep/twice": "intro\n", "l1": "end of links\n",
	} {
		got, err := p.Read(t.Context(), repoURI+uri, anywhere)
		if err != nil || string(got) != want {
			t.Errorf("RES-123: %s: %q, %v", uri, got, err)
		}
	}
	for uri, why := range map[string]string{
		"none": "not found in repository", "guide": "is a directory", "guide/": "is a directory",
		"README/x":   "not found in repository",
		"guide/none": "not found in repository", "readme": "not found in repository", "sub": "is a submodule",
		"sub/x": "is a submodule",
		"out":   "escapes repository root", "absolute": "escapes repository root",
		"guide/out": "escapes repository root",
		"long":      "escapes repository root",
		"loop":      "is behind too many symbolic links", "ring1": "is behind too many symbolic links",
		"l0":       "is behind too many symbolic links",
		"dangling": "not found in repository", "todir": "is a directory", "tosub": "is a submodule",
		".": "is a directory", "link/": "not found in repository",
	} {
		_, err := p.Read(t.Context(), repoURI+uri, anywhere)
		if f := failure(t, err); f != (provider.Failure{Status: provider.NotFound, Log: "File " + uri + " " + why}) {
			t.Errorf("RES-125: %s: %+v", uri, f)
		}
	}
	const clone = "Failed to clone https://git.example/team/docs.git @ "
	for uri, want := range map[string][2]string{
		"none:README":            {clone + "none", string(errNoRef)},
		"mai:README":             {clone + "mai", string(errNoRef)},
		"heads/main:README":      {clone + "heads/main", string(errNoRef)},
		"refs/heads/none:README": {clone + "refs/heads/none", string(errNoRef)},
		"file:README":            {clone + "file", string(errObject)},
		"1234567:README":         {"Failed to fetch commit 1234567", string(errNoRef)},
		strings.Repeat("0", len(first)) + ":READ": {"Failed to fetch commit " + strings.Repeat("0", len(first)),
			"the server reports: upload-pack: not our ref " + strings.Repeat("0", len(first))},
	} {
		_, err := p.Read(t.Context(), repoURI+uri, anywhere)
		if f := failure(t, err); f != (provider.Failure{Status: provider.FetchFailed, Message: want[0],
			Log: want[0] + ": " + want[1]}) {
			t.Errorf("RES-125: %s: %+v", uri, f)
		}
	}
	_, err := p.Read(t.Context(), "git+https://git.example/none.git#x", anywhere)
	if f := failure(t, err); f.Status != provider.FetchFailed ||
		f.Log != "Failed to clone https://git.example/none.git @ HEAD: HTTP error: 404" {
		t.Errorf("RES-125: %+v", f)
	}
	if _, err := p.Read(t.Context(), repoURI+"README", 7); err != nil {
		t.Errorf("RES-46: exactly the limit: %v", err)
	}
	_, err = p.Read(t.Context(), repoURI+"README", 6)
	if f := failure(t, err); f != *provider.OverLimit(6) {
		t.Errorf("RES-46: %+v", f)
	}
}

// Requests contain nothing unnecessary. They fetch one commit without history, and with a filter one file.
func TestRequests(t *testing.T) {
	r, _, second := library(sha1Format)
	blob := idOf(sha1Format, object{blobObject, []byte("second\n")})
	s := &server{repository: r, filter: true}
	in := newInternet(t, s)
	p := newProvider(in, nil)
	if _, err := p.Read(t.Context(), repoURI+"main:README", anywhere); err != nil {
		t.Fatal(err)
	}
	const v2 = " version=2 "
	const common = "0018agent=mcpbash/2.0.0\n0017object-format=sha1\n0001"
	post := "POST /team/docs.git/git-upload-pack" + v2
	want := []string{
		"GET /team/docs.git/info/refs?service=git-upload-pack" + v2,
		post + "0014command=ls-refs\n" + common +
			"0009peel\n001fref-prefix refs/heads/main\n001eref-prefix refs/tags/main\n0000",
		post + "0012command=fetch\n" + common +
			"0010no-progress\n000eofs-delta\n000ddeepen 1\n0015filter blob:none\n0032want " + second +
			"\n0009done\n0000",
		post + "0012command=fetch\n" + common + "0010no-progress\n000eofs-delta\n0032want " + blob + "\n0009done\n0000",
	}
	got := s.asked()
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("RES-124: %q\nwant %q", got, want)
	}
	if len(in.Dialled) != 1 || len(in.Lookups) != 1 {
		t.Errorf("RES-105: dialled %v, looked up %v", in.Dialled, in.Lookups)
	}
	// The second read of a ref fetches nothing new. After the ref has moved, a read fetches the file again (RES-128).
	if data, err := p.Read(t.Context(), repoURI+"main:README", anywhere); err != nil || string(data) != "second\n" ||
		len(s.asked()) != 2 {
		t.Errorf("RES-128: %q, %v", data, err)
	}
	r.refs["refs/heads/main"] = r.refs["refs/tags/light"]
	if data, err := p.Read(t.Context(), repoURI+"main:README", anywhere); err != nil || string(data) != "first\n" ||
		len(s.asked()) != 4 {
		t.Errorf("RES-128: %q, %v", data, err)
	}
}

// RES-120, RES-121, RES-122: these URIs are errors before any connection.
func TestRefused(t *testing.T) {
	in := internet.New(t)
	p := newProvider(in, project.Env{"MCPBASH_GIT_ALLOW_HOSTS": "", "MCPBASH_GIT_ALLOW_ALL": "true"})
	const badURI, badPath = "Invalid git+https URI", "git resource has an invalid path; it must not have .. in it"
	const badRef = "git resource has an invalid ref; expected a branch, a tag, refs/... or a commit id"
	for uri, want := range map[string]string{
		"": badURI, "git://h.example/r#x": badURI, "git+ssh://h.example/r#x": badURI, "ssh://h.example/r#x": badURI,
		"https://h.example/r#x":    badURI,
		"git+http://h.example/r#x": badURI, "git+https:h.example/r#x": badURI, "git+https://h.example#x": badURI,
		"git+https://h.example/#x":      badURI,
		"git+https://h.example/r?x=y#x": badURI, "git@h.example:r#x": badURI,
		"git+https://h.example/r":        "git resources must include #ref:path",
		"git+https://h.example/r#":       "git resource missing path",
		"git+https://h.example/r#main:":  "git resource missing path",
		"git+https://h.example/r#main:/": "git resource missing path",
		"git+https://h.example/r#..":     badPath, "git+https://h.example/r#main:../x": badPath,
		"git+https://h.example/r#main:a/../x":   badPath,
		"git+https://h.example/r#main:%2e%2e/x": badPath, "git+https://h.example/r#main:a%2f..": badPath,
		"git+https://h.example/r#main:a%00b": badPath,
		"git+https://h.example/r#main:%zz":   badPath, "git+https://h.example/r#main:a%": badPath,
		"git+https://h.example/r#-x:a": badRef, "git+https://h.example/r#--upload-pack=x:a": badRef,
		"git+https://h.example/r#%2dx:a":  badRef,
		"git+https://h.example/r#a%0ab:x": badRef, "git+https://h.example/r#a%00:x": badRef,
		"git+https://h.example/r#a%20b:x": badRef, "git+https://h.example/r#a..b:x": badRef,
		"git+https://h.example/r#a%5e:x": badRef, "git+https://h.example/r#a~1:x": badRef,
		"git+https://h.example/r#/a:x": badRef, "git+https://h.example/r#@%7b-1%7d%3a:x": badRef,
		"git+https:///x#m:y":                    "git provider blocked host <empty>",
		"git+https://user@h.example/r#x":        "git provider refuses userinfo in URI",
		"git+https://u:p@127.0.0.1/r#x":         "git provider refuses userinfo in URI",
		"git+https://127.0.0.1/r#x":             "git provider blocked host 127.0.0.1",
		"git+https://localhost:8080/r#x":        "git provider blocked host localhost",
		"git+https://0x7f.1/r#x":                "git provider blocked host 0x7f.1",
		"git+https://[::1]/r#x":                 "git provider blocked host ::1",
		"git+https://h.example\\@127.0.0.1/r#x": "git provider blocked host 127.0.0.1",
		"git+https://h.example/r x#x":           "git provider blocked host h.example",
		"git+https://h.example/r\n#x":           "git provider blocked host h.example",
		"git+https://169.254.169.254/r#x":       "git provider blocked host 169.254.169.254",
	} {
		_, err := p.Read(t.Context(), uri, anywhere)
		if f := failure(t, err); f.Status != provider.Invalid || f.Message != want {
			t.Errorf("RES-121: %s: %+v, want %q", uri, f, want)
		}
	}
	for _, c := range []struct {
		env  project.Env
		want string
	}{
		{project.Env{"MCPBASH_ENABLE_GIT_PROVIDER": ""},
			"git provider is disabled (set MCPBASH_ENABLE_GIT_PROVIDER=true to enable)"},
		{project.Env{"MCPBASH_ENABLE_GIT_PROVIDER": "1"},
			"git provider is disabled (set MCPBASH_ENABLE_GIT_PROVIDER=true to enable)"},
		{project.Env{"MCPBASH_ENABLE_GIT_PROVIDER": "TRUE"},
			"git provider is disabled (set MCPBASH_ENABLE_GIT_PROVIDER=true to enable)"},
		{project.Env{"MCPBASH_GIT_ALLOW_HOSTS": ""},
			"git provider requires MCPBASH_GIT_ALLOW_HOSTS or MCPBASH_GIT_ALLOW_ALL=true when enabled\ngit provider blocked " +
				"host git.example"},
		{project.Env{"MCPBASH_GIT_ALLOW_HOSTS": "", "MCPBASH_HTTPS_ALLOW_ALL": "true"},
			"git provider requires MCPBASH_GIT_ALLOW_HOSTS or MCPBASH_GIT_ALLOW_ALL=true when enabled\ngit provider blocked " +
				"host git.example"},
		{project.Env{"MCPBASH_GIT_ALLOW_HOSTS": "other.example"}, "git provider blocked host git.example"},
		{project.Env{"MCPBASH_GIT_DENY_HOSTS": "git.example"}, "git provider blocked host git.example"},
	} {
		_, err := newProvider(in, c.env).Read(t.Context(), repoURI+"x", anywhere)
		if f := failure(t, err); f.Status != provider.Invalid || f.Message != c.want {
			t.Errorf("RES-122: %v: %+v", c.env, f)
		}
	}
	if len(in.Lookups)+len(in.Dialled) > 0 {
		t.Errorf("RES-107: looked up %v, dialled %v", in.Lookups, in.Dialled)
	}
	in.Name("git.example", []string{"203.0.113.1", "10.0.0.1"})
	_, err := newProvider(in, nil).Read(t.Context(), repoURI+"x", anywhere)
	if f := failure(t, err); f.Status != provider.Invalid || f.Message != "git provider blocked host git.example" ||
		len(in.Dialled) > 0 {
		t.Errorf("RES-103: %+v", f)
	}
}

// RES-124: the limit is allowed and one more byte is not, for received and unpacked bytes.
func TestLimits(t *testing.T) {
	for text, want := range map[string]int{"": 51200, "x": 51200, "0": 51200, "7": 7, "1048576": 1048576,
		"1048577": 1048576, "99999999999999999999": 1048576} {
		if got := New(project.Env{"MCPBASH_GIT_MAX_KB": text}, hosts.System()).kb; got != want {
			t.Errorf("RES-124: MAX_KB=%q: %d", text, got)
		}
	}
	for text, want := range map[string]int{"": 30, "x": 30, "0": 30, "7": 7, "60": 60, "61": 60} {
		if got := New(project.Env{"MCPBASH_GIT_TIMEOUT": text}, hosts.System()).timeout; got != want {
			t.Errorf("RES-124: TIMEOUT=%q: %d", text, got)
		}
	}
	r := newRepository(sha1Format)
	r.refs["HEAD"] = r.commit("one", map[string]file{"small": {"100644", "small\n"},
		"big": {"100644", strings.Repeat("x", 90<<10)}})
	s := &server{repository: r}
	in := newInternet(t, s)
	for kb, want := range map[string]int{"100": 0, "90": provider.TooLarge, "1": provider.TooLarge} {
		data, err := newProvider(in, project.Env{"MCPBASH_GIT_MAX_KB": kb}).Read(t.Context(), repoURI+"small", anywhere)
		if want == 0 && (err != nil || string(data) != "small\n") {
			t.Errorf("RES-124: %s KB: %q, %v", kb, data, err)
		}
		if want != 0 && failure(t, err) != (provider.Failure{Status: want, Message: "Repository size exceeds limit (" +
			kb + " KB)"}) {
			t.Errorf("RES-124: %s KB: %v", kb, err)
		}
	}
	// With filters, a server sends less.
	s.filter = true
	if data, err := newProvider(in, project.Env{"MCPBASH_GIT_MAX_KB": "5"}).Read(t.Context(), repoURI+"small",
		anywhere); err != nil || string(data) != "small\n" {
		t.Errorf("RES-124: %q, %v", data, err)
	}
	if _, err := newProvider(in, project.Env{"MCPBASH_GIT_MAX_KB": "90"}).Read(t.Context(), repoURI+"big",
		anywhere); failure(t, err).Status != provider.TooLarge {
		t.Errorf("RES-124: %v", err)
	}
}

// RES-124, RES-125: malicious servers.
func TestHostile(t *testing.T) {
	r, _, second := library(sha1Format)
	advertise := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
	}
	forever := func(head, piece string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, head)
			for block := strings.Repeat(piece, 1+4000/len(piece)); ; {
				if _, err := io.WriteString(w, block); err != nil {
					return
				}
			}
		}
	}
	answers := func(pack func(http.ResponseWriter, []byte)) http.Handler { return &server{repository: r, pack: pack} }
	another := newRepository(sha1Format)
	another.commit("another", map[string]file{"README": {"100644", "forged\n"}})
	const tooLarge, failed = provider.TooLarge, provider.FetchFailed
	for name, c := range map[string]struct {
		handler http.Handler
		status  int
		log     string
	}{
		"a page":  {advertise("<html>log in</html>"), failed, "a packet has an invalid length"},
		"nothing": {advertise(""), failed, "the connection ended too early"},
		"no end": {advertise("001e# service=git-upload-pack\n0000000eversion 2\n"), failed,
			"the connection ended too early"},
		"error":           {advertise("0013ERR no such repo"), failed, "the server reports: no such rep"},
		"endless refs":    {forever("", "0040"+second+" refs/heads/x123456\n"), tooLarge, ""},
		"endless nothing": {forever("000eversion 2\n", "0004"), failed, "the server has too many capabilities"},
		"unknown ids": {advertise("000eversion 2\n0016object-format=md5\n0000"), failed,
			"the repository uses an unknown object format"},
		"malformed refs": {advertise("0012xyz refs/heads/0000"), failed, "the list of refs is malformed"},
		"status 401": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }),
			failed, "HTTP error: 401"},
		"endless pack": {answers(func(w http.ResponseWriter, pack []byte) {
			forever("",
				"0105\x01"+strings.Repeat("x", 256))(w, nil)
		}), failed, string(errPack)},
		"endless progress": {answers(func(w http.ResponseWriter, pack []byte) {
			forever("",
				"0105\x02"+strings.Repeat("x", 256))(w, nil)
		}), tooLarge, ""},
		"endless keep-alive": {answers(func(w http.ResponseWriter, pack []byte) { forever("", "0005\x01")(w, nil) }),
			tooLarge, ""},
		"endless after it": {answers(func(w http.ResponseWriter, pack []byte) {
			forever(strings.TrimSuffix(string(sidebands(pack)), flushPacket), "0006\x01x")(w, nil)
		}), failed, string(errPack)},
		"pack cut off": {answers(func(w http.ResponseWriter, pack []byte) { w.Write(sidebands(pack)[:300]) }),
			failed, "the connection ended too early"},
		"pack ends early": {answers(func(w http.ResponseWriter, pack []byte) { w.Write(sidebands(pack[:300])) }),
			failed, string(errPack)},
		"wrong hash": {answers(func(w http.ResponseWriter,
			pack []byte) {
			pack[len(pack)-1] ^= 1
			w.Write(sidebands(pack))
		}), failed, string(errPack)},
		"error in the pack": {answers(func(w http.ResponseWriter, pack []byte) {
			w.Write(packet(nil,
				"\x03out of memory\n"))
		}), failed, "the server reports: out of memory"},
		"another commit": {answers(func(w http.ResponseWriter,
			_ []byte) {
			w.Write(sidebands(packOf(sha1Format, another.objects)))
		}), failed, "the server omits the commit"},
		"no tree": {answers(func(w http.ResponseWriter, _ []byte) {
			w.Write(sidebands(packOf(sha1Format, map[string]object{second: r.objects[second]})))
		}), failed, "the server omits an object of the commit"},
		"empty pack": {answers(func(w http.ResponseWriter, _ []byte) { w.Write(sidebands(packOf(sha1Format, nil))) }),
			failed, "the server omits the commit"},
		"blob larger than that": {answers(func(w http.ResponseWriter, _ []byte) {
			p := newPacker(sha1Format, 1)
			p.object(blobObject, 1<<30, "", make([]byte, 1<<20))
			w.Write(sidebands(p.done()))
		}), tooLarge, ""},
		"delta bomb": {answers(func(w http.ResponseWriter, _ []byte) {
			p := newPacker(sha1Format, 100)
			at, size := p.plain(object{blobObject, []byte("0123456789")}), 10
			for range 99 {
				d := deltaOf(size, 4*size,
					strings.Repeat("\xf0"+string([]byte{byte(size), byte(size >> 8), byte(size >> 16)}), 4))
				at, size = p.object(offsetDelta, len(d), back(p.buf.Len()-at), d), min(4*size, 1<<22)
			}
			w.Write(sidebands(p.done()))
		}), tooLarge, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := newInternet(t, c.handler)
			data, err := newProvider(in, project.Env{"MCPBASH_GIT_MAX_KB": "500"}).Read(t.Context(),
				repoURI+"main:README", anywhere)
			f := failure(t, err)
			if f.Status != c.status || data != nil {
				t.Errorf("RES-124: %+v", f)
			}
			if _, reason, _ := strings.Cut(f.Log, "@ main: "); c.log != "" && reason != c.log {
				t.Errorf("RES-125: log %q", f.Log)
			}
		})
	}
}

// RES-127: only the advertisement may redirect, and only on the same host.
func TestRedirects(t *testing.T) {
	r, _, _ := library(sha1Format)
	const service = "/info/refs?service=git-upload-pack"
	for name, c := range map[string]struct {
		location string
		fine     bool
	}{
		"path":          {"/team/docs.git" + service, true},
		"same host":     {"https://git.example/team/docs.git" + service, true},
		"same port":     {"https://GIT.example:443/team/docs.git" + service, true},
		"other host":    {"https://evil.example/team/docs.git" + service, false},
		"inside":        {"https://127.0.0.1/team/docs.git" + service, false},
		"other port":    {"https://git.example:8443/team/docs.git" + service, false},
		"http":          {"http://git.example/team/docs.git" + service, false},
		"no scheme":     {"//git.example/team/docs.git" + service, false},
		"user":          {"https://u@git.example/team/docs.git" + service, false},
		"backslash":     {`https://git.example\@evil.example/team/docs.git` + service, false},
		"no repository": {"/login?next=x", false},
		"none":          {"", false},
		"round":         {"/moved.git" + service, false},
	} {
		s := &server{repository: r}
		in := newInternet(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if strings.HasPrefix(q.URL.Path, "/moved.git/") {
				w.Header()["Location"] = []string{c.location}
				w.WriteHeader(http.StatusMovedPermanently)
				return
			}
			s.ServeHTTP(w, q)
		}))
		_, err := newProvider(in, nil).Read(t.Context(), "git+https://git.example/moved.git#main:README", anywhere)
		if (err == nil) != c.fine {
			t.Errorf("RES-127: %s: %v", name, err)
		}
		if !c.fine && len(s.asked()) > 0 || len(in.Lookups) > 1 {
			t.Errorf("RES-127: %s: followed", name)
		}
	}
	s := &server{repository: r}
	in := newInternet(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Method == "POST" {
			http.Redirect(w, q, q.URL.Path, http.StatusTemporaryRedirect)
			return
		}
		s.ServeHTTP(w, q)
	}))
	_, err := newProvider(in, nil).Read(t.Context(), repoURI+"main:README", anywhere)
	if f := failure(t, err); f.Log != "Failed to clone https://git.example/team/docs.git @ main: HTTP error: 307" {
		t.Errorf("RES-127: %+v", f)
	}
}

// RES-124, RES-4: timeouts.
func TestSlow(t *testing.T) {
	r, _, _ := library(sha1Format)
	stuck := func(w http.ResponseWriter, q *http.Request) {
		w.(http.Flusher).Flush()
		<-q.Context().Done()
	}
	for name, handler := range map[string]http.Handler{
		"no refs": http.HandlerFunc(stuck),
		"no pack": &server{repository: r, pack: func(w http.ResponseWriter, _ []byte) {
			for {
				if _, err := io.WriteString(w, "0005\x01"); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				time.Sleep(20 * time.Millisecond)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := newInternet(t, handler)
			begin := time.Now()
			_, err := newProvider(in, project.Env{"MCPBASH_GIT_TIMEOUT": "1"}).Read(t.Context(), repoURI+"main:README",
				anywhere)
			f := failure(t, err)
			if f != (provider.Failure{Status: provider.FetchFailed,
				Message: "Failed to clone https://git.example/team/docs.git @ main",
				Log:     "Failed to clone https://git.example/team/docs.git @ main: timed out after 1 s"}) {
				t.Errorf("RES-124: %+v", f)
			}
			if took := time.Since(begin); took < time.Second || took > time.Minute {
				t.Errorf("RES-124: %v", took)
			}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			if _, err := newProvider(in, nil).Read(ctx, repoURI+"main:README", anywhere); err != context.Canceled {
				t.Errorf("RES-4: %v", err)
			}
		})
	}
}

// The response of an old server without sidebands.
func TestWithoutSidebands(t *testing.T) {
	r, _, second := library(sha1Format)
	found := map[string]object{}
	r.reach(second, true, found)
	in := internet.New(t)
	in.Host("git.example", "203.0.113.1", internet.HTTP(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		if q.Method == "GET" {
			io.WriteString(w, "001e# service=git-upload-pack\n0000"+string(packet(nil,
				second+" HEAD\x00ofs-delta\n"))+flushPacket)
		} else if want := string(packet(nil, "want "+second+" ofs-delta agent=mcpbash/2.0.0\n")) + flushPacket +
			"0009done\n"; string(body) == want {
			w.Write(append(packet(nil, "NAK\n"), packOf(sha1Format, found)...))
		} else {
			t.Errorf("%q, want %q", body, want)
		}
	})))
	if data, err := newProvider(in, nil).Read(t.Context(), repoURI+"README", anywhere); err != nil ||
		string(data) != "second\n" {
		t.Errorf("RES-123: %q, %v", data, err)
	}
}

func FuzzURI(f *testing.F) {
	for _, seed := range []string{repoURI + "main:guide/intro.md", repoURI + "x", "git+https://h:1/r#%2d:..",
		"git+https://[::1]/r#a%00:b", "git+https://u@h/r?x#y:z:w"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		l, err := location.ParseGit(uri)
		if err != nil {
			return
		}
		if l.Path == "" || strings.HasPrefix(l.Ref, "-") || strings.ContainsAny(l.Ref+l.Path, "\x00") ||
			strings.ContainsAny(l.Ref, "\n ") || strings.ContainsAny(l.Repo, "#?\n \\") ||
			!strings.HasPrefix(l.Repo, "/") {
			t.Fatalf("%q: %+v", uri, l)
		}
		for _, name := range strings.Split(l.Path, "/") {
			if name == ".." {
				t.Fatalf("%q: %+v", uri, l)
			}
		}
		if !strings.HasPrefix(l.URL(), "https://"+strings.Trim(net.JoinHostPort(l.Origin.Host, ""), ":")) {
			t.Fatalf("%q: %s", uri, l.URL())
		}
	})
}

// FuzzTree parses arbitrary trees.
func FuzzTree(f *testing.F) {
	f.Add([]byte("100644 a\x0012345678901234567890" + "40000 b\x0012345678901234567890"))
	f.Fuzz(func(t *testing.T, tree []byte) {
		e, ok, err := lookUp(tree, "a", 20)
		if ok && (err != nil || len(e.id) != 40) {
			t.Fatalf("%+v, %v", e, err)
		}
	})
}
