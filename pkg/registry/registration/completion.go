package registration

import (
	"context"
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/kinds"
)

// RegisterCompletion adds an entry to the completions of register.json, unless there is one
// with the same name. The rest of the file stays unchanged (CLI-609). RegisterCompletion
// returns the same errors as [Project.Register].
func (r *Project) RegisterCompletion(ctx context.Context, name string, entry json.RawMessage) (known bool, err error) {
	list := kinds.Completions.Key
	err = r.change(ctx, name, false, func(e *edit) error {
		if v := e.Member(list); !rawjson.Absent(v) && rawjson.KindOf(v) != rawjson.Array {
			return refuse(ErrInvalidRegistration, name, "%s: %s must be an array or null", declare.JSONFile, list)
		}
		for _, there := range e.Elements(list) {
			if rawjson.TextOf(there, "name") == name {
				known = true
				return nil
			}
		}
		e.Append(list, entry)
		_, err := e.result(ctx) // check that the new text is valid
		return err
	})
	return known, err
}
