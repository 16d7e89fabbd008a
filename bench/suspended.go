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
	if err := b.suspendedMemory(us); err != nil {
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
		return nil
	} else if err != nil {
		return err
	}
	f := newFigure(fmt.Sprintf("share of a core, %d suspended calls", suspendedCalls), "", "%")
	f.add(ours, sample{100 * shares[0]})
	f.add(floor, sample{100 * shares[1]})
	f.absolute(1)
	b.report.put(f)
	return nil
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
	ask := stateless(`{"name":"ask","arguments":{"name":"x"}}`, `{"elicitation":{}}`)
	for range n {
		if err := s.send("tools/call", ask); err != nil {
			return err
		}
	}
	for range n {
		line, err := s.answer()
		if err != nil {
			return err
		}
		if !bytes.Contains(line, []byte(`"resultType":"input_required"`)) {
			return fmt.Errorf("the call was not suspended: %.500s", line)
		}
	}
	return nil
}

// suspendedMemory suspends calls, and measures the memory that the server keeps for each.
func (b *bench) suspendedMemory(us *server) error {
	memory := func() (float64, error) {
		b.rest()
		return memoryOf(us.process.Pid, "VmRSS")
	}
	before, err := memory()
	if err == errNoProc {
		b.report.leaveOut("memory of suspended calls", err.Error())
		return us.suspend(suspendedCalls - 1)
	} else if err != nil {
		return err
	}
	if err := us.suspend(suspendedCalls - 1); err != nil {
		return err
	}
	after, err := memory()
	if err != nil {
		return err
	}
	f := newFigure("memory of the server for each suspended call", "", "kB")
	f.add(ours, sample{(after - before) / (suspendedCalls - 1)})
	f.absolute(100)
	b.report.put(f)
	return nil
}
