package validate

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/projecttest"
)

func migrated(t testing.TB, f *projecttest.Fixture) *Result {
	t.Helper()
	m, err := Migrate(t.Context(), f.Project, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// toolText returns the demo tool with another text.
func toolText(text string) files {
	return files{"tools/demo-hello/tool.sh*": "#!/usr/bin/env bash\n" + text + "\n"}
}

func policy(text string) files { return files{"server.d/policy.sh": text + "\n"} }

const limited = `{"name":"demo_hello","description":"x","inputSchema":{"type":"object"},"timeoutSecs":5}`

// A difference has projects that break a rule at a place, and similar projects that do not.
type difference struct {
	content  files
	severity finding.Severity
	at       string // path:line
	none     []files
}

var differences = map[string][]difference{
	"migrate.variable_dropped": {
		{toolText(`: "${MCP_KEY:-}"`), finding.Warning, "tools/demo-hello/tool.sh:2", []files{
			toolText(`# $MCP_KEY`), toolText(`echo '$MCP_KEY'`), toolText("MCP_KEY=1\necho $MCP_KEY"),
			toolText("echo $MCP_SDK $MCP_TOOL_NAME $API_KEY"),
			toolText("for MCP_KEY in a; do echo $MCP_KEY; done"), toolText("IFS= read -r MCP_KEY; echo $MCP_KEY"),
			merge(toolText(`echo "$MCP_KEY"`), files{"server.d/server.meta.json": `{"name":"demo","env":
				{"MCPBASH_TOOL_ENV_MODE":"allowlist","MCPBASH_TOOL_ENV_ALLOWLIST":"MCP_KEY"}}`}),
			merge(toolText(`. "${MCP_SDK}/tool-sdk.sh"; . "$(dirname "$0")/../../lib/key.sh"; echo $MCP_KEY`),
				files{"lib/key.sh": "MCP_KEY=1\n"}),
			{"lib/key.sh": "echo $MCP_KEY\n"}, // no script sources it
		}},
		{toolText(`MCP_KEY=${MCP_KEY:-1}`), finding.Warning, "tools/demo-hello/tool.sh:2", nil},
		{toolText(`[[ -v MCP_KEY ]]`), finding.Warning, "tools/demo-hello/tool.sh:2", nil},
		{merge(toolText(`source "$here/../../lib/key.sh"`), files{"lib/key.sh": "\n\necho $MCP_KEY\n"}), finding.Warning,
			"lib/key.sh:3", nil},
		{files{"providers/own.sh*": "#!/usr/bin/env bash\necho $MCP_KEY\n"}, finding.Warning, "providers/own.sh:2", []files{
			{"providers/own.sh*": "#!/usr/bin/env bash\necho $MCP_RESOURCE_TEMPLATE_VARS\n"},
		}},
		{files{"prompts/ask/ask.completion.sh*": "#!/bin/bash\necho $MCP_KEY\n"}, finding.Warning,
			"prompts/ask/ask.completion.sh:2", nil},
		{files{"tools/demo-hello/tool.sh*": "#!/usr/bin/env python3\nos.environ['MCP_KEY']\n"}, finding.Info,
			"tools/demo-hello/tool.sh:2",
			[]files{{"tools/demo-hello/tool.sh*": "#!/usr/bin/env python3\nos.environ['MCP_TOOL_NAME']\n"}}},
	},
	"migrate.variable_internal": {{toolText(`echo "$MCP_TOOLS_REGISTRY_JSON"`), finding.Warning,
		"tools/demo-hello/tool.sh:2", []files{
			toolText(`MCP_TOOLS_TOTAL=1; echo $MCP_TOOLS_TOTAL`), toolText("echo $MCPBASH_DEBUG"),
		}}},
	"migrate.function_unknown": {{toolText(`x=$(mcp_lock_acquire a)`), finding.Warning, "tools/demo-hello/tool.sh:2",
		[]files{
			toolText("mcp_lock_acquire() { :; }\nmcp_lock_acquire"),
			toolText(`mcp_args_get .a; mcp_fail -32602 x; mcp_progress 1 x`),
			toolText(`if declare -F mcp_lock_acquire; then mcp_lock_acquire; fi`), toolText(`echo mcp_lock_acquire`),
			toolText(`. "$somewhere"; mcp_lock_acquire`),
			merge(toolText(`. "${0%/*}/more.sh"; mcp_more`), files{"tools/demo-hello/more.sh": "mcp_more() { :; }\n"}),
		}}},
	"migrate.library_missing": {{toolText(`. "${MCPBASH_HOME}/lib/json.sh"`), finding.Warning,
		"tools/demo-hello/tool.sh:2", []files{
			toolText(`. "$MCPBASH_HOME/lib/resource_content.sh"; . "$MCP_SDK/../lib/path.sh"; . "$MCP_SDK/tool-sdk.sh"`),
		}}},
	"migrate.empty_default": {{toolText(`mcp_args_get .a --default b`), finding.Info, "tools/demo-hello/tool.sh:2",
		[]files{
			toolText(`mcp_args_get .a; mcp_args_int .b --default 1`),
		}}, {toolText(`mcp_meta_get .a --default b`), finding.Info, "tools/demo-hello/tool.sh:2", nil}},
	"migrate.tool_limit": {{nil, finding.Info, "tools/demo-hello/tool.meta.json:0",
		[]files{{"tools/demo-hello/tool.meta.json": limited}}}},
	"migrate.completion_limit": {
		{files{"prompts/ask/ask.completion.sh*": "#!/bin/bash\n"}, finding.Info, "prompts/ask/ask.completion.sh:0",
			[]files{{}}},
		{files{"c.sh*": "#!/bin/bash\n",
			"server.d/register.json": `{"version":1,"completions":[{"name":"c","path":"c.sh"}]}`}, finding.Info,
			"c.sh:0", []files{{"c.sh*": "#!/bin/bash\n",
				"server.d/register.json": `{"version":1,"completions":[{"name":"c","path":"c.sh","timeoutSecs":2}]}`}}},
	},
	"migrate.completion_unused": {{files{"resources/notes.completion": "x"}, finding.Warning,
		"resources/notes.completion:0", []files{
			{"resources/guide/guide.completion.sh*": "#!/bin/bash\n"}, {"resources/guide/guide.md.completion*": "#!/bin/bash\n"},
			{"resources/files.completion.sh*": "#!/bin/bash\n"}, {"resources/files/files.completion*": "#!/bin/bash\n"},
			{"resources/notes.completion": "x",
				"resources/notes.completion.meta.json": `{"name":"n","uri":"file://./resources/notes.completion"}`},
		}}},
	"migrate.policy_permission": {
		{policy("export MCPBASH_TOOL_ENV_INHERIT_ALLOW=true"), finding.Warning, "server.d/policy.sh:1",
			[]files{policy("# MCPBASH_TOOL_ENV_INHERIT_ALLOW=1")}},
		{policy("\nexport MCPBASH_TOOL_ENV_MODE=inherit"), finding.Warning, "server.d/policy.sh:2",
			[]files{policy("MCPBASH_TOOL_ENV_MODE=allowlist")}},
	},
	"migrate.scheme_undeclared": {
		{files{"providers/crm.sh*": "#!/bin/bash\n"}, finding.Warning, "providers/crm.sh:0", []files{
			{"providers/crm.sh*": "#!/bin/bash\n", "resources/crm.meta.json": `{"name":"crm","uriTemplate":"crm://{id}"}`},
			{"providers/crm.sh*": "#!/bin/bash\n", "resources/crm.meta.json": `{"name":"crm","uri":"x://1","provider":"crm"}`},
			{"providers/https.sh*": "#!/bin/bash\n"},
		}},
		{files{"providers/crm.sh*": "#!/bin/bash\n", "server.d/register.sh*": "#!/bin/bash\n"}, finding.Info,
			"providers/crm.sh:0", nil},
	},
	"migrate.template_unmatched": {
		{files{"resources/q.meta.json": `{"name":"q","uriTemplate":"own://x{?v}"}`}, finding.Info,
			"resources/q.meta.json:0", []files{
				{"resources/q.meta.json": `{"name":"q","uriTemplate":"own://{a}/{+b}"}`},
			}},
		{files{"resources/q.meta.json": `{"name":"q","uriTemplate":"own://{a,b}"}`,
			"providers/own.sh*": "#!/bin/bash\necho $MCP_RESOURCE_TEMPLATE_VARS\n"}, finding.Warning,
			"resources/q.meta.json:0", nil},
	},
	"migrate.version_pin": {
		{files{"Dockerfile": "FROM x\nARG FRAMEWORK_VERSION=v0.8.3\n"}, finding.Warning, "Dockerfile:2", []files{
			{"Dockerfile": "# FRAMEWORK_VERSION=v0.8.3\nARG FRAMEWORK_VERSION=2.0.1\nENV VERSION=1.0.0 " +
				"REQUIRED_MCPBASH_MIN_VERSION=1.0\n"},
		}},
		{files{"run.sh*": "MCPBASH=${MCPBASH_VERSION:-v1.7.0}\nFRAMEWORK_VERSION=\"${MCPBASH_VERSION:-v1.7.0}\"\n"},
			finding.Warning, "run.sh:2", nil},
		{files{".github/workflows/ci.yml": "env:\n  MCP_BASH_VERSION: '1.5.0'\n"}, finding.Warning,
			".github/workflows/ci.yml:2", nil},
		{files{"scripts/setup.sh*": "curl x | bash -s\n./install.sh --yes --version v1.6.0\n"}, finding.Warning,
			"scripts/setup.sh:2", []files{
				{"scripts/setup.sh*": "./install.sh --version v2.0.0\n"},
				{"scripts@": "other", "other/setup.sh*": "./install.sh --version v1.6.0\n"}, // links are not followed
			}},
	},
	"migrate.version_test": {
		{toolText(`case $MCPBASH_FRAMEWORK_VERSION in 1.*) ;; *) exit 1 ;; esac`), finding.Warning,
			"tools/demo-hello/tool.sh:2", []files{
				toolText(`case $MCPBASH_FRAMEWORK_VERSION in 0.*) exit 1 ;; esac`),
				toolText(`[[ $MCPBASH_FRAMEWORK_VERSION > 1.4 ]]`),
				toolText(`[ "${MCPBASH_FRAMEWORK_VERSION%%.*}" -ge 1 ]`), toolText(`[[ $VERSION == 1.* ]]`),
			}},
		{toolText(`[[ $MCPBASH_FRAMEWORK_VERSION == 1.* ]]`), finding.Warning, "tools/demo-hello/tool.sh:2", nil},
		{toolText(`[ "$MCPBASH_FRAMEWORK_VERSION" = 1.7.0 ]`), finding.Warning, "tools/demo-hello/tool.sh:2", nil},
		{files{"run.sh*": "[[ $MCPBASH_FRAMEWORK_VERSION =~ ^1\\. ]]\n"}, finding.Warning, "run.sh:1", nil},
	},
	"migrate.vendored": {{files{".mcp-bash/vendor.json": `{"version":"1.7.0"}`}, finding.Warning,
		".mcp-bash/vendor.json:0", []files{
			{".mcp-bash/vendor.json": `{"version":"2.0.0"}`},
		}}},
}

// CLI-1031: each rule has an explanation, and names file and line. Some projects break it, and similar ones do not.
func TestMigrationRules(t *testing.T) {
	for id := range differences {
		if Rules().Find(id) == nil {
			t.Errorf("%s is no rule", id)
		}
	}
	for _, rule := range Rules() {
		if !strings.HasPrefix(rule.ID, "migrate.") {
			continue
		}
		if rule.Summary == "" || rule.Reason == "" || rule.Fix == "" {
			t.Errorf("%s does not explain itself", rule.ID)
		}
		if differences[rule.ID] == nil {
			t.Errorf("no project meets %s", rule.ID)
		}
		t.Run(rule.ID, func(t *testing.T) {
			t.Parallel()
			for _, d := range differences[rule.ID] {
				found := ofMigration(migrated(t, fixture(t, sound, d.content)), rule.ID)
				if len(found) != 1 {
					t.Errorf("CLI-1031: %v: %+v", d.content, found)
				} else if f := found[0]; f.Severity != d.severity || f.Path+":"+string(rawjson.Int(f.Line)) != d.at ||
					f.Fix == "" || f.Message == "" {
					t.Errorf("CLI-1031: %+v, want %s %s", f, d.severity, d.at)
				}
				for _, content := range d.none {
					if found := ofMigration(migrated(t, fixture(t, sound, content)), rule.ID); len(found) > 0 {
						t.Errorf("CLI-1031: %v: %+v", content, found)
					}
				}
			}
		})
	}
}

func ofMigration(m *Result, id string) []finding.Finding {
	return of(&Result{Findings: m.Findings}, id)
}

// CLI-1031: shared rules have the same text as in validate. Other rules of validate are not reported.
func TestSharedRules(t *testing.T) {
	for _, id := range sharedRules {
		content, known := cases[id]
		if !known && situations[id] == nil || Rules().Find(id) == nil {
			t.Errorf("%s is no rule of validate", id)
		}
		if !known {
			continue
		}
		f := fixture(t, sound, content)
		want, got := of(check1(t, f, Options{}), id), ofMigration(migrated(t, f), id)
		if len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("CLI-1031: %+v\nwant %+v", got, want)
		}
	}
	m := migrated(t, fixture(t, sound, files{"tools/demo-hello/tool.sh*": "#!/bin/bash\nif\n",
		"prompts/ask/ask.meta.json": `{"name":"ask"}`}))
	for _, f := range m.Findings {
		if f.ID != "migrate.tool_limit" {
			t.Errorf("CLI-1031: %+v", f)
		}
	}
}

// CLI-1031: the page for users lists the rules of migrate. test/house compares it with the contract.
func TestMigrationPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "MIGRATION.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "## What `migrate` lists\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var listed []string
	for _, m := range regexp.MustCompile("`([a-z]+\\.[a-z_]+)`").FindAllStringSubmatch(text, -1) {
		listed = append(listed, m[1])
	}
	rules := slices.Clone(sharedRules)
	for _, rule := range Rules() {
		if strings.HasPrefix(rule.ID, "migrate.") {
			rules = append(rules, rule.ID)
		}
	}
	slices.Sort(listed)
	if slices.Sort(rules); !slices.Equal(listed, rules) {
		t.Errorf("MIGRATION.md lists %q, not %q", listed, rules)
	}
}

