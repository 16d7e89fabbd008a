package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/text/weburl"
)

// checkBase returns an error for an address that cannot be part of scripts and pages.
func (r *release) checkBase() error {
	if r.base == "" {
		return nil
	}
	switch u, err := weburl.Parse(r.base); {
	case err == weburl.ErrPort:
		return fmt.Errorf("-base-url %s: %w", secrets.Logins(r.base), err)
	case err != nil || u.Scheme != "https" || strings.ContainsAny(r.base, "\"'`#?$\\ ;&|<>()\n"):
		return fmt.Errorf("-base-url %s: not an https address", secrets.Logins(r.base))
	case u.User != nil:
		return errors.New("-base-url: an address with a login would be published")
	}
	r.base = strings.TrimSuffix(r.base, "/")
	return nil
}

// placeholder is the address of the releases in pages of the sources.
const placeholder = "https://example.com/mcp-bash"

// addressed are the files of a tree with the placeholder.
var addressed = []string{"README.md", "docs/INSTALL.md"}

// address writes the address of the releases into a tree: into the file RELEASES for doctor and bundle, into
// install.sh, and into pages (CLI-1170).
func (r *release) address(tree string) error {
	if r.base == "" {
		return nil
	}
	if err := write(filepath.Join(tree, "RELEASES"), []byte(r.base+"\n"), 0o644); err != nil {
		return err
	}
	for _, name := range addressed {
		file := filepath.Join(tree, filepath.FromSlash(name))
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := write(file, bytes.ReplaceAll(text, []byte(placeholder), []byte(r.base)), 0o644); err != nil {
			return err
		}
	}
	text, err := r.installer()
	if err != nil {
		return err
	}
	return write(filepath.Join(tree, "install.sh"), text, 0o755)
}

// installer returns install.sh with the address of the releases and the tag of this one.
func (r *release) installer() ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(r.root, "install.sh"))
	if err != nil || r.base == "" {
		return text, err
	}
	for _, value := range [][2]string{{"released_at", r.base}, {"released_as", runtimes.Tag}} {
		empty := []byte("\n" + value[0] + "=''\n")
		if bytes.Count(text, empty) != 1 {
			return nil, fmt.Errorf("install.sh: %s='' is not there once", value[0])
		}
		text = bytes.Replace(text, empty, []byte("\n"+value[0]+"='"+value[1]+"'\n"), 1)
	}
	return text, nil
}

func (r *release) writeInstaller() error {
	text, err := r.installer()
	if err != nil {
		return err
	}
	return write(r.asset("install.sh"), text, 0o755)
}

// writeReadme writes the page of the release: how to install it in one line, and with a checksum (CLI-1171).
func (r *release) writeReadme() error {
	if r.base == "" {
		fmt.Println("no README.md: it needs -base-url, the address of the archives")
		return nil
	}
	from := r.base + "/" + runtimes.Tag
	var b strings.Builder
	fmt.Fprintf(&b, `# mcp-bash %s

Install the latest release in one line:

`+"```console\n$ curl -fsSL %s/install.sh | bash -s -- --yes\n```"+`

Install this release only if its archive has the checksum on this page:

`+"```console\n$ curl -fsSLO %s/install.sh\n", strings.TrimPrefix(runtimes.Tag, "v"), r.latest(), from)
	for _, t := range r.targets {
		sum, err := r.sum(t.Archive(runtimes.Tag))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "$ bash install.sh --verify %s   # %s\n", sum, t)
	}
	b.WriteString("```\n\n`bash install.sh --help` lists all options. `SHA256SUMS` has the checksums of all files.\n")
	return write(r.asset("README.md"), []byte(b.String()), 0o644)
}

// latest returns the address of the files of the latest release, as install.sh computes it (CLI-1704).
func (r *release) latest() string {
	if forge, ok := strings.CutSuffix(r.base, "/download"); ok && strings.HasSuffix(forge, "/releases") {
		return forge + "/latest/download"
	}
	return r.base + "/latest"
}
