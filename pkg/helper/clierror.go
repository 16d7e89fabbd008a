package helper

import (
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
)

// cliError finds the message of an error in the output of a program (SDK-89).
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