// CLI-1030: Migrate runs nothing of the project and writes nothing.
func TestMigrateRunsNothing(t *testing.T) {
	run := "#!/bin/bash\n: >\"$(dirname \"$0\")/ran\"\n: >\"" // for scripts that are sourced
	f := fixture(t, sound)
	text := run + f.Path("ran") + "\"\n"
	f.Put(files{
		"server.d/register.sh*": text, "server.d/env.sh*": text, "server.d/policy.sh": text,
		"server.d/health-checks.sh": text,
		"mcpb.conf":                 "x=$(touch ran)\n", "tools/demo-hello/tool.sh*": text, "providers/own.sh*": text,
		"prompts/ask/ask.completion.sh*": text, "run.sh*": text,
	})
	f.Project.Env["MCPBASH_ALLOW_PROJECT_HOOKS"] = "true"
	f.Open(f.Project.Env)
	before := listing(t, f.Root)
	migrated(t, f)
	if after := listing(t, f.Root); after != before || f.Exists("ran") {
		t.Errorf("CLI-1030: %s\nwas %s", after, before)
	}
}

// CLI-1030: a cancelled migration returns the cause.
func TestMigrateCancelled(t *testing.T) {
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, err := Migrate(ctx, fixture(t, sound).Project, nil); !errors.Is(err, reason) {
		t.Error(err)
	}
}

