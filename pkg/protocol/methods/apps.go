package methods

import (
	"context"
	"encoding/json"

	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/mcpapp"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/provider/ui"
	"mcp-bash/pkg/wire/mcp"
)

// appendPage appends a page in the form of resources/list. It is called once for each state of
// the list, so each warning is logged once.
func appendPage(dst []byte, entry json.RawMessage, log mcp.LogFunc) []byte {
	dst, warnings := mcpapp.AppendListed(dst, entry)
	for _, text := range warnings {
		log(mcp.Warning, session.LogPages, rawjson.TextOf(entry, "path")+"/ui.meta.json: meta."+text)
	}
	return dst
}

func firstOf(list ...engine.Find) engine.Find {
	return func(ctx context.Context, name string) (json.RawMessage, error) {
		for _, find := range list {
			if entry, err := find(ctx, name); entry != nil || err != nil {
				return entry, err
			}
		}
		return nil, nil
	}
}

// pageMeta returns a function for the _meta of a page that was read, which hosts use (RES-324,
// RES-400).
func pageMeta(find engine.Find) func(ctx context.Context, uri string) json.RawMessage {
	return func(ctx context.Context, uri string) json.RawMessage {
		name, err := ui.Name(uri)
		if err != nil {
			return mcpapp.NoMeta // a URI of the project's own provider
		}
		entry, err := find(ctx, name)
		if entry == nil || err != nil {
			return mcpapp.NoMeta
		}
		meta, _ := mcpapp.Meta(entry)
		return meta
	}
}
