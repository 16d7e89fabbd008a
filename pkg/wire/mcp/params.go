package mcp

import (
	"bytes"
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
)

// Params are the parameters of a message. [ReadParams] finds the members once, when the message is read, and keeps
// their places in the text. So nothing searches the text again, and the text can be copied.
type Params struct {
	Raw json.RawMessage // nil: absent or null
	at  [paramCount]rawjson.Span
}

// A Param is a member of parameters.
type Param int

// The parameters of the methods that clients call often. [rawjson.Get] finds any other in Raw.
const (
	ParamName Param = iota
	ParamURI
	ParamArguments
	paramMeta
	ParamState
	ParamResponses
	ParamTimeout
	ParamTask
	ParamCursor
	ParamNextCursor
	ParamLimit
	ParamRef
	ParamArgument
	ParamContext
	ParamSubscription
	paramCount
)

var paramNames = [paramCount]string{
	"name", "uri", "arguments", "_meta", "requestState", "inputResponses", "timeoutSecs", "taskId", "cursor",
	"nextCursor", "limit", "ref", "argument", "context", "subscriptionId",
}

// ReadParams finds the members of parameters, which may be nil.
func ReadParams(raw json.RawMessage) Params {
	p := Params{Raw: raw}
	for name, at := range rawjson.Spans(raw) {
		for i := range paramNames {
			if rawjson.NameIs(name, paramNames[i]) {
				p.at[i] = at
				break
			}
		}
	}
	return p
}

// Clone returns parameters with their own text.
func (p *Params) Clone() Params { return Params{bytes.Clone(p.Raw), p.at} }

// IsObject reports whether the parameters are an object, which is the only form that methods of this protocol accept.
func (p *Params) IsObject() bool { return rawjson.KindOf(p.Raw) == rawjson.Object }

// Get returns the value of a parameter, or nil.
func (p *Params) Get(of Param) json.RawMessage {
	at := p.at[of]
	if at.To == 0 {
		return nil
	}
	return p.Raw[at.From:at.To:at.To]
}

// Text returns the content of a parameter that is a string, or "".
func (p *Params) Text(of Param) string {
	text, _ := rawjson.Text(p.Get(of))
	return text
}

// Int returns a parameter above zero, or 0; see [rawjson.PositiveInt].
func (p *Params) Int(of Param) int { return rawjson.PositiveInt(p.Get(of)) }

// Meta returns the _meta, or nil if it is not an object.
func (p *Params) Meta() json.RawMessage {
	if meta := p.Get(paramMeta); rawjson.KindOf(meta) == rawjson.Object {
		return meta
	}
	return nil
}

// WithMeta returns parameters with another _meta.
func (p *Params) WithMeta(meta json.RawMessage) Params {
	return ReadParams(rawjson.With(p.Raw, paramNames[paramMeta], meta))
}
