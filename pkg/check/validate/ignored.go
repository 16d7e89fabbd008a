package validate

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/check/validate/internal/bash32"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/schemas"
)

// unusedSettings are variables that people can set for the Bash edition, and that have no effect here. A name that ends
// in * stands for all names with this prefix. Test TestVariables compares both tables with env.md.
var unusedSettings = []string{
	"MCPBASH_BIN", "MCPBASH_LOCK_POLL_INTERVAL", "MCPBASH_LOCK_REAP_GRACE_SECS", "MCPBASH_STATE_SEED", "MCPBASH_DEBUG",
	"MCPBASH_DEBUG_ALL_EXITS", "MCPBASH_CORRUPTION_WINDOW", "MCPBASH_CORRUPTION_THRESHOLD",
	"MCPBASH_ALLOW_CORRUPT_STDOUT", "MCPBASH_ICONV_AVAILABLE", "MCPBASH_REGISTRY_REFRESH_NO_NOTIFY",
	"MCPBASH_REGISTRY_REFRESH_NO_WRITE", "MCPBASH_SKIP_PROCESS_GROUP_LOOKUP", "MCPBASH_REGISTRY_MAX_LIMIT_DEFAULT",
	"MCPBASH_DEFAULT_MAX_CONCURRENT_REQUESTS", "MCPBASH_DEFAULT_MAX_OUTPUT_BYTES", "MCPBASH_DEFAULT_PROGRESS_PER_MIN",
	"MCP_TOOLS_LOGGER", "MCP_RESOURCES_LOGGER", "MCP_RESOURCES_TEMPLATES_LOGGER", "MCP_PROMPTS_LOGGER",
	"MCP_COMPLETION_LOGGER", "MCP_ROOTS_LOGGER", "MCP_UI_LOGGER", "MCP_UI_TEMPLATES_LOGGER", "MCP_LOG_LEVEL_DEFAULT",
}

// internalState are variables in which the Bash edition's server keeps its state. No program sets them here.
var internalState = []string{
	"MCPBASH_TIMEOUT_REASON", "MCPBASH_REMOTE_TOKEN_ENABLED", "MCPBASH_REMOTE_TOKEN_EXPECTED",
	"MCPBASH_REMOTE_TOKEN_DEBUG_WARNED", "MCPBASH_STDOUT_LOCK_NAME", "MCPBASH_DIRECT_FD",
	"MCPBASH_TOOL_ENV_INHERIT_WARNED", "MCPBASH_REGISTER_HOOK_WARNED", "MCPBASH_STATIC_REGISTRY_LOGGED",
	"MCPBASH_REGISTRY_FASTPATH_FILE", "MCPBASH_LAST_REGISTRY_POLL", "MCP_TOOLS_REGISTRY_*", "MCP_TOOLS_TOTAL",
	"MCP_TOOLS_LAST_*", "MCP_TOOLS_CHANGED", "MCP_TOOLS_MANUAL_*", "MCP_RESOURCES_REGISTRY_*", "MCP_RESOURCES_TOTAL",
	"MCP_RESOURCES_LAST_*", "MCP_RESOURCES_CHANGED", "MCP_RESOURCES_MANUAL_*", "MCP_RESOURCES_TEMPLATES_REGISTRY_*",
	"MCP_RESOURCES_TEMPLATES_TOTAL", "MCP_RESOURCES_TEMPLATES_LAST_*", "MCP_RESOURCES_TEMPLATES_CHANGED",
	"MCP_RESOURCES_TEMPLATES_MANUAL_*", "MCP_PROMPTS_REGISTRY_*", "MCP_PROMPTS_TOTAL", "MCP_PROMPTS_LAST_*",
	"MCP_PROMPTS_CHANGED", "MCP_PROMPTS_MANUAL_*", "MCP_UI_REGISTRY_*", "MCP_UI_TOTAL", "MCP_UI_LAST_*",
	"MCP_UI_CHANGED", "MCP_UI_MANUAL_*", "MCP_TOOLS_POLICY_LOADED", "MCP_REGISTRY_REGISTER_*",
	"MCP_REGISTRY_DECLARATIVE_*", "MCPBASH_ROOTS_URIS", "MCPBASH_ROOTS_NAMES", "MCPBASH_ROOTS_PATHS",
	"MCPBASH_ROOTS_READY", "MCPBASH_ROOTS_GENERATION", "MCPBASH_ROOTS_PENDING_*", "MCPBASH_ROOTS_LAST_REQUEST_TIME",
	"MCP_COMPLETION_PROVIDER_*", "MCP_COMPLETION_CURSOR_*", "MCP_COMPLETION_MANUAL_*", "MCP_UI_EXTENSION_ID",
	"MCP_UI_SUPPORTED_MIMETYPES", "MCP_UI_TEMPLATES", "MCPBASH_CLIENT_SUPPORTS_ELICITATION",
	"MCPBASH_CLIENT_SUPPORTS_ROOTS", "MCPBASH_CLIENT_SUPPORTS_ROOTS_LIST_CHANGED", "MCPBASH_CLIENT_ELICIT_*",
	"MCPBASH_HTTPS_TMP_FILE", "MCPBASH_HTTPS_HDR_FILE", "MCPBASH_BOOTSTRAP_*", "MCPBASH_SCRIPT_PATH",
	"MCPBASH_CLEANUP_REGISTERED", "MCPBASH_JOB_CONTROL_ENABLED", "MCPBASH_MAIN_PGID", "MCPBASH_ORIGINAL_PPID",
	"MCPBASH_STAT_MTIME_ARGS", "MCPBASH_PROTOCOL_VERSION", "MCPBASH_NEGOTIATED_PROTOCOL_VERSION", "MCPBASH_INITIALIZE*",
	"MCPBASH_SHUTDOWN_PENDING", "MCPBASH_SHUTDOWN_TIMER_STARTED", "MCPBASH_SHUTDOWN_WATCHDOG_*",
	"MCPBASH_EXIT_REQUESTED", "MCPBASH_IDLE_TIMEOUT_TRIGGERED", "MCPBASH_ORPHAN_DETECTED", "MCPBASH_HANDLER_OUTPUT",
	"MCPBASH_NO_RESPONSE", "MCPBASH_RESOLVED_HANDLER", "MCPBASH_RESOLVED_ASYNC", "MCPBASH_NEXT_OUTGOING_ID",
	"MCPBASH_PROGRESS_FLUSHER_PID", "MCPBASH_RESOURCE_POLL_PID", "MCP_LOG_LEVEL_CURRENT", "MCP_IO_ACTIVE_*",
	"MCP_NOTIFICATION_QUEUE_FILE", "MCP_JSON_BOM", "MCP_JSON_CACHE_*",
}

