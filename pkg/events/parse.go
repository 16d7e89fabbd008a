package events

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"

	"mcp-bash/pkg/json/rawjson"
)

// ErrForm is the error for a line that is not an event.
var ErrForm = errors.New("not a line of an audit record")

// LinkOf returns the place of a line in its chain. The error is [ErrForm].
func LinkOf(line []byte) (Link, error) {
	v, err := rawjson.Check(line)
	if err != nil || rawjson.TextOf(v, "msg") != "audit_event" {
		return Link{}, ErrForm
	}
	return linkOf(rawjson.Get(v, "chain"))
}

func linkOf(chain json.RawMessage) (link Link, err error) {
	link.Seq, err = strconv.ParseInt(string(rawjson.Get(chain, "seq")), 10, 64)
	prev := rawjson.TextOf(chain, "prev")
	if err != nil || link.Seq < 0 || len(prev) != 2*len(link.Prev) {
		return Link{}, ErrForm
	}
	if _, err := hex.Decode(link.Prev[:], []byte(prev)); err != nil {
		return Link{}, ErrForm
	}
	return link, nil
}
