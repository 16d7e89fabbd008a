package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jedisct1/go-minisign"

	"mcp-bash/pkg/bundle/runtimes"
)

// keys is the file with the public keys, next to the other files.
const keys = "mcp-bash.pub"

// readKeys reads the keys that RELEASE_MINISIGN_KEY and RELEASE_SSH_KEY name, and writes their public keys. Both have
// the name of a file, or the text of the key.
func (r *release) readKeys() error {
	var public strings.Builder
	if value := os.Getenv("RELEASE_MINISIGN_KEY"); value != "" {
		line, err := r.readMinisign(value)
		if err != nil {
			return fmt.Errorf("RELEASE_MINISIGN_KEY: %w", err)
		}
		public.WriteString(line)
	}
	if value := os.Getenv("RELEASE_SSH_KEY"); value != "" {
		line, err := r.readSSH(value)
		if err != nil {
			return fmt.Errorf("RELEASE_SSH_KEY: %w", err)
		}
		public.WriteString(line)
	}
	if public.Len() == 0 {
		fmt.Println("no signatures: they need RELEASE_MINISIGN_KEY or RELEASE_SSH_KEY")
		return nil
	}
	return write(r.asset(keys), []byte(public.String()), 0o644)
}

// readMinisign reads a key of minisign, and returns the file of its public key. RELEASE_MINISIGN_PASSWORD unlocks it.
func (r *release) readMinisign(value string) (string, error) {
	text := []byte(value)
	if !strings.HasPrefix(value, "untrusted comment:") {
		var err error
		if text, err = os.ReadFile(value); err != nil {
			return "", err
		}
	}
	key, err := minisign.DecodePrivateKey(string(text))
	if err != nil {
		return "", errors.New("not a secret key of minisign") // the cause could quote the key
	}
	if key.IsEncrypted() {
		if err := key.Decrypt(os.Getenv("RELEASE_MINISIGN_PASSWORD")); err != nil {
			return "", fmt.Errorf("RELEASE_MINISIGN_PASSWORD does not unlock it: %w", err)
		}
	}
	r.minisign = &key
	public := key.PublicKey()
	return fmt.Sprintf("untrusted comment: minisign public key\n%s\n", encode(public)), nil
}

// encode returns the text of a public key: RW and more.
func encode(key minisign.PublicKey) string {
	return base64.StdEncoding.EncodeToString(append(append(key.SignatureAlgorithm[:], key.KeyId[:]...),
		key.PublicKey[:]...))
}

// readSSH puts a key of ssh-keygen into a file, and returns the line of its public key.
func (r *release) readSSH(value string) (string, error) {
	r.ssh = value
	if strings.HasPrefix(value, "-----BEGIN ") {
		r.ssh = filepath.Join(r.work, "ssh")
		if err := write(r.ssh, []byte(strings.TrimSpace(value)+"\n"), 0o600); err != nil {
			return "", err
		}
	}
	public, err := exec.Command("ssh-keygen", "-y", "-P", "", "-f", r.ssh).Output()
	if err != nil {
		return "", fmt.Errorf("ssh-keygen -y: %w: the key is missing, or has a password", err)
	}
	fields := strings.Fields(string(public))
	if len(fields) < 2 || fields[0] != "ssh-ed25519" {
		return "", errors.New("not an Ed25519 key: the signatures of others differ each time")
	}
	return strings.Join(fields[:2], " ") + "\n", nil // without the comment, which may name a person
}

// signArchives signs each archive with minisign, as aqua expects it.
func (r *release) signArchives() error {
	for _, t := range r.targets {
		for _, archive := range []string{t.Archive(runtimes.Tag), exporterArchive(t)} {
			if err := r.signMinisign(archive); err != nil {
				return err
			}
		}
	}
	return nil
}

// signSums signs SHA256SUMS, which has the checksums of all other files, with each key.
func (r *release) signSums() error {
	if err := r.signMinisign("SHA256SUMS"); err != nil || r.ssh == "" {
		return err
	}
	sums, err := os.Open(filepath.Join(r.out, "SHA256SUMS"))
	if err != nil {
		return err
	}
	defer sums.Close()
	cmd := exec.Command("ssh-keygen", "-Y", "sign", "-q", "-n", "mcp-bash-release", "-f", r.ssh)
	cmd.Stdin = sums
	signature, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("ssh-keygen -Y sign: %w", err)
	}
	return write(r.asset("SHA256SUMS.sig"), signature, 0o644)
}

// signMinisign signs a file, if there is a key.
func (r *release) signMinisign(name string) error {
	if r.minisign == nil {
		return nil
	}
	signature, err := r.minisign.SignFile(filepath.Join(r.out, name), minisign.SignOptions{Hashed: true,
		TrustedComment: fmt.Sprintf("timestamp:%d\tfile:%s\thashed", r.time.Unix(), name)})
	if err != nil {
		return err
	}
	return write(r.asset(name+".minisig"), signature.Encode(), 0o644)
}
