package validate

import "mcp-bash/pkg/check/finding"

// MigrationRules are differences for projects of the Bash edition (CLI-1031). Warnings need attention, notes do not.
var MigrationRules = finding.Rules{
	rule("migrate.variable_dropped", finding.Warning, "a script reads a variable that no longer reaches it",
		"Variables that begin with MCP_ reached every script up to release 1.5. Since 1.6, and here, only those of the "+
			"framework do. In a script that is not written in Bash, a name may be in a comment, so it is a note.",
		`list the variable in "env" of server.d/server.meta.json, as the message shows`),
	rule("migrate.variable_internal", finding.Warning, "a script reads a variable from inside the Bash edition",
		"The variable was part of the server's own state. No program sets it here.",
		"use a variable of docs/contract/env.md"),
	rule("migrate.function_unknown", finding.Warning, "a script calls a function that the SDK does not have",
		"The function was part of the Bash edition's server, or its name is wrong. The call fails with \"command not "+
			"found\".",
		"use a function of the SDK, or check with declare -F before calling it"),
	rule("migrate.library_missing", finding.Warning, "a script sources a file that the installation does not have",
		"Of the Bash edition's lib/ only the files that tools need exist. Sourcing another one fails.",
		"source \"$MCP_SDK/tool-sdk.sh\" instead"),
	rule("migrate.empty_default", finding.Info, "--default of mcp_args_get and mcp_meta_get applies to empty texts",
		"Since release 1.7, and here, the default also replaces an argument that is an empty text.",
		"read the argument without --default where a tool distinguishes an empty text from a missing one"),
	rule("migrate.tool_limit", finding.Info, "tools set no time limit",
		"The Bash edition runs such a tool without a limit. Here it ends after 30 seconds.",
		`set "timeoutSecs" for slow tools, or MCPBASH_DEFAULT_TOOL_TIMEOUT`),
	rule("migrate.completion_limit", finding.Info, "completion scripts have a time limit",
		"Up to release 1.4 there is no limit. A script that exceeds the limit completes nothing.",
		"set MCPBASH_COMPLETION_TIMEOUT_SECS, or \"timeoutSecs\" of a registered completion, if one is slow"),
	rule("migrate.completion_unused", finding.Warning, "a completion script belongs to nothing",
		"Up to release 1.5, files named *.completion and *.completion.sh without an item were offered as content. Since "+
			"1.6, and here, they are completion scripts only.",
		"name it after its prompt, resource or template; if it is content, give it metadata"),
	rule("migrate.policy_permission", finding.Warning, "policy.sh permits the environment to be inherited",
		"Only the operator can permit that. Exports of a project have no effect, and tools in mode inherit are refused.",
		"remove the line, and have the operator set MCPBASH_TOOL_ENV_INHERIT_ALLOW=true; or list the variables in mode "+
			"allowlist"),
	rule("migrate.scheme_undeclared", finding.Warning, "no client can reach a provider",
		"Up to release 1.3, a client could read any URI that had a provider script. Since 1.4, and here, a template or "+
			"a resource must declare the scheme. Where register.sh may declare it, this is a note.",
		"add a template such as SCHEME://{path}, or list the resources"),
	rule("migrate.template_unmatched", finding.Info, "a template is never matched with a URI",
		"The template is listed and declares its scheme, but its provider never gets the values of the variables. It "+
			"needs attention only where the provider reads them.",
		"use one {name}, {+name} or {#name} at a time, with text between them"),
	rule("migrate.version_pin", finding.Warning, "a file asks for a version of the Bash edition",
		"The project would go on with the Bash edition, or install it again.",
		"name a release of 2.0.0 or later, with its checksum"),
	rule("migrate.version_test", finding.Warning, "a script accepts only versions 1.x",
		"MCPBASH_FRAMEWORK_VERSION is 2.0.0 or later. Tests for a minimum version pass; a test for 1.x fails.",
		"test for a minimum version, or for the function that you need with declare -F"),
	rule("migrate.vendored", finding.Warning, "the project contains the Bash edition",
		"Clients that start the server of the project start that copy.",
		"run mcp-bash vendor --upgrade"),
}
