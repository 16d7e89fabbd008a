package clients

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/events/trail"
	"mcp-bash/test/checkout"
	"mcp-bash/test/record"
)

// An auditedTool is a tool, and the cause that the record has for a call of it.
type auditedTool struct{ meta, script, arguments, want string }

var auditedTools = map[string]auditedTool{
	"good":    {`{}`, `echo hi`, `{"password":"sesame","x":1}`, "success"},
	"exits":   {`{}`, `exit 3`, `{}`, "application_error exit_status"},
	"killed":  {`{}`, `kill -KILL $$`, `{}`, "application_error signal"},
	"slow":    {`{"timeoutSecs":1}`, `sleep 60`, `{}`, "application_error timeout"},
	"open":    {`{}`, `:`, `{}`, "denied insecure"},
	"missing": {"", "", `{}`, "failure not_found"},
	"fails": {
		`{}`, `. "$MCP_SDK/tool-sdk.sh"; mcp_result_error '{"type":"not_found","message":"no"}'`, `{}`,
		"application_error tool_error",
	},
	"refuses": {
		`{}`, `. "$MCP_SDK/tool-sdk.sh"; mcp_fail_invalid_args no`, `{}`, "application_error tool_error",
	},
	"long": {
		`{}`, `head -c 2000000 /dev/zero | tr '\0' x`, `{}`, "application_error output_too_large",
	},
	"shaped": {
		`{"outputSchema":{"type":"object","required":["a"]}}`, `echo '{"b":1}'`, `{}`, "application_error output_schema",
	},
	"strict": {
		`{"validateInput":true,"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`, `:`, `{"n":"x"}`,
		"failure invalid_arguments",
	},
	"powerful": {`{"capabilities":["network"]}`, `:`, `{}`, "success"},
	"unlisted": {`{}`, `:`, `{}`, "denied not_listed"},
}

func auditedProject(t *testing.T) (project, listed string) {
	t.Helper()
	project = checkout.Directory(t)
	names := []string{}
	for name, of := range auditedTools {
		if name != "unlisted" {
			names = append(names, name)
		}
		if of.script == "" {
			continue
		}
		dir := filepath.Join(project, "tools", name)
		file := filepath.Join(dir, "tool.sh")
		meta := strings.Replace(of.meta, "{", `{"name":"`+name+`","description":"x",`, 1)
		meta = strings.Replace(meta, ",}", "}", 1)
		for _, err := range []error{
			os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "tool.meta.json"), []byte(meta), 0o644),
			os.WriteFile(file, []byte("#!/usr/bin/env bash\n"+of.script+"\n"), 0o755),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Chmod(filepath.Join(project, "tools", "open", "tool.sh"), 0o777); err != nil {
		t.Fatal(err)
	}
	return project, strings.Join(names, " ")
}

// AUD-3, AUD-5: the record has each call with its precise cause and no secret, over both transports and in both
// protocols.
func TestAuditCauses(t *testing.T) {
	t.Parallel()
	project, listed := auditedProject(t)
	withAll(t, func(t *testing.T, revision string) {
		record := filepath.Join(checkout.Directory(t), "audit.jsonl")
		t.Cleanup(func() { checkCauses(t, record) }) // after the end of the server
		s := open(t, project, opening{revision: revision, env: map[string]string{
			"MCPBASH_AUDIT": record, "MCPBASH_TOOL_ALLOWLIST": listed, "MCPBASH_MAX_TOOL_OUTPUT_SIZE": "1000000",
		}})
		for name, of := range auditedTools {
			var given arguments
			if err := json.Unmarshal([]byte(of.arguments), &given); err != nil {
				t.Fatal(err)
			}
			s.request(s.deadline(), name, given)
		}
	})
}

func checkCauses(t *testing.T, record string) {
	found := map[string]string{}
	for _, e := range recorded(t, record) {
		if !e.IsCall() {
			continue
		}
		found[e.Target] = strings.TrimSpace(string(e.Outcome) + " " + e.Reason)
		if e.Client != "clients-test" || len(e.ID) != 32 || e.Took <= 0 {
			t.Errorf("%s", e.Raw)
		}
		if e.Target == "exits" && (e.Status != "3" || e.Ran <= 0) {
			t.Errorf("%s", e.Raw)
		}
	}
	for name, of := range auditedTools {
		if found[name] != of.want {
			t.Errorf("%s: %q, want %q", name, found[name], of.want)
		}
	}
	if content, err := os.ReadFile(record); err != nil || strings.Contains(string(content), "sesame") {
		t.Errorf("the record has the secret, or %v", err)
	}
}

