package server

import (
	"context"
	"encoding/json"

	"mcp-bash/pkg/feature/mcpapp"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/provider/ui"
	"mcp-bash/pkg/wire/mcp"
)

const logPages = "mcp.ui"

// appendPage appends a page as resources/list sends it. It is called once for
// each state of the list, so what is wrong is told once.
func appendPage(dst []byte, entry json.RawMessage, log mcp.LogFunc) []byte {
	dst, warnings := mcpapp.AppendListed(dst, entry)
	for _, text := range warnings {
		log(mcp.Warning, logPages, rawjson.TextOf(entry, "path")+"/ui.meta.json: meta."+text)
	}
	return dst
}

// A lookup finds a registry entry by name, nil where there is none.
type lookup func(ctx context.Context, name string) (json.RawMessage, error)

// firstOf looks in one place after another.
func firstOf(list ...lookup) lookup {
	return func(ctx context.Context, name string) (json.RawMessage, error) {
		for _, find := range list {
			if entry, err := find(ctx, name); entry != nil || err != nil {
				return entry, err
			}
		}
		return nil, nil
	}
}

// pageMeta returns what a read page says of itself besides its HTML, which
// hosts take from there (RES-324, RES-400).
func pageMeta(find lookup) func(ctx context.Context, uri string) json.RawMessage {
	return func(ctx context.Context, uri string) json.RawMessage {
		name, err := ui.Name(uri)
		if err != nil {
			return mcpapp.NoMeta // of a provider of the project, which has URIs of its own
		}
		entry, err := find(ctx, name)
		if entry == nil || err != nil {
			return mcpapp.NoMeta
		}
		meta, _ := mcpapp.Meta(entry)
		return meta
	}
}
