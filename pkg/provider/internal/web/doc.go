// Package web makes HTTP clients for the network providers. Each speaks HTTP/1.1
// over TLS with one origin, at addresses that pkg/provider/hosts has judged. It
// follows no redirect, keeps no cookie, sends no credentials and decompresses
// nothing (RES-105, RES-111).
package web
