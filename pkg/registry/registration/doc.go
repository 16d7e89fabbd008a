// Package registration registers tools in a project for the commands of mcp-registry.
//
// [NewProject] opens the registry of a project. A registered tool becomes an entry of
// server.d/register.json. The package edits the file under a lock and keeps the bytes of
// everything else in it.
//
// A registration is checked before the file is written. The Details of the [*Error] list
// every fault. The capabilities of a tool determine the security level that it needs.
package registration
