// Mcp-bundle ships projects: as a bundle, or as a project that contains its own server.
package main

import (
	"os"

	"mcp-bash/pkg/cli"
)

func main() { os.Exit(cli.Run("mcp-bundle", run)) }

func run(s cli.Streams, args []string) int { return command().MainOf(s, args) }

func command() *cli.Command {
	return &cli.Command{
		Name: "mcp-bundle", NotVerb: true,
		Summary: "Make what others install: bundles, plugins, packages and container images of a project, or a project " +
			"with its own server.",
		Examples: []cli.Example{
			{Line: "NAME bundle", Purpose: "one file that clients install"},
			{Line: "NAME inspect demo-1.0.0.mcpb", Purpose: "show its contents"},
			{Line: "NAME plugin", Purpose: "a folder that coding agents install"},
			{Line: "NAME npm", Purpose: "a package that npx starts"},
			{Line: "NAME image", Purpose: "a container image"},
			{Line: "NAME vendor", Purpose: "put the server into the project"},
		},
		Exits: []cli.Exit{
			{Code: 0, Meaning: "done"},
			{Code: 1, Meaning: "it failed, or a check found errors"},
			{Code: 3, Meaning: "a program or a package for a system is not available"},
		},
		Commands: []*cli.Command{
			bundleCommand(), validateCommand(), inspectCommand(), diffCommand(), unpackCommand(),
			publishCommand(), vendorCommand(), imageCommand(), manifestCommand(), pluginCommand(),
			marketplaceCommand(), npmCommand(), wheelCommand(),
		},
	}
}
