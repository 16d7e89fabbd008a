package sdk_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"mcp-bash/pkg/json/jqtext"
)

// helperCalls returns calls of helpers that sdk/fallback.sh also implements, with generated input.
func helperCalls(d dice) (calls [][]string, inputs []string) {
	add := func(input string, call ...string) {
		calls, inputs = append(calls, call), append(inputs, input)
	}
	respelled := regexp.MustCompile(`-0|\d[eE]|1\.50`) // numbers that jq spells in another way (SDK-16)
	texts := func() string {
		for {
			if doc := string(jqtext.Normal(d.value(1))); !respelled.MatchString(doc) {
				return doc
			}
		}
	}
	object := func() string { return string(with(json.RawMessage(texts()), d)) }
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	for range rounds {
		doc := texts()
		add(doc, "json")
		add(d.pick(doc, doc+doc, "", "{"), "json")
		add(d.pick(keys...)+d.pick("\t", "é", "x"), "quote")
		add(doc, "success", d.pick("10", "1000", "100000"))
		add(d.pick(doc, object(), `{"raw":1}`, doc+"\n"+doc), "error")
		truncated := d.pick(object(), `[1,2,3]`, `{"results":[1,"two",{}]}`, `{"a":{"b":[1,2,3]}}`, "")
		add(truncated, "truncate", d.pick("5", "20", "1000"))
		add(truncated, "truncate", d.pick("5", "20", "1000"), d.pick(".results", ".a.b", ".a"))
		add(d.pick(doc, `{"success":false,"message":"m"}`, `{"errors":[{"message":"first"}]}`, `{"error":"e"}`, "text"),
			"cli-error")
		add(d.pick(`{"progress":12.5,"message":"half"}`, `{"progress":"7"}`, `{"progress":-1}`, doc, "{"), "progress")
	}
	return calls, inputs
}

// SDK-13, SDK-15: the fallback returns the same results as the helpers of our program, which define them.
func TestFallbackAgreesWithHelpers(t *testing.T) {
	t.Parallel()
	calls, inputs := helperCalls(dice{rand.New(rand.NewPCG(13, 15))})
	var script strings.Builder
	script.WriteString("set +e\n__mcp_load common fallback\n")
	for i, call := range calls {
		words := make([]string, len(call))
		for j, word := range call {
			words[j] = bashWord(word)
		}
		fmt.Fprintf(&script, "__mcp_fallback %s <<<%s 2>/dev/null; printf '%%s\\0%%s\\0' \"$?\" \"$__mcp_reply\"\n",
			strings.Join(words, " "), bashWord(inputs[i]))
	}
	got := tool{way: byJSONTool, script: script.String(), env: []string{"MCPBASH_JSON_TOOL_BIN=" + mcpJQ}}.run(t)
	fields := strings.Split(got.out, "\x00")
	if got.rc != 0 || len(fields) != 2*len(calls)+1 {
		t.Fatalf("%d fields for %d calls, rc %d: %.500s", len(fields), len(calls), got.rc, got.err)
	}
	for i, call := range calls {
		cmd := exec.Command(mcpJQ, append([]string{"--helper"}, call...)...)
		cmd.Stdin = strings.NewReader(inputs[i] + "\n")
		want := runCommand(t, cmd)
		rc, reply := fields[2*i], sorted(strings.TrimRight(fields[2*i+1], "\n")) // jq may sort members (SDK-16)
		want.out = sorted(strings.TrimRight(want.out, "\n"))
		if ok := rc == "0"; ok != (want.rc == 0) || ok && reply != want.out {
			t.Errorf("%q with %.200q:\n fallback %s %.300q\n program  %d %.300q", call, inputs[i], rc, reply, want.rc, want.out)
		}
	}
}
