//go:build unix

package install

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A signer makes signatures of SHA256SUMS with a program.
type signer struct {
	program, file string // the name of the signature
	key           string // the public key, one line
	sign          func(t *testing.T, sums, namespace string)
}

// signers makes keys for the programs that are installed.
func signers(t *testing.T) (list []*signer) {
	t.Helper()
	dir := t.TempDir()
	run := func(t *testing.T, program string, args ...string) {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Stdin = strings.NewReader("\n\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", program, err, out)
		}
	}
	public := func(name string, line int) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(text), "\n")[line]
	}
	if _, err := exec.LookPath("ssh-keygen"); err == nil {
		run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", `releases of "us"`, "-f", filepath.Join(dir, "ssh"))
		list = append(list, &signer{"ssh-keygen", "SHA256SUMS.sig", public("ssh.pub", 0),
			func(t *testing.T, sums, namespace string) {
				os.Remove(sums + ".sig")
				run(t, "ssh-keygen", "-q", "-Y", "sign", "-f", filepath.Join(dir, "ssh"), "-n", namespace, sums)
			}})
	}
	if _, err := exec.LookPath("minisign"); err == nil {
		secret := filepath.Join(dir, "minisign.key")
		run(t, "minisign", "-GW", "-p", filepath.Join(dir, "minisign.pub"), "-s", secret)
		list = append(list, &signer{"minisign", "SHA256SUMS.minisig", public("minisign.pub", 1),
			func(t *testing.T, sums, _ string) { run(t, "minisign", "-Sm", sums, "-s", secret) }})
	}
	return list
}

// CLI-1717: --verify-signature installs an archive only if the key has signed the SHA256SUMS that lists it.
func TestSignature(t *testing.T) {
	for _, with := range signers(t) {
		t.Run(with.program, func(t *testing.T) { with.test(t) })
	}
}

// user returns a user who has the program.
func (with *signer) user(t *testing.T) *user {
	u := newUser(t)
	if path, err := exec.LookPath(with.program); err == nil {
		u.env["PATH"] += ":" + filepath.Dir(path)
	}
	return u
}

func (with *signer) test(t *testing.T) {
	archive := released(t, "2.0.0")
	dir := filepath.Dir(archive)
	sums, signature := filepath.Join(dir, "SHA256SUMS"), filepath.Join(dir, with.file)
	refused := func(why, reason string, args ...string) {
		t.Helper()
		u := with.user(t)
		if len(args) == 0 {
			args = []string{"--archive", archive, "--verify-signature", with.key}
		}
		if u.fails(1, reason, args...); u.version() != "" || u.leftovers() != nil {
			t.Errorf("%s: installed %q, left %q", why, u.version(), u.leftovers())
		}
	}
	refused("no signature", "SHA256SUMS and "+with.file+" are not next to")
	with.sign(t, sums, "mcp-bash-release")
	u := with.user(t)
	key := u.write("keys.pub", "untrusted comment: minisign public key\n"+with.key+"\n", 0o644)
	for _, given := range []string{with.key, key} {
		if r := u.installs("--archive", archive, "--verify-signature", given); !strings.Contains(r.out,
			"✓ Signature of SHA256SUMS verified ("+with.program+")\n✓ Archive checksum verified (SHA256SUMS)\n") {
			t.Errorf("%s", r.out)
		}
	}
	var mark struct{ From, Key string }
	if err := json.Unmarshal([]byte(u.read(".local/share/mcp-bash/INSTALLER.json")), &mark); err != nil ||
		mark.Key != with.key || mark.From != archive {
		t.Errorf("%+v, %v", mark, err)
	}
	server := httptest.NewServer(http.StripPrefix("/v2.0.0/", http.FileServer(http.Dir(dir))))
	defer server.Close()
	u.env["MCPBASH_RELEASE_BASE_URL"] = server.URL
	u.installs("--version", "2.0.0", "--verify-signature", with.key)

	good, err := os.ReadFile(signature)
	if err != nil {
		t.Fatal(err)
	}
	content, _ := os.ReadFile(sums)
	put := func(file string, content []byte) {
		t.Helper()
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	other := signers(t)
	for _, wrong := range other {
		if wrong.program == with.program {
			refused("another key", "The key has not signed SHA256SUMS", "--archive", archive, "--verify-signature", wrong.key)
		}
	}
	put(sums, append(content, '\n'))
	refused("changed sums", "The key has not signed SHA256SUMS")
	put(sums, content)
	for at := range good { // the first line of minisign, and line breaks of ssh-keygen, are not part of the signature
		if at%40 == 7 && at > strings.IndexByte(string(good), '\n') {
			bad := []byte(string(good))
			bad[at] ^= 1
			put(signature, bad)
			refused("changed signature", "The key has not signed SHA256SUMS")
		}
	}
	put(signature, nil)
	refused("empty signature", "The key has not signed SHA256SUMS")
	put(signature, good)
	put(archive, pack(stub("2.0.1")))
	refused("changed archive", "SHA256 checksum verification failed")
	put(sums, []byte("\n"))
	with.sign(t, sums, "mcp-bash-release")
	refused("archive not listed", "SHA256SUMS missing entry")
	put(sums, content)
	if with.program == "ssh-keygen" {
		with.sign(t, sums, "file")
		refused("another purpose", "The key has not signed SHA256SUMS")
	}
	os.Remove(sums)
	refused("no sums", "SHA256SUMS and "+with.file+" are not next to")

	u = newUser(t)
	u.env["PATH"] = u.only(commands...)
	u.fails(1, "Install the package minisign for a key RW..., or openssh-client (ssh-keygen) for a key ssh-...",
		"--archive", archive, "--verify-signature", with.key)
	if u.version() != "" {
		t.Error("installed without a check")
	}
}

// CLI-1717: --verify-signature is refused where no signature would be checked.
func TestSignatureUsage(t *testing.T) {
	u := newUser(t)
	archive, key := released(t, "2.0.0"), "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
	for _, args := range [][]string{
		{"--archive", archive, "--verify-signature", key, "--no-verify"},
		{"--archive", archive, "--verify-signature=" + key, "--verify", strings.Repeat("0", 64)},
		{"--branch", "main", "--verify-signature", key}, {"--ref", "main", "--verify-signature", key},
	} {
		u.fails(2, "--verify-signature is for archives", args...)
	}
	u.fails(2, "--verify-signature requires a public key", "--archive", archive, "--verify-signature")
	for _, text := range []string{"no key", "RWx y", u.path("nothing"), u.write("empty", "", 0o644)} {
		u.fails(2, "Neither a public key of minisign or ssh-keygen, nor a file with one: "+text, "--archive", archive,
			"--verify-signature", text)
	}
	u.fails(1, "This install.sh has no address of releases", "--verify-signature", key) // not the checkout around it
	if u.version() != "" {
		t.Error("something was installed")
	}
}
