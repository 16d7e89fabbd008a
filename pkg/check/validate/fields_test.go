package validate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"mcp-bash/schemas"
)

// whole has files of a project in which every member of a schema occurs, with the schema.
var whole = map[string]struct{ schema, text string }{
	"server.d/server.meta.json": {schemas.Server, `{"$schema":"x","name":"demo","version":"1.0.0","title":"Demo",
"description":"Does things","websiteUrl":"https://example.com","icons":[{"src":"https://example.com/i.png",
"mimeType":"image/png","sizes":["48x48"],"theme":"dark"}],"largeResultBytes":100000,"pageSize":200,
"largeResultSearch":true,"validateInput":true,"env":{"MCPBASH_TOOL_ENV_MODE":"allowlist",
"MCPBASH_TOOL_ENV_ALLOWLIST":"A_KEY","MCPBASH_PROVIDER_ENV_MODE":"isolate","MCPBASH_PROVIDER_ENV_ALLOWLIST":"A_KEY"},
"securityLevel":"full","confine":"off","locked":false,"scopes":{"read":{"tools":["demo_hello"],"resources":["guide"],
"prompts":["ask"]}},"author":{"name":"Ada","email":"ada@example.com","url":"https://example.com"},"license":"MIT",
"mcpName":"io.github.ada/demo",
"keywords":["a"],"homepage":"https://example.com","documentation":"https://example.com",
"support":"https://example.com","repository":{"type":"git","url":"https://example.com/x"},
"privacy_policies":["https://example.com"],"compatibility":{},"long_description_file":"README.md","screenshots":[],
"user_config":{"key":{"type":"string","title":"Key","description":"A key","required":true,"default":"x",
"multiple":false,"sensitive":true,"min":1,"max":2}},"user_config_env_map":{"key":"A_KEY"},"user_config_args_map":[],
"platform_overrides":{"win32":{"command":"x","args":[],"env":{}}},
"server":{"mcp_config":{"platform_overrides":{}}},"localization":{},"_meta":{}}`},
	"tools/demo-hello/tool.meta.json": {schemas.Tool, `{"$schema":"x","name":"demo_hello","title":"Hello",
"description":"Say hello","path":"x","inputSchema":{"type":"object","properties":{"name":{"type":"string"}}},
"arguments":{"type":"object","properties":{}},"parameters":{"required":[{"name":"a","type":"string",
"parameter_type":"string","description":"A","required":true}],"optional":[{"name":"b","type":"string",
"parameter_type":"string","description":"B","required":false}]},
"outputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]},"timeoutSecs":5,
"timeoutHint":"Ask for less","progressExtendsTimeout":true,"maxTimeoutSecs":50,
"icons":[{"src":"https://example.com/i.png","mimeType":"image/png","sizes":["48x48"],"theme":"dark"}],
"validateInput":true,"annotations":{"title":"Hello","readOnlyHint":true,"destructiveHint":false,
"idempotentHint":true,"openWorldHint":false},"requires":[],"id":"hello","version":"1.0.0",
"capabilities":["FileSystem"],"confine":{"read":["a"],"write":["b"],"exec":["sh"],"connect":[80]},
"securityLevel":"full","longRunning":{"after":5,"asksFirst":true},"keepColors":true,"largeResultBytes":100000,
"output":{"type":"json","mimeType":"image/png","exitCodes":{"1":"Nothing"}},"execution":{},
"trial":{"words":["--help"],"exitCode":1},"_meta":{}}`},
	"prompts/ask/ask.meta.json": {schemas.Prompt, `{"$schema":"x","name":"ask","title":"Ask","description":"Ask",
"path":"ask/ask.txt","arguments":[{"name":"a","title":"A","description":"A","required":true}],"role":"user",
"metadata":{},"format":"text","elicit":true,"icons":[{"src":"https://example.com/i.png","mimeType":"image/png",
"sizes":["48x48"],"theme":"dark"}],"_meta":{}}`},
	"resources/guide/guide.meta.json": {schemas.Resource, `{"$schema":"x","name":"guide","title":"Guide",
"description":"A guide","path":"guide/guide.md","uri":"file:///x","mimeType":"text/markdown","provider":"file",
"size":5,"icons":[{"src":"https://example.com/i.png","mimeType":"image/png","sizes":["48x48"],"theme":"dark"}],
"annotations":{"audience":["user"],"priority":0.5,"lastModified":"2025-01-12T15:00:58Z"},"_meta":{}}`},
	"resources/files.meta.json": {schemas.Template, `{"$schema":"x","name":"files","title":"Files",
"description":"Files","uriTemplate":"file:///srv/{path}","mimeType":"text/plain",
"icons":[{"src":"https://example.com/i.png","mimeType":"image/png","sizes":["48x48"],"theme":"dark"}],
"annotations":{"audience":["user"],"priority":0.5,"lastModified":"2025-01-12T15:00:58Z"},"_meta":{}}`},
	"ui/page/ui.meta.json": {schemas.UI, `{"$schema":"x","title":"Page","description":"A page",
"entrypoint":"index.html","template":"form","config":{},"meta":{"csp":{"connectDomains":["https://example.com"],
"resourceDomains":["https://example.com"],"frameDomains":["https://example.com"],
"baseUriDomains":["https://example.com"]},"permissions":{"camera":{},"microphone":{},"geolocation":{},
"clipboardWrite":{}},"prefersBorder":true,"domain":"https://example.com"},"name":"page"}`},
	"server.d/register.json": {schemas.Register, `{"$schema":"x","version":1,"merge":["tools"],"exclude":["x"],
"tools":[{"name":"demo_two","path":"demo-hello/tool.sh","description":"Two"}],
"resources":[{"name":"r","uri":"echo://r"}],"resourceTemplates":[{"name":"t","uriTemplate":"echo://{x}"}],
"prompts":[{"name":"p","path":"ask/ask.txt"}],
"completions":[{"$schema":"x","name":"ask","path":"complete.sh","kind":"shell","timeoutSecs":5}],"_meta":{}}`},
	"config/roots.json": {schemas.Roots, `{"$schema":"x","roots":[{"path":".","name":"Project"}]}`},
	"server.d/requirements.json": {schemas.Requirements, `{"$schema":"x","framework":{"minVersion":"1.0"},
"dependencies":[{"name":"bash","or":["sh"],"minVersion":"1","check":"bash --version","installHint":"Install bash",
"debian":"bash"}]}`},
	"tools/demo-hello/samples/plain.json": {"", `{"tool":"demo_hello","arguments":{"name":"Ada"},
"structuredContent":{"text":"hello"}}`},
}

