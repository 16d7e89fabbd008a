package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"mcp-bash/bench/work"
)

// record measures what the record of requests costs. The floor is the same request of the same server without one.
// Requests that leave no line must cost the same. A line is written before the answer. In each start of a server, a
// call takes up to 15 µs more or less, because its memory is elsewhere. So servers that run scripts are started several
// times.
func (b *bench) record() error {
	b.report.title("MCPBASH_AUDIT (floor: off)")
	dir, err := os.MkdirTemp("", "bench-record")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	root, err := makeContent()
	if err != nil {
		return err
	}
	note := fmt.Sprintf(`{"uri":%q}`, "file://"+work.Resource(root, "note.txt"))
	for i, c := range []struct {
		root, name, method, params, want string
		times, starts                    int
		more                             float64 // ms, for a request with a line; 0: 5 %
	}{
		{project("10"), "ping", "ping", "", `"result":{`, 20, 1, 0},
		{project("10"), "tools/list", "tools/list", "", `"tools":[`, 20, 1, 0},
		{root, "resources/read, 1 KB", "resources/read", note, unescaped, 20, 1, 0.03},
		{project("10"), "call empty", "tools/call", callOf("empty"), want["empty"], 1, 8, 0.03},
		{project("10"), "call greet", "tools/call", callOf("greet"), want["greet"], 1, 8, 0.03},
	} {
		serving := func(to string) program {
			p := b.serving(c.root)
			p.env = append(p.env[:len(p.env):len(p.env)], "MCPBASH_AUDIT="+to)
			return p
		}
		on := filepath.Join(dir, fmt.Sprint(i, ".jsonl"))
		var all [2]sample
		for range c.starts {
			some, err := b.sameRequest([]program{serving(on), serving("off")}, c.method, c.params, c.want, c.times)
			if err != nil {
				return err
			}
			for i := range all {
				all[i] = append(all[i], some[i][0]...)
			}
		}
		f := newFigure(c.name+", on record", "", "ms")
		f.add(ours, all[0])
		f.add(floor, all[1])
		if c.more > 0 {
			f.atMostMore(floor, c.more)
		} else {
			f.atMost(floor, 1.05)
		}
		b.report.put(f)
		if c.more > 0 && c.times > 1 {
			if err := b.line(c.name, on); err != nil {
				return err
			}
		}
	}
	return nil
}

// sameRequest starts servers, and measures the same request of each, several times in each round.
func (b *bench) sameRequest(programs []program, method, params, want string, times int) ([][]sample, error) {
	guests, err := gather(programs)
	if err != nil {
		return nil, err
	}
	defer guests.end()
	var tasks []task
	for _, s := range guests {
		q, err := s.prepare(method, params, want)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		tasks = append(tasks, timed(times, q.again))
	}
	return rounds(b.rounds(400), 10, tasks)
}

// line measures the minimum for a request with a line: to hash it for the next one, and to append it to a file.
func (b *bench) line(name, record string) error {
	text, err := os.ReadFile(record)
	if err != nil {
		return err
	}
	read := bytes.LastIndex(text, []byte(`"mcp_resource_read"`))
	if read < 0 {
		return fmt.Errorf("%s has no line of a read", record)
	}
	line, _, _ := bytes.Cut(text[bytes.LastIndexByte(text[:read], '\n')+1:], []byte("\n"))
	file, err := os.OpenFile(record+".alone", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	values, err := rounds(b.rounds(400), 10, []task{timed(20, func() error {
		sha256.Sum256(line)
		_, err := file.Write(line)
		return err
	})})
	if err != nil {
		return err
	}
	f := newFigure(fmt.Sprintf("  hash and write a line of it, %d bytes", len(line)), "", "ms")
	f.add(floor, values[0][0])
	b.report.put(f)
	return nil
}
