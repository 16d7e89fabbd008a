package main

import (
	"bytes"
	"fmt"
	"time"

	"mcp-bash/bench/work"
)

// streams is the number of sessions with an open stream in the comparison. manyStreams is the number for our
// server alone.
const (
	streams     = 1000
	manyStreams = 3500 // one client may have half of the streams, and "ulimit -n 20000" allows 7,600
)

// A stream is idle when this time has passed since the last one was opened. By then, the servers have returned the
// memory of the requests that opened the streams.
const idleAfter = 10 * time.Second

// http measures servers over Streamable HTTP. The generator of the load and a server share the processors.
func (b *bench) http() error {
	b.report.title("over HTTP, scripts (floor: exec of the script alone)")
	return b.httpCalls()
}

// requests measures what starts no script over HTTP.
func (b *bench) requests() error {
	b.report.title("over HTTP, no script (floor: net/http answers requests unread)")
	for _, measure := range []func() error{b.httpRequests, b.httpStart, b.httpIdle, b.httpManyStreams, b.httpAsks} {
		if err := measure(); err != nil {
			return err
		}
	}
	return nil
}

// overHTTP is our server over HTTP, with bounds that the load does not cross. One client may use half of each.
func (p *fixture) overHTTP(root string) program {
	s := p.serving(root)
	s.argv = append(s.argv, "serve", "--http", "127.0.0.1:0")
	s.env = append(s.env, "MCPBASH_HTTP_MAX_SESSIONS=40000", "MCPBASH_HTTP_MAX_STREAMS=40000",
		"MCPBASH_HTTP_MAX_CONNECTIONS=1024", "MCPBASH_HTTP_MAX_REQUESTS=20000", "MCPBASH_HTTP_RATE=0")
	return s
}

// webFloor answers HTTP requests without reading them.
func (p *fixture) webFloor() program {
	return program{floor, []string{p.bin("floor"), "web"}, environment()}
}

// webServers are all servers over HTTP, with the content or the scripts.
func (p *fixture) webServers(version, root string, others []program) []program {
	all := []program{p.overHTTP(root)}
	for _, o := range others {
		o.argv = append(o.argv[:len(o.argv):len(o.argv)], "-http")
		if o.name == "ts-sdk" {
			o.argv[len(o.argv)-1] = "--http"
			if version == statelessVersion {
				o.argv = append(o.argv, "--stateless")
			}
		}
		all = append(all, o)
	}
	return all
}

// A webList holds several servers that run at the same time.
type webList []*web

