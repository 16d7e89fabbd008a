// Package urimatch matches URIs against URI templates (RFC 6570) and returns the values of the
// variables. It knows nothing of projects.
package urimatch
