package clients

import (
	"bytes"
	"encoding/json"

	"mcp-bash/pkg/clients/internal/tomledit"
	"mcp-bash/pkg/clients/internal/yamledit"
	"mcp-bash/pkg/json/jsonedit"
	"mcp-bash/pkg/json/rawjson"
)

type format struct {
	name string
	max  int // bytes; a larger file is not touched
	open func(c *Client, text []byte) (editor, error)
}

// An editor changes values in a text and keeps the rest.
type editor interface {
	Get(path ...string) (json.RawMessage, error)
	Set(value json.RawMessage, path ...string) error
	Remove(path ...string) error
	Bytes() []byte
}

var (
	strictJSON  = format{"JSON", 16 << 20, openJSON(jsonedit.Dialect{})}
	commentJSON = format{"JSON with comments", 16 << 20, openJSON(jsonedit.Dialect{Comments: true})}
	lenientJSON = format{"JSON with comments", 16 << 20, openJSON(jsonedit.Dialect{Comments: true, TrailingCommas: true})}
	tomlFormat  = format{"TOML", 1 << 20, func(_ *Client, text []byte) (editor, error) {
		return orNil(tomledit.Open(text))
	}}
	yamlFormat = format{"YAML", 1 << 20, func(c *Client, text []byte) (editor, error) {
		return orNil(yamledit.Open(text, c.list))
	}}
)

// orNil returns a nil interface instead of a nil pointer if there is an error.
func orNil[E editor](e E, err error) (editor, error) {
	if err != nil {
		return nil, err
	}
	return e, nil
}

func openJSON(d jsonedit.Dialect) func(*Client, []byte) (editor, error) {
	return func(_ *Client, text []byte) (editor, error) {
		return orNil(d.Open(text))
	}
}

func (c *Client) open(text []byte) (e editor, mark []byte, err error) {
	if bytes.HasPrefix(text, rawjson.ByteOrderMark) {
		mark, text = rawjson.ByteOrderMark, text[len(rawjson.ByteOrderMark):]
	}
	if len(bytes.TrimSpace(text)) == 0 && c.fresh != "" {
		text = []byte(c.fresh)
	}
	e, err = c.format.open(c, text)
	return e, mark, err
}
