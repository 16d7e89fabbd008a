package main

import "fmt"

// large measures calls whose answer is long. The floor starts the same script,
// reads what it prints, escapes it once and writes one line.
func (b *bench) large() error {
	b.report.title("long answers (floor: the script's output passed on)")
	for _, size := range []struct{ tool, title string }{{"text-1", "1 MB of text"}, {"text-9", "9 MB of text"}} {
		if err := b.largeOne(size.tool, size.title); err != nil {
			return err
		}
	}
	return b.largeMemory()
}

func (b *bench) through(tool string) program {
	return program{floor, []string{b.bin("floor"), "through", script(tool)}, environment()}
}

const unescaped = "Nothing in this line has to be escaped."

func (b *bench) largeOne(tool, title string) error {
	guests, err := gather(b.all(10))
	if err != nil {
		return err
	}
	defer guests.end()
	through, err := start(b.through(tool))
	if err != nil {
		return err
	}
	defer through.end()
	var tasks []task
	for _, s := range append(serverList{through}, guests...) {
		q, err := s.prepare("tools/call", callOf(tool), unescaped)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		tasks = append(tasks, timed(1, q.again))
	}
	all, err := rounds(b.rounds(30), 3, tasks)
	if err != nil {
		return err
	}
	f := newFigure("call, "+title, "", "ms")
	f.add(floor, all[0][0])
	for i, s := range guests {
		f.add(s.name, all[i+1][0])
	}
	f.atMost(floor, 1.3)
	for _, name := range otherNames {
		f.below(name)
	}
	b.report.put(f)
	return nil
}

// largeMemory is what a server that has just been started needs at most for one
// long answer.
func (b *bench) largeMemory() error {
	f := newFigure("peak memory, one call of 9 MB", "", "MB")
	for _, p := range b.all(10) {
		var peak sample
		for range 3 {
			s, err := opened(p)
			if err != nil {
				return err
			}
			_, err = s.prepare("tools/call", callOf("text-9"), unescaped)
			var kb float64
			if err == nil {
				kb, err = memoryOf(s.process.Pid, "VmHWM")
			}
			s.end()
			if err == errNoProc {
				b.report.leaveOut(f.Name, err.Error())
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			peak = append(peak, kb/1024)
		}
		f.add(p.name, peak)
	}
	f.absolute(50)
	b.report.put(f)
	return nil
}
