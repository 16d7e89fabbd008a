package runtool

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
)

// readCache returns the tools of .registry/tools.json without a scan (--no-refresh).
func readCache(p *project.Project) ([]json.RawMessage, error) {
	list, err := registry.NewCatalog(p, registry.Options{}).File(kinds.Tools)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, cli.Failf(cli.CodeNotFound, "registry cache missing (expected %s)",
			filepath.Join(p.Registry, kinds.Tools.File))
	case err != nil:
		return nil, cli.Failf(cli.CodeInvalid, "invalid tools registry cache (%v)", err)
	}
	return list.JSON(), nil
}
