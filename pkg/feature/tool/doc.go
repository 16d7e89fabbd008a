// Package tool calls tools. It finds a tool in the registry, checks the policy, runs the script
// with the arguments, and makes the result. It knows nothing about JSON-RPC, sessions and protocol
// revisions.
//
// [Tools.Call] takes a [Request] and returns a [Result], which writes itself as JSON. On the way, the
// script's progress, logs and questions go to the [Listener] and the asker of the request. An error
// means that no script ran, or that the caller gave up. A script that fails is a result whose
// IsError is set. [Tools.DryRun] and [Tools.Try] serve the commands that test tools.
package tool
