package git

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		b.WriteString(strconv.Itoa(i) + "\n")
	}
	return b.String()
}

// Packs that git wrote can be unpacked.
func TestUnpackReal(t *testing.T) {
	for _, c := range []struct {
		file, tag string
		format    format
	}{
		{"offset.pack", "5cb6f54e178e703163506943167443e60890d500", sha1Format},
		{"id.pack", "5cb6f54e178e703163506943167443e60890d500", sha1Format},
		{"sha256.pack", "73f73e34e60a8b7ab5a6be698cd2c9fffe076d8f0e9b7ad1db27003174b7109a", sha256Format},
	} {
		for name, wrap := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r },
			"byte by byte": iotest.OneByteReader, "with EOF": iotest.DataErrReader} {
			objects, err := unpack(wrap(bytes.NewReader(read(t, c.file))), c.format, &budget{1 << 20})
			if err != nil || len(objects) != 9 {
				t.Fatalf("%s, %s: %d objects, %v", c.file, name, len(objects), err)
			}
			root, err := rootOf(objects, c.tag)
			if err != nil {
				t.Fatal(err)
			}
			s := &checkout{remote: &remote{format: c.format}, objects: objects}
			for path, want := range map[string]string{
				"a/base": lines(1, 2000), "a/b/longer": lines(1, 2000) + "x\n",
				"a/b/cut": lines(5, 1500) + lines(1600, 2000), "a/link": lines(1, 2000),
			} {
				id, err := find(s, root, path, c.format.size)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := s.object(id, blobObject); err != nil || string(got) != want {
					t.Errorf("%s: %s: %d bytes, %v", c.file, path, len(got), err)
				}
			}
		}
	}
}

// A truncated or changed pack is refused.
func TestUnpackDamaged(t *testing.T) {
	whole := read(t, "offset.pack")
	for n := 0; n < len(whole); n += 7 {
		if _, err := unpack(bytes.NewReader(whole[:n]), sha1Format, &budget{1 << 20}); err == nil {
			t.Fatalf("cut off after %d bytes: no error", n)
		}
		changed := slices.Clone(whole)
		changed[n] ^= 0x10
		if _, err := unpack(bytes.NewReader(changed), sha1Format, &budget{1 << 20}); err == nil {
			t.Fatalf("changed at %d: no error", n)
		}
	}
	if _, err := unpack(bytes.NewReader(append(slices.Clone(whole), 'x')), sha1Format, &budget{1 << 20}); err == nil {
		t.Error("something behind it: no error")
	}
	if _, err := unpack(bytes.NewReader(whole), sha256Format, &budget{1 << 20}); err == nil {
		t.Error("the wrong kind of ids: no error")
	}
}

// deltaOf returns a delta with these sizes and instructions.
func deltaOf(from, to int, instructions string) []byte {
	var b []byte
	for _, n := range []int{from, to} {
		for ; n >= 0x80; n >>= 7 {
			b = append(b, byte(n)|0x80)
		}
		b = append(b, byte(n))
	}
	return append(b, instructions...)
}

