package mcpb

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A record is one file of an archive, in pieces that a test can change.
type record struct {
	header, body, descriptor []byte // before the directory
	dir                      []byte // its directory entry
	before                   []byte // bytes before the header
	at                       int    // the offset of the header; -1: after the previous file
}

// entry returns a file that is not compressed.
func entry(name, content string) *record {
	return newRecord(name, content, []byte(content), zip.Store, 0)
}

// streamed returns a compressed file whose sizes follow the content.
func streamed(name, content string, marked bool) *record {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed)
	w.Write([]byte(content))
	w.Close()
	r := newRecord(name, content, b.Bytes(), zip.Deflate, flagDescriptor)
	r.descriptor = slices.Clone(r.dir[16:28])
	clear(r.header[14:26])
	if marked {
		r.descriptor = append([]byte(descriptorMark), r.descriptor...)
	}
	return r
}

func newRecord(name, content string, body []byte, method, flags uint16) *record {
	le := binary.LittleEndian
	common := []byte{20, 0}
	common = le.AppendUint16(common, flags|flagUTF8)
	common = le.AppendUint16(common, method)
	common = append(common, 0, 0, 0x21, 0)
	common = le.AppendUint32(common, crc32.ChecksumIEEE([]byte(content)))
	common = le.AppendUint32(common, uint32(len(body)))
	common = le.AppendUint32(common, uint32(len(content)))
	common = le.AppendUint16(common, uint16(len(name)))
	common = append(common, 0, 0)
	r := &record{body: body, at: -1}
	r.header = append(append([]byte(fileHeaderMark), common...), name...)
	r.dir = append([]byte(dirEntryMark), 20, 3)
	r.dir = append(append(r.dir, common...), make([]byte, 6)...)
	r.dir = le.AppendUint32(r.dir, 0o100644<<16)
	r.dir = append(append(r.dir, 0, 0, 0, 0), name...)
	return r
}

// extra adds an extra field to the header or to the directory entry.
func extra(record *[]byte, lengthAt int, tag uint16, content string) {
	field := binary.LittleEndian.AppendUint16(nil, tag)
	field = binary.LittleEndian.AppendUint16(field, uint16(len(content)))
	field = append(field, content...)
	binary.LittleEndian.PutUint16((*record)[lengthAt:], uint16(len(field)))
	*record = append(*record, field...)
}

// assemble creates an archive.
func assemble(records ...*record) []byte {
	var b, dir []byte
	for _, r := range records {
		b = append(b, r.before...)
		at := len(b)
		if r.at >= 0 {
			at = r.at
		} else {
			b = slices.Concat(b, r.header, r.body, r.descriptor)
		}
		entry := slices.Clone(r.dir)
		if len(entry) > 0 {
			binary.LittleEndian.PutUint32(entry[42:], uint32(at))
		}
		dir = append(dir, entry...)
	}
	count := bytes.Count(dir, []byte(dirEntryMark))
	at := len(b)
	b = append(append(b, dir...), endMark+"\x00\x00\x00\x00"...)
	b = binary.LittleEndian.AppendUint16(b, uint16(count))
	b = binary.LittleEndian.AppendUint16(b, uint16(count))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(dir)))
	b = binary.LittleEndian.AppendUint32(b, uint32(at))
	return append(b, 0, 0)
}

