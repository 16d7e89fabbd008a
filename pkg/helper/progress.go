package helper

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// progress reads a line of JSON that a program reports its progress with (sdk
// SDK-113).
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
