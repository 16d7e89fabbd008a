package helper

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/provider/uitemplate"
)

// uiTemplate prints the document of a UI template, whose configuration is on
// standard input (RES-389).
func uiTemplate(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	known := strings.Join(uitemplate.Names(), ", ")
	if len(args) != 1 || strings.HasPrefix(args[0], "-") {
		cli.Printf(stderr, "ui-template: give the name of one template: %s\n", known)
		return exitUsage
	}
	var config []byte
	if !cli.IsTerminal(stdin) {
		var err error
		if config, err = readText(stdin); err != nil {
			cli.Printf(stderr, "ui-template: %v\n", err)
			return exitUsage
		}
	}
	if len(bytes.TrimSpace(config)) == 0 {
		config = []byte("{}")
	}
	document, err := uitemplate.Render(args[0], config)
	var unknown uitemplate.UnknownError
	switch {
	case errors.As(err, &unknown):
		cli.Printf(stderr, "%v\nThere are: %s\n", err, known)
		return exitNo
	case err != nil:
		cli.Printf(stderr, "ui-template: %v\n", err)
		return exitUsage
	}
	if _, err := stdout.Write(document); err != nil {
		cli.Printf(stderr, "ui-template: %v\n", err)
		return exitUsage
	}
	return exitOK
}
