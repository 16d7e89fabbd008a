package registration_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mcp-bash/pkg/registration"
)

// A registry that belongs to no project.
func ExampleNew() {
	r := registration.New()
	fetch := registration.ToolRegistration{
		ID: "net-fetch", Name: "net-fetch", Version: "1.2.0",
		Capabilities: []registration.Capability{registration.Network},
		Parameters: registration.ToolParameters{
			Required: []registration.Parameter{{Name: "url", Description: "what to fetch"}},
			Optional: []registration.Parameter{{Name: "limit", Type: registration.Integer}},
		},
	}
	fmt.Println(r.RegisterTool(fetch))
	fmt.Println(errors.Is(r.RegisterTool(fetch), registration.ErrDuplicateTool))
	for _, tool := range r.ListTools() {
		fmt.Println(tool.ID, tool.Capabilities, tool.Parameters.Required[0].Type)
	}
	// Output:
	// <nil>
	// true
	// net-fetch [Network] string
}

// What a project offers, and one tool more.
func ExampleOpen() {
	root, _ := os.MkdirTemp("", "desk")
	defer os.RemoveAll(root)
	for _, name := range []string{"notes", "fetch"} {
		os.MkdirAll(filepath.Join(root, "tools", name), 0o755)
		os.WriteFile(filepath.Join(root, "tools", name, "tool.sh"), []byte("#!/bin/sh\n"), 0o755)
	}

	r, err := registration.Open(root)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = r.RegisterTool(registration.ToolRegistration{
		Name: "net-fetch", Version: "one", Path: "fetch/tool.sh", Capabilities: []registration.Capability{"Kernel"},
	})
	var e *registration.Error
	if errors.As(err, &e) {
		fmt.Println(e.Type, e.Details)
	}
	err = r.RegisterTool(registration.ToolRegistration{
		Name: "net-fetch", Version: "1.0.0", Path: "fetch/tool.sh",
		Capabilities: []registration.Capability{registration.Network},
	})
	fmt.Println(err)
	for _, tool := range r.ListTools() {
		fmt.Println(tool.ID, tool.Version, tool.Path)
	}
	// Output:
	// InvalidRegistration [capabilities[0]: unknown capability "Kernel" version: not a semantic version]
	// <nil>
	// net-fetch 1.0.0 fetch/tool.sh
	// notes 0.0.0 notes/tool.sh
}
