//go:build unix

package serve

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

// often makes the server check resources all the time, and log only errors.
var often = project.Env{"MCPBASH_RESOURCES_POLL_INTERVAL_SECS": "0.01", "MCPBASH_LOG_LEVEL": "error"}

// subscribe subscribes and returns the id in the result or in its _meta.
func (c *testClient) subscribe(params string) string {
	c.t.Helper()
	got := json.RawMessage("{" + c.request("resources/subscribe", params) + "}")
	id := rawjson.TextOf(rawjson.Get(got, "result"), "subscriptionId")
	if id == "" {
		id = rawjson.TextOf(rawjson.Path(got, "result", "_meta"), "mcpbash/subscriptionId")
	}
	if id == "" {
		c.t.Fatalf("%s: %s", params, got)
	}
	return id
}

func (c *testClient) put(name, content string) {
	c.t.Helper()
	file := filepath.Join(c.root, name)
	if err := os.WriteFile(file+".new", []byte(content), 0o644); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		c.t.Fatal(err)
	}
}

func updated(uri, id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + uri +
		`","subscriptionId":"` + id + `","subscription":{"id":"` + id + `","uri":"` + uri + `"}}}`
}

// RES-142.
func TestSubscribeResult(t *testing.T) {
	const id = `"sub-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"`
	asID := regexp.MustCompile(`^"result":{"subscriptionId":` + id + `}$`)
	asMeta := regexp.MustCompile(`^"result":{"_meta":{"mcpbash/subscriptionId":` + id + `}}$`)
	for mode, want := range map[string][2]*regexp.Regexp{"": {asID, asMeta}, "auto": {asID, asMeta},
		"nonsense": {asID, asMeta}, "id": {asID, asID}, "empty": {asMeta, asMeta}} {
		c := ready(t, library, project.Env{"MCPBASH_SUBSCRIBE_RESULT": mode})
		for i, params := range []string{`{"name":"file.alpha"}`, `{"uri":"file://` + c.root +
			`/resources/alpha.txt"}`} {
			if got := c.request("resources/subscribe", params); !want[i].MatchString(got) {
				t.Errorf("%s %s: %s", mode, params, got)
			}
		}
		both := c.request("resources/subscribe", `{"name":"file.alpha","uri":"file://`+c.root+`/resources/alpha.txt"}`)
		if !want[0].MatchString(both) {
			t.Errorf("%s: %s", mode, both)
		}
	}
}

// RES-141: unreadable resources cannot be watched.
func TestSubscribeRefused(t *testing.T) {
	c := ready(t, library, often)
	for params, want := range map[string]string{
		``:                             `"error":{"code":-32602,"message":"Resource name or uri required"}`,
		`{"uri":7}`:                    `"error":{"code":-32602,"message":"Resource name or uri required"}`,
		`{"uri":"file:///etc/passwd"}`: `"error":{"code":-32603,"message":"Resource outside allowed roots"}`,
		`{"name":"nobody"}`:            `"error":{"code":-32002,"message":"Resource not found","data":{"name":"nobody"}}`,
	} {
		if got := c.request("resources/subscribe", params); got != want {
			t.Errorf("%s: %s", params, got)
		}
	}
	c.await("the log", func(line string) bool {
		return strings.Contains(line,
			`"level":"error","logger":"mcp.resources","data":"Initial read failed code=-32603 msg=Resource outside allowed `+
				`roots"`)
	})
	for params, want := range map[string]string{
		``:                                 `"error":{"code":-32602,"message":"Resource uri required"}`,
		`{"uri":7,"subscriptionId":null}`:  `"error":{"code":-32602,"message":"Resource uri required"}`,
		`{"subscriptionId":"sub-unknown"}`: `"result":{}`, `{"uri":"unknown://"}`: `"result":{}`, // RES-146
	} {
		if got := c.request("resources/unsubscribe", params); got != want {
			t.Errorf("%s: %s", params, got)
		}
	}
}

