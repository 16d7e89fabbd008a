package pictures

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
	"mcp-bash/test/pty"
)

var bin string

func TestMain(m *testing.M) {
	os.Exit(checkout.Main(m, func(dir string) error {
		bin = dir
		return checkout.Build(dir, checkout.Commands)
	}))
}

// A session is in docs/pictures/NAME.session. Its first line is the title of the picture. Then
//
//	$ COMMAND   runs a command, and shows it
//	! COMMAND   runs a command in Bash without showing it; CHECKOUT is this repository
//	? PATTERN   waits for text from the last command, a regular expression
//	> TEXT      types an answer
//
// cd changes the directory of later commands.
func TestPictures(t *testing.T) {
	sessions, err := filepath.Glob(filepath.Join(checkout.Root(), "docs", "pictures", "*.session"))
	if err != nil || len(sessions) == 0 {
		t.Fatal("no sessions: ", err)
	}
	for _, session := range sessions {
		t.Run(strings.TrimSuffix(filepath.Base(session), ".session"), func(t *testing.T) {
			text, err := os.ReadFile(session)
			if err != nil {
				t.Fatal(err)
			}
			picture := strings.TrimSuffix(session, ".session") + ".svg"
			got := record(t, string(text))
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(picture, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(picture)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s does not show the output of today's commands; run make pictures", picture)
			}
		})
	}
}

// record runs the session in an empty home and returns its picture.
func record(t *testing.T, session string) string {
	home := checkout.Directory(t)
	installed := filepath.Join(home, ".local", "bin")
	if err := errors.Join(os.MkdirAll(filepath.Dir(installed), 0o755), os.Symlink(bin, installed)); err != nil {
		t.Fatal(err)
	}
	title, steps, _ := strings.Cut(session, "\n")
	r := recorder{t: t, home: home, dir: home}
	for step := range strings.Lines(steps) {
		r.step(strings.TrimSpace(step))
	}
	r.finish()
	return r.screen.svg(title)
}

type recorder struct {
	t         *testing.T
	home, dir string
	running   *pty.Session
	screen    screen
}

func (r *recorder) step(line string) {
	kind, text, _ := strings.Cut(line, " ")
	switch kind {
	case "":
	case "$":
		r.finish()
		if len(r.screen.lines) > 0 {
			r.screen.print("\n")
		}
		r.screen.print("\x1b[2m$\x1b[0m \x1b[1m" + text + "\x1b[0m\n")
		if place, ok := strings.CutPrefix(text, "cd "); ok {
			r.dir = filepath.Join(r.dir, place)
			return
		}
		r.running = pty.Start(r.t, r.command(text))
	case "!":
		r.finish()
		if out, err := r.command(text).CombinedOutput(); err != nil {
			r.t.Fatalf("%s: %v\n%s", text, err, out)
		}
	case "?":
		r.running.Expect(text)
	case ">":
		r.running.Type(text + "\n")
	default:
		r.t.Fatalf("%q: unknown kind of line", line)
	}
}

func (r *recorder) command(line string) *exec.Cmd {
	cmd := exec.Command("bash", "-c", fmt.Sprintf("stty cols %d rows 40 2>/dev/null; %s", columns, line))
	cmd.Dir = r.dir
	cmd.Env = []string{"HOME=" + r.home, "PATH=" + r.home + "/.local/bin:/usr/local/bin:/usr/bin:/bin",
		"TERM=xterm-256color", "LANG=C.UTF-8", "CHECKOUT=" + checkout.Root()}
	return cmd
}

var varying = regexp.MustCompile(`\b[0-9.]+ (ms|s)\b`)

// finish waits for the running command, and prints its output without what differs from run to run.
func (r *recorder) finish() {
	if r.running == nil {
		return
	}
	_, shown := r.running.Wait()
	r.running = nil
	shown = strings.NewReplacer(r.dir+"/", "", r.home, "~", bin, "~/.local/bin").Replace(shown)
	r.screen.print(varying.ReplaceAllString(shown, "8 $1"))
}
