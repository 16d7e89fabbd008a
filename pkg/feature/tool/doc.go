// Package tool calls tools: it finds a tool in the registry, asks the policy,
// hands the arguments to the script, follows it while it runs, and makes a
// result of what it came to (tools sections 2 to 14). It knows nothing of
// JSON-RPC, of sessions or of which revision a client speaks.
package tool