// RES-143 to RES-146; decision 5.
func TestSubscription(t *testing.T) {
	for revision := range map[string]bool{"2025-11-25": true, "2024-11-05": true} {
		// Without a lifetime of the list, the name is found as soon as the file is back.
		env := project.Env{"MCP_RESOURCES_TTL": "0"}
		maps.Copy(env, often)
		c := start(t, files(t, library), env)
		c.handshake(revision, "{}")
		uri := "file://" + c.root + "/resources/alpha.txt"
		id := c.subscribe(`{"uri":"` + uri + `"}`)
		for _, content := range []string{"two", "six", "", "longer", "\xff\x00"} {
			c.put("resources/alpha.txt", content)
			c.expect(updated(uri, id))
		}
		// Going and coming back are changes; the reason is seen by reading.
		os.Remove(filepath.Join(c.root, "resources/alpha.txt"))
		c.expect(updated(uri, id))
		os.Symlink("/etc/passwd", filepath.Join(c.root, "resources/alpha.txt"))
		c.expect(updated(uri, id))
		c.put("resources/alpha.txt", "back")
		c.expect(updated(uri, id))
		if got := c.request("resources/unsubscribe", `{"uri":"`+uri+`"}`); got != `"result":{}` {
			t.Error(got)
		}
		c.put("resources/alpha.txt", "unseen")
		again := c.subscribe(`{"name":"file.alpha"}`)
		if again == id {
			t.Error("an id was used again")
		}
		c.put("resources/alpha.txt", "seen")
		c.expect(updated(uri, again))
		c.end()
		c.quiet()
	}
}

// A changed type in the metadata counts as a change of the resource (RES-145).
func TestSubscriptionToType(t *testing.T) {
	c := ready(t, library, project.Env{"MCPBASH_RESOURCES_POLL_INTERVAL_SECS": "0.01", "MCPBASH_LOG_LEVEL": "error",
		"MCP_RESOURCES_TTL": "0", "MCP_TOOLS_TTL": "1"})
	uri := "file://" + c.root + "/resources/alpha.txt"
	id := c.subscribe(`{"uri":"` + uri + `"}`)
	c.put("resources/alpha.txt.meta.json", `{"name":"file.alpha","mimeType":"text/x-alpha"}`)
	c.expect(updated(uri, id))
	if got := c.request("resources/read", `{"uri":"`+uri+`"}`); !strings.Contains(got, `"text/x-alpha"`) {
		t.Error(got)
	}
}

// RES-145 to RES-147: several subscriptions of one URI.
func TestSubscriptionsOfOneURI(t *testing.T) {
	c := ready(t, library, often)
	uri := "file://" + c.root + "/resources/alpha.txt"
	first, second, third := c.subscribe(`{"uri":"`+uri+`"}`), c.subscribe(`{"name":"file.alpha"}`),
		c.subscribe(`{"uri":"`+uri+`"}`)
	c.put("resources/alpha.txt", "1")
	c.expect(updated(uri, first)) // one, in the name of the oldest
	c.request("resources/unsubscribe", `{"subscriptionId":"`+first+`"}`)
	c.put("resources/alpha.txt", "2")
	c.expect(updated(uri, second))
	c.request("resources/unsubscribe", `{"subscriptionId":"`+second+`","uri":"unknown://"}`)
	c.put("resources/alpha.txt", "3")
	c.expect(updated(uri, third))
	c.subscribe(`{"uri":"` + uri + `"}`)
	c.request("resources/unsubscribe", `{"uri":"`+uri+`"}`) // all of them
	c.put("resources/alpha.txt", "4")
	other := c.subscribe(`{"uri":"file://` + c.root + `/resources/my%20notes.md"}`)
	c.put("resources/my notes.md", "new")
	c.expect(updated("file://"+c.root+"/resources/my%20notes.md", other))
	c.end()
	c.quiet()
}

// A provider script runs once in a round. If it hangs, other resources are still checked (RES-73,
// RES-144).
func TestSubscriptionToScript(t *testing.T) {
	list := map[string]string{
		"providers/n.sh": `cat "$MCPBASH_PROJECT_ROOT/n"`,
		"providers/stuck.sh": `[ -e "$MCPBASH_PROJECT_ROOT/stick" ] || exec echo "$1"; : > "$MCPBASH_PROJECT_ROOT/hangs"; ` +
			`sleep 1000`,
		"resources/alpha.txt":       "alpha",
		"resources/n.meta.json":     `{"name":"n","uriTemplate":"n://{x}"}`,
		"resources/stuck.meta.json": `{"name":"stuck","uriTemplate":"stuck://{x}"}`,
		"n":                         "1",
	}
	c := ready(t, list, often)
	n := c.subscribe(`{"uri":"n://x"}`)
	c.put("n", "2")
	c.expect(updated("n://x", n))
	c.subscribe(`{"uri":"stuck://1"}`)
	_, hangs := mark(t, c.root, "hangs")
	os.WriteFile(filepath.Join(c.root, "stick"), nil, 0o644)
	hangs()
	c.put("n", "3")
	c.expect(updated("n://x", n))
	if got := c.request("resources/unsubscribe", `{"uri":"stuck://1"}`); got != `"result":{}` {
		t.Error(got)
	}
	c.request("shutdown", "")
	c.put("n", "4") // RES-148: no more notifications
	c.end()
	c.quiet()
}