func TestApply(t *testing.T) {
	const base = "0123456789"
	long := strings.Repeat("x", 0x10000)
	for _, c := range []struct {
		base  string
		delta []byte
		want  string
		fine  bool
	}{
		{base, deltaOf(10, 3, "\x03abc"), "abc", true},
		{base, deltaOf(10, 4, "\x91\x02\x04"), "2345", true},
		{base, deltaOf(10, 4, "\x90\x04"), "0123", true},
		{base, deltaOf(10, 6, "\x91\x08\x02\x01a\x91\x00\x03"), "89a012", true},
		{base, deltaOf(10, 0, ""), "", true},
		{long, deltaOf(0x10000, 0x10000, "\x80"), long, true}, // size 0 means 65536
		{base, deltaOf(9, 3, "\x03abc"), "", false},           // another base
		{base, deltaOf(10, 4, "\x03abc"), "", false},          // too short
		{base, deltaOf(10, 2, "\x03abc"), "", false},          // too long
		{base, deltaOf(10, 3, "\x03ab"), "", false},
		{base, deltaOf(10, 0, "\x00"), "", false}, // reserved
		{base, deltaOf(10, 2, "\x91\x09\x02"), "", false},
		{base, deltaOf(10, 2, "\x91\xff\x02"), "", false},
		{base, deltaOf(10, 1, "\x9f\xff\xff\xff\xff\x01"), "", false},
		{base, deltaOf(10, 2, "\x91\x01"), "", false},
		{base, deltaOf(10, 1<<40, "\x80"), "", false},
		{base, []byte("\x0a"), "", false},
		{base, []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"), "", false},
		{base, nil, "", false},
	} {
		got, err := apply([]byte(c.base), c.delta, &budget{1 << 20})
		if (err == nil) != c.fine || string(got) != c.want {
			t.Errorf("%.20q: %.20q, %v", c.delta, got, err)
		}
	}
}

// Packs that git never writes are errors, unless they are valid.
func TestUnpackHostile(t *testing.T) {
	blob := object{blobObject, []byte("0123456789")}
	id := raw(idOf(sha1Format, blob))
	const copyAll = "\x90\x0a"
	for name, c := range map[string]struct {
		make  func(p *packer)
		count int
		want  string // "" for success
	}{
		"base after the delta": {func(p *packer) {
			d := deltaOf(10, 10, copyAll)
			p.object(idDelta, len(d), id, d)
			p.plain(blob)
		}, 2, ""},
		"delta of a delta that waits": {func(p *packer) {
			d := deltaOf(10, 10, copyAll)
			at := p.object(idDelta, len(d), id, d)
			p.object(offsetDelta, len(d), back(p.buf.Len()-at), d)
			p.plain(blob)
		}, 3, ""},
		"base that never comes": {func(p *packer) {
			d := deltaOf(10, 10, copyAll)
			p.object(idDelta, len(d), strings.Repeat("x", 20), d)
		}, 1, "the base of a delta is missing from the pack"},
		"delta of itself": {func(p *packer) {
			d := deltaOf(10, 10, copyAll)
			p.object(offsetDelta, len(d), back(0), d)
		}, 1, string(errPack)},
		"base before the pack": {func(p *packer) {
			d := deltaOf(10, 10, copyAll)
			p.object(offsetDelta, len(d), back(1000), d)
		}, 1, string(errPack)},
		"base within an object": {func(p *packer) {
			at := p.plain(blob)
			d := deltaOf(10, 10, copyAll)
			p.object(offsetDelta, len(d), back(p.buf.Len()-at-1), d)
		}, 2, "the base of a delta is missing from the pack"},
		"distance without end": {func(p *packer) {
			p.object(offsetDelta, 1, strings.Repeat("\xff", 100), nil)
		}, 1, string(errPack)},
		"size without end": {func(p *packer) { p.buf.WriteString("\xb0" + strings.Repeat("\xff", 100)) }, 1,
			errTooLarge.Error()},
		"size beyond the budget": {func(p *packer) { p.object(blobObject, 1<<20+1, "", []byte("x")) }, 1,
			errTooLarge.Error()},
		"less than it says":       {func(p *packer) { p.object(blobObject, 11, "", blob.data) }, 1, string(errPack)},
		"more than it says":       {func(p *packer) { p.object(blobObject, 9, "", blob.data) }, 1, string(errPack)},
		"type 0":                  {func(p *packer) { p.object(0, 10, "", blob.data) }, 1, string(errPack)},
		"type 5":                  {func(p *packer) { p.object(5, 10, "", blob.data) }, 1, string(errPack)},
		"fewer objects than said": {func(p *packer) { p.plain(blob) }, 2, string(errPack)},
		"more objects than said":  {func(p *packer) { p.plain(blob); p.plain(blob) }, 1, string(errPack)},
		"four billion objects":    {func(p *packer) { p.plain(blob) }, 0xffffffff, string(errPack)},
		"four billion of nothing": {func(p *packer) {
			at := p.object(blobObject, 0, "", nil)
			p.buf.WriteString(strings.Repeat(p.buf.String()[at:], 9999))
		}, 0xffffffff, errTooLarge.Error()},
		"no compression": {func(p *packer) { p.buf.WriteString("\x3anone at all") }, 1, string(errPack)},
		// Each of these deltas makes ten times its base: 700 bytes make 10 GB.
		"delta bomb": {func(p *packer) {
			at, size := p.plain(blob), 10
			for range 9 {
				d := deltaOf(size, 10*size,
					strings.Repeat("\xf0"+string([]byte{byte(size), byte(size >> 8), byte(size >> 16)}), 10))
				at, size = p.object(offsetDelta, len(d), back(p.buf.Len()-at), d), 10*size
			}
		}, 10, errTooLarge.Error()},
		"zip bomb": {func(p *packer) { p.object(blobObject, 1000, "", make([]byte, 1<<20)) }, 1, string(errPack)},
	} {
		p := newPacker(sha1Format, c.count)
		c.make(p)
		_, err := unpack(bytes.NewReader(p.done()), sha1Format, &budget{1 << 20})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want && !(c.want == string(errPack) && errors.Is(err, io.ErrUnexpectedEOF)) {
			t.Errorf("RES-124: %s: %v, want %q", name, err, c.want)
		}
	}
	p := newPacker(sha1Format, 0)
	p.buf.Bytes()[7] = 4
	if _, err := unpack(bytes.NewReader(p.done()), sha1Format, &budget{1 << 20}); err != errPack {
		t.Errorf("version 4: %v", err)
	}
}

// Deltas in reverse order need one round each. The number of rounds is limited.
func TestUnpackRounds(t *testing.T) {
	chain := func(n int) error {
		var objects []object
		for i := range n + 1 {
			objects = append(objects, object{blobObject, fmt.Appendf(nil, "%010d", i)})
		}
		p := newPacker(sha1Format, n+1)
		for i := n; i > 0; i-- {
			d := deltaOf(10, 10, "\x0a"+string(objects[i].data))
			p.object(idDelta, len(d), raw(idOf(sha1Format, objects[i-1])), d)
		}
		p.plain(objects[0])
		_, err := unpack(bytes.NewReader(p.done()), sha1Format, &budget{1 << 20})
		return err
	}
	if err := chain(maxRounds); err != nil {
		t.Errorf("%d rounds: %v", maxRounds, err)
	}
	if err := chain(maxRounds + 2); err == nil {
		t.Errorf("%d rounds: no error", maxRounds+2)
	}
}

// RES-124: the budget counts all unpacked bytes exactly.
func TestUnpackBudget(t *testing.T) {
	p := newPacker(sha1Format, 2)
	at := p.plain(object{blobObject, []byte("0123456789")})
	d := deltaOf(10, 20, "\x90\x0a\x90\x0a")
	p.object(offsetDelta, len(d), back(p.buf.Len()-at), d)
	pack := p.done()
	need := int64(10 + len(d) + 20 + 2*objectOverhead)
	if _, err := unpack(bytes.NewReader(pack), sha1Format, &budget{need}); err != nil {
		t.Errorf("RES-124: exactly enough: %v", err)
	}
	if _, err := unpack(bytes.NewReader(pack), sha1Format, &budget{need - 1}); err != errTooLarge {
		t.Errorf("RES-124: one byte too little: %v", err)
	}
}

func FuzzUnpack(f *testing.F) {
	for _, name := range []string{"offset.pack", "id.pack"} {
		f.Add(read(f, name))
	}
	p := newPacker(sha1Format, 3)
	at := p.plain(object{blobObject, []byte("0123456789")})
	d := deltaOf(10, 13, "\x90\x0a\x03abc")
	p.object(offsetDelta, len(d), back(p.buf.Len()-at), d)
	p.object(idDelta, len(d), raw(idOf(sha1Format, object{blobObject, []byte("0123456789")})), d)
	f.Add(p.done())
	f.Fuzz(func(t *testing.T, data []byte) {
		// The test corrects the hash at the end, so that the parser runs.
		if len(data) > 20 {
			h := sha1Format.hash()
			h.Write(data[:len(data)-20])
			data = h.Sum(slices.Clone(data[:len(data)-20]))
		}
		b := &budget{1 << 18}
		objects, err := unpack(bytes.NewReader(data), sha1Format, b)
		if err != nil {
			return
		}
		total := int64(0)
		for id, o := range objects {
			if idOf(sha1Format, o) != id {
				t.Fatalf("%s is not what it is known by", id)
			}
			total += int64(len(o.data))
		}
		if total > 1<<18-b.left {
			t.Fatalf("%d bytes for %d", total, 1<<18-b.left)
		}
		again, err := unpack(iotest.OneByteReader(bytes.NewReader(data)), sha1Format, &budget{1 << 18})
		if err != nil || len(again) != len(objects) || !slices.Equal(slices.Sorted(maps.Keys(again)),
			slices.Sorted(maps.Keys(objects))) {
			t.Fatalf("byte by byte: %v", err)
		}
	})
}

func TestPackets(t *testing.T) {
	p := newPackets(strings.NewReader("0009hello0004" + "0000" + "0001" + "0002" + "000Bab\n\n\n\n\n"))
	for i, want := range []struct {
		text string
		kind kind
	}{{"hello", data}, {"", data}, {"", flush}, {"", delimiter}, {"", ended}, {"ab\n\n\n\n", data}} {
		if text, k, err := p.line(); err != nil || text != want.text || k != want.kind {
			t.Errorf("packet %d: %q, %d, %v", i, text, k, err)
		}
	}
	for input, want := range map[string]string{
		"": "unexpected EOF", "00": "unexpected EOF", "0009hell": "unexpected EOF",
		"0003":                              "a packet has an invalid length",
		"fff1" + strings.Repeat("x", 70000): "a packet has an invalid length", "-001": "a packet has an invalid length",
		"0x10":                          "a packet has an invalid length",
		"zzzz":                          "a packet has an invalid length",
		"0014ERR no\tway \x1b[1m\xff":   "the server reports: no way  [1m?",
		"001cERR upload-pack: no\nsuch": "the server reports: upload-pack: no such",
	} {
		if _, _, err := newPackets(strings.NewReader(input)).next(); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", input, err, want)
		}
	}
	longest := fmt.Sprintf("%04x", maxPacket) + strings.Repeat("x", maxPacket-4)
	if body, _, err := newPackets(strings.NewReader(longest)).next(); err != nil || len(body) != maxPacket-4 {
		t.Errorf("the longest: %d, %v", len(body), err)
	}
}

