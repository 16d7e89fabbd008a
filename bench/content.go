package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"mcp-bash/bench/work"
)

// content measures requests that need no script: resources, a prompt and a completion. A handler of each
// other server reads the file of a resource, as ours does. The text of the prompt is part of
// the other programs, but our server reads it each time.
func (b *bench) content() error {
	b.report.title("resources, prompts, completions (floor: read, escape, write; else lines answered unread)")
	root, err := makeContent()
	if err != nil {
		return err
	}
	uri := func(name string) string { return fmt.Sprintf(`{"uri":%q}`, "file://"+work.Resource(root, name)) }
	for _, c := range []struct {
		name, method, params, want, file string
		times, rounds                    int
		floor                            float64 // how much of it is allowed; 0: no target
	}{
		{"resources/read, 1 KB", "resources/read", uri("note.txt"), unescaped, "note.txt", 20, 400, 0},
		{"resources/read, 5 MB of prose", "resources/read", uri("book.txt"), unescaped, "book.txt", 1, 60, 1.3},
		{"resources/read, 5 MB of program text", "resources/read", uri("code.txt"), `\tprintf \"%s`, "code.txt", 1, 60,
			1.3},
		{"prompts/get", "prompts/get", fmt.Sprintf(`{"name":%q,"arguments":{%q:"the weather"}}`, work.Prompt,
			work.Argument),
			"of the weather.", "", 20, 400, 0},
		{"completion/complete", "completion/complete",
			fmt.Sprintf(`{"ref":{"type":"ref/prompt","name":%q},"argument":{"name":%q,"value":"rain"}}`,
				work.Prompt, work.Argument), `"values":[`, "", 20, 400, 0},
	} {
		least := b.wire()
		if c.file != "" {
			least.argv = []string{b.bin("floor"), "read", work.Resource(root, c.file)}
		}
		servers := append(b.versions(root), b.others([]string{"-tools", "0", "-content", root},
			environment())...)
		all, err := b.sideBySide(least, servers, c.method, c.params, c.want, c.times, c.rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		f := newFigure(c.name, "", "ms")
		for column, s := range all {
			f.add(column, s)
		}
		if c.floor > 0 {
			f.atMost(floor, c.floor)
		} else {
			f.against(floor, "", nil)
		}
		f.atMost(f.bestOther(), 1)
		b.report.put(f)
	}
	return nil
}

// sideBySide asks a floor and some servers the same, and returns how long each
// took by its column. The floor is not looked at: it answers anything.
func (b *bench) sideBySide(least program, servers []program, method, params, want string, times,
	n int) (map[string]sample, error) {
	guests, err := gather(servers)
	if err != nil {
		return nil, err
	}
	defer guests.end()
	bottom, err := start(least)
	if err != nil {
		return nil, err
	}
	defer bottom.end()
	var tasks []task
	for _, s := range append(serverList{bottom}, guests...) {
		sought := want
		if s == bottom {
			sought = ""
		}
		q, err := s.prepare(method, params, sought)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		tasks = append(tasks, timed(times, q.again))
	}
	taken, err := rounds(b.rounds(n), 5, tasks)
	if err != nil {
		return nil, err
	}
	all := map[string]sample{bottom.name: taken[0][0]}
	for i, s := range guests {
		all[s.name] = taken[i+1][0]
	}
	return all, nil
}

// makeContent makes the project of the resources and the prompt.
func makeContent() (root string, err error) {
	root = project("content")
	w := &writer{}
	w.file(filepath.Join(root, "server.d", "server.meta.json"), `{"name":"bench","version":"1.0.0"}`+"\n", 0o644)
	for name, text := range map[string]string{"note.txt": prose(1000), "book.txt": prose(5_000_000),
		"code.txt": code(5_000_000)} {
		w.file(work.Resource(root, name), text, 0o644)
	}
	w.file(work.PromptFile(root), strings.Repeat("List what is good and what is bad. ",
		20)+"\nWrite a review of {{"+work.Argument+"}}.\n", 0o644)
	w.file(filepath.Join(root, "prompts", work.Prompt+".meta.json"), fmt.Sprintf(
		`{"name":%q,"description":%q,"arguments":[{"name":%q,"description":%q,"required":true}]}`+"\n",
		work.Prompt, work.PromptDescription, work.Argument, work.ArgumentUse), 0o644)
	return root, w.err
}

// code is text of n bytes in which, as in a program, every line needs a few
// escapes.
func code(n int) string {
	const part = "if [[ \"$count\" -gt 3 ]]; then\n\tprintf \"%s: too many of them\\n\" \"${name}\" >&2\n\treturn 1\nfi\n"
	return strings.Repeat(part, n/len(part)+1)[:n]
}