func gatherWeb(programs []program) (all webList, err error) {
	for _, p := range programs {
		s, err := startWeb(p)
		if err != nil {
			all.end()
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func (all webList) end() {
	for _, s := range all {
		s.end()
	}
}

// protocols are the versions that all servers speak, by what tables call them.
var protocols = []struct{ version, name string }{{handshakeVersion, "sessions"}, {statelessVersion, "stateless"}}

// httpCalls measures calls of a script.
func (b *bench) httpCalls() error {
	for _, protocol := range protocols {
		all, err := gatherWeb(b.webServers(protocol.version, project("10"), b.otherServers(10, b.help()...)))
		if err != nil {
			return err
		}
		for _, c := range []struct{ links, calls, rounds int }{{1, 100, 6}, {16, 320, 4}, {256, 512, 3}} {
			calls := max(b.rounds(c.calls), c.links*2)
			alone := b.execMany(c.links)
			tasks := []task{func() ([]float64, error) {
				v, err := rated(calls, alone)()
				return append(v, 0, 0), err
			}}
			loads, err := all.loads(c.links, protocol.version, "tools/call", "greet", callOf("greet"), want["greet"])
			for _, l := range loads {
				tasks = append(tasks, l.run(calls))
			}
			var values [][]sample
			if err == nil {
				values, err = rounds(b.rounds(c.rounds), 1, tasks)
			}
			for _, l := range loads {
				l.close()
			}
			if err != nil {
				all.end()
				return err
			}
			name := fmt.Sprintf("%s, %d connections", protocol.name, c.links)
			rate, p50, p99 := newFigure("calls of greet, "+name, "", "/s"), newFigure("  of them p50", "", "ms"),
				newFigure("  of them p99", "", "ms")
			rate.add(floor, values[0][0])
			for i, s := range all {
				rate.add(s.name, values[i+1][0])
				p50.add(s.name, values[i+1][1])
				p99.add(s.name, values[i+1][2])
			}
			rate.atLeast(rate.bestOther(), 1.05)
			rate.against(floor, "", nil)
			p50.against(p50.bestOther(), "", nil)
			if c.links == 256 {
				p99.claim("÷ p50", p99.samples[ours], p50.samples[ours], ratio, "≤ 1.5", func(v float64) bool {
					return v <= 1.5
				})
			}
			p99.against(p99.bestOther(), "", nil)
			b.report.put(rate)
			b.report.put(p50)
			b.report.put(p99)
		}
		all.end()
	}
	return nil
}

// loads prepares the same load for all servers.
func (all webList) loads(links int, version, method, name, params, want string) (list []*load, err error) {
	for _, s := range all {
		sought := want
		if s.name == floor {
			sought = ""
		}
		l, err := s.prepare(links, version, method, name, params, sought)
		if err != nil {
			return list, err
		}
		list = append(list, l)
	}
	return list, nil
}

// httpRequests measures requests that start no script.
func (b *bench) httpRequests() error {
	const links = 16
	content, err := makeContent()
	if err != nil {
		return err
	}
	files := b.others([]string{"-tools", "10", "-content", content}, environment())
	uri := "file://" + work.Resource(content, "note.txt")
	for _, protocol := range protocols {
		for _, c := range []struct{ title, root, method, name, params, want string }{
			{"resources/read, 1 KB", content, "resources/read", uri, fmt.Sprintf(`{"uri":%q}`, uri), unescaped},
			{"prompts/get", content, "prompts/get", work.Prompt,
				fmt.Sprintf(`{"name":%q,"arguments":{%q:"the weather"}}`, work.Prompt, work.Argument), "of the weather."},
			{"tools/list, 10 tools", project("10"), "tools/list", "", "{}", `"tools":[`},
		} {
			all, err := gatherWeb(append(b.webServers(protocol.version, c.root, files), b.webFloor()))
			if err != nil {
				return err
			}
			rate, p99, cost := newFigure(fmt.Sprintf("%s, %s, %d connections", c.title, protocol.name, links), "", "/s"),
				newFigure("  of them p99", "", "ms"), newFigure("  processor time of the server", "", "ms")
			n := b.rounds(1000)
			loads, err := all.loads(links, protocol.version, c.method, c.name, c.params, c.want)
			var tasks []task
			for i, l := range loads {
				tasks = append(tasks, all[i].costing(n, l.run(n)))
			}
			var values [][]sample
			if err == nil {
				values, err = rounds(b.rounds(10), 2, tasks)
			}
			for _, l := range loads {
				l.close()
			}
			all.end()
			if err != nil {
				return fmt.Errorf("%s: %w", c.title, err)
			}
			for i, s := range all {
				rate.add(s.name, values[i][0])
				p99.add(s.name, values[i][2])
				cost.add(s.name, values[i][3])
			}
			own := rate.samples[ours]
			rate.claim("ours", own, own, func(a, _ sample) float64 { return a.median() }, "≥ 25000 /s",
				func(v float64) bool { return v >= 25000 })
			rate.against(rate.bestOther(), "", nil)
			rate.against(floor, "", nil)
			cost.against(floor, "", nil)
			b.report.put(rate)
			b.report.put(p99)
			b.report.put(cost)
		}
	}
	return nil
}

// costing adds the processor time of the server for each of n requests, in ms, to a task.
func (s *web) costing(n int, do task) task {
	return func() ([]float64, error) {
		before, err := runTime(s.process.Pid)
		if err != nil && err != errNoProc {
			return nil, err
		}
		values, err := do()
		if err != nil {
			return nil, err
		}
		after, err := runTime(s.process.Pid)
		if err != nil && err != errNoProc {
			return nil, err
		}
		return append(values, milliseconds(after-before)/float64(n)), nil
	}
}

// httpStart measures the time from the start of the process to the first answer.
func (b *bench) httpStart() error {
	programs := append(b.webServers(handshakeVersion, project("10"), b.otherServers(10, b.help()...)), b.webFloor())
	var tasks []task
	for _, p := range programs {
		tasks = append(tasks, func() ([]float64, error) {
			began := time.Now()
			s, err := startWeb(p)
			if err != nil {
				return nil, err
			}
			defer s.end()
			l, err := s.dial()
			if err != nil {
				return nil, err
			}
			defer l.conn.Close()
			err = l.check(post{method: "initialize", params: initialize}.over(s.addr), nil)
			return []float64{milliseconds(time.Since(began))}, err
		})
	}
	values, err := rounds(b.rounds(40), 2, tasks)
	if err != nil {
		return err
	}
	f := newFigure("start to initialize over HTTP", "", "ms")
	for i, p := range programs {
		f.add(p.name, values[i][0])
	}
	f.against(floor, "", nil)
	f.against(f.bestOther(), "", nil)
	b.report.put(f)
	return nil
}

// open opens n sessions with a stream each.
func (s *web) open(n int) (links []*link, err error) {
	for range n {
		l, id, err := s.session()
		if err == nil {
			links = append(links, l)
			err = l.stream(s.addr, id)
		}
		if err != nil {
			return links, err
		}
	}
	return links, nil
}

// listen opens n streams of the stateless protocol.
func (s *web) listen(n int) (links []*link, err error) {
	request := post{version: statelessVersion, method: "subscriptions/listen",
		params: stateless(`{"notifications":{"toolsListChanged":true}}`, "{}")}.over(s.addr)
	for range n {
		l, err := s.dial()
		if err != nil {
			return links, err
		}
		links = append(links, l)
		head, err := l.head(request)
		if err == nil && !bytes.HasPrefix(head, ok) {
			err = fmt.Errorf("no stream: %.300s", head)
		}
		if err != nil {
			return links, err
		}
	}
	return links, nil
}

// keep opens streams, and returns the memory of the server for each in kB.
func (b *bench) keep(s *web, n int, open func(n int) ([]*link, error)) (links []*link, each float64, err error) {
	if links, err = open(1); err != nil { // the first costs more
		return links, 0, err
	}
	b.rest()
	before, err := memoryOf(s.process.Pid, "VmRSS")
	if err != nil {
		return links, 0, err
	}
	more, err := open(n)
	if links = append(links, more...); err != nil {
		return links, 0, err
	}
	b.restFor(idleAfter)
	after, err := memoryOf(s.process.Pid, "VmRSS")
	return links, (after - before) / float64(n), err
}

// httpIdle measures the memory of idle sessions with an open stream, and of streams without a session.
func (b *bench) httpIdle() error {
	if _, err := memoryOf(1, "VmRSS"); err == errNoProc {
		b.report.leaveOut("idle streams", err.Error())
		return nil
	}
	others := b.otherServers(10, b.help()...)
	for _, protocol := range protocols {
		programs := b.webServers(protocol.version, project("10"), others)
		if protocol.version == handshakeVersion {
			programs = append(programs, b.webFloor())
		}
		f := newFigure("memory of an idle stream, "+protocol.name, "", "kB")
		for _, p := range programs {
			s, err := startWeb(p)
			if err != nil {
				return err
			}
			open := s.open
			if protocol.version == statelessVersion {
				open = s.listen
			}
			links, each, err := b.keep(s, b.rounds(streams), open)
			for _, l := range links {
				l.conn.Close()
			}
			s.end()
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			f.add(p.name, sample{each})
		}
		f.absolute(15)
		f.against(f.bestOther(), "", nil)
		b.report.put(f)
	}
	return nil
}

// httpManyStreams measures very many idle sessions of our server: their memory, the processor time that they take,
// and that the server still answers.
func (b *bench) httpManyStreams() error {
	if _, err := memoryOf(1, "VmRSS"); err == errNoProc {
		return nil
	}
	n := b.rounds(manyStreams)
	s, err := startWeb(b.overHTTP(project("10")))
	if err != nil {
		return err
	}
	defer s.end()
	links, each, err := b.keep(s, n, s.open)
	defer func() {
		for _, l := range links {
			l.conn.Close()
		}
	}()
	if err != nil {
		return err
	}
	memory := newFigure(fmt.Sprintf("memory of a stream, %d of them", n), "", "kB")
	memory.add(ours, sample{each})
	memory.absolute(15)
	b.report.put(memory)
	span := 10 * time.Second
	before, err := runTime(s.process.Pid)
	if err != nil {
		return err
	}
	time.Sleep(span)
	after, err := runTime(s.process.Pid)
	if err != nil {
		return err
	}
	share := newFigure(fmt.Sprintf("share of a core, %d idle streams", n), "", "%")
	share.add(ours, sample{100 * (after - before).Seconds() / span.Seconds()})
	share.absolute(1)
	b.report.put(share)
	l, err := s.prepare(1, handshakeVersion, "tools/call", "greet", callOf("greet"), want["greet"])
	if err == nil {
		l.close()
	}
	return err
}

// httpAsks measures a call that asks its client: two requests, of which the second one resumes the call. The
// floor is the same call over standard streams.
func (b *bench) httpAsks() error {
	root, err := makeAsking()
	if err != nil {
		return err
	}
	s, err := startWeb(b.overHTTP(root))
	if err != nil {
		return err
	}
	defer s.end()
	l, err := s.dial()
	if err != nil {
		return err
	}
	defer l.conn.Close()
	lines, err := start(b.serving(root))
	if err != nil {
		return err
	}
	defer lines.end()
	values, err := rounds(b.rounds(100), 2, []task{
		timed(1, func() error {
			return twice(func(params string) ([]byte, error) {
				_, err := l.ask(post{version: statelessVersion, method: "tools/call", name: "ask", params: params}.over(s.addr))
				return l.body, err
			})
		}),
		timed(1, func() error {
			return twice(func(params string) ([]byte, error) {
				if err := lines.send("tools/call", params); err != nil {
					return nil, err
				}
				return lines.answer()
			})
		}),
	})
	if err != nil {
		return err
	}
	f := newFigure("call that asks its client (floor: stdio)", "", "ms")
	f.add(ours, values[0][0])
	f.add(floor, values[1][0])
	f.against(floor, "", nil)
	b.report.put(f)
	return nil
}

// twice makes a call that asks, and answers.
func twice(ask func(params string) ([]byte, error)) error {
	const capabilities = `{"elicitation":{}}`
	first, err := ask(stateless(`{"name":"ask","arguments":{"name":"x"}}`, capabilities))
	if err != nil {
		return err
	}
	key, state := inputOf(first)
	if key == "" || state == "" {
		return fmt.Errorf("the call was not suspended: %.500s", first)
	}
	last, err := ask(stateless(fmt.Sprintf(`{"name":"ask","arguments":{"name":"x"},"requestState":%q,`+
		`"inputResponses":{%q:{"action":"accept","content":{"confirmed":true}}}}`, state, key), capabilities))
	if err == nil && !bytes.Contains(last, []byte(`"text":"done"`)) {
		err = fmt.Errorf("the call was not resumed: %.500s", last)
	}
	return err
}
