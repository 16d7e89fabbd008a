// Package resource reads the resources of a project. It resolves a request to a URI and a provider,
// fetches the bytes, and returns them as text or blob. It knows nothing about JSON-RPC.
package resource
