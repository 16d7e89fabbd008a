// Package registry announces products in the real MCP registry, with its checks of packages and owners. The registry,
// its database, and the hosts that it asks run in a network namespace of the test. They have the names of the public
// ones. make registry runs the tests.
package registry
