package project

import (
	"encoding/json"
	"errors"
	"fmt"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// Permit returns the error for an item that a caller may not use (H-420, H-423). shown is the item as the client named
// it, which need not exist.
func (p *Project) Permit(caller *auth.Identity, kind auth.ItemKind, name, shown string) error {
	need, ok := caller.Permits(kind, name, p.Meta.Scopes)
	if ok {
		return nil
	}
	e := mcp.Errorf(mcp.CodeInvalidParams, "%s '%s' blocked by policy (not permitted to this client)", kind,
		shown).Because(mcp.CauseScope)
	if e.NeedsScope = need; need != "" {
		return e.Explain(fmt.Errorf("the token needs the scope %q", need))
	}
	return e
}

// maxScopes is the number of scopes that server.meta.json can map to items.
const maxScopes = 256

// readScopes reads the items that each OAuth scope permits (H-421). The result is not nil.
func readScopes(v json.RawMessage) (auth.Scopes, error) {
	if rawjson.KindOf(v) != rawjson.Object {
		return nil, errors.New("it must be an object that maps each scope to a list of tools, or to an object of lists")
	}
	scopes := auth.Scopes{}
	for scope, value := range rawjson.All(v) {
		_, twice := scopes[scope]
		switch {
		case !auth.IsScope(scope):
			return nil, fmt.Errorf("%q is not a scope of OAuth", scope)
		case twice:
			return nil, fmt.Errorf("the scope %q is given twice", scope)
		case len(scopes) == maxScopes:
			return nil, fmt.Errorf("there are more than %d scopes", maxScopes)
		}
		rights, err := readRights(scope, value)
		if err != nil {
			return nil, err
		}
		scopes[scope] = rights
	}
	return scopes, nil
}

// readRights reads the lists of a scope. A list alone names tools.
func readRights(scope string, v json.RawMessage) (rights auth.Rights, err error) {
	if rawjson.KindOf(v) != rawjson.Object {
		rights.Tools, err = readNames(scope, "tools", v)
		return rights, err
	}
	seen := map[string]bool{}
	for member, list := range rawjson.All(v) {
		of := map[string]*[]string{
			"tools": &rights.Tools, "resources": &rights.Resources, "prompts": &rights.Prompts,
		}[member]
		switch {
		case of == nil:
			return rights, fmt.Errorf("%q of %q is none of tools, resources and prompts", member, scope)
		case seen[member]:
			return rights, fmt.Errorf("the %s of %q are given twice", member, scope)
		}
		seen[member] = true
		if *of, err = readNames(scope, member, list); err != nil {
			return rights, err
		}
	}
	return rights, nil
}

func readNames(scope, member string, v json.RawMessage) ([]string, error) {
	if names, ok := rawjson.Strings(v); ok && !rawjson.Absent(v) {
		return names, nil
	}
	return nil, fmt.Errorf("the %s of %q must be a list of names", member, scope)
}
