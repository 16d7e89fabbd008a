//go:build linux

package endurance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A kind of work is one thing that clients do.
type work struct {
	weight int
	do     func(c *client, r *rand.Rand)
}

func call(tool, arguments string) string {
	return fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":{"progressToken":"p"},"timeoutSecs":2}`, tool, arguments)
}

func attack(what string) string { return call("attack", fmt.Sprintf(`{"what":%q}`, what)) }

// attacks are what the tool of that name can do.
var attacks = strings.Fields("pipes huge endless exchange litter late flood complain die fail stubborn ask silent")

var load = []work{
	{20, func(c *client, r *rand.Rand) { c.ask("tools/call", call("calm", "{}")) }},
	{14, func(c *client, r *rand.Rand) { c.ask("tools/call", attack(attacks[r.IntN(len(attacks))])) }},
	{10, func(c *client, r *rand.Rand) { // cancelled while it runs
		id, line := c.request("tools/call", attack([]string{"stubborn", "pipes", "ask", "silent"}[r.IntN(4)]))
		c.line(line)
		time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond) // a random moment of the call
		c.cancel(id)
	}},
	{10, func(c *client, r *rand.Rand) { c.ask("ping", "{}") }},
	{6, func(c *client, r *rand.Rand) {
		c.ask([]string{"tools/list", "resources/list", "prompts/list", "resources/templates/list"}[r.IntN(4)], "{}")
	}},
	{6, func(c *client, r *rand.Rand) {
		uri := []string{"file:///notes.txt", "file://big.bin", "file://pipe", "file://absent", "odd://x"}[r.IntN(5)]
		c.ask("resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
	}},
	{3, func(c *client, r *rand.Rand) { c.ask("resources/subscribe", `{"uri":"file://notes.txt"}`) }},
	{3, func(c *client, r *rand.Rand) { c.ask("resources/unsubscribe", `{"uri":"file://notes.txt"}`) }},
	{3, func(c *client, r *rand.Rand) { c.ask("prompts/get", `{"name":"greeting","arguments":{"name":"Ada"}}`) }},
	{3, func(c *client, r *rand.Rand) {
		c.ask("completion/complete",
			`{"ref":{"type":"ref/prompt","name":"greeting"},"argument":{"name":"name","value":"A"}}`)
	}},
	{3, func(c *client, r *rand.Rand) { // answered without an id, or not at all
		c.line([]string{"{", "[]", "null", `{"jsonrpc":"2.0"}`, "\xff\xfe", strings.Repeat("[", 5000),
			`{"id":{}}`}[r.IntN(7)])
	}},
	{2, func(c *client, r *rand.Rand) { // a batch of this revision
		var lines []string
		for range 1 + r.IntN(20) {
			_, line := c.request("ping", "{}")
			lines = append(lines, line)
		}
		c.line("[" + strings.Join(lines, ",") + ",1]")
	}},
	{2, func(c *client, r *rand.Rand) { // large arguments
		c.ask("tools/call", call("calm", fmt.Sprintf(`{"where":"","pad":%q}`, strings.Repeat("x", r.IntN(2<<20)))))
	}},
	{2, func(c *client, r *rand.Rand) { c.ask("tools/call", call("absent", "{}")) }},
	{1, func(c *client, r *rand.Rand) { // a client that does not read for a while
		c.stopReading(time.Duration(r.IntN(500)) * time.Millisecond)
	}},
}

// choose picks a kind of work by its weight.
func choose(r *rand.Rand) work {
	all := 0
	for _, w := range load {
		all += w.weight
	}
	n := r.IntN(all)
	for _, w := range load {
		if n -= w.weight; n < 0 {
			return w
		}
	}
	panic("unreachable")
}
