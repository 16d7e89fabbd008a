// Package web makes HTTP clients for the network providers. Each client speaks HTTP/1.1 over TLS
// with one origin, at addresses that pkg/provider/hosts permits. It follows no redirects, keeps no
// cookies, sends no credentials and decompresses nothing (RES-105, RES-111).
package web
