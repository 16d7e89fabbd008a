package headers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/textproto"

	"mcp-bash/pkg/feature/tool/paramheader"
	"mcp-bash/pkg/json/rawjson"
)

// EqualParams returns an error if the headers for arguments of a tool do not repeat these arguments
// (H-442).
func EqualParams(h http.Header, params []paramheader.Param, arguments json.RawMessage) error {
	for _, p := range params {
		if err := equalParam(h, &p, p.Value(arguments)); err != nil {
			return err
		}
	}
	return nil
}

// equalParam compares the header of an argument. argument is nil if it is absent or null.
func equalParam(h http.Header, p *paramheader.Param, argument json.RawMessage) error {
	name := textproto.CanonicalMIMEHeaderKey(p.Header())
	if argument == nil {
		if len(h[name]) > 0 {
			return fmt.Errorf("header %s is present, but the argument is not", name)
		}
		return nil
	}
	switch rawjson.KindOf(argument) {
	case rawjson.String:
		text, _ := rawjson.Text(argument)
		return EqualDecoded(h, name, text)
	case rawjson.Bool:
		return EqualDecoded(h, name, string(argument))
	case rawjson.Number:
	default:
		return fmt.Errorf("header %s cannot repeat an argument that is an object or an array", name)
	}
	got, err := one(h, name)
	if err != nil {
		return err
	}
	if got, err = decode(got); err != nil {
		return fmt.Errorf("header %s: %w", name, err)
	}
	want, safe := paramheader.Integer(string(argument))
	if !safe {
		return fmt.Errorf("header %s repeats %s, which is not an integer that every client can send", name,
			shortened(string(argument)))
	}
	if n, ok := paramheader.Integer(got); !ok || n != want {
		return compare(name, got, string(argument))
	}
	return nil
}
