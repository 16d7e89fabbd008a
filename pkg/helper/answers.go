package helper

import (
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
)

var noAnswer = json.RawMessage(`{"error":{"code":-32603,"message":"No answer"}}`)

// answers returns the client's answers in batch.response: each is the result, or {"error":...} (SDK-148, T-128).
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
