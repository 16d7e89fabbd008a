// Package tool calls tools. It finds a tool in the registry, checks the policy, runs the script
// with the arguments, and makes the result. It knows nothing about JSON-RPC, sessions and protocol
// revisions.
package tool