// recorded returns the lines of a record, which must be one chain from its beginning.
func recorded(t *testing.T, file string) (list []*trail.Entry) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var v trail.Verifier
	err = trail.Read(f, func(e *trail.Entry) error {
		if fault := v.Add(e); fault != nil {
			t.Errorf("%+v", *fault)
		}
		if err := record.Check(e.Raw); err != nil {
			t.Error(err)
		}
		list = append(list, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// AUD-6: the id of a request over HTTP is in its response and in the record, also of one that is not let in.
func TestAuditOverHTTP(t *testing.T) {
	t.Parallel()
	project := checkout.Example(t, "00-hello")
	record := filepath.Join(checkout.Directory(t), "audit.jsonl")
	t.Cleanup(func() {
		var calls []string
		for _, e := range recorded(t, record) {
			if e.IsCall() {
				calls = append(calls, string(e.Type)+" "+e.Target+" "+string(e.Outcome)+" "+e.Reason)
				if !strings.HasPrefix(e.Address, "127.0.0.1") {
					t.Errorf("%s", e.Raw)
				}
			}
		}
		if got := strings.Join(calls, "; "); got != "mcp_tool_call hello success ; http_request /mcp denied origin" {
			t.Error(got)
		}
	})
	s := open(t, project, opening{revision: stateless + overHTTP, env: map[string]string{"MCPBASH_AUDIT": record}})
	s.succeed("hello", arguments{"name": "Ada"})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.tap.address, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "evil.example"
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
}

// AUD-6 to AUD-8: a request has one id in its answer, its script, its record and the log, whose lines are all JSON.
func TestRequestID(t *testing.T) {
	t.Parallel()
	project := checkout.Directory(t)
	tool := filepath.Join(project, "tools", "id")
	for _, err := range []error{
		os.MkdirAll(tool, 0o755), os.WriteFile(filepath.Join(tool, "tool.meta.json"), []byte(`{"name":"id"}`), 0o644),
		os.WriteFile(filepath.Join(tool, "tool.sh"), []byte("#!/bin/bash\necho \"$MCP_REQUEST_ID\"\necho oops >&2\n"), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	withAll(t, func(t *testing.T, revision string) {
		record := filepath.Join(checkout.Directory(t), "audit.jsonl")
		var s *session
		var id string
		t.Cleanup(func() { checkID(t, s, record, id) }) // after the end of the server
		s = open(t, project, opening{revision: revision, env: map[string]string{
			"MCPBASH_AUDIT": record, "MCPBASH_LOG_FORMAT": "json", "MCPBASH_LOG_STARTUP": "true",
		}})
		result := s.succeed("id", nil)
		id = strings.TrimSpace(text(t, result))
		if result.Meta["mcpbash/requestId"] != id || len(id) != 32 {
			t.Errorf("the script got %q, the client %v", id, result.Meta)
		}
	})
}

func checkID(t *testing.T, s *session, record, id string) {
	found := 0
	for _, e := range recorded(t, record) {
		if e.ID == id {
			found++
		}
	}
	for line := range strings.Lines(s.tap.stderr.String()) {
		var of struct{ Time, Level, Logger, Msg string }
		if err := json.Unmarshal([]byte(line), &of); err != nil || of.Time == "" || of.Level == "" || of.Msg == "" {
			t.Errorf("%v: %s", err, line)
		}
		if strings.Contains(of.Msg, id) {
			found++
			if want := "tools/call id by clients-test"; !strings.HasPrefix(of.Msg, want) || of.Logger != "mcp.calls" {
				t.Errorf("%s", line)
			}
		}
	}
	if want := map[bool]int{true: 2, false: 1}[s.tap.http]; found != want {
		t.Errorf("%d lines of record and log have the id, want %d", found, want)
	}
}
