package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/jedisct1/go-minisign"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
)

// secretText returns the text of a new key of minisign without a password. With kdf "Sc" it counts as locked.
func secretText(kdf string) (string, error) {
	public, secret, err := ed25519.GenerateKey(nil)
	text := "Ed" + kdf + "B2" + strings.Repeat("\x00", 32+8+8) + string(public[:8]) + string(secret) +
		strings.Repeat("\x00", 32)
	return "untrusted comment: a key of a test\n" + base64.StdEncoding.EncodeToString([]byte(text)) + "\n", err
}

// testKeys are the variables with the keys of the release that the tests build. They are made for this run.
var testKeys = sync.OnceValues(func() ([]string, error) {
	text, err := secretText("\x00\x00")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(scratch, "ssh")
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me@example.com", "-f", file).
		CombinedOutput()
	return []string{"RELEASE_MINISIGN_KEY=" + text, "RELEASE_SSH_KEY=" + file}, wrap(err, out)
})

// pageBlock matches the commands with which readers of the page check a release.
var pageBlock = regexp.MustCompile("(?s)\n### Check a release\n.*?\n```sh\n(.*?)```\n")

// CLI-1718: the commands of the page accept the release, and find a changed byte in each of its files.
func TestCheckRelease(t *testing.T) { checkRelease(t, release1(t)) }

