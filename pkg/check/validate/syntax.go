package validate

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/check/validate/internal/bash32"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/run/script"
)

const (
	syntaxTime   = 10 * time.Second // Bash needs a millisecond
	syntaxOutput = 64 << 10
)

// checkScripts checks the syntax of the section's Bash scripts, their use of features that macOS
// lacks, and runs shellcheck.
func (c *check) checkScripts() {
	list := c.scripts
	c.scripts = nil
	if c.only != nil {
		return // a migration starts no program
	}
	found, unreadable := make([][]finding.Finding, len(list)), make([]bool, len(list))
	bash := c.bash()
	c.declare(list)
	c.sandbox() // before several goroutines use it
	parallel(len(list), func(i int) {
		if c.ctx.Err() != nil {
			return
		}
		if f := c.syntax(bash, &list[i]); f != nil {
			found[i], unreadable[i] = append(found[i], *f), true
			return
		}
		found[i] = append(found[i], c.mistakes(&list[i])...)
		if list[i].as == importedScript {
			return // it is not shared, and it has another style
		}
		for _, n := range bash32.Newer(list[i].text) {
			found[i] = append(found[i], finding.Finding{
				ID: "bash.newer", Path: list[i].label, Line: n.Line, Fix: n.Instead,
				Message: fmt.Sprintf("%s needs Bash %s; macOS comes with 3.2", n.What, n.Since),
			})
		}
	})
	for _, one := range found {
		for _, f := range one {
			c.add(f)
		}
	}
	var readable []shellScript // shellcheck would repeat the syntax errors of the others
	for i, s := range list {
		if !unreadable[i] && s.as != importedScript {
			readable = append(readable, s)
		}
	}
	c.shellcheck(readable)
}

// parallel calls f with 0 to n-1, on all processors.
func parallel(n int, f func(i int)) {
	var group sync.WaitGroup
	next := make(chan int)
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}

// syntax lets Bash parse a script without running it. It returns nil for valid scripts. Scripts
// that enable extglob are parsed with it.
func (c *check) syntax(bash string, s *shellScript) *finding.Finding {
	if bash == "" {
		return nil // doctor reports the missing Bash
	}
	message, ok := c.parse(bash, s, "-n")
	if !ok && bytes.Contains(s.text, []byte("extglob")) {
		_, ok = c.parse(bash, s, "-O", "extglob", "-n")
	}
	if ok {
		return nil
	}
	f := &finding.Finding{ID: "script.syntax", Path: s.label, Message: "Bash cannot read it"}
	// bash: FILE: line 3: syntax error near ...
	if _, rest, found := strings.Cut(message, ": line "); found {
		number, what, _ := strings.Cut(rest, ": ")
		f.Line, _ = strconv.Atoi(number)
		message = what
	}
	if message != "" {
		f.Message += ": " + message
	}
	return f
}

// parse runs Bash on a script and returns the first line of its errors. Bash reads the file that
// was opened here, even if another file replaces it.
func (c *check) parse(bash string, s *shellScript, options ...string) (complaint string, ok bool) {
	spec := script.Spec{
		Argv: slices.Concat([]string{bash, "--norc"}, options, []string{s.file}),
		Env:  []string{"PATH=" + c.p.Env["PATH"], "LC_ALL=C"},
		Dir:  c.p.Root, Timeout: syntaxTime, StdoutLimit: syntaxOutput, StderrLimit: syntaxOutput,
	}
	if runtime.GOOS != "windows" {
		f, err := boundedfile.OpenBelow(filepath.Dir(s.file), s.file)
		if err != nil {
			return fsys.Cause(err).Error(), false
		}
		defer f.Close()
		spec.Argv[len(spec.Argv)-1] = "/dev/fd/3"
		spec.Extra = map[int]uintptr{3: f.Fd()}
	}
	res := c.o.Runner.Run(c.ctx, spec)
	line, _, _ := strings.Cut(string(res.Stderr), "\n")
	if res.Cause != nil {
		line = res.Cause.Error()
	}
	return line, res.Status == 0 && res.Cause == nil
}
