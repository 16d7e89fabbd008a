package main

import (
	"fmt"
	"strings"

	"mcp-bash/bench/work"
)

// inMeta returns the _meta of a request of revision 2026-07-28.
func inMeta(capabilities string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},` +
		`"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
}

// stateless makes a request of revision 2026-07-28 of one with a handshake.
func stateless(params, capabilities string) string {
	if params == "{}" {
		return "{" + inMeta(capabilities) + "}"
	}
	return params[:len(params)-1] + "," + inMeta(capabilities) + "}"
}

// asLong makes a request with a handshake as long as the stateless request, by members that servers
// ignore.
func asLong(params string) string {
	return strings.ReplaceAll(stateless(params, "{}"), "io.modelcontextprotocol/", "xx.modelcontextprotocol/")
}

// stateless measures requests of the stateless protocol. The floor is the same request to the same process by a
// client that began with a handshake: our server answers both on one stream. A part of the difference
// is the length of the stateless request. So another request has a handshake and the same
// length. The other servers answer stateless requests too.
func (b *bench) stateless() error {
	b.report.title("revision 2026-07-28 (floor: the same request after a handshake)")
	content, err := makeContent()
	if err != nil {
		return err
	}
	scripts := b.otherServers(10, b.help()...)
	files := b.others([]string{"-tools", "0", "-content", content}, environment())
	for _, c := range []struct {
		name, root, method, params, want string
		times, rounds                    int
		others                           []program
	}{
		{"call empty", project("10"), "tools/call", callOf("empty"), want["empty"], 1, 300, scripts},
		{"call greet", project("10"), "tools/call", callOf("greet"), want["greet"], 1, 300, scripts},
		{"tools/list, 10 tools", project("10"), "tools/list", "{}", `"tools":[`, 20, 400, scripts},
		{"resources/read, 1 KB", content, "resources/read",
			fmt.Sprintf(`{"uri":%q}`, "file://"+work.Resource(content, "note.txt")), unescaped, 20, 400, files},
		{"prompts/get", content, "prompts/get",
			fmt.Sprintf(`{"name":%q,"arguments":{%q:"the weather"}}`, work.Prompt, work.Argument), "of the weather.",
			20, 400, files},
	} {
		us, err := opened(b.serving(c.root))
		if err != nil {
			return err
		}
		guests := serverList{us}
		defer func() { guests.end() }()
		for _, p := range c.others {
			if p.name == "ts-sdk" {
				p.argv = append(p.argv, "--stateless")
			}
			s, err := start(p)
			if err != nil {
				return err
			}
			guests = append(guests, s)
		}
		handshake, err := us.prepare(c.method, c.params, c.want)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		long, err := us.prepare(c.method, asLong(c.params), c.want)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		columns := []string{floor, "as long"}
		tasks := []task{timed(c.times, handshake.again), timed(c.times, long.again)}
		for _, s := range guests {
			if s != us {
				if _, err := s.prepare("server/discover", stateless("{}", "{}"), `"2026-07-28"`); err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
			}
			q, err := s.prepare(c.method, stateless(c.params, "{}"), c.want)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", c.name, s.name, err)
			}
			columns, tasks = append(columns, s.name), append(tasks, timed(c.times, q.again))
		}
		all, err := rounds(b.rounds(c.rounds), 5, tasks)
		if err != nil {
			return err
		}
		f := newFigure(c.name+", stateless", "", "ms")
		for i, column := range columns {
			f.add(column, all[i][0])
		}
		f.atMost(floor, 1.05)
		f.atMost("as long", 1.05)
		for _, name := range otherNames {
			f.below(name)
		}
		b.report.put(f)
		if err := guests.end(); err != nil {
			return err
		}
		guests = nil
	}
	return nil
}
