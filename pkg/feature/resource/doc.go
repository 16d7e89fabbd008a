// Package resource reads the resources of a project. It resolves a request to a URI and a provider,
// fetches the bytes, and returns them as text or blob. It knows nothing about JSON-RPC.
//
// [Resources.Read] serves clients. It finds the [Entry] of a URI among listed resources and
// templates, or accepts the URI because a provider of the project does. [Resources.Watch] reports when
// a resource that a client subscribed to has changed. Built-in providers are in pkg/provider, and
// [Scripts] runs those of the project.
package resource