// RES-144: polling begins with the first subscription. The client sends nothing after it.
func TestPollingBegins(t *testing.T) {
	c := ready(t, map[string]string{
		"providers/n.sh":        `echo "$1" >>"$MCPBASH_PROJECT_ROOT/reads"; echo same`,
		"resources/n.meta.json": `{"name":"n","uriTemplate":"n://{x}"}`,
	}, often)
	reads := func() int {
		text, _ := os.ReadFile(filepath.Join(c.root, "reads"))
		return strings.Count(string(text), "\n")
	}
	c.request("resources/read", `{"uri":"n://x"}`)
	if n := reads(); n != 1 {
		t.Fatalf("%d reads before the subscription", n)
	}
	c.subscribe(`{"uri":"n://x"}`)
	eventually(t, "two polls without a message of the client", func() bool { return reads() >= 4 })
	c.end()
	c.quiet()
}

// RES-146: by `uri`, as the client subscribed to it or as updates report it.
func TestUnsubscribedURI(t *testing.T) {
	list := map[string]string{"resources/a.txt": "a", "resources/b.txt": "b",
		"resources/a.txt.meta.json": `{"name":"a","uri":"file://./resources/a.txt"}`}
	const requested = "file://./resources/a.txt"
	for _, reported := range []bool{false, true} {
		c := ready(t, list, often)
		id := c.subscribe(`{"uri":"` + requested + `"}`)
		c.put("resources/a.txt", "changed")
		line := c.await("an update", func(line string) bool { return strings.Contains(line, id) })
		uri := requested
		if reported {
			uri = rawjson.TextOf(rawjson.Get(json.RawMessage(line), "params"), "uri")
		}
		if got := c.request("resources/unsubscribe", `{"uri":"`+uri+`"}`); got != `"result":{}` {
			t.Error(got)
		}
		c.put("resources/a.txt", "unseen")
		other := c.subscribe(`{"uri":"file://` + c.root + `/resources/b.txt"}`)
		c.put("resources/b.txt", "seen")
		c.expect(updated("file://"+c.root+"/resources/b.txt", other))
		c.end()
		c.quiet()
	}
}

// RES-143: a request that is cancelled leaves nothing behind.
func TestSubscribeCancelled(t *testing.T) {
	c := ready(t, map[string]string{
		"providers/slow.sh": `[ -e "$MCPBASH_PROJECT_ROOT/asked" ] && exec cat "$MCPBASH_PROJECT_ROOT/n"; : > ` +
			`"$MCPBASH_PROJECT_ROOT/asked"; sleep 1000`, "n": "1", "resources/a.txt": "a",
		"resources/slow.meta.json": `{"name":"slow","uriTemplate":"slow://{x}"}`,
	}, often)
	_, asked := mark(t, c.root, "asked")
	c.send(message(`"s"`, "resources/subscribe", `{"uri":"slow://x"}`))
	asked()
	c.send(message("", "notifications/cancelled", `{"requestId":"s"}`))
	id := c.subscribe(`{"uri":"file://` + c.root + `/resources/a.txt"}`)
	c.put("n", "2")
	c.put("resources/a.txt", "b")
	c.expect(updated("file://"+c.root+"/resources/a.txt", id))
	if got := c.request("resources/subscribe", `{"uri":"slow://x","timeoutSecs":"5"}`); !strings.HasPrefix(got,
		`"result"`) {
		t.Error(got)
	}
	c.end()
	c.quiet()
}