// CLI-1441: an archive that two programs could read differently is rejected.
func TestOneReading(t *testing.T) {
	change := func(f func(a, b *record)) func() []byte {
		return func() []byte {
			a, b := entry("a", "hello"), streamed("b", strings.Repeat("world", 20), true)
			f(a, b)
			return assemble(a, b)
		}
	}
	end := func(f func(text, end []byte) []byte) func() []byte {
		return func() []byte {
			text := assemble(entry("a", "hello"))
			return f(text, text[len(text)-endSize:])
		}
	}
	for name, tc := range map[string]struct {
		make   func() []byte
		reason string
	}{
		"good": {change(func(a, b *record) {}), ""},
		"times and ids": {change(func(a, b *record) {
			extra(&a.header, 28, 0x5455, "times")
			extra(&b.dir, 30, 0x7875, "ids")
		}), ""},
		"plain sums":      {change(func(a, b *record) { b.descriptor = b.descriptor[4:] }), ""},
		"in front of all": {change(func(a, b *record) { a.before = []byte("#!/bin/sh\n") }), "belong to no file"},
		"in front, not counted": {func() []byte {
			return append([]byte("#!/bin/sh\n"), assemble(entry("a", "hello"))...)
		}, "belong to no file"},
		"between files":    {change(func(a, b *record) { b.before = []byte("hidden") }), "belong to no file"},
		"a hidden file":    {change(func(a, b *record) { b.before = slices.Concat(a.header, a.body) }), "belong to no file"},
		"without an entry": {change(func(a, b *record) { b.dir = nil }), "belong to no file"},
		"behind a file":    {change(func(a, b *record) { b.descriptor = append(b.descriptor, 0) }), "belong to no file"},
		"two entries, one file": {change(func(a, b *record) {
			b.header, b.body, b.descriptor, b.at = nil, nil, nil, 0
			b.dir = slices.Clone(a.dir)
			b.dir[46] = 'b'
		}), "a part of another one"},
		"a file in a file": {func() []byte {
			inner := entry("b", "hello")
			outer := entry("a", string(inner.header)+string(inner.body))
			inner.at = len(outer.header)
			return assemble(outer, inner)
		}, "a part of another one"},
		"another name":        {change(func(a, b *record) { a.header[30] = 'A' }), `its header has another name: "A"`},
		"another method":      {change(func(a, b *record) { a.header[8] = 8 }), "entry differ"},
		"other flags":         {change(func(a, b *record) { b.header[6] = 0 }), "entry differ"},
		"another checksum":    {change(func(a, b *record) { a.header[14]++ }), "entry differ"},
		"another size":        {change(func(a, b *record) { a.header[18]++ }), "entry differ"},
		"half of the sums":    {change(func(a, b *record) { b.header[22]++ }), "entry differ"},
		"another record":      {change(func(a, b *record) { b.descriptor[5]++ }), "entry differ"},
		"another size behind": {change(func(a, b *record) { b.descriptor[15]++ }), "entry differ"},
		"no record":           {change(func(a, b *record) { b.descriptor = nil }), "entry differ"},
		"stored, size behind": {change(func(a, b *record) {
			a.header[6] |= flagDescriptor
			a.dir[8] |= flagDescriptor
			a.descriptor = a.dir[16:28]
		}), "its size is only in the directory"},
		"strange flags": {change(func(a, b *record) { a.header[6] |= 0x20; a.dir[8] |= 0x20 }), "flags that"},
		"a comment": {change(func(a, b *record) {
			a.dir[32] = 1
			a.dir = append(a.dir, 'x')
		}), "a comment"},
		"a second name":        {change(func(a, b *record) { extra(&a.header, 28, 0x7075, "b") }), "0x7075"},
		"a second name listed": {change(func(a, b *record) { extra(&a.dir, 30, 0x7075, "b") }), "0x7075"},
		"ZIP64":                {change(func(a, b *record) { extra(&a.dir, 30, 1, "0123456789abcdef") }), "0x0001"},
		"half an extra field": {change(func(a, b *record) {
			a.header[28] = 3
			a.header = append(a.header, 0, 0, 0)
		}), "a damaged extra field"},
		"on another disk": {change(func(a, b *record) { b.dir[34] = 1 }), "part of a split archive"},
		"a link of DOS": {change(func(a, b *record) {
			a.dir[5] = 0
			binary.LittleEndian.PutUint16(a.dir[40:], 0o120777)
		}), "a symbolic link"},
		"a directory of DOS": {change(func(a, b *record) { a.dir[5] = 0; a.dir[38] = 0x10 }), "an entry for a directory"},
		"a name of DOS":      {func() []byte { r := entry("grüße", ""); r.dir[5] = 0; return assemble(r) }, "beyond ASCII"},
		"two sizes":          {change(func(a, b *record) { a.header[22]++; a.dir[24]++ }), "two sizes"},
		"a comment of all": {end(func(text, end []byte) []byte {
			end[20] = 2
			return append(text, "hi"...)
		}), "belong to no file, after"},
		"two archives": {end(func(text, end []byte) []byte {
			return append(text, assemble(entry("b", "x"))...)
		}), "belong to no file"},
		"behind it all": {end(func(text, end []byte) []byte { return append(text, 0) }), "belong to no file, after"},
		"before the end": {end(func(text, end []byte) []byte {
			return slices.Concat(text[:len(text)-endSize], []byte("hidden"), end)
		}), "belong to no file"},
		"one disk of two": {end(func(text, end []byte) []byte { end[4] = 1; return text }), "part of a split archive"},
		"more files than said": {end(func(text, end []byte) []byte {
			end[8], end[10] = 0, 0
			return text
		}), "not a valid ZIP"},
		"longer directory": {end(func(text, end []byte) []byte {
			end[12]++
			end[16]--
			return text
		}), "ZIP"},
	} {
		text := tc.make()
		a, err := open(text)
		switch {
		case tc.reason != "" && (err == nil || !strings.Contains(err.Error(), tc.reason)):
			t.Errorf("%s: %v", name, err)
		case tc.reason == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tc.reason == "":
			sameForward(t, a, text)
		}
	}
	// Bytes after a compressed content are found while it is read.
	b := streamed("b", "hello", true)
	b.body = append(b.body, "hidden"...)
	binary.LittleEndian.PutUint32(b.dir[20:], uint32(len(b.body)))
	copy(b.descriptor[4:], b.dir[16:28])
	if a, err := open(assemble(b)); err != nil {
		t.Error(err)
	} else if err := a.Verify(); err == nil || !strings.Contains(err.Error(), "bytes after its compressed content") {
		t.Errorf("bytes behind a content: %v", err)
	}
}

