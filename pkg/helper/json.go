package helper

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/jq"
	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/secrets"
)

// readText returns a text without the newline that Bash adds to it. Invalid UTF-8 becomes U+FFFD.
func readText(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	if utf8.Valid(text) {
		return text, nil
	}
	return []byte(string([]rune(string(text)))), nil // a U+FFFD for each stray byte
}

// parse splits a text into its JSON values. ok is false if it contains anything else.
func parse(text []byte) (values []json.RawMessage, ok bool) {
	for {
		value, rest, err := rawjson.Next(text)
		if err == io.EOF {
			return values, true
		}
		if err != nil {
			return nil, false
		}
		values = append(values, value)
		text = rest
	}
}

// compact returns a value in the form of results.
func compact(v json.RawMessage) json.RawMessage { return jqtext.Normal(v) }

// plainText returns a value in the form that the SDK prints: strings without quotes, other values as compact JSON.
func plainText(v json.RawMessage) string { return string(jqtext.AppendText(nil, v)) }

// isFalsy reports whether jq's // replaces a value: nothing, null or false.
func isFalsy(v json.RawMessage) bool {
	return rawjson.Absent(v) || string(v) == "false"
}

func oneValue(_ []string, input []byte) ([]byte, int) {
	values, ok := parse(input)
	if !ok || len(values) != 1 {
		return nil, exitNo
	}
	return compact(values[0]), exitOK
}

func quote(_ []string, input []byte) ([]byte, int) {
	return rawjson.AppendString(nil, input), exitOK
}

// redacted prints a text without its secrets.
func redacted(_ []string, input []byte) ([]byte, int) {
	return []byte(secrets.Text(string(input))), exitOK
}

// cliError finds the message of an error in the output of a program.
func cliError(_ []string, input []byte) ([]byte, int) {
	values, ok := parse(input)
	if !ok || len(values) != 1 || rawjson.KindOf(values[0]) != rawjson.Object {
		return nil, exitOK
	}
	for _, message := range cliMessages(values[0]) {
		if !rawjson.Absent(message) {
			return []byte(plainText(message)), exitOK
		}
	}
	return nil, exitOK
}

// cliMessages lists the members in which programs report errors.
func cliMessages(doc json.RawMessage) []json.RawMessage {
	var messages []json.RawMessage
	problem := rawjson.Get(doc, "error")
	switch rawjson.KindOf(problem) {
	case rawjson.Object:
		messages = append(messages, rawjson.Get(problem, "message"))
	case rawjson.String:
		messages = append(messages, problem)
	}
	if string(rawjson.Get(doc, "success")) == "false" || string(rawjson.Get(doc, "ok")) == "false" ||
		rawjson.TextOf(doc, "status") == "error" {
		messages = append(messages, rawjson.Get(doc, "message"))
	}
	for first := range rawjson.Elements(rawjson.Get(doc, "errors")) {
		messages = append(messages, rawjson.Get(first, "message"))
		break
	}
	return messages
}

// config merges the sources of a configuration. It prints lines, in this order:
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

// object reads a source. It returns nil and warns unless the source is an object. Null and false count as no JSON.
func (c *configuration) object(text []byte, source, invalid string) json.RawMessage {
	switch v, err := rawjson.Check(text); {
	case err != nil || isFalsy(v):
		c.warn(invalid)
	case rawjson.KindOf(v) != rawjson.Object:
		c.warn("Config source is not a JSON object: " + source)
	default:
		return v
	}
	return nil
}

func (c *configuration) defaults(text []byte) {
	if v := c.object(text, "--defaults", "Invalid JSON in --defaults, using {}"); v != nil {
		c.merged = compact(v)
		c.kept = true
		c.loaded = string(c.merged) != "{}"
	}
}

// maxConfig is the maximum size of a configuration, in bytes.
const maxConfig = 10 << 20

func (c *configuration) file(name, message string) {
	text, err := boundedfile.Read(name, maxConfig)
	if name == "" || err != nil {
		return
	}
	if v := c.object(text, name, "Invalid JSON in file: "+name); v != nil {
		c.merge(v, message)
	}
}

