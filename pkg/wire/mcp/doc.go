// Package mcp defines the terms of the Model Context Protocol: revisions, error codes, log
// levels and capabilities. It does not depend on transports or projects.
package mcp
