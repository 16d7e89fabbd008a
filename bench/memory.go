package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"mcp-bash/bench/work"
)

// memory measures what a server takes when it has nothing to do, and what it
// keeps after much work.
func (b *bench) memory() error {
	b.report.title("memory, descriptors, processes, files")
	if _, err := memoryOf(1, "VmRSS"); err == errNoProc {
		b.report.leaveOut("memory", err.Error())
		return nil
	}
	if err := b.idle(); err != nil {
		return err
	}
	if err := b.growth(); err != nil {
		return err
	}
	return b.idleLarge()
}

// rest lets a server become idle before its memory is measured.
func (b *bench) rest() { b.restFor(2 * time.Second) }

func (b *bench) restFor(d time.Duration) {
	if b.quick {
		d = min(d, 300*time.Millisecond)
	}
	time.Sleep(d)
}

func (b *bench) idle() error {
	guests, err := gather(b.all(10))
	if err != nil {
		return err
	}
	defer guests.end()
	for _, s := range guests {
		if err := s.checkList(10); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	b.rest()
	total, own := newFigure("resident, 10 tools listed", "", "MB"), newFigure("of it not file-backed", "", "MB")
	for _, s := range guests {
		rss, err := memoryOf(s.process.Pid, "VmRSS")
		if err != nil {
			return err
		}
		anonymous, err := memoryOf(s.process.Pid, "RssAnon")
		if err != nil {
			return err
		}
		total.add(s.name, sample{rss / 1024})
		own.add(s.name, sample{anonymous / 1024})
	}
	total.absolute(10)
	total.atMost("go-sdk", 1.1)
	b.report.put(total)
	b.report.put(own)
	return b.idleHTTP()
}

// idleHTTP measures the memory of our server over HTTP before the first client.
func (b *bench) idleHTTP() error {
	s, err := startWeb(b.overHTTP(project("10")))
	if err != nil {
		return err
	}
	defer s.end()
	b.rest()
	for _, part := range []struct{ name, field string }{
		{"resident over HTTP, without clients", "VmRSS"}, {"of it the program file", "RssFile"},
	} {
		n, err := memoryOf(s.process.Pid, part.field)
		if err != nil {
			return err
		}
		f := newFigure(part.name, "", "MB")
		f.add(ours, sample{n / 1024})
		b.report.put(f)
	}
	return nil
}

// idleLarge measures the memory of our server with a very large project, after a client has read all lists.
func (b *bench) idleLarge() error {
	n := b.many()
	m := mix{tools: n, resources: n / 5, prompts: n / 20}
	root, err := m.make("large")
	if err != nil {
		return err
	}
	s, err := opened(b.serving(root))
	if err != nil {
		return err
	}
	defer s.end()
	if err := s.checkList(n); err != nil {
		return err
	}
	for _, method := range []string{"resources/list", "resources/templates/list", "prompts/list"} {
		if _, err := s.walk(method); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}
	if _, err := s.prepare("prompts/get", fmt.Sprintf(`{"name":%q,"arguments":{%q:"rain"}}`,
		nameOf("prompt", m.prompts-1), work.Argument), "rain"); err != nil {
		return err
	}
	b.rest()
	b.report.title("memory of a server with " + m.String())
	for _, of := range []struct {
		name, key string
		bound     float64
	}{{"resident, all lists read", "VmRSS", 60}, {"of it not file-backed", "RssAnon", 0}, {"its peak", "VmHWM", 0}} {
		kb, err := memoryOf(s.process.Pid, of.key)
		if err != nil {
			return err
		}
		f := newFigure(of.name, "", "MB")
		f.add(ours, sample{kb / 1024})
		if of.bound > 0 {
			f.absolute(of.bound)
		}
		b.report.put(f)
	}
	return nil
}

// A trace is what a server leaves in the system.
type trace struct{ memory, descriptors, children, files float64 }

func (b *bench) trace(s *server) (t trace, err error) {
	b.rest()
	if t.memory, err = memoryOf(s.process.Pid, "VmRSS"); err != nil {
		return t, err
	}
	t.memory /= 1024
	if t.descriptors, err = descriptorsOf(s.process.Pid); err != nil {
		return t, err
	}
	if t.children, err = childrenOf(s.process.Pid); err != nil {
		return t, err
	}
	err = filepath.WalkDir(tmp(), func(_ string, _ fs.DirEntry, err error) error {
		t.files++
		return err
	})
	return t, err
}

// growth compares what our server leaves before and after many calls. Before
// means after a first call, so that what is made once is there.
func (b *bench) growth() error {
	s, err := opened(b.serving(project("10")))
	if err != nil {
		return err
	}
	defer s.end()
	q, err := s.prepare("tools/call", callOf("greet"), want["greet"])
	if err != nil {
		return err
	}
	before, err := b.trace(s)
	if err != nil {
		return err
	}
	row := b.rounds(10000)
	for _, load := range []struct {
		name string
		do   func() error
	}{
		{fmt.Sprintf("after %d calls in a row", row), func() error { return q.keep(row, 1) }},
		{"after 200 calls at once", func() error { return q.keep(200, 200) }},
		{"after 200 calls at once, again", func() error { return q.keep(200, 200) }},
	} {
		if err := load.do(); err != nil {
			return err
		}
		after, err := b.trace(s)
		if err != nil {
			return err
		}
		for _, g := range []struct {
			name          string
			before, after float64
			unit          string
			bound         float64
		}{
			{"resident", before.memory, after.memory, "MB", 5},
			{"descriptors", before.descriptors, after.descriptors, "", 0},
			{"children", before.children, after.children, "", 0},
			{"files below TMPDIR", before.files, after.files, "", 0},
		} {
			f := newFigure(load.name+": "+g.name, "", g.unit)
			f.add(ours, sample{g.after})
			f.claim("grew by", sample{g.after}, sample{g.before}, difference, fmt.Sprintf("≤ %g", g.bound),
				func(v float64) bool { return v <= g.bound })
			b.report.put(f)
		}
	}
	return nil
}
