package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/bench/work"
)

// record measures what the record of requests costs. The floor is the same request of the same server without one.
// Requests that leave no line must cost the same. A line is written before the answer.
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
		more                             float64 // ms, for a request with a line; 0: 5 %
	}{
		{project("10"), "ping", "ping", "", `"result":{`, 0},
		{project("10"), "tools/list", "tools/list", "", `"tools":[`, 0},
		{root, "resources/read, 1 KB", "resources/read", note, unescaped, 0.03},
	} {
		on := filepath.Join(dir, fmt.Sprint(i, ".jsonl"))
		all, err := b.sameRequest(b.recording(c.root, on), c.method, c.params, c.want, 20, 400)
		if err != nil {
			return err
		}
		f := newFigure(c.name+", on record", "", "ms")
		f.add(ours, all[0])
		f.add(floor, all[1])
		if c.more == 0 {
			f.atMost(floor, 1.05)
			b.report.put(f)
			continue
		}
		f.atMostMore(floor, difference, c.more)
		b.report.put(f)
		if err := b.line(c.name, on); err != nil {
			return err
		}
	}
	for _, tool := range []string{"empty", "greet"} {
		if err := b.recordedCall(tool, filepath.Join(dir, tool+".jsonl")); err != nil {
			return err
		}
	}
	return nil
}

// recording returns two servers: one with a record in a file, and one without a record.
func (b *bench) recording(root, file string, env ...string) (list []program) {
	for _, to := range []string{file, "off"} {
		p := b.serving(root)
		p.env = slices.Concat(p.env, env, []string{"MCPBASH_AUDIT=" + to})
		list = append(list, p)
	}
	return list
}

// recordedCall measures calls of a tool.
//
// A recorded call gives its script two more variables. Whether Bash then needs one more page of memory depends on the
// size of its environment. If it does, each process of the script needs that page. So the servers are started many
// times, each time with another size. The result is the mean of the differences in all starts.
func (b *bench) recordedCall(tool, file string) error {
	starts := 64
	if b.quick {
		starts = 3
	}
	var on, off sample
	for start := range starts {
		servers := b.recording(project("10"), file, "MCPBASH_TOOL_ENV_MODE=allowlist", "MCPBASH_TOOL_ENV_ALLOWLIST=PADDING",
			"PADDING="+strings.Repeat("x", start*os.Getpagesize()/starts))
		all, err := b.sameRequest(servers, "tools/call", callOf(tool), want[tool], 1, 150)
		if err != nil {
			return err
		}
		on, off = append(on, all[0].median()), append(off, all[1].median())
	}
	f := newFigure("call "+tool+", on record", "", "ms")
	f.add(ours, on)
	f.add(floor, off)
	f.atMostMore(floor, meanDifference, 0.03)
	b.report.put(f)
	return nil
}

// sameRequest starts servers, and measures the same request of each in n rounds, several times in each round.
func (b *bench) sameRequest(programs []program, method, params, want string, times, n int) (all []sample, err error) {
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
	values, err := rounds(b.rounds(n), 10, tasks)
	for _, figures := range values {
		all = append(all, figures[0])
	}
	return all, err
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