func hasNoEffect(name string) bool {
	return scriptenv.Matches(unusedSettings, name) || scriptenv.Matches(internalState, name)
}

// ignored reports settings and files that only the Bash edition knows (CLI-1023).
func (c *check) ignored() {
	conf := abs(c.p.Root, "mcpb.conf")
	files := []string{conf, abs(c.p.Server, "env.sh")}
	launchers, _ := filepath.Glob(filepath.Join(globEscape(c.p.Root), "*.sh"))
	for _, file := range append(files, launchers...) {
		text, _, err := folder.ReadFile(file, maxScript)
		s, ok := bash32.Read(text)
		if err != nil || !ok {
			continue
		}
		for _, set := range s.Settings {
			name := set.Name.Name
			unknown := file == conf && strings.HasPrefix(name, "MCPB_") && !settings.Find(name).IsConf()
			if hasNoEffect(name) || unknown {
				c.add(finding.Finding{ID: "ignored.setting", Path: c.label(file), Line: set.Line, Message: name + " has no effect"})
			}
		}
	}
	for _, file := range []string{".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"} {
		c.clientSettings(abs(c.p.Root, file))
	}
	c.strayFiles()
}

// clientSettings reports variables without effect in a client's file of the project.
func (c *check) clientSettings(file string) {
	text, _, err := folder.ReadFile(file, maxSmall)
	if err != nil {
		return
	}
	doc, err := rawjson.Check(text)
	if err != nil {
		return // the client reports it
	}
	for _, list := range []string{"mcpServers", "servers"} {
		for _, server := range rawjson.Members(rawjson.Get(doc, list)) {
			for _, variable := range rawjson.Members(rawjson.Get(server.Value, "env")) {
				if variable.Name == allowlist {
					value, _ := rawjson.Text(variable.Value)
					c.allowed(settings.Words(value), c.label(file))
				}
				if hasNoEffect(variable.Name) {
					f := finding.Finding{ID: "ignored.setting", Path: c.label(file), Message: variable.Name + " has no effect"}
					f.Line, f.Column, _ = rawjson.Position(text, variable.Value)
					c.add(f)
				}
			}
		}
	}
}

// serverNames are the files of the server directory that our programs read.
var serverNames = []string{
	"server.meta.json", "register.json", "register.sh", "policy.sh", "env.sh", "health-checks.sh", "requirements.json",
}

// strayFiles reports scripts and JSON files of the server directory that nothing reads: neither our programs nor a
// script next to it.
func (c *check) strayFiles() {
	entries, err := os.ReadDir(c.p.Server)
	if err != nil {
		return
	}
	var named strings.Builder // the words of all scripts there
	for _, e := range entries {
		if text, _, err := folder.ReadFile(filepath.Join(c.p.Server, e.Name()), maxScript); err == nil {
			if s, ok := bash32.Read(text); ok {
				for _, command := range s.Commands {
					for _, word := range command.Words {
						named.WriteString("/" + path.Base(word) + "/")
					}
				}
			}
		}
	}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if !e.Type().IsRegular() || ext != ".sh" && ext != ".json" || slices.Contains(serverNames, e.Name()) ||
			strings.Contains(named.String(), "/"+e.Name()+"/") {
			continue
		}
		message := "is not read by any program"
		if near := cli.Nearest(e.Name(), serverNames); near != "" {
			message += "; did you mean " + near + "?"
		}
		c.at("ignored.file", c.label(filepath.Join(c.p.Server, e.Name())), message)
	}
}

