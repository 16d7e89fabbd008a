package runtool

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// readCache returns a look-up in .registry/tools.json as it is (--no-refresh).
func readCache(p *project.Project) (func(context.Context, string) (json.RawMessage, error), error) {
	file := filepath.Join(p.Registry, "tools.json")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Failf(cli.CodeNotFound, "registry cache missing (expected %s)", file)
	}
	invalid := func(reason string) error {
		return cli.Failf(cli.CodeInvalid, "invalid tools registry cache (%s)", reason)
	}
	if err != nil {
		return nil, invalid(err.Error())
	}
	doc, err := rawjson.Check(text)
	switch {
	case err != nil:
		return nil, invalid("unreadable JSON: " + err.Error())
	case rawjson.TextOf(doc, "hash") == "":
		return nil, invalid("missing hash")
	case rawjson.KindOf(rawjson.Get(doc, "total")) != rawjson.Number:
		return nil, invalid("non-numeric total")
	case rawjson.KindOf(rawjson.Get(doc, "items")) != rawjson.Array:
		return nil, invalid("items is no array")
	}
	items := rawjson.Get(doc, "items")
	return func(_ context.Context, name string) (json.RawMessage, error) {
		for item := range rawjson.Elements(items) {
			if rawjson.TextOf(item, "name") == name {
				return rawjson.Normal(item), nil
			}
		}
		return nil, nil
	}, nil
}