// checkRelease runs the commands of the page in a folder with the release. Then each file alone gets a changed byte, in
// a folder with what the commands need for it.
func checkRelease(t *testing.T, dir string) {
	t.Helper()
	page, err := os.ReadFile("../docs/INSTALL.md")
	if err != nil {
		t.Fatal(err)
	}
	block := pageBlock.FindSubmatch(page)
	if block == nil {
		t.Fatal("no commands in docs/INSTALL.md")
	}
	commands := string(block[1])
	_, err = exec.LookPath("minisign")
	signed := err == nil
	if !signed {
		t.Log("minisign is not installed: its line was left out")
		commands = regexp.MustCompile(`(?m)^minisign .*$`).ReplaceAllString(commands, "")
	}
	check := func(dir string) (string, error) {
		cmd := exec.Command("sh", "-ec", commands)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := t.TempDir() // the commands make a file
	for _, d := range list {
		if err := os.Link(filepath.Join(dir, d.Name()), filepath.Join(all, d.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := check(all); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, d := range list {
		if d.Name() == "SHA256SUMS.minisig" && !signed {
			continue
		}
		one := t.TempDir()
		for _, name := range []string{"SHA256SUMS", "SHA256SUMS.minisig", "SHA256SUMS.sig", keys, d.Name()} {
			content, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if name == d.Name() {
				content[len(content)/3] ^= 1 // not in the first line of a signature, a comment that nobody signs
			}
			if err := os.WriteFile(filepath.Join(one, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := check(one); err == nil {
			t.Errorf("a changed byte in %s was not found: %s", d.Name(), out)
		}
		os.RemoveAll(one)
	}
}

// CLI-1718: the library accepts the signatures, the public keys name nobody, and no file has a secret.
func TestSignatures(t *testing.T) {
	dir := release1(t)
	files := read(t, dir)
	public := strings.Split(string(files[keys]), "\n")
	if len(public) != 4 || !strings.HasPrefix(public[1], "RW") || strings.Count(public[2], " ") != 1 {
		t.Fatalf("%q", public)
	}
	key, err := minisign.NewPublicKey(public[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"SHA256SUMS", target.Archive(runtimes.Tag)} {
		signature, err := minisign.DecodeSignature(string(files[name+".minisig"]))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := "trusted comment: timestamp:1700000000\tfile:" + name + "\thashed"
		if good, err := key.Verify(files[name], signature); !good || err != nil || signature.TrustedComment != want {
			t.Errorf("%s: %v, %v, %q", name, good, err, signature.TrustedComment)
		}
	}
}

// CLI-1718: without a key there are no signatures, and a key that cannot sign stops the release.
func TestKeys(t *testing.T) {
	locked, err := secretText("Sc")
	if err != nil {
		t.Fatal(err)
	}
	rsa := filepath.Join(t.TempDir(), "rsa")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "rsa", "-N", "", "-f", rsa).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, tc := range []struct{ minisign, ssh, want string }{
		{"", "", ""},
		{"/no/file", "", "RELEASE_MINISIGN_KEY: open /no/file"},
		{"untrusted comment: x\nU0VDUkVU\n", "", "RELEASE_MINISIGN_KEY: not a secret key of minisign"},
		{locked, "", "RELEASE_MINISIGN_KEY: RELEASE_MINISIGN_PASSWORD does not unlock it"},
		{"", "/no/file", "RELEASE_SSH_KEY: ssh-keygen -y"},
		{"", "-----BEGIN OPENSSH PRIVATE KEY-----\nU0VDUkVU\n", "RELEASE_SSH_KEY: ssh-keygen -y"},
		{"", rsa, "RELEASE_SSH_KEY: not an Ed25519 key"},
	} {
		t.Setenv("RELEASE_MINISIGN_KEY", tc.minisign)
		t.Setenv("RELEASE_SSH_KEY", tc.ssh)
		r := release{out: t.TempDir(), work: t.TempDir()}
		err := r.readKeys()
		if tc.want == "" {
			if err == nil {
				err = r.signSums()
			}
			if left, _ := os.ReadDir(r.out); err != nil || len(left) != 0 {
				t.Errorf("without a key: %v, %v", left, err)
			}
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "U0VDUkVU") {
			t.Errorf("%v, not %s", err, tc.want)
		}
	}
}

// CLI-1718: the provenance is a statement of in-toto about all files that were there before it.
func TestProvenance(t *testing.T) {
	files := read(t, release1(t))
	name := "mcp-bash-v" + cli.Version + "-provenance.intoto.json"
	statement, build := new(intoto.Statement), new(v1.Provenance)
	if err := protojson.Unmarshal(files[name], statement); err != nil {
		t.Fatal(err)
	}
	if err := statement.Validate(); err != nil {
		t.Error(err)
	}
	predicate, err := protojson.Marshal(statement.Predicate)
	if err != nil {
		t.Fatal(err)
	}
	if err := protojson.Unmarshal(predicate, build); err != nil {
		t.Fatal(err)
	}
	if err := build.Validate(); err != nil {
		t.Error(err)
	}
	if len(statement.Subject) != len(files)-4 { // itself, SHA256SUMS and its signatures
		t.Errorf("%d of %d files", len(statement.Subject), len(files))
	}
	for _, s := range statement.Subject {
		if s.Digest["sha256"] != fmt.Sprintf("%x", sha256.Sum256(files[s.Name])) {
			t.Errorf("%s: %s", s.Name, s.Digest)
		}
	}
	if !bytes.Contains(files[name], []byte(commitOf(t, ".."))) {
		t.Error("it does not name the commit")
	}
}

// managed is a release of GitHub, with small texts as archives.
func managed(t *testing.T) *release {
	t.Helper()
	r := &release{root: "..", out: t.TempDir(), base: "https://github.com/me/mcp-bash/releases/download",
		targets: runtimes.Targets, minisign: new(minisign.PrivateKey)}
	for _, target := range r.targets {
		if err := write(filepath.Join(r.out, target.Archive(runtimes.Tag)), []byte(target.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// CLI-1702: the manifest for Scoop has the members of its schema, and the checksums of the archives for Windows.
func TestScoop(t *testing.T) {
	r := managed(t)
	if err := r.writeScoop(); err != nil {
		t.Fatal(err)
	}
	type sources struct {
		Bits64 struct{ URL, Hash string } `json:"64bit"`
		ARM64  struct{ URL, Hash string } `json:"arm64"`
	}
	var got struct {
		Version, Description, Homepage, License string
		Architecture                            sources
		Dir                                     string `json:"extract_dir"`
		Bin                                     []string
		Checkver                                struct{ URL, Regex string }
		Autoupdate                              struct {
			Architecture sources
			Hash         struct{ URL string }
		}
	}
	d := json.NewDecoder(bytes.NewReader(read(t, r.out)["mcp-bash.json"]))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	archive := r.base + "/v" + cli.Version + "/mcp-bash-v" + cli.Version + "-windows-amd64.zip"
	if got.Version != cli.Version || got.Dir != "mcp-bash" || len(got.Bin) != 6 || got.Bin[0] != "bin/mcp-bash.exe" ||
		got.Architecture.Bits64.URL != archive ||
		got.Architecture.ARM64.Hash != fmt.Sprintf("%x", sha256.Sum256([]byte("windows-arm64"))) ||
		strings.ReplaceAll(got.Autoupdate.Architecture.Bits64.URL, "$version", cli.Version) != archive ||
		got.Autoupdate.Hash.URL != "$baseurl/SHA256SUMS" ||
		got.Checkver.URL != "https://github.com/me/mcp-bash/releases/latest/download/SHA256SUMS" {
		t.Errorf("%+v", got)
	}
	if found := regexp.MustCompile(got.Checkver.Regex).FindStringSubmatch("x  " + filepath.Base(archive)); found == nil ||
		found[1] != cli.Version {
		t.Errorf("%q", found)
	}
}

// CLI-1702: the entry for aqua has the members of its schema, and its template makes the names of the archives.
func TestAqua(t *testing.T) {
	r := managed(t)
	if err := r.writeAqua(); err != nil {
		t.Fatal(err)
	}
	type asset struct {
		Type, Asset, Algorithm string
		Key                    string `yaml:"public_key"`
	}
	var got struct {
		Packages []struct {
			Type                       string
			Owner                      string `yaml:"repo_owner"`
			Name                       string `yaml:"repo_name"`
			Description, Asset, Format string
			Overrides                  []struct{ Goos, Format string }
			Files                      []struct{ Name, Src string }
			Checksum, Minisign         asset
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(read(t, r.out)["mcp-bash.aqua.yaml"]))
	d.KnownFields(true)
	if err := d.Decode(&got); err != nil || len(got.Packages) != 1 {
		t.Fatal(err)
	}
	p := got.Packages[0]
	if p.Type != "github_release" || p.Owner != "me" || p.Name != "mcp-bash" || len(p.Files) != 6 ||
		p.Files[0].Src != "mcp-bash/bin/mcp-bash" || p.Checksum.Asset != "SHA256SUMS" ||
		p.Minisign.Key != encode(r.minisign.PublicKey()) {
		t.Errorf("%+v", p)
	}
	for _, target := range r.targets {
		format := p.Format
		if target.OS == p.Overrides[0].Goos {
			format = p.Overrides[0].Format
		}
		if name := strings.NewReplacer("{{.Version}}", runtimes.Tag, "{{.OS}}", target.OS, "{{.Arch}}", target.Arch,
			"{{.Format}}", format).Replace(p.Asset); name != target.Archive(runtimes.Tag) {
			t.Errorf("%s: %s", target, name)
		}
	}
	r = managed(t)
	r.base = "https://example.org/releases"
	if err := r.writeAqua(); err != nil || read(t, r.out)["mcp-bash.aqua.yaml"] != nil {
		t.Errorf("an entry for releases that are not on GitHub: %v", err)
	}
}
