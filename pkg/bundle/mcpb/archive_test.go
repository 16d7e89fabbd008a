package mcpb

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func pack(t testing.TB, files ...File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(t.Context(), &b, files, Epoch, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(text []byte) (*Archive, error) { return Read(bytes.NewReader(text), int64(len(text))) }

// CLI-1432, CLI-1433: an archive only has files, without extra fields, with sizes in their
// headers and with one time stamp. The same files produce the same bytes.
func TestWrite(t *testing.T) {
	var files []File
	for i := range 200 {
		files = append(files, Bytes(fmt.Sprintf("dir/%03d.txt", i), i%2 == 0, bytes.Repeat([]byte{byte(i)}, i*97)))
	}
	files = append(files, Bytes("grüße", false, nil))
	text := pack(t, files...)
	if !bytes.Equal(text, pack(t, files...)) {
		t.Error("two archives of the same files differ")
	}
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range z.File {
		if f.Name != files[i].Name || len(f.Extra) > 0 || f.Flags&8 != 0 || !f.Modified.Equal(Epoch) ||
			f.Method != zip.Deflate {
			t.Errorf("%+v", f.FileHeader)
		}
		if utf8 := f.Flags&0x800 != 0; utf8 != (f.Name == "grüße") {
			t.Errorf("%s: UTF-8 flag %t", f.Name, utf8)
		}
		if want := map[bool]fs.FileMode{true: 0o755, false: 0o644}[files[i].Exec]; f.Mode() != want {
			t.Errorf("%s: %v", f.Name, f.Mode())
		}
	}
	a, err := open(text)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := a.Unpack(dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "dir", "199.txt"))
	if err != nil || len(got) != 199*97 || got[0] != 199 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// A file that cannot be read ends Write with an error, as does the context. No goroutine
// leaks.
func TestWriteFails(t *testing.T) {
	broken := File{Name: "b", Open: func() (io.ReadCloser, error) { return nil, errors.New("gone") }}
	var files []File
	for i := range 100 {
		files = append(files, Bytes(fmt.Sprint(i), false, make([]byte, 1000)))
	}
	if err := Write(t.Context(), io.Discard, append(files, broken), Epoch, nil); err == nil ||
		err.Error() != "b: gone" {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	late := File{Name: "late", Open: func() (io.ReadCloser, error) {
		cancel(stopped)
		return io.NopCloser(strings.NewReader("x")), nil
	}}
	if err := Write(ctx, io.Discard, append([]File{files[0], late}, files[1:]...), Epoch, nil); !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
	full := writerFunc(func(p []byte) (int, error) { return 0, errors.New("disk full") })
	many := append(files, Bytes("large", false, bytes.Repeat([]byte("0123456789"), 1<<20)))
	if err := Write(t.Context(), full, many, Epoch, nil); err == nil || err.Error() != "disk full" {
		t.Errorf("%v", err)
	}
	if err := Write(t.Context(), io.Discard, make([]File, MaxEntries+1), Epoch, nil); err == nil {
		t.Error("too many files were packed")
	}
}

// A file, and all files together, can have the maximum size, and not a byte more.
func TestWriteLimits(t *testing.T) {
	full, over := Bytes("full", false, make([]byte, 2<<20)), Bytes("over", false, make([]byte, 2<<20+1))
	for want, files := range map[string][]File{
		"": {full, full}, "over: larger than 2 MB": {over},
		"more than 4 MB of files; leave some out with .mcpbignore": {full, full, Bytes("more", false, []byte("x"))},
	} {
		err := write(t.Context(), io.Discard, files, Epoch, nil, 2<<20, 4<<20)
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}

// A file that is too large or has too many entries is not read. Neither is a manifest or a
// signature that is too long.
func TestReadLimits(t *testing.T) {
	if _, err := Read(bytes.NewReader(nil), MaxTotal+1); err == nil || err.Error() != "larger than 1024 MB" {
		t.Error(err)
	}
	var headers []zip.FileHeader
	for i := range MaxEntries + 1 {
		headers = append(headers, header(fmt.Sprint(i), 0o644))
	}
	if _, err := open(raw(t, headers...)); err == nil || err.Error() != "50001 files; a bundle may hold 50000" {
		t.Error(err)
	}
	if a, err := open(raw(t, headers[1:]...)); err != nil || len(a.Entries) != MaxEntries {
		t.Error(err)
	}
	a, err := open(pack(t, Bytes(ManifestName, false, make([]byte, MaxManifest+1))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Manifest(); err == nil || err.Error() != "manifest.json: larger than 4194304 bytes" {
		t.Error(err)
	}
	signed := string(pack(t)) + signatureStart + strings.Repeat("x", maxSignature) + signatureEnd
	if a, err := open([]byte(signed)); err == nil {
		t.Errorf("read, signed %t", a.Signed)
	}
}

// The limits also apply to a manifest file and to a directory.
func TestCheckLimits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	manifest := filepath.Join(dir, ManifestName)
	if err := os.WriteFile(manifest, bytes.Repeat([]byte(" "), MaxManifest+1), 0o644); err != nil {
		t.Fatal(err)
	}
	check := func(name string) (*Report, error) {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return CheckFile(f)
	}
	for name, reason := range map[string]string{manifest: "larger than 4194304 bytes", dir: "not a manifest"} {
		if r, err := check(name); err != nil || len(r.Faults) != 1 || !strings.Contains(r.Faults[0].Reason, reason) {
			t.Errorf("%+v, %v", r, err)
		}
	}
	for i := range MaxEntries {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if _, err := check(dir); err == nil || err.Error() != "more than 50000 files" {
		t.Error(err)
	}
	os.Remove(manifest)
	if _, err := check(dir); err != nil {
		t.Error(err)
	}
}

// A time that ZIP cannot represent becomes the nearest one.
func TestDosTime(t *testing.T) {
	for want, times := range map[[2]uint16][]time.Time{
		{0x21, 0}:        {Epoch, time.Unix(0, 0), time.Unix(-1<<40, 0)},
		{0xff9f, 0xbf7d}: {time.Unix(1<<40, 0)},
		{23665, 10<<11 | 1}: {time.Date(2026, 3, 17, 10, 0, 2, 0, time.UTC),
			time.Date(2026, 3, 17, 12, 0, 3, 0, time.FixedZone("", 7200))},
	} {
		for _, at := range times {
			var b bytes.Buffer
			if err := Write(t.Context(), &b, []File{Bytes("a", false, nil)}, at, nil); err != nil {
				t.Fatal(err)
			}
			z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
			if err != nil {
				t.Fatal(err)
			}
			if f := z.File[0]; [2]uint16{f.ModifiedDate, f.ModifiedTime} != want || len(f.Extra) > 0 {
				t.Errorf("%v: %d %d, want %d", at, f.ModifiedDate, f.ModifiedTime, want)
			}
		}
	}
}

// raw creates an archive that Write would not create.
func raw(t *testing.T, headers ...zip.FileHeader) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, h := range headers {
		h.Flags |= flagUTF8
		w, err := z.CreateRaw(&h)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte("x"))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func header(name string, mode fs.FileMode) zip.FileHeader {
	h := zip.FileHeader{Name: name, CompressedSize64: 1, UncompressedSize64: 1, CRC32: 0x8cdc1683}
	h.SetMode(mode)
	return h
}

// Hostile archives are rejected, each with its reason.
func TestHostileArchives(t *testing.T) {
	encrypted, strange, bomb, declared := header("a", 0o644), header("a", 0o644), header("a", 0o644), header("a", 0o644)
	encrypted.Flags, strange.Method = 1, 99
	declared.Method = zip.Deflate
	bomb.UncompressedSize64, declared.UncompressedSize64 = MaxTotal, MaxFile
	declared2, declared3 := declared, declared
	declared2.Name, declared3.Name = "b", "c"
	for name, tc := range map[string]struct {
		headers []zip.FileHeader
		reason  string
	}{
		"leads out":    {[]zip.FileHeader{header("../x", 0o644)}, "leads out of the bundle"},
		"deep":         {[]zip.FileHeader{header("a/../../x", 0o644)}, "leads out of the bundle"},
		"absolute":     {[]zip.FileHeader{header("/etc/passwd", 0o644)}, "an absolute path"},
		"backslash":    {[]zip.FileHeader{header(`..\x`, 0o644)}, "some programs treat as a slash"},
		"empty":        {[]zip.FileHeader{header("", 0o644)}, "an empty name"},
		"empty part":   {[]zip.FileHeader{header("a//b", 0o644)}, "empty or single-dot"},
		"single dot":   {[]zip.FileHeader{header("./a", 0o644)}, "empty or single-dot"},
		"control":      {[]zip.FileHeader{header("a\x1b[2J", 0o644)}, "control characters"},
		"not UTF-8":    {[]zip.FileHeader{header("a\xff", 0o644)}, "not UTF-8"},
		"long":         {[]zip.FileHeader{header(strings.Repeat("ab/", 300)+"c", 0o644)}, "longer than 900 bytes"},
		"long part":    {[]zip.FileHeader{header(strings.Repeat("a", 256), 0o644)}, "a name of more than 255 bytes"},
		"composed":     {[]zip.FileHeader{header("\u00e9", 0o644), header("e\u0301", 0o644)}, "where neither case nor"},
		"hidden mark":  {[]zip.FileHeader{header("ab", 0o644), header("a\u200cb", 0o644)}, "where neither case nor"},
		"composed dir": {[]zip.FileHeader{header("\u00e9/a", 0o644), header("E\u0301", 0o644)}, "and the directory of"},
		"symlink":      {[]zip.FileHeader{header("a", fs.ModeSymlink|0o777)}, "a symbolic link"},
		"device file":  {[]zip.FileHeader{header("a", fs.ModeDevice|0o600)}, "not a regular file"},
		"pipe":         {[]zip.FileHeader{header("a", fs.ModeNamedPipe|0o600)}, "not a regular file"},
		"directory":    {[]zip.FileHeader{header("a/", fs.ModeDir|0o755)}, "an entry for a directory"},
		"twice":        {[]zip.FileHeader{header("a", 0o644), header("a", 0o644)}, "twice"},
		"case": {[]zip.FileHeader{header("tools/A", 0o644), header("Tools/a", 0o644)},
			"where neither case nor"},
		"case beyond":   {[]zip.FileHeader{header("ſ", 0o644), header("S", 0o644)}, "where neither case nor"},
		"file and dir":  {[]zip.FileHeader{header("a", 0o644), header("A/b", 0o644)}, "and the directory of"},
		"dir and file":  {[]zip.FileHeader{header("a/b", 0o644), header("A", 0o644)}, "and the directory of"},
		"encrypted":     {[]zip.FileHeader{encrypted}, "encrypted"},
		"method":        {[]zip.FileHeader{strange}, "clients do not support"},
		"one bomb":      {[]zip.FileHeader{bomb}, "larger than 512 MB"},
		"several bombs": {[]zip.FileHeader{declared, declared2, declared3}, "unpacks to more than 1024 MB"},
	} {
		_, err := open(raw(t, tc.headers...))
		if err == nil || !strings.Contains(err.Error(), tc.reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{"", "PK", "not a zip", strings.Repeat("MCPB_SIG_END", 3)} {
		if _, err := open([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// CLI-1435, CLI-1441: reading a file whose size is not the declared one returns an error.
// Unpacking a damaged archive leaves no files.
func TestLyingSizes(t *testing.T) {
	text := pack(t, Bytes("server/good", false, []byte("x")), Bytes("z", false, make([]byte, 1<<20)))
	unpack := func(a *Archive) {
		t.Helper()
		parent, there := t.TempDir(), t.TempDir()
		for _, dir := range []string{filepath.Join(parent, "new"), filepath.Join(parent, "a", "b", "c"), there} {
			if err := a.Unpack(dir); err == nil {
				t.Error("unpacked")
			}
		}
		for _, dir := range []string{parent, there} {
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left %v, %v", left, err)
			}
		}
	}
	for _, declared := range []uint32{10, 1 << 21} {
		lying := bytes.Clone(text)
		for mark, at := range map[string]int{fileHeaderMark: 22, dirEntryMark: 24} {
			binary.LittleEndian.PutUint32(lying[bytes.LastIndex(lying, []byte(mark))+at:], declared)
		}
		a, err := open(lying)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := a.ReadFile("z", 1<<30); err == nil {
			t.Errorf("declared %d: %d bytes", declared, len(got))
		}
		unpack(a)
	}
	damaged := bytes.Clone(text)
	damaged[bytes.LastIndex(damaged, []byte(fileHeaderMark))+50] ^= 0xff
	a, err := open(damaged)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.ReadFile("z", 1<<30); err == nil {
		t.Error("a damaged file was read")
	}
	if err := a.Verify(); err == nil {
		t.Error("a damaged archive passed")
	}
	unpack(a)
}

// Unpacking overwrites nothing and follows no symbolic link in the directory.
func TestUnpackInTheWay(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "server")); err != nil {
		t.Skip(err)
	}
	a, err := open(pack(t, Bytes("server/a", false, []byte("x"))))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Unpack(dir); err == nil {
		t.Error("a link was followed")
	}
	if _, err := os.Stat(filepath.Join(outside, "a")); err == nil {
		t.Error("written outside")
	}
	os.Remove(filepath.Join(dir, "server"))
	if err := a.Unpack(dir); err != nil {
		t.Fatal(err)
	}
	if err := a.Unpack(dir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("overwritten: %v", err)
	}
}

// CLI-1435, CLI-1806: an archive with a signature block can be read. Only a block after its end is a fault, not one in
// its comment.
func TestSigned(t *testing.T) {
	text := pack(t, Bytes(ManifestName, false, []byte("{}")))
	block := "MCPB_SIG_V1\x05\x00\x00\x00hello" + "MCPB_SIG_END"
	commented := append(bytes.Clone(text), block...) // the signature is the comment of the archive
	commented[len(text)-2] = byte(len(block))
	for i, signed := range [][]byte{commented, append(bytes.Clone(text), block...)} {
		a, err := open(signed)
		if err != nil || !a.Signed {
			t.Fatal(err)
		}
		if faults := a.Faults(); len(faults) != i || a.Behind != int64(i*len(block)) {
			t.Errorf("%d bytes after the end: %v", a.Behind, faults)
		}
		if m, err := a.Manifest(); err != nil || string(m) != "{}" {
			t.Errorf("%q, %v", m, err)
		}
	}
	for block, reason := range map[string]string{
		"MCPB_SIG_V1\x16\x00\x00\x00" + string(text[len(text)-endSize:]) + "MCPB_SIG_END": "the end of an archive",
		"MCPB_SIG_V1\x04\x00\x00\x00helloMCPB_SIG_END":                                    "length is not the declared one",
		"MCPB_SIG_V1MCPB_SIG_END":                                                         "length is not the declared one",
		"helloMCPB_SIG_END":                                                               "without its start",
		"MCPB_SIG_V1\x10\x00\x00\x00hello":                                                "bytes that belong to no file",
		"x" + "MCPB_SIG_V1\x05\x00\x00\x00hello" + "MCPB_SIG_END":                         "bytes that belong to no file",
	} {
		if _, err := open(append(bytes.Clone(text), block...)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v", block, err)
		}
	}
	if a, err := open(text); err != nil || a.Signed {
		t.Errorf("%v", err)
	}
	if _, err := (&Archive{}).Manifest(); !errors.Is(err, errNoManifest) {
		t.Errorf("%v", err)
	}
}

// For any bytes, reading stays within declared sizes. A program that reads the headers
// before the files finds the same files.
func FuzzRead(f *testing.F) {
	good := pack(f, Bytes(ManifestName, false, []byte(`{"name":"x"}`)),
		Bytes("server/run-server.sh", true, []byte("#!/bin/sh\n")))
	f.Add(good)
	f.Add(append(bytes.Clone(good), "MCPB_SIG_V1\x00\x00\x00\x00MCPB_SIG_END"...))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Add(assemble(entry("a", "hello"), streamed("b", "hello", true), streamed("c", "", false)))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := open(text)
		if err != nil {
			return
		}
		whole := true
		for i := range a.Entries {
			e := &a.Entries[i]
			if err := checkName(e.Name); err != nil || !filepath.IsLocal(e.Name) {
				t.Errorf("%q: %v", e.Name, err)
			}
			if e.Size > 1<<20 {
				whole = false
				continue
			}
			content, err := a.ReadFile(e.Name, 1<<20)
			if err == nil && int64(len(content)) != e.Size {
				t.Errorf("%q: %d bytes, declared %d", e.Name, len(content), e.Size)
			}
			whole = whole && err == nil
		}
		if whole {
			sameForward(t, a, text)
		}
		if text, err := a.Manifest(); err == nil {
			if doc, err := ParseManifest(text); err == nil {
				CheckManifest(doc)
			}
		}
	})
}