func TestSideband(t *testing.T) {
	for input, want := range map[string]string{
		"0006\x01a" + "0008\x02x\ny" + "0005\x01" + "0007\x01bc" + "0000": "abc <nil>",
		"0006\x01a" + "000c\x03failed\n" + "0000":                         "a the server reports: failed",
		"0006\x01a" + "0006\x04a0000":                                     "a a packet has no sideband number",
		"0006\x01a" + "00040000":                                          "a a packet has no sideband number",
		"0006\x01a":                                                       "a unexpected EOF",
	} {
		got, err := io.ReadAll(&sideband{packets: newPackets(strings.NewReader(input))})
		if fmt.Sprint(string(got), " ", err) != want {
			t.Errorf("%q: %q %v", input, got, err)
		}
	}
}

func FuzzPackets(f *testing.F) {
	for _, seed := range []string{"0009hello00040000", "0006\x01a0008\x02x\ny0005\x010007\x01bc0000",
		"000c\x03failed\n", "0010ERR no way!!"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		p, total := newPackets(bytes.NewReader(input)), 0
		for {
			body, k, err := p.next()
			if err != nil {
				break
			}
			if k != data && len(body) > 0 {
				t.Fatalf("%q of kind %d", body, k)
			}
			if total += 4 + len(body); total > len(input) {
				t.Fatal("more than there is")
			}
		}
		pack, _ := io.ReadAll(&sideband{packets: newPackets(bytes.NewReader(input))})
		if len(pack) > len(input) {
			t.Fatal("more than there is")
		}
	})
}
