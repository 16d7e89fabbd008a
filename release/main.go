// Release builds a release from its checkout (CLI-1702): archives, packages, entries for package
// managers, bills of materials, provenance, and SHA256SUMS with its signatures. The same sources
// produce the same bytes. SOURCE_DATE_EPOCH sets the time of all files. RELEASE_MINISIGN_KEY and
// RELEASE_SSH_KEY name the keys.
//
//	go run . -out DIR [-tag vX.Y.Z] [-targets linux-amd64,...] [-base-url URL] [-commit ID]
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedisct1/go-minisign"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
)

func main() {
	r := release{root: ".."}
	tag := flag.String("tag", "v"+cli.Version, "the `tag`, which has to be that of the version in pkg/cli/version.go")
	targets := flag.String("targets", "", "some of the `systems`, separated by commas; all without")
	flag.StringVar(&r.out, "out", filepath.Join("..", "dist", "release"), "the `directory` for it, made anew")
	flag.StringVar(&r.commit, "commit", "", "the `commit` of the sources; that of the checkout without")
	flag.StringVar(&r.base, "base-url", "", "the `address` of the releases, for a formula and a README.md")
	flag.Parse()
	err := r.choose(*targets)
	if *tag != "v"+cli.Version {
		err = fmt.Errorf("the tag %s is not v%s, the version in pkg/cli/version.go", *tag, cli.Version)
	}
	if err == nil {
		err = r.checkBase()
	}
	if err == nil {
		err = r.findCommit(given("tag"))
	}
	if err == nil {
		err = r.build()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

// A release is a release under construction.
type release struct {
	root    string // the checkout
	out     string // the directory it is built in
	base    string // the address of the releases, "" unknown
	targets []runtimes.Target
	time    time.Time // of everything in it

	commit string // of the sources, as printed by commit.sh; "": unknown

	minisign *minisign.PrivateKey // nil: no signatures of minisign
	ssh      string               // a file with a key, "": no signatures of ssh-keygen

	work  string // a directory for what is on the way
	trees []tree // one for each target

	exporters []tree // one for each target, without a directory
}

// A tree is an installation for one system, laid out in a directory.
type tree struct {
	runtimes.Target
	dir      string   // the directory, called mcp-bash
	programs []string // the commands in it
}

// choose sets the systems, and the time.
func (r *release) choose(list string) error {
	for _, t := range runtimes.Targets {
		if list == "" || slices.Contains(strings.Split(list, ","), t.String()) {
			r.targets = append(r.targets, t)
		}
	}
	if list != "" && len(r.targets) != len(strings.Split(list, ",")) {
		return fmt.Errorf("-targets %s: there are %v", list, runtimes.Targets)
	}
	r.time = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) // as in bundles (CLI-1433)
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil || seconds < r.time.Unix() {
			return fmt.Errorf("SOURCE_DATE_EPOCH=%s is not a number of seconds since 1970, from 1980 on", epoch)
		}
		r.time = time.Unix(seconds, 0).UTC()
	}
	return nil
}

// commits matches the output of commit.sh.
var commits = regexp.MustCompile(`^[0-9a-f]{40,64}(-dirty)?$`)

// given returns the value of an option on the command line, or "".
func given(option string) (value string) {
	flag.Visit(func(f *flag.Flag) {
		if f.Name == option {
			value = f.Value.String()
		}
	})
	return value
}

// findCommit sets the commit to that of the checkout, unless an option sets it. It must be the commit of a tag that the
// repository has.
func (r *release) findCommit(tag string) error {
	if r.commit == "" {
		out, err := exec.Command("sh", filepath.Join(r.root, "release", "commit.sh")).Output()
		if err != nil {
			return fmt.Errorf("commit.sh: %w", err)
		}
		r.commit = strings.TrimSpace(string(out))
	}
	if r.commit == "" {
		return nil
	}
	if !commits.MatchString(r.commit) {
		return fmt.Errorf("%q is not the id of a commit", r.commit)
	}
	out, err := exec.Command("git", "-C", r.root, "rev-parse", "-q", "--verify", "refs/tags/"+tag+"^{commit}").Output()
	if tagged := strings.TrimSpace(string(out)); tag != "" && err == nil && tagged != r.commit {
		return fmt.Errorf("the sources are of commit %s, but the tag %s is %s", r.commit, tag, tagged)
	}
	return nil
}

// build builds the release in a temporary directory, which then replaces the output directory.
func (r *release) build() (err error) {
	final, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(final), 0o755); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp(filepath.Dir(final), ".release."); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	r.out = filepath.Join(r.work, "out")
	if err := os.Mkdir(r.out, 0o755); err != nil {
		return err
	}
	for _, step := range []func() error{
		r.readKeys, r.buildTrees, r.writeArchives, r.writeExporters, r.writeRuntimes, r.writePackages,
		r.writeMaterials, r.writeFormula, r.writeScoop, r.writeAqua, r.writeNPM, r.writeWheels,
		r.writeInstaller, r.writeReadme, r.signArchives, r.writeProvenance, r.writeSums, r.signSums,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(final); err != nil {
		return err
	}
	return os.Rename(r.out, final)
}

// asset is a file of the release, about to be written.
func (r *release) asset(name string) string {
	fmt.Println(name)
	return filepath.Join(r.out, name)
}

// write writes a file with just that mode.
func write(file string, content []byte, mode os.FileMode) error {
	if err := os.WriteFile(file, content, mode); err != nil {
		return err
	}
	return os.Chmod(file, mode)
}
