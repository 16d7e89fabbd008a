package main

import (
	"context"
	"io"
	"os"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/wheel"
)

// writeWheels writes a wheel of mcp-bash for each system. Its commands are the programs, which contain the SDK.
func (r *release) writeWheels() error {
	text := "# mcp-bash\n\n" + summary + ":\n\n```console\n$ uvx mcp-bash new my-server\n```\n\n" +
		"or `pipx run mcp-bash new my-server`. No command needs Python.\n"
	w, err := wheel.New(r.identity(), text)
	if err != nil {
		return err
	}
	for _, t := range r.trees {
		if err := r.writeWheel(w, t); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) writeWheel(w *wheel.Wheel, t tree) error {
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	tree, err := mcpb.Folder(root)
	if err != nil {
		return err
	}
	var files []mcpb.File
	for _, f := range tree {
		folder, name, _ := strings.Cut(f.Name, "/")
		switch {
		case folder == "bin":
			f.Name = w.Data() + "scripts/" + name
		case folder == "share" && name != "llms.txt" && !strings.HasPrefix(name, "skills/"):
			f.Name = w.Data() + "data/" + f.Name // manual pages and completions
		case f.Name == "LICENSE":
			f.Name = w.Licence(f.Name)
		default:
			continue
		}
		files = append(files, f)
	}
	if files, err = w.Complete(files, t.Target); err != nil {
		return err
	}
	return create(r.asset(w.FileName(t.Target)), func(out io.Writer) error {
		return mcpb.Write(context.Background(), out, files, r.time, nil)
	})
}
