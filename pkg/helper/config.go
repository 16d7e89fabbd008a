package helper

import (
	"encoding/json"
	"os"
	"strconv"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
)

// config merges the sources of a configuration (SDK-150 to SDK-153). It
// prints lines, in this order:
//
//	LEVEL "MESSAGE"   for the log, any number
//	loaded            a source was loaded, or the defaults are not empty
//	keep              nothing was merged: the defaults apply as they are
//	json {...}        the configuration
//	.PATH...          its flat table (SDK-205), if it has one
func config(args []string, input []byte) ([]byte, int) {
	length, err := strconv.Atoi(args[0])
	if err != nil || length < 0 || length > len(input) {
		return nil, exitUsage
	}
	example, file, variable := args[1], args[2], args[3]
	c := configuration{merged: json.RawMessage("{}")}
	c.defaults(input[:length])
	c.file(example, "Loaded example config: "+example)
	c.file(file, "Loaded config file: "+file)
	if value := input[length:]; len(value) > 0 {
		c.variable(variable, value)
	}
	return c.report(), exitOK
}

type configuration struct {
	merged json.RawMessage
	log    []byte
	loaded bool
	kept   bool // merged equals the defaults
}

func (c *configuration) logf(level, message string) {
	c.log = rawjson.AppendString(append(append(c.log, level...), ' '), message)
	c.log = append(c.log, '\n')
}

func (c *configuration) warn(message string) { c.logf("warning", message) }

// object reads a source. Null and false count as no JSON.
func object(text []byte) (v json.RawMessage, isJSON, isObject bool) {
	v, err := rawjson.Check(text)
	if err != nil || isFalsy(v) {
		return nil, false, false
	}
	return v, true, rawjson.KindOf(v) == rawjson.Object
}

func notObject(source string) string { return "Config source is not a JSON object: " + source }

func (c *configuration) defaults(text []byte) {
	switch v, isJSON, isObject := object(text); {
	case !isJSON:
		c.warn("Invalid JSON in --defaults, using {}")
	case !isObject:
		c.warn(notObject("--defaults"))
	default:
		c.merged = compact(v)
		c.kept = true
		c.loaded = string(c.merged) != "{}"
	}
}

func (c *configuration) file(name, message string) {
	text, ok := readFile(name)
	if !ok {
		return
	}
	switch v, isJSON, isObject := object(text); {
	case !isJSON:
		c.warn("Invalid JSON in file: " + name)
	case !isObject:
		c.warn(notObject(name))
	default:
		c.merge(v, message)
	}
}

// maxConfig is the size, in bytes, of a configuration that is still read.
const maxConfig = 10 << 20

func readFile(name string) (text []byte, ok bool) {
	if name == "" {
		return nil, false
	}
	text, err := boundedfile.Read(name, maxConfig)
	return text, err == nil
}

// variable merges the value of an environment variable: JSON, or the name of a
// file.
func (c *configuration) variable(name string, value []byte) {
	v, isJSON, isObject := object(value)
	switch {
	case isObject:
		c.merge(v, "Loaded config from env var: "+name+" (JSON)")
	case isJSON:
		c.warn(notObject(name))
	default:
		path := string(value)
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			c.warn("Env var " + name + " is neither valid JSON nor a file path")
			return
		}
		c.file(path, "Loaded config from env var: "+name+" (file: "+path+")")
	}
}

func (c *configuration) merge(v json.RawMessage, message string) {
	for _, m := range rawjson.Members(compact(v)) {
		c.merged = rawjson.With(c.merged, m.Name, m.Value)
	}
	c.loaded = true
	c.kept = false
	c.logf("debug", message)
}

func (c *configuration) report() []byte {
	if !c.loaded {
		c.warn("No configuration sources loaded")
	}
	answer := c.log
	if c.loaded {
		answer = append(answer, "loaded\n"...)
	}
	if c.kept {
		answer = append(answer, "keep\n"...)
	}
	answer = append(append(append(answer, "json "...), c.merged...), '\n')
	if table, ok := jqtext.Flat(c.merged); ok {
		answer = append(answer, table...)
	}
	return answer
}
