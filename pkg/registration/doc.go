// Package registration registers tools, from Go and for the commands of
// mcp-registry.
//
// A [ToolRegistry] keeps tools by their ids. [New] makes one in memory. [Open]
// opens that of a project: it shows all that the project offers, and a tool that is
// registered becomes an entry of the project's server.d/register.json, which is
// edited under a lock and keeps everything else as its author wrote it.
//
// Both check a [ToolRegistration] alike before they take it: every fault is
// reported at once, in the Details of an [*Error]. What a tool declares that it
// does, its capabilities, decides at which security level it is offered.
package registration