func effectiveFields(k *kinds.Kind) []string {
	switch k {
	case kinds.Tools:
		return kinds.ToolFields
	case kinds.Prompts:
		return kinds.PromptFields
	case kinds.Completions:
		return schemas.Fields(schemas.Completion)
	}
	isNotUsed := func(field string) bool { return field == "arguments" }
	return slices.DeleteFunc(slices.Clone(kinds.ResourceFields), isNotUsed)
}

func schemaOf(k *kinds.Kind, doc json.RawMessage) string {
	switch {
	case k == kinds.Tools:
		return schemas.Tool
	case k == kinds.Prompts:
		return schemas.Prompt
	case k == kinds.Completions:
		return schemas.Completion
	case rawjson.TextOf(doc, kinds.URITemplate) != "":
		return schemas.Template
	}
	return schemas.Resource
}

func (c *check) declaredFields() {
	file := abs(c.p.Server, declare.JSONFile)
	text, _, err := folder.ReadFile(file, maxSmall)
	doc, wrong := rawjson.Check(text)
	if err != nil || wrong != nil {
		return // the registry reports it
	}
	c.text = text
	for _, k := range kinds.All {
		for entry := range rawjson.Elements(rawjson.Get(doc, k.Key)) {
			c.fields(entry, c.label(file), effectiveFields(k))
			c.types(entry, c.label(file), schemaOf(k, entry))
		}
	}
}

// headerFields checks the fields of the inline headers of a kind.
func (c *check) headerFields(k *kinds.Kind) {
	for _, o := range c.offered.items[k] {
		if o.path == "" {
			continue
		}
		file := abs(k.ContentDir(c.p), o.path)
		text, err := boundedfile.ReadHead(file, item.MaxHead)
		if err != nil || isLink(file) {
			continue // the registry reports it
		}
		head, _ := item.Head(text)
		if header, err := item.ParseHeader(head); err == nil && header != nil {
			c.text = head
			c.fields(header, c.label(file), effectiveFields(k))
			c.types(header, c.label(file), schemaOf(k, header))
		}
	}
}

func (c *check) pageFields() {
	for _, o := range c.offered.items[kinds.UIResources] {
		file := abs(abs(c.p.Root, o.path), kinds.PageMetadata)
		text, _, err := folder.ReadFile(file, maxSmall)
		doc, wrong := rawjson.Check(text)
		if err != nil || wrong != nil {
			continue // the registry reports it
		}
		c.text = text
		c.placeholder(doc, c.label(file))
		c.topFields(doc, c.label(file), schemas.UI)
		c.types(doc, c.label(file), schemas.UI)
	}
}

// ownFields reports the unknown members of a file that no other program reads.
func (c *check) ownFields(file, schema string) {
	text, err := c.p.ReadFile(file, maxSmall)
	if err != nil {
		return // reported by the reader of the file
	}
	if doc, err := rawjson.Check(text); err == nil {
		c.text = text
		c.topFields(doc, c.label(file), schema)
		c.innerFields(doc, c.label(file), schema)
	}
}

// topFields reports the unknown members of a document itself, and innerFields those of objects in it.
func (c *check) topFields(doc json.RawMessage, label, schema string) {
	c.strays(doc, label, schema, false)
}

func (c *check) innerFields(doc json.RawMessage, label, schema string) {
	c.strays(doc, label, schema, true)
}

func (c *check) strays(doc json.RawMessage, label, schema string, inner bool) {
	for _, s := range schemas.Strays(schema, doc) {
		object := finding.Finding{Path: label}
		object.Line, object.Column, _ = rawjson.Position(c.text, s.In)
		if inner == (s.Depth > 0) && !(inner && c.reportedAt(object)) {
			c.noEffect(s.Member, label, cli.DidYouMean(s.Name, s.Known))
		}
	}
}

// fields reports unknown members of metadata. The registry reports members that resemble known ones.
func (c *check) fields(doc json.RawMessage, label string, known []string) {
	for _, m := range unknownFields(doc, known) {
		if item.NearestKey(m.Name, known) == "" {
			c.noEffect(m, label, "")
		}
	}
}

// unknownFields returns the fields of metadata that are not known and not another program's by their first character.
func unknownFields(doc json.RawMessage, known []string) []rawjson.Member {
	return slices.DeleteFunc(slices.Clone(rawjson.Members(doc)), func(m rawjson.Member) bool {
		return slices.Contains(known, m.Name) || strings.HasPrefix(m.Name, "$") || strings.HasPrefix(m.Name, "_")
	})
}

func (c *check) noEffect(m rawjson.Member, label, hint string) {
	f := finding.Finding{ID: "ignored.field", Path: label, Message: fmt.Sprintf("%q has no effect%s", m.Name, hint)}
	f.Line, f.Column, _ = rawjson.Position(c.text, m.Value)
	c.add(f)
}