// variable merges the value of an environment variable: JSON, or the name of a
// file.
func (c *configuration) variable(name string, value []byte) {
	path := string(value)
	info, err := os.Stat(path)
	if v, invalid := rawjson.Check(value); (invalid != nil || isFalsy(v)) && err == nil && info.Mode().IsRegular() {
		c.file(path, "Loaded config from env var: "+name+" (file: "+path+")")
	} else if v := c.object(value, name, "Env var "+name+" is neither valid JSON nor a file path"); v != nil {
		c.merge(v, "Loaded config from env var: "+name+" (JSON)")
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

// A letter before a result of get is its kind. The flat table has the same letters; two letters are only here.
const (
	kindNothing = 'e' // the filter had no result
	kindSeveral = 'm' // it had several results, each on its own line
)

// get answers a getter of the SDK. Results before an error are printed, too. Without results,
// nothing is printed.
func get(args []string, input []byte) ([]byte, int) {
	filter := " " + args[0] // no option, whatever it begins with
	if args[0] == "" {
		filter = "."
	}
	var out bytes.Buffer
	code := jq.Run([]string{"-c", filter}, bytes.NewReader(input), &out, io.Discard)
	results := bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n"))
	switch {
	case out.Len() == 0 && code == exitOK:
		return []byte{kindNothing}, code
	case out.Len() == 0:
		return nil, code
	case len(results) == 1:
		return jqtext.AppendText([]byte{kindOf(results[0])}, results[0]), code
	}
	answer := []byte{kindSeveral}
	for i, result := range results {
		if i > 0 {
			answer = append(answer, '\n')
		}
		answer = jqtext.AppendText(answer, result)
	}
	return answer, code
}

func kindOf(v json.RawMessage) byte {
	if at := strings.IndexByte(`"[{ntf`, v[0]); at >= 0 {
		return "saoztx"[at]
	}
	if bytes.ContainsAny(v, ".e") {
		return 'f'
	}
	return 'i'
}

var noAnswer = json.RawMessage(`{"error":{"code":-32603,"message":"No answer"}}`)

// answers returns the client's answers in batch.response: each is the result, or {"error":...}.
func answers(args []string, input []byte) ([]byte, int) {
	all, err := rawjson.Check(input)
	if err != nil || rawjson.KindOf(all) != rawjson.Object {
		return nil, exitNoJSON
	}
	code, one := exitOK, noAnswer
	var b rawjson.Builder
	b.Object()
	for key, v := range rawjson.All(all) {
		answer := rawjson.Get(v, "result")
		if answer == nil {
			code = exitNo
			if answer = noAnswer; rawjson.KindOf(rawjson.Get(v, "error")) == rawjson.Object {
				answer = v
			}
		}
		answer = compact(answer)
		b.Name(key).Raw(answer)
		if len(args) == 1 && key == args[0] {
			one = answer
		}
	}
	if len(args) == 0 {
		return b.End().Bytes(), code
	}
	if string(one) == string(noAnswer) {
		code = exitNo
	}
	return one, code
}

// progress reads a line of JSON in which a program reports its progress (sdk SDK-113).
func progress(_ []string, input []byte) ([]byte, int) {
	values, ok := parse(input)
	if !ok || len(values) != 1 {
		return nil, exitNoJSON
	}
	value := rawjson.Get(values[0], "progress")
	number := string(value)
	switch rawjson.KindOf(value) {
	case rawjson.Number:
	case rawjson.String:
		number, _ = rawjson.Text(value)
	default:
		return nil, exitNo
	}
	if number == "" || strings.Trim(number, "+-.0123456789Ee") != "" {
		return nil, exitNo
	}
	percent, err := strconv.ParseFloat(number, 64)
	if errors.Is(err, strconv.ErrSyntax) || percent < 0 {
		return nil, exitNo
	}
	message := "Working..."
	if m := rawjson.Get(values[0], "message"); !isFalsy(m) {
		message = plainText(m)
	}
	return fmt.Appendf(nil, "%d\n%s.", int(min(percent, 100)), message), exitOK
}