// sameForward reads an archive from its beginning, by the headers of the files. It reports
// differences from the archive that was read by its directory.
func sameForward(t *testing.T, a *Archive, text []byte) {
	t.Helper()
	got, err := forward(text)
	if err != nil {
		t.Errorf("read forward: %v", err)
		return
	}
	if len(got) != len(a.Entries) {
		t.Errorf("read forward: %d files, by the directory: %d", len(got), len(a.Entries))
	}
	for name, content := range got {
		if want, err := a.ReadFile(name, 1<<30); err != nil || string(want) != content {
			t.Errorf("%q read forward: %.50q, by the directory: %.50q, %v", name, content, want, err)
		}
	}
}

// forward returns the files of an archive by their headers.
func forward(text []byte) (map[string]string, error) {
	files, le := map[string]string{}, binary.LittleEndian
	for rest := text; bytes.HasPrefix(rest, []byte(fileHeaderMark)); {
		if len(rest) < fileHeaderSize {
			return nil, io.ErrUnexpectedEOF
		}
		h := rest[:fileHeaderSize]
		nameEnd := fileHeaderSize + int(le.Uint16(h[26:]))
		name := string(rest[fileHeaderSize:nameEnd])
		rest = rest[nameEnd+int(le.Uint16(h[28:])):]
		if _, ok := files[name]; ok {
			return nil, errors.New("a second " + name)
		}
		size := int(le.Uint32(h[18:]))
		if le.Uint16(h[8:]) == zip.Store {
			files[name], rest = string(rest[:size]), rest[size:]
			continue
		}
		r := bytes.NewReader(rest)
		content, err := io.ReadAll(flate.NewReader(r))
		if err != nil {
			return nil, err
		}
		files[name] = string(content)
		rest = rest[len(rest)-r.Len():]
		if le.Uint16(h[6:])&flagDescriptor != 0 {
			rest = bytes.TrimPrefix(rest, []byte(descriptorMark))[12:]
		}
	}
	return files, nil
}

// CLI-1441: other programs can unpack archives that we accept. All of them unpack our
// bundles and theirs.
func TestOtherPrograms(t *testing.T) {
	dir := t.TempDir()
	content := map[string]string{
		"manifest.json": "{}", "server/run": "#!/bin/sh\n", "server/data/grüße.txt": strings.Repeat("hello ", 1000),
		"empty": "",
	}
	run := func(in, program string, args ...string) bool {
		t.Helper()
		path, err := exec.LookPath(program)
		if err != nil {
			return false
		}
		cmd := exec.Command(path, args...)
		cmd.Dir = in
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s %v: %v\n%s", program, args, err, out)
		}
		return true
	}
	source := filepath.Join(dir, "source")
	var files []File
	for name, text := range content {
		files = append(files, Bytes(name, name == "server/run", []byte(text)))
		file := filepath.Join(source, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	archives := map[string]bool{}
	put := func(name string, text []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		archives[file] = true
		return file
	}
	put("ours.zip", pack(t, files...))
	if run(source, "python3", "-c", `import os, zipfile
with zipfile.ZipFile("../python.zip", "w", zipfile.ZIP_DEFLATED) as z:
    for top, _, names in os.walk("."):
        for name in names:
            z.write(os.path.join(top, name))`) {
		archives[filepath.Join(dir, "python.zip")] = true
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b) // with sizes after the files
	for name, text := range content {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(0o644)
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, text)
	}
	z.Close()
	put("go.zip", b.Bytes())
	for file := range archives {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		a, err := Read(f, info.Size())
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
			continue
		}
		there := map[string]string{"ours": file + ".ours"}
		if err := a.Unpack(there["ours"]); err != nil {
			t.Error(err)
		}
		for program, args := range map[string][]string{
			"unzip": {"-qq", file}, "bsdtar": {"-xf", file}, "python3": {"-m", "zipfile", "-e", file, "."},
		} {
			out := file + "." + program
			if err := os.Mkdir(out, 0o755); err != nil {
				t.Fatal(err)
			}
			if run(out, program, args...) {
				there[program] = out
			}
		}
		for program, out := range there {
			for name, want := range content {
				got, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(name)))
				if err != nil || string(got) != want {
					t.Errorf("%s of %s: %s: %.50q, %v", program, filepath.Base(file), name, got, err)
				}
			}
		}
		if len(a.Entries) != len(content) {
			t.Errorf("%s: %d files", file, len(a.Entries))
		}
	}
}
