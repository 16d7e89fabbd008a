package seal

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// AUD-18: the file of a server moves forward and has nothing of a key before. The first key gives all others.
func TestForward(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	first, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	line := []byte(`{"a":1,"chain":{"seq":1}}`)
	key, seen := first, map[string]bool{}
	for range 3 {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		sealed := f.Seal(bytes.Clone(line))
		if !key.Made(sealed) || key.Next().Made(sealed) || seen[string(sealed)] ||
			key.Made(bytes.Replace(sealed, []byte("1"), []byte("2"), 1)) {
			t.Errorf("%s", sealed)
		}
		seen[string(sealed)] = true
		if err := f.Forward(); err != nil {
			t.Fatal(err)
		}
		if content, _ := os.ReadFile(path); string(content) != key.Next().Text() {
			t.Errorf("%s", content)
		}
		f.Close()
		key = key.Next()
	}
	if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Error(info.Mode())
	}
}

// AUD-2, AUD-18: a file that is shared, readable by others or no key is refused. The error has nothing of the key.
func TestUnusableFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes, and locks differ")
	}
	path := filepath.Join(t.TempDir(), "key")
	key, _ := Create(path)
	refused := func(want string) {
		t.Helper()
		f, err := Open(path)
		if err == nil {
			f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), key.Text()[27:40]) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Create(path); err == nil {
		t.Error("a key was replaced")
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	refused("another server")
	f.Close()
	os.Chmod(path, 0o644)
	refused("others can read it")
	os.Chmod(path, 0o600)
	for _, text := range []string{
		"", key.Text()[1:], key.Text() + "\n", strings.ToUpper(key.Text()), strings.Replace(key.Text(), "1 ", "0 ", 1),
		strings.Repeat("x", 2000),
	} {
		os.WriteFile(path, []byte(text), 0o600)
		refused("")
	}
	os.Remove(path)
	refused("no such file")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(Key{Epoch: 1}.Text()))
	f.Add([]byte("mcp-bash audit key 0000000001 00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if k, err := Parse(text); err == nil && k.Text() != string(text) {
			t.Errorf("%q is taken for %q", text, k.Text())
		}
	})
}
