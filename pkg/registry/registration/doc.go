// Package registration registers tools in a project for the commands of mcp-registry.
//
// [NewProject] opens the registry of a project. A tool that is registered becomes an
// entry of server.d/register.json. The file is edited under a lock, and everything
// else in it stays as its author wrote it.
//
// A registration is checked before anything is written. The Details of the [*Error]
// list every fault. The capabilities that a tool declares decide at which security
// level the server offers it.
package registration