// open are objects in these files whose members are not checked, because clients or other programs read them.
var open = []string{
	"_meta", "metadata", "config", "execution", "arguments", "arguments[]", "inputSchema", "outputSchema",
	"compatibility", "localization", "icons[]", "annotations", "platform_overrides.win32.env",
	"server.mcp_config.platform_overrides", "camera", "microphone", "geolocation", "clipboardWrite", "structuredContent",
}

// lists are objects whose member names the author chooses.
var lists = []string{"scopes", "user_config", "user_config_env_map", "exitCodes", "platform_overrides"}

// objectsIn calls do with each object in a document and its path. do can change it.
func objectsIn(v any, path string, do func(path string, object map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		do(path, v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			objectsIn(v[name], strings.TrimPrefix(path+"."+name, "."), do)
		}
	case []any:
		for _, element := range v {
			objectsIn(element, path+"[]", do)
		}
	}
}

func isOneOf(path string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		for part := path; part != ""; {
			if part == name || strings.HasSuffix(part, "."+name) {
				return true
			}
			at := strings.LastIndexByte(part, '.')
			part = part[:max(at, 0)]
		}
		return false
	})
}

// CLI-1023: an unknown member is reported in every object of a file that our programs read, except in objects for other
// programs. No member of a schema is reported.
func TestUnknownMembers(t *testing.T) {
	content := files{"ui/page/index.html": "<p>", "complete.sh*": "#!/bin/sh\n"}
	for file, w := range whole {
		content[file] = w.text
	}
	for _, f := range of(check1(t, fixture(t, sound, content), Options{}), "ignored.field") {
		t.Errorf("a known member: %s:%d %s", f.Path, f.Line, f.Message)
	}
	for file, w := range whole {
		var doc any
		if err := json.Unmarshal([]byte(w.text), &doc); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if w.schema != "" {
			for _, name := range schemas.Fields(w.schema) {
				if _, there := doc.(map[string]any)[name]; !there && name != "uri" && name != "uriTemplate" {
					t.Errorf("%s lacks %q of the schema", file, name)
				}
			}
		}
		n := 0
		objectsIn(doc, "", func(path string, object map[string]any) {
			if isOneOf(path, open) ||
				slices.ContainsFunc(lists, func(m string) bool { return path == m || strings.HasSuffix(path, "."+m) }) {
				return
			}
			n++
			name := fmt.Sprintf("zz%d", n)
			object[name] = true
			text, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			delete(object, name)
			var found, whole []string
			for _, f := range check1(t, fixture(t, sound, content, files{file: string(text)}), Options{}).Findings {
				switch {
				case f.Good:
				case strings.Contains(f.Message, name):
					found = append(found, f.Path+": "+f.Message)
				case path != "" && strings.Contains(f.Message, `"`+path+`" must be`): // the finding is not about a member
					whole = append(whole, f.Message)
				}
			}
			if len(found) != 1 && (len(found) > 0 || len(whole) != 1) {
				t.Errorf("%s: an unknown member of %q is reported as %q, %q", file, path, found, whole)
			}
		})
		if n == 0 {
			t.Errorf("%s has no object", file)
		}
	}
}