// CLI-1030: the examples have no findings.
func TestMigrateExamples(t *testing.T) {
	list, err := filepath.Glob("../../../examples/*/server.d")
	if err != nil || len(list) < 18 {
		t.Fatal(list, err)
	}
	for _, dir := range list {
		root, err := filepath.Abs(filepath.Dir(dir))
		if err != nil {
			t.Fatal(err)
		}
		m, err := Migrate(t.Context(), project.Open(root, env(t), root, func(string) {}), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range m.Findings {
			// the owner of a checkout decides who may write to it
			if f.Severity != finding.Info && f.ID != "path.insecure" {
				t.Errorf("CLI-1030: %s: %s %s", filepath.Base(root), f.ID, f.Text())
			}
		}
	}
}

// CLI-1023: settings without effect are reported with their place.
func TestIgnored(t *testing.T) {
	r := check1(t, fixture(t, sound, files{
		"server.d/env.sh":          "# MCPBASH_DEBUG=1\nexport MCPBASH_CORRUPTION_WINDOW=60 MCPBASH_LOG_LEVEL=debug\n",
		"mcpb.conf":                "MCPB_NAME=demo\nMCPB_NMAE=x\nx=1\n",
		"run.sh*":                  "#!/bin/bash\nMCP_TOOLS_LOGGER=x mcp-bash\n",
		".mcp.json":                "{\"mcpServers\":{\"a\":{\"env\":{\"A\":\"/\",\n\"MCPBASH_STATE_SEED\":\"1\"}}}}",
		"server.d/polcy.sh":        "x\n",
		"server.d/helper.sh":       "x\n",
		"server.d/policy.sh":       "source \"${BASH_SOURCE%/*}/helper.sh\"\n",
		"server.d/README.md":       "x",
		"server.d/notes.json":      "{}",
		"tools/demo-hello/x.sh":    "",
		"resources/echo.meta.json": `{"name":"echo","uri":"echo://x","arguments":[]}`,
		"prompts/ask/ask.meta.json": `{"name":"ask","description":"x","$schema":"y",
			"widget":1,"_meta":{},"descripton":2}`,
		"server.d/server.meta.json": `{"name":"demo","author":{"name":"a"},"transport":"stdio","license":"MIT"}`,
	}), Options{})
	var got []string
	for _, f := range r.Findings {
		if strings.HasPrefix(f.ID, "ignored.") {
			got = append(got, string(f.Severity)+" "+f.Path+":"+string(rawjson.Int(f.Line))+" "+f.Message)
		}
	}
	slices.Sort(got)
	want := []string{
		`info prompts/ask/ask.meta.json:2 "widget" has no effect`,
		`info resources/echo.meta.json:1 "arguments" has no effect`,
		`info server.d/server.meta.json:1 "transport" has no effect`,
		`warning .mcp.json:2 MCPBASH_STATE_SEED has no effect`,
		`warning mcpb.conf:2 MCPB_NMAE has no effect`,
		`warning run.sh:2 MCP_TOOLS_LOGGER has no effect`,
		`warning server.d/env.sh:2 MCPBASH_CORRUPTION_WINDOW has no effect`,
		`warning server.d/notes.json:0 is not read by any program`,
		`warning server.d/polcy.sh:0 is not read by any program; did you mean policy.sh?`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("CLI-1023:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// CLI-1032: the counts of the result agree.
func TestMigrationCounts(t *testing.T) {
	m := migrated(t, fixture(t, sound, toolText("echo $MCP_KEY; mcp_args_get .a --default b")))
	if m.Errors+m.Warnings != 1 || len(m.Findings) != 3 || m.Findings[0].ID != "migrate.variable_dropped" {
		t.Errorf("CLI-1032: %+v", m)
	}
	if !json.Valid(m.Findings[0].AppendJSON(nil)) {
		t.Error("no JSON")
	}
}
