package statekey

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var one, two = bytes.Repeat([]byte{0xfb}, size), bytes.Repeat([]byte{2}, size)

// H-500, H-501.
func TestParse(t *testing.T) {
	both := []byte("# keys\n\n" + hex.EncodeToString(one) + "\r\n  " + base64.StdEncoding.EncodeToString(two) + "\n")
	short := []byte(base64.RawURLEncoding.EncodeToString(one) + "\n" + hex.EncodeToString(two))
	for _, content := range [][]byte{both, short, []byte("\ufeff" + string(short))} {
		keys, err := parse(content)
		if err != nil || len(keys) != 2 || !bytes.Equal(keys[0], one) || !bytes.Equal(keys[1], two) {
			t.Errorf("%q: %x, %v", content, keys, err)
		}
	}
	if keys, err := parse(one); err != nil || len(keys) != 1 || !bytes.Equal(keys[0], one) {
		t.Errorf("%x, %v", keys, err)
	}
	secret := hex.EncodeToString(two)
	for content, want := range map[string]string{
		"": "there is no key", "# x\n": "there is no key", secret[2:]: "line 1 is not", secret + "ff": "line 1 is not",
		secret + "\n" + strings.Repeat("zz", size): "line 2 is not",
		string(one[1:]):                              "line 1 is not",
		strings.Repeat(secret+"\n", 17):              "more than 16",
		base64.StdEncoding.EncodeToString(one[1:]):   "line 1 is not",
		base64.StdEncoding.EncodeToString(one) + "=": "line 1 is not",
	} {
		keys, err := parse([]byte(content))
		if err == nil || !strings.Contains(err.Error(), want) || keys != nil || strings.Contains(err.Error(),
			secret[:8]) {
			t.Errorf("%q: %x, %v", content, keys, err)
		}
	}
}

// H-501.
func TestRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "key")
	if _, err := Read(file); err == nil || !strings.Contains(err.Error(), "state key file "+file+": no such file") {
		t.Error(err)
	}
	write := func(mode os.FileMode, content []byte) {
		os.WriteFile(file, content, 0o600)
		os.Chmod(file, mode)
	}
	for _, mode := range []os.FileMode{0o600, 0o400, 0o440} {
		write(mode, one)
		if keys, err := Read(file); err != nil || len(keys) != 1 {
			t.Errorf("%o: %v", mode, err)
		}
		os.Remove(file)
	}
	for mode, want := range map[os.FileMode]string{0o644: "others can read it; run chmod 600 " + file,
		0o602: "others can write to it"} {
		write(mode, one)
		if _, err := Read(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%o: %v", mode, err)
		}
	}
	os.Remove(file)
	write(0o600, bytes.Repeat([]byte("#"), maxFile+1))
	if _, err := Read(file); err == nil {
		t.Error("a long file is read")
	}
	os.Chmod(dir, 0o777)
	write(0o600, one)
	if _, err := Read(file); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a folder that others can write to: %v", err)
	}
	os.Chmod(dir, 0o700)
	link := filepath.Join(dir, "link")
	os.Symlink("key", link) // as Kubernetes mounts secrets
	if _, err := Read(link); err != nil {
		t.Error(err)
	}
	if _, err := Read(dir); err == nil {
		t.Error("a folder is read")
	}
}

// H-502.
func TestCheckURL(t *testing.T) {
	for _, text := range []string{"http://10.0.0.7:8000", "https://a.example", "http://[::1]:1", "http://a:65535"} {
		if err := CheckURL(text); err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{"", "10.0.0.7:8000", "ftp://a", "http://", "http://:1", "http://a/", "http://a/mcp",
		"http://a?x", "http://a?", "http://a#", "http://u:p@a", "unix:/x", "http://a b",
		"http://" + strings.Repeat("a", maxURL),
		"http://127.0.0.1:99999", "http://127.0.0.1:65536", "http://a:0", "http://a:"} {
		if err := CheckURL(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(one)
	f.Add([]byte(hex.EncodeToString(one) + "\n" + base64.StdEncoding.EncodeToString(two)))
	f.Fuzz(func(t *testing.T, content []byte) {
		keys, err := parse(content)
		for _, key := range keys {
			if len(key) != size {
				t.Errorf("%x", key)
			}
		}
		if err == nil && (len(keys) == 0 || len(keys) > maxKeys) {
			t.Errorf("%d keys", len(keys))
		}
	})
}
