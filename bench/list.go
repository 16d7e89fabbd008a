package main

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// list measures the time to read the list of all tools. The protocol does not let a client choose
// the size of a page. Each server uses its default, and ours, which has a setting, uses
// its maximum.
func (b *bench) list() error {
	b.report.title("tools/list, all pages")
	for _, n := range []int{1000, b.many()} {
		if _, err := makeProject(n); err != nil {
			return err
		}
		guests, err := gather(b.all(n))
		if err != nil {
			return err
		}
		if err := b.listAll(n, guests); err != nil {
			guests.end()
			return err
		}
		if err := guests.end(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) listAll(n int, guests serverList) error {
	var tasks []task
	for _, s := range guests {
		if err := s.checkList(n); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		size, err := s.walk("tools/list")
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		tasks = append(tasks, timed(1, func() error {
			again, err := s.walk("tools/list")
			if err == nil && again != size {
				err = fmt.Errorf("%s: %w: %d bytes, not %d", s.name, errChanged, again, size)
			}
			return err
		}))
	}
	all, err := rounds(b.rounds(min(60, 300_000/n)), 3, tasks)
	if err != nil {
		return err
	}
	f := newFigure(fmt.Sprintf("list of %d tools", n), "", "ms")
	for i, s := range guests {
		f.add(s.name, all[i][0])
	}
	f.atMost(f.bestOther(), 0.35)
	b.report.put(f)
	return nil
}

const firstPage = `{"limit":200}`

func nextPage(cursor string) string { return `{"limit":200,"cursor":"` + cursor + `"}` }

// checkList sees that all tools are listed, once.
func (c *client) checkList(n int) error {
	seen := map[string]bool{}
	for params := firstPage; params != ""; {
		result, err := c.ask("tools/list", params)
		if err != nil {
			return err
		}
		var page struct {
			Tools []struct {
				Name        string
				Description string
				InputSchema struct{ Properties map[string]any }
			}
			NextCursor string
		}
		if err := json.Unmarshal(result, &page); err != nil {
			return err
		}
		for _, t := range page.Tools {
			if t.Description == "" || len(t.InputSchema.Properties) != 3 {
				return fmt.Errorf("a tool lacks something: %+v", t)
			}
			seen[t.Name] = true
		}
		if params = ""; page.NextCursor != "" {
			params = nextPage(page.NextCursor)
		}
	}
	if len(seen) != n {
		return fmt.Errorf("%d tools listed, not %d", len(seen), n)
	}
	return nil
}

// walk reads all pages of a list without looking at what is on them, and returns
// how many bytes they are.
func (c *client) walk(method string) (size int, err error) {
	for params := firstPage; params != ""; {
		if err := c.send(method, params); err != nil {
			return 0, err
		}
		line, err := c.answer()
		if err != nil {
			return 0, err
		}
		size += len(line)
		params = ""
		if cursor := cursorIn(line); cursor != "" {
			params = nextPage(cursor)
		}
	}
	return size, nil
}

// cursorIn finds the cursor before or behind the tools, where encoders put it,
// and does not search all of the page.
func cursorIn(line []byte) string {
	const ends = 1000
	mark := []byte(`"nextCursor":"`)
	for _, part := range [][]byte{line[max(0, len(line)-ends):], line[:min(len(line), ends)]} {
		if _, rest, found := bytes.Cut(part, mark); found {
			cursor, _, _ := bytes.Cut(rest, []byte{'"'})
			return string(cursor)
		}
	}
	return ""
}