// RES-146a: an unsubscribe that comes while the subscribe before it still reads wins; one that
// subscribes again afterwards is notified of changes.
func TestUnsubscribeOvertakes(t *testing.T) {
	for _, slots := range []string{"16", "2"} { // with 2 the unsubscribe of the session waits
		env := project.Env{"MCPBASH_MAX_CONCURRENT_REQUESTS": slots}
		maps.Copy(env, often)
		c := ready(t, map[string]string{
			"providers/slow.sh": `: >"$MCPBASH_PROJECT_ROOT/${1#slow://}.asked"
` + waitAt("$MCPBASH_PROJECT_ROOT/go") + `cat "$MCPBASH_PROJECT_ROOT/n"`,
			"n": "1", "resources/a.txt": "a",
			"resources/slow.meta.json":  `{"name":"slow","uriTemplate":"slow://{x}"}`,
			"resources/named.meta.json": `{"name":"named","uri":"slow://named"}`,
		}, env)
		_, asked := mark(t, c.root, "uri.asked")
		_, askedNamed := mark(t, c.root, "named.asked")
		c.send(message(`"uri"`, "resources/subscribe", `{"uri":"slow://uri"}`))
		c.send(message(`"named"`, "resources/subscribe", `{"name":"named"}`))
		asked()
		askedNamed()
		c.send(message(`"u1"`, "resources/unsubscribe", `{"uri":"slow://uri"}`))
		c.send(message(`"u2"`, "resources/unsubscribe", `{"uri":"slow://named"}`))
		c.send(message(`"again"`, "resources/subscribe", `{"uri":"slow://named"}`))
		c.release()
		ids := map[string]string{}
		for _, id := range []string{"uri", "named", "u1", "u2", "again"} {
			got := c.response(`"` + id + `"`)
			if !strings.HasPrefix(got, `"result":`) {
				t.Errorf("%s slots, %s: %s", slots, id, got)
			}
			ids[id] = rawjson.TextOf(rawjson.Path(json.RawMessage("{"+got+"}"), "result", "_meta"),
				"mcpbash/subscriptionId")
		}
		c.put("n", "2")
		c.expect(updated("slow://named", ids["again"]))
		other := c.subscribe(`{"uri":"file://` + c.root + `/resources/a.txt"}`)
		c.put("resources/a.txt", "b")
		c.expect(updated("file://"+c.root+"/resources/a.txt", other))
		if got := c.request("resources/unsubscribe", `{"subscriptionId":"`+ids["uri"]+`"}`); got != `"result":{}` {
			t.Error(got)
		}
		c.end()
		c.quiet()
	}
}

// subscriptionLimit is how many subscriptions a client can have.
const subscriptionLimit = 1000

// RES-147.
func TestSubscriptionLimit(t *testing.T) {
	c := ready(t, library, nil)
	for i := range subscriptionLimit {
		c.send(message(fmt.Sprint(i+1), "resources/subscribe", fmt.Sprintf(`{"uri":"echo://%d"}`, i)))
		if got := c.response(fmt.Sprint(i + 1)); !strings.HasPrefix(got, `"result":`) {
			t.Fatal(got)
		}
	}
	const full = `"error":{"code":-32603,"message":"Too many resource subscriptions"}`
	for _, uri := range []string{"echo://more", "echo://1"} {
		if got := c.request("resources/subscribe", `{"uri":"`+uri+`"}`); got != full {
			t.Error(got)
		}
	}
	c.request("resources/unsubscribe", `{"uri":"echo://1"}`)
	c.subscribe(`{"uri":"echo://more"}`)
}

// RES-144: the interval; 0 looks never.
// RES-147: the memory that subscriptions take is bounded, too.
func TestSubscribedBytes(t *testing.T) {
	c := ready(t, library, often)
	defer c.finish()
	long := func(i int) string { return sprintf("echo://%d%s", i, strings.Repeat("x", 400_000)) }
	first := c.subscribe(`{"uri":"` + long(1) + `"}`)
	c.subscribe(`{"uri":"` + long(2) + `"}`)
	const full = `"error":{"code":-32603,"message":"Too many resource subscriptions"}`
	if got := c.request("resources/subscribe", `{"uri":"`+long(3)+`"}`); got != full {
		t.Errorf("%.100s", got)
	}
	c.request("resources/unsubscribe", `{"subscriptionId":"`+first+`"}`)
	c.subscribe(`{"uri":"` + long(3) + `"}`)
}

func TestPollInterval(t *testing.T) {
	for value, want := range map[string]time.Duration{"": 2 * time.Second, "x": 2 * time.Second, "-1": 2 * time.Second,
		"0": 0, "0.0": 0, "0.25": 250 * time.Millisecond, "7": 7 * time.Second, "0.0001": 10 * time.Millisecond} {
		if got := project.ReadSettings(project.Env{"MCPBASH_RESOURCES_POLL_INTERVAL_SECS": value},
			project.Dirs{}).Fetching.Poll; got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
	c := ready(t, library, project.Env{"MCPBASH_RESOURCES_POLL_INTERVAL_SECS": "0", "MCPBASH_LOG_LEVEL": "error"})
	c.subscribe(`{"name":"file.alpha"}`)
	c.put("resources/alpha.txt", "unseen")
	c.request("resources/read", `{"name":"file.alpha"}`)
	c.end()
	c.quiet()
}
