package stage

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/userenv"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/text/lazyregexp"
)

// UserConfig has the fields for which a client asks its user.
type UserConfig struct {
	Fields json.RawMessage // nil for none
	Env    []userenv.Mapping
	Args   []string
}

// HasVariable reports whether a field becomes a variable.
func (u *UserConfig) HasVariable(field string) bool {
	return slices.ContainsFunc(u.Env, func(m userenv.Mapping) bool { return m.Key == field })
}

// readUserConfig reads the settings about user_config, and reports every fault.
func (s *Stage) readUserConfig() (u UserConfig, err error) {
	text := rawjson.Get(s.Config.Meta, "user_config")
	if file := s.Config.conf["MCPB_USER_CONFIG_FILE"]; file != "" {
		content, err := s.Project.ReadFile(s.InProject(file), mcpb.MaxManifest)
		if err != nil {
			return u, fmt.Errorf("MCPB_USER_CONFIG_FILE not found: %s", file)
		}
		if text, err = rawjson.Check(content); err != nil {
			return u, fmt.Errorf("MCPB_USER_CONFIG_FILE is not valid JSON: %s: %w", file, err)
		}
	}
	if !rawjson.Absent(text) {
		u.Fields = s.checkFields(text)
	}
	u.Env = userenv.Read(s.Config.conf["MCPB_USER_CONFIG_ENV_MAP"], s.Config.Meta)
	for key := range strings.SplitSeq(s.Config.conf["MCPB_USER_CONFIG_ARGS_MAP"], ",") {
		if key = strings.TrimSpace(key); key != "" {
			u.Args = append(u.Args, key)
		}
	}
	if s.Config.conf["MCPB_USER_CONFIG_ARGS_MAP"] == "" {
		for v := range rawjson.Elements(rawjson.Get(s.Config.Meta, "user_config_args_map")) {
			u.Args = append(u.Args, Scalar(v))
		}
	}
	if s.checkMaps(u); len(s.faults) == 0 {
		s.checkEffects(u)
	}
	return u, nil
}

// InProject returns the path of a file that a setting names.
func (s *Stage) InProject(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.Project.Root, filepath.FromSlash(path))
}

// checkFields reports problems of the fields, and returns them in the form of the manifest: nil for none.
func (s *Stage) checkFields(fields json.RawMessage) json.RawMessage {
	if kind := rawjson.KindOf(fields); kind != rawjson.Object {
		s.Fault("user_config must be an object, got %s", kind)
		return nil
	}
	var out rawjson.Builder
	out.Object()
	members := rawjson.Members(fields)
	for _, m := range members {
		out.Name(m.Name).Raw(s.checkField(m.Name, m.Value))
	}
	if len(members) == 0 {
		return nil
	}
	return out.End().Bytes()
}

var (
	fieldTypes   = []string{"string", "number", "boolean", "directory", "file"}
	fieldMembers = []string{
		"type", "title", "description", "required", "default", "multiple", "sensitive", "min", "max",
	}
)

func (s *Stage) checkField(key string, field json.RawMessage) json.RawMessage {
	fault := func(format string, args ...any) { s.Fault("field %q"+format, append([]any{key}, args...)...) }
	if strings.Contains(key, "=") {
		s.Fault(`field key "%s" cannot contain "=" (reserved for env_map delimiter)`, key)
	}
	if strings.Contains(key, ",") {
		s.Fault(`field key "%s" cannot contain "," (reserved for env_map entry delimiter)`, key)
	}
	kind, title := rawjson.TextOf(field, "type"), rawjson.TextOf(field, "title")
	if kind == "" || title == "" {
		fault(` must have "type" and "title"`)
		return field
	}
	if !slices.Contains(fieldTypes, kind) {
		fault(` has invalid type %q (must be string, number, boolean, directory, or file)`, kind)
		return field
	}
	for _, m := range rawjson.Members(field) {
		if !slices.Contains(fieldMembers, m.Name) {
			fault(": unknown property %q", m.Name)
		}
	}
	for _, name := range []string{"required", "multiple", "sensitive"} {
		if v := rawjson.Get(field, name); v != nil && rawjson.KindOf(v) != rawjson.Bool {
			fault(": %q must be true or false", name)
		}
	}
	path := kind == "directory" || kind == "file"
	if rawjson.True(rawjson.Get(field, "sensitive")) && kind != "string" {
		fault(`: "sensitive" is only valid for string type`)
	}
	multiple := rawjson.True(rawjson.Get(field, "multiple"))
	if multiple && !path {
		fault(`: "multiple" is only valid for directory/file types`)
	}
	checkRange(field, kind, fault)
	checkDefault(field, kind, multiple, fault)
	if rawjson.TextOf(field, "description") != "" {
		return field
	}
	s.Warn("user_config field %q has no description; its title is used", key)
	var out rawjson.Builder
	out.Object()
	for _, m := range rawjson.Members(field) {
		if m.Name == "description" {
			continue
		}
		if out.Name(m.Name).Raw(m.Value); m.Name == "title" {
			out.Name("description").String(title)
		}
	}
	return out.End().Bytes()
}

