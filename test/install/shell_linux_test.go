package install

import (
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
	"mcp-bash/test/pty"
)

// CLI-1168: TAB completes in bash, zsh and fish after install.sh, in a new shell under tmux. Uninstalling
// takes the lines out of the start files again.
func TestTab(t *testing.T) {
	checkout.Needs(t, "tmux", "zsh", "fish")
	u := newUser(t)
	files := stub("2.0.0")
	for name, source := range map[string]string{
		"bash-completion/completions/mcp-bash": "mcp-bash.bash", "zsh/site-functions/_mcp-bash": "_mcp-bash",
		"fish/vendor_completions.d/mcp-bash.fish": "mcp-bash.fish",
	} {
		files["mcp-bash/share/"+name] = u.contents(filepath.Join(checkout.Root(), "share", "completions", source))
	}
	files["mcp-bash/bin/mcp-bash"] = "#!/bin/sh\nexec '" + server + "' \"$@\"\n"
	archive := unverified(t, pack(files))
	u.write(".zshrc", "PS1='zsh> '\nalias l=ls\n", 0o644)
	before := u.read(".zshrc")
	u.env["SHELL"] = "/bin/zsh"
	for range 2 { // an upgrade adds no second line
		r := u.installs("--archive", archive)
		if strings.Contains(r.out, "For completion, add") {
			t.Errorf("%s", r.out)
		}
	}
	const line = `fpath=("$HOME/.local/share/zsh/site-functions" $fpath); autoload -Uz compinit && compinit`
	if rc := u.read(".zshrc"); strings.Count(rc, line) != 1 {
		t.Errorf("%s", rc)
	}
	u.write("bashrc", "PATH=$HOME/.local/bin:$PATH; PS1='bash> '\n"+
		"[ ! -r /usr/share/bash-completion/bash_completion ] || . /usr/share/bash-completion/bash_completion\n"+
		"complete -p mcp-bash >/dev/null 2>&1 || . ~/.local/share/bash-completion/completions/mcp-bash\n", 0o644)
	u.write(".config/fish/config.fish", "fish_add_path -g ~/.local/bin\nfunction fish_prompt; echo 'fish> '; end\n"+
		"set -g fish_greeting\n", 0o644)
	u.write(".local/share/fish/generated_completions/none.fish", "", 0o644) // else fish reads all manual pages
	u.write("tmux.conf", "set -g status off\n", 0o644)                      // its clock redraws the screen at any moment
	for name, start := range map[string]string{
		"bash": "bash --noprofile --rcfile ~/bashrc -i", "zsh": "zsh -i", "fish": "fish -i",
	} {
		cmd := u.command("tmux", "-L", "tab-"+name, "-f", u.path("tmux.conf"), "new-session", start)
		cmd.Env = append(cmd.Env, "TERM=xterm", "LC_ALL=C.UTF-8", "TMUX_TMPDIR="+u.home)
		s := pty.StartWide(t, cmd, 100)
		s.Expect(name + "> ")
		s.Type("mcp-bash reg\t")
		s.Expect("istry") // only completion writes it
		stop := u.command("tmux", "-L", "tab-"+name, "kill-server")
		stop.Env = append(stop.Env, "TMUX_TMPDIR="+u.home)
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
	u.installs("--uninstall")
	if rc := u.read(".zshrc"); rc != before {
		t.Errorf("%s", rc)
	}
	// Without permission to change start files, install.sh prints the line.
	r := u.installs("--archive", archive, "--no-modify-path")
	if !strings.Contains(r.out, "  For completion, add this to "+u.path(".zshrc")+": "+line+"\n") {
		t.Errorf("%s", r.out)
	}
}
