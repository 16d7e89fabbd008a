package main

import (
	"fmt"

	"mcp-bash/bench/work"
)

// confined measures calls of tools that the kernel holds to nothing. The floor is the same
// call of the same server in the mode off.
func (b *bench) confined() error {
	b.report.title("MCPBASH_CONFINE=all (floor: off)")
	serving := func(mode string) program {
		p := b.serving(project("10"))
		p.env = append(p.env[:len(p.env):len(p.env)], "MCPBASH_CONFINE="+mode)
		return p
	}
	guests, err := gather([]program{serving("all,required"), serving("off")})
	if err != nil {
		return err
	}
	defer guests.end()
	for _, name := range []string{"empty", "greet"} {
		var questions []*question
		for _, s := range guests {
			q, err := s.prepare("tools/call", callOf(name), want[name])
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			questions = append(questions, q)
		}
		all, err := rounds(b.rounds(400), 10, []task{timed(1, questions[0].again), timed(1, questions[1].again)})
		if err != nil {
			return err
		}
		f := newFigure("call "+name+", confined, one at a time", "", "ms")
		f.add(ours, all[0][0])
		f.add(floor, all[1][0])
		f.atMost(floor, 1.02)
		b.report.put(f)
		var tasks []task
		calls := b.rounds(60) + 16
		for _, q := range questions {
			tasks = append(tasks, rated(calls, func(n int) error { return q.keep(n, 16) }))
		}
		if all, err = rounds(b.rounds(8), 1, tasks); err != nil {
			return err
		}
		f = newFigure("calls of "+name+", confined, 16 open", "", "/s")
		f.add(ours, all[0][0])
		f.add(floor, all[1][0])
		f.atLeast(floor, 0.98)
		b.report.put(f)
	}
	return b.confinedMemory()
}

// confinedMemory measures how much memory the server keeps for each confined tool that was called, compared
// with the same tools without confinement.
func (b *bench) confinedMemory() error {
	tools := work.Names(true, 10)[len(work.Scripts):]
	grown := make([]float64, 2)
	for i, mode := range []string{"all,required", "off"} {
		p := b.serving(project("10"))
		p.env = append(p.env[:len(p.env):len(p.env)], "MCPBASH_CONFINE="+mode)
		s, err := opened(p)
		if err != nil {
			return err
		}
		defer s.end()
		call := func(name string) error {
			_, err := s.prepare("tools/call", callOf(name), `"content"`)
			return err
		}
		if err := call("empty"); err != nil {
			return err
		}
		b.rest()
		before, err := memoryOf(s.process.Pid, "VmRSS")
		if err == errNoProc {
			b.report.leaveOut("memory of confinements", err.Error())
			return nil
		} else if err != nil {
			return err
		}
		for _, name := range tools {
			if err := call(name); err != nil {
				return err
			}
		}
		b.rest()
		after, err := memoryOf(s.process.Pid, "VmRSS")
		if err != nil {
			return err
		}
		grown[i] = (after - before) / float64(len(tools))
	}
	f := newFigure("memory of the server for each confinement", "", "kB")
	f.add(ours, sample{grown[0] - grown[1]})
	f.absolute(200)
	b.report.put(f)
	return nil
}