func checkRange(field json.RawMessage, kind string, fault func(string, ...any)) {
	least, most := rawjson.Get(field, "min"), rawjson.Get(field, "max")
	if least == nil && most == nil {
		return
	}
	if kind != "number" {
		fault(`: "min"/"max" are only valid for number type`)
		return
	}
	for _, v := range []json.RawMessage{least, most} {
		if v != nil && rawjson.KindOf(v) != rawjson.Number {
			fault(`: "min"/"max" must be numbers`)
			return
		}
	}
	if less(most, least) {
		fault(`: "min" (%s) must be <= "max" (%s)`, least, most)
	}
	d := rawjson.Get(field, "default")
	if less(d, least) {
		fault(": default (%s) must be >= min (%s)", d, least)
	}
	if less(most, d) {
		fault(": default (%s) must be <= max (%s)", d, most)
	}
}

// less reports whether a is less than b. It is false if one of them is not a number.
func less(a, b json.RawMessage) bool {
	x, errX := strconv.ParseFloat(string(a), 64)
	y, errY := strconv.ParseFloat(string(b), 64)
	return errX == nil && errY == nil && x < y
}

func checkDefault(field json.RawMessage, kind string, multiple bool, fault func(string, ...any)) {
	v := rawjson.Get(field, "default")
	if v == nil {
		return
	}
	isPath, got := kind == "directory" || kind == "file", rawjson.KindOf(v)
	switch {
	case isPath && got != rawjson.String && !(multiple && rawjson.IsStrings(v)):
		fault(": default must be string (path)")
	case !isPath && got.String() != kind:
		fault(": default must be %s", kind)
	}
}

var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// codeVariables are the variables from which the loader, shells, interpreters and common programs choose the code that
// they run. A star at the end of a name matches any rest.
//
//go:embed code-variables.txt
var codeVariables string

// choosesCode reports whether a variable decides which code runs. Windows ignores
// the case of names.
func choosesCode(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc(strings.Fields(codeVariables), func(one string) bool {
		prefix, isPrefix := strings.CutSuffix(one, "*")
		return name == one || isPrefix && strings.HasPrefix(name, prefix)
	})
}

// checkMaps reports problems of the variables and arguments that pass fields to the server.
func (s *Stage) checkMaps(u UserConfig) {
	seen := map[string]bool{}
	for _, m := range u.Env {
		if rawjson.Get(u.Fields, m.Key) == nil {
			s.Fault("env_map key %q is not defined in user_config", m.Key)
		}
		switch {
		case !variableName.MatchString(m.Variable):
			s.Fault("env var name %q is not a valid POSIX identifier", m.Variable)
		case seen[m.Variable]:
			s.Fault("duplicate env var name %q", m.Variable)
		case strings.HasPrefix(m.Variable, "MCPBASH_") && m.Variable != roots.Variable: // PL-32
			s.Warn("env var %q collides with reserved MCPBASH namespace", m.Variable)
		case choosesCode(m.Variable):
			s.Warn("env var %q decides which code runs: whoever fills in the field %q can run anything; use another name",
				m.Variable, m.Key)
		}
		seen[m.Variable] = true
	}
	for _, key := range u.Args {
		if rawjson.Get(u.Fields, key) == nil {
			s.Fault("args_map key %q is not defined in user_config", key)
		}
	}
}

// checkEffects warns of fields whose values reach no script (CLI-1413a).
func (s *Stage) checkEffects(u UserConfig) {
	for _, m := range u.Env {
		if remedy := m.Lost(s.Config.Meta); remedy != "" && !choosesCode(m.Variable) {
			s.Warn("user_config %q becomes %s, which no tool receives; %s", m.Key, m.Variable, remedy)
		}
	}
	for _, field := range rawjson.Members(u.Fields) {
		used := slices.Contains(u.Args, field.Name) || u.HasVariable(field.Name)
		if !used && !bytes.Contains(s.Config.Meta, []byte("${user_config."+field.Name)) {
			s.Warn("user_config field %q has no effect: it is mapped to no variable and no argument", field.Name)
		}
	}
}

// checkScriptEnv reports settings in the object "env" of server.meta.json that the server would leave out. The bundle
// would ship them, and a value may be a secret.
func (s *Stage) checkScriptEnv() {
	const where = "server.d/server.meta.json: env."
	meta := &s.Project.Scripts.Meta
	for _, key := range meta.Refused {
		s.Fault(where+"%s cannot be set there, and the bundle would ship its value; only %s can", key,
			strings.Join(scriptenv.Keys(), ", "))
	}
	for _, setting := range meta.Invalid {
		s.Fault(where+"%s: %s", setting.Key, setting.Reason)
	}
}
