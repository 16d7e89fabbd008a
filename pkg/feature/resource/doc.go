// Package resource reads the resources of a project: it finds out what a
// request means, has a provider fetch the bytes, and makes text or a blob of
// them. It knows nothing of JSON-RPC.
package resource
