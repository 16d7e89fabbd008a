package main

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// call measures tools/call of tools that are Bash scripts. The floor is Bash
// itself: the same script, started and listened to without any server.
func (b *bench) call() error {
	b.report.title("tools/call (floor: exec of the script alone)")
	if err := b.bashAlone(); err != nil {
		return err
	}
	if err := b.callOne("empty", b.otherServers(10, b.help()...)); err != nil {
		return err
	}
	if err := b.callOne("greet", b.otherServers(10, b.help()...)); err != nil {
		return err
	}
	if err := b.callPlain(); err != nil {
		return err
	}
	return b.callMany()
}

// execEnv is what a script needs to run as it does below our server, which
// gives it thirty variables more.
func (p *fixture) execEnv() []string {
	return environment(append(p.help(), p.sdk(), "MCP_TOOL_ARGS_JSON="+arguments)...)
}

// exec runs a script as directly as Go can.
func (p *fixture) exec(script string, env []string) func() error {
	return func() error {
		cmd := exec.Command(p.bash, script)
		cmd.Env = env
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		if _, err := io.ReadAll(out); err != nil {
			return err
		}
		return cmd.Wait()
	}
}

// bashAlone is what scripts cost without any server: what our SDK costs.
func (b *bench) bashAlone() error {
	list := []struct {
		name, file string
		bound      float64
	}{
		{"bash: empty script", script("empty"), 0},
		{"bash: three command substitutions", filepath.Join(project("10"), "more", "forks.sh"), 0},
		{"bash: source the SDK", filepath.Join(project("10"), "more", "source.sh"), 2},
		{"bash: source, two arguments, an object", script("greet"), 2.5},
		{"bash: the same with mcp_into", filepath.Join(project("10"), "more", "into.sh"), 2.5},
	}
	tasks := make([]task, len(list))
	for i, l := range list {
		tasks[i] = timed(1, b.exec(l.file, b.execEnv()))
	}
	all, err := rounds(b.rounds(200), 5, tasks)
	if err != nil {
		return err
	}
	for i, l := range list {
		f := newFigure(l.name, "", "ms")
		f.add(floor, all[i][0])
		target, met := "", func(float64) bool { return false }
		if l.bound > 0 {
			target, met = fmt.Sprintf("≤ %g", l.bound), func(v float64) bool { return v <= l.bound }
		}
		if i > 0 {
			f.claim("÷ empty", all[i][0], all[0][0], ratio, target, met)
		}
		b.report.put(f)
	}
	return nil
}

// want is what the answer to a call of a script holds.
var want = map[string]string{"empty": `"text":""`, "greet": `\"name\":\"World\"`}

func callOf(name string) string { return `{"name":"` + name + `","arguments":` + arguments + `}` }

// callOne measures one call after the other.
func (b *bench) callOne(name string, others []program) error {
	guests, err := gather(append(b.versions(project("10")), others...))
	if err != nil {
		return err
	}
	defer guests.end()
	tasks := []task{timed(1, b.exec(script(name), b.execEnv()))}
	for _, s := range guests {
		q, err := s.prepare("tools/call", callOf(name), want[name])
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		tasks = append(tasks, timed(1, q.again))
	}
	all, err := rounds(b.rounds(300), 5, tasks)
	if err != nil {
		return err
	}
	f := newFigure("call "+name+", one at a time", "", "ms")
	f.add(floor, all[0][0])
	for i, s := range guests {
		f.add(s.name, all[i+1][0])
	}
	if name == "greet" {
		f.atMost(floor, 1.08)
		f.atMostMore(floor, difference, 0.25)
		for _, name := range otherNames {
			f.below(name)
		}
	} else { // nothing but the server's share; no target
		f.against(floor, "", nil)
		f.against(f.bestOther(), "", nil)
	}
	b.report.put(f)
	return nil
}

// callPlain measures the same call of the other servers without our SDK's table of arguments.
func (b *bench) callPlain() error {
	guests, err := gather(append(b.versions(project("10")), b.otherServers(10)...))
	if err != nil {
		return err
	}
	defer guests.end()
	var tasks []task
	for _, s := range guests {
		q, err := s.prepare("tools/call", callOf("greet"), want["greet"])
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		tasks = append(tasks, timed(1, q.again))
	}
	all, err := rounds(b.rounds(60), 2, tasks)
	if err != nil {
		return err
	}
	f := newFigure("call greet, the others hand over JSON alone", "", "ms")
	for i, s := range guests {
		f.add(s.name, all[i][0])
	}
	f.against(f.bestOther(), "", nil)
	b.report.put(f)
	return nil
}

// callMany measures how many calls a second get done with several open.
func (b *bench) callMany() error {
	guests, err := gather(b.all(10))
	if err != nil {
		return err
	}
	defer guests.end()
	var questions []*question
	for _, s := range guests {
		q, err := s.prepare("tools/call", callOf("greet"), want["greet"])
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		questions = append(questions, q)
	}
	for _, open := range []int{1, 4, 16, 64} {
		calls := b.rounds(60) + open
		tasks := []task{rated(calls, b.execMany(open))}
		for _, q := range questions {
			tasks = append(tasks, rated(calls, func(n int) error { return q.keep(n, open) }))
		}
		all, err := rounds(b.rounds(8), 1, tasks)
		if err != nil {
			return err
		}
		f := newFigure(fmt.Sprintf("calls of greet, %d open", open), "", "/s")
		f.add(floor, all[0][0])
		for i, s := range guests {
			f.add(s.name, all[i+1][0])
		}
		f.atLeast(floor, 0.95)
		f.against(f.bestOther(), "", nil)
		b.report.put(f)
	}
	return nil
}

// execMany runs the script n times, with open runs at once.
func (b *bench) execMany(open int) func(n int) error {
	run := b.exec(script("greet"), b.execEnv())
	return func(n int) error {
		var left atomic.Int64
		left.Store(int64(n))
		var failed atomic.Pointer[error]
		var group sync.WaitGroup
		for range open {
			group.Go(func() {
				for left.Add(-1) >= 0 {
					if err := run(); err != nil {
						failed.Store(&err)
						return
					}
				}
			})
		}
		group.Wait()
		if err := failed.Load(); err != nil {
			return *err
		}
		return nil
	}
}
