package helper

import (
	"bytes"
	"encoding/json"
	"io"

	"mcp-bash/pkg/json/jq"
	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
)

// A letter before a result of get is its kind. The flat table has the same letters (SDK-205);
// two letters are only here.
const (
	kindNothing = 'e' // the filter had no result
	kindSeveral = 'm' // it had several, which follow one on a line
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
	switch rawjson.KindOf(v) {
	case rawjson.String:
		return 's'
	case rawjson.Array:
		return 'a'
	case rawjson.Object:
		return 'o'
	case rawjson.Null:
		return 'z'
	case rawjson.Bool:
		if rawjson.True(v) {
			return 't'
		}
		return 'x'
	}
	if bytes.ContainsAny(v, ".e") {
		return 'f'
	}
	return 'i'
}
