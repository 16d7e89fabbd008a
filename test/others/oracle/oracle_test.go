package oracle

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"mcp-bash/pkg/project"
	provider "mcp-bash/pkg/provider/git"
	"mcp-bash/test/internet"
)

// A repository is a directory in which the git program works.
type repository struct {
	t   *testing.T
	dir string
}

// git runs the git program, untouched by the user's own settings.
func (r *repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repository) write(name string, content []byte) {
	r.t.Helper()
	file := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// grow makes a repository with a history of files that change a little, so that
// packs hold chains of differences. The same seed makes the same one.
func grow(t *testing.T, seed uint64) *repository {
	t.Helper()
	r := &repository{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	random := rand.New(rand.NewPCG(seed, 1))
	lines := make([][]string, 12)
	for i := range lines {
		for range 1 + random.IntN(300) {
			lines[i] = append(lines[i], fmt.Sprintf("%x", random.Uint64()))
		}
	}
	for commit := range 12 {
		for i, text := range lines {
			if commit > 0 && random.IntN(3) > 0 {
				continue
			}
			text[random.IntN(len(text))] = fmt.Sprintf("commit %d", commit)
			r.write(fmt.Sprintf("d%d/deep/file %d.txt", i%3, i), []byte(strings.Join(text, "\n")))
		}
		noise := make([]byte, 2000+random.IntN(5000))
		for i := range noise {
			noise[i] = byte(random.UintN(256))
		}
		r.write("noise.bin", noise)
		r.write("empty", nil)
		r.write(fmt.Sprintf("only-%d", commit), []byte(strings.Repeat("x", 40000)))
		r.git("add", "-A")
		r.git("commit", "-q", "-m", fmt.Sprint("commit ", commit))
		switch commit % 4 {
		case 1:
			r.git("tag", fmt.Sprintf("light-%d", commit))
		case 2:
			r.git("tag", "-a", "-m", "annotated", fmt.Sprintf("v1.%d", commit))
		case 3:
			r.git("branch", fmt.Sprintf("topic/%d", commit))
			r.git("gc", "-q", "--aggressive", "--prune=now")
		}
	}
	return r
}

// serve has the git program's own server answer for a repository, in version 2
// of the protocol or in the one before.
func serve(t *testing.T, in *internet.Internet, r *repository, version2 bool, config ...string) {
	t.Helper()
	exec := r.git("--exec-path")
	for _, setting := range config {
		name, value, _ := strings.Cut(setting, "=")
		r.git("config", name, value)
	}
	backend := &cgi.Handler{
		Path: filepath.Join(exec, "git-http-backend"), Dir: r.dir,
		Env: []string{"GIT_PROJECT_ROOT=" + r.dir, "GIT_HTTP_EXPORT_ALL=1", "HOME=" + r.dir,
			"GIT_CONFIG_NOSYSTEM=1"},
		Stderr: io.Discard,
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if !version2 {
			q.Header.Del("Git-Protocol")
		}
		backend.ServeHTTP(w, q)
	})
	certificate := in.Certificate("git.example", nil)
	in.Name("git.example", []string{"203.0.113.1"})
	in.Serve("203.0.113.1:443", &tls.Config{Certificates: []tls.Certificate{certificate}}, internet.HTTP(handler))
}

// contents are the files of every ref, as go-git reads them from the disk.
func contents(t *testing.T, r *repository) map[string]map[string][]byte {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	repo, err := gogit.PlainOpen(r.dir)
	check(err)
	refs, err := repo.References()
	check(err)
	all := map[string]map[string][]byte{}
	check(refs.ForEach(func(ref *plumbing.Reference) error {
		id, err := repo.ResolveRevision(plumbing.Revision(ref.Name()))
		if err != nil {
			return err
		}
		commit, err := repo.CommitObject(*id)
		if err != nil {
			return err
		}
		files := map[string][]byte{}
		iter, err := commit.Files()
		if err != nil {
			return err
		}
		err = iter.ForEach(func(f *object.File) error {
			if f.Mode != filemode.Regular && f.Mode != filemode.Executable {
				return nil
			}
			text, err := f.Contents()
			files[f.Name] = []byte(text)
			return err
		})
		all[ref.Name().String()] = files
		all[id.String()] = files
		return err
	}))
	return all
}

func TestAgainstGoGit(t *testing.T) {
	for i, tc := range []struct {
		name     string
		version2 bool
		config   []string
	}{
		{"version 2", true, nil},
		{"filter", true, []string{"uploadpack.allowFilter=true", "uploadpack.allowAnySHA1InWant=true"}},
		{"version 0", false, []string{"uploadpack.allowReachableSHA1InWant=true"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			in := internet.New(t)
			r := grow(t, uint64(i))
			serve(t, in, r, tc.version2, tc.config...)
			p := provider.New(project.Env{
				"MCPBASH_ENABLE_GIT_PROVIDER": "true", "MCPBASH_GIT_ALLOW_HOSTS": "git.example",
				"SSL_CERT_FILE": in.RootsAt,
			}, in.Network())
			all, read, seen := contents(t, r), 0, 0
			for _, ref := range slices.Sorted(maps.Keys(all)) {
				for _, file := range slices.Sorted(maps.Keys(all[ref])) {
					if seen++; seen%5 > 0 { // each takes a clone
						continue
					}
					want := all[ref][file]
					uri := "git+https://git.example/.git#" + ref + ":" + strings.ReplaceAll(file, " ", "%20")
					got, err := p.Read(t.Context(), uri, 1<<30)
					if err != nil || !bytes.Equal(got, want) {
						t.Errorf("%s: %d bytes, %v; go-git reads %d", uri, len(got), err, len(want))
					}
					read++
				}
			}
			if read < 20 {
				t.Errorf("%d files read", read)
			}
		})
	}
}
