package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"mcp-bash/bench/work"
)

// suspendedCalls is the number of calls that wait for the user: the default limit of a server.
const suspendedCalls = 64

// suspended measures the cost of calls that wait for the client: the time of other requests, and the
// server's memory and processor time. The floor is the same server at the same time
// without such calls.
func (b *bench) suspended() error {
	b.report.title(fmt.Sprintf("%d suspended calls (floor: the same without any)", suspendedCalls))
	root, err := makeAsking()
	if err != nil {
		return err
	}
	quiet := b.serving(root)
	quiet.name = floor
	guests, err := gather([]program{b.serving(root), quiet})
	if err != nil {
		return err
	}
	defer guests.end()
	us := guests[0]
	for _, s := range guests { // first requests take longer
		if err := s.suspend(1); err != nil {
			return err
		}
		if _, err := s.prepare("tools/call", stateless(callOf("greet"), "{}"), want["greet"]); err != nil {
			return err
		}
	}
	if err := b.suspendedMemory("", 100, us.process.Pid, us.suspend); err != nil {
		return err
	}
	for _, c := range []struct {
		name, method, params, want string
		times, rounds              int
	}{
		{"call greet", "tools/call", callOf("greet"), want["greet"], 1, 300},
		{"resources/read, 1 KB", "resources/read",
			fmt.Sprintf(`{"uri":%q}`, "file://"+work.Resource(root, "note.txt")), unescaped, 20, 400},
		{"prompts/get", "prompts/get",
			fmt.Sprintf(`{"name":%q,"arguments":{%q:"the weather"}}`, work.Prompt, work.Argument), "of the weather.", 20, 400},
	} {
		var tasks []task
		for _, s := range guests {
			q, err := s.prepare(c.method, stateless(c.params, "{}"), c.want)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			tasks = append(tasks, timed(c.times, q.again))
		}
		all, err := rounds(b.rounds(c.rounds), 5, tasks)
		if err != nil {
			return err
		}
		f := newFigure(c.name+fmt.Sprintf(" next to %d suspended calls", suspendedCalls), "", "ms")
		f.add(ours, all[0][0])
		f.add(floor, all[1][0])
		f.atMost(floor, 1.05)
		b.report.put(f)
	}
	shares, err := runShares(guests, 4*time.Second)
	if err == errNoProc {
		return b.httpSuspended()
	} else if err != nil {
		return err
	}
	f := newFigure(fmt.Sprintf("share of a core, %d suspended calls", suspendedCalls), "", "%")
	f.add(ours, sample{100 * shares[0]})
	f.add(floor, sample{100 * shares[1]})
	f.absolute(1)
	b.report.put(f)
	return b.httpSuspended()
}

// makeAsking makes the project of the resources and the prompt, with a tool that asks the user.
func makeAsking() (root string, err error) {
	if root, err = makeContent(); err != nil {
		return "", err
	}
	w := &writer{}
	w.tool(filepath.Join(root, "tools", "ask"), "ask",
		"source \"${MCP_SDK}/tool-sdk.sh\"\nmcp_elicit_confirm 'Go on?' >/dev/null\nmcp_emit_text done\n")
	w.tool(filepath.Join(root, "tools", "greet"), "greet", scripts["greet"])
	return root, w.err
}

// asking returns the parameters of a call that asks the user.
func asking() string {
	return stateless(`{"name":"ask","arguments":{"name":"x"}}`, `{"elicitation":{}}`)
}

// inputOf returns the key of the first question of a suspended call, and the state that resumes the call.
func inputOf(answer []byte) (key, state string) {
	var m struct {
		Result struct {
			InputRequests map[string]json.RawMessage
			RequestState  string
		}
	}
	if json.Unmarshal(answer, &m) == nil {
		for key = range m.Result.InputRequests {
		}
	}
	return key, m.Result.RequestState
}

// suspend makes n calls that ask the user, and does not answer.
func (s *server) suspend(n int) error {
	for range n {
		if err := s.send("tools/call", asking()); err != nil {
			return err
		}
	}
	for range n {
		line, err := s.answer()
		if err != nil {
			return err
		}
		if err := isSuspended(line); err != nil {
			return err
		}
	}
	return nil
}

// isSuspended returns an error if an answer is not the one of a suspended call.
func isSuspended(answer []byte) error {
	if !bytes.Contains(answer, []byte(`"resultType":"input_required"`)) {
		return fmt.Errorf("the call was not suspended: %.500s", answer)
	}
	return nil
}

// suspend makes n calls that ask the user, each over a connection that then ends, and does not answer.
func (s *web) suspend(n int) error {
	request := post{version: statelessVersion, method: "tools/call", name: "ask", params: asking()}.over(s.addr)
	for range n {
		l, err := s.dial()
		if err != nil {
			return err
		}
		_, err = l.ask(request)
		l.conn.Close()
		if err == nil {
			err = isSuspended(l.body)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// httpSuspended measures the memory of suspended calls over HTTP.
func (b *bench) httpSuspended() error {
	root, err := makeAsking()
	if err != nil {
		return err
	}
	s, err := startWeb(b.overHTTP(root))
	if err != nil {
		return err
	}
	defer s.end()
	if err := s.suspend(1); err != nil { // the first one takes more
		return err
	}
	return b.suspendedMemory(", HTTP", 120, s.process.Pid, s.suspend)
}

// suspendedMemory suspends calls, and measures the memory that the server keeps for each. One is suspended already.
func (b *bench) suspendedMemory(how string, most float64, pid int, suspend func(n int) error) error {
	memory := func() (float64, error) {
		b.rest()
		return memoryOf(pid, "VmRSS")
	}
	before, err := memory()
	if err == errNoProc {
		b.report.leaveOut("memory of suspended calls", err.Error())
		return suspend(suspendedCalls - 1)
	} else if err != nil {
		return err
	}
	if err := suspend(suspendedCalls - 1); err != nil {
		return err
	}
	after, err := memory()
	if err != nil {
		return err
	}
	f := newFigure("memory of the server for each suspended call"+how, "", "kB")
	f.add(ours, sample{(after - before) / (suspendedCalls - 1)})
	f.absolute(most)
	b.report.put(f)
	return nil
}
