package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
)

// commands returns the names of the programs, which are the folders of cmd.
func (r *release) commands() (names []string, err error) {
	list, err := os.ReadDir(filepath.Join(r.root, "cmd"))
	for _, d := range list {
		names = append(names, d.Name())
	}
	return names, err
}

// writeScoop writes the manifest for Scoop, which installs the archives for Windows.
func (r *release) writeScoop() error {
	if r.base == "" {
		fmt.Println("no manifest for Scoop: it needs -base-url, the address of the archives")
		return nil
	}
	names, err := r.commands()
	if err != nil {
		return err
	}
	type source struct {
		URL  string `json:"url"`
		Hash string `json:"hash,omitempty"`
	}
	type object = map[string]any
	now, next := map[string]source{}, map[string]source{}
	for _, cpu := range []struct{ arch, name string }{{"amd64", "64bit"}, {"arm64", "arm64"}} {
		t := runtimes.Target{OS: "windows", Arch: cpu.arch}
		if !r.hasTarget(t) {
			continue
		}
		archive := t.Archive(runtimes.Tag)
		sum, err := r.sum(archive)
		if err != nil {
			return err
		}
		now[cpu.name] = source{r.base + "/" + runtimes.Tag + "/" + archive, sum}
		next[cpu.name] = source{URL: r.base + "/v$version/" + strings.Replace(archive, cli.Version, "$version", 1)}
	}
	if len(now) == 0 {
		return nil
	}
	var bin []string
	for _, name := range names {
		bin = append(bin, "bin/"+name+".exe")
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "    ")
	err = encoder.Encode(object{
		"version": cli.Version, "description": summary, "homepage": r.base, "license": "MIT",
		"architecture": now, "extract_dir": "mcp-bash", "bin": bin,
		"checkver": object{"url": r.latest() + "/SHA256SUMS", "regex": `mcp-bash-v([\d.]+)-windows`},
		"autoupdate": object{"architecture": next,
			"hash": object{"url": "$baseurl/SHA256SUMS"}},
	})
	if err != nil {
		return err
	}
	return write(r.asset("mcp-bash.json"), b.Bytes(), 0o644)
}

// writeAqua writes the entry for a registry of aqua, which knows the releases of GitHub. mise needs no file: it finds
// archives by the system and the processor in their names.
func (r *release) writeAqua() error {
	repository, onGitHub := strings.CutPrefix(r.base, "https://github.com/")
	repository, released := strings.CutSuffix(repository, "/releases/download")
	owner, name, both := strings.Cut(repository, "/")
	if !onGitHub || !released || !both || strings.Contains(name, "/") {
		fmt.Println("no entry for aqua: it needs -base-url https://github.com/OWNER/NAME/releases/download")
		return nil
	}
	names, err := r.commands()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `packages:
  - type: github_release
    repo_owner: %s
    repo_name: %s
    description: %s
    asset: mcp-bash-{{.Version}}-{{.OS}}-{{.Arch}}.{{.Format}}
    format: tar.gz
    overrides:
      - goos: windows
        format: zip
    files:
`, owner, name, summary)
	for _, name := range names {
		fmt.Fprintf(&b, "      - name: %s\n        src: mcp-bash/bin/%s\n", name, name)
	}
	b.WriteString("    checksum:\n      type: github_release\n      asset: SHA256SUMS\n      algorithm: sha256\n")
	if r.minisign != nil {
		fmt.Fprintf(&b, "    minisign:\n      type: github_release\n      asset: \"{{.Asset}}.minisig\"\n"+
			"      public_key: %s\n", encode(r.minisign.PublicKey()))
	}
	return write(r.asset("mcp-bash.aqua.yaml"), []byte(b.String()), 0o644)
}
