// Package http1 speaks as much HTTP/1.1 over TLS as the network providers need:
// requests to one origin, one after the other, on one connection to an address
// that pkg/provider/hosts has judged. It follows no redirect, keeps no cookie,
// sends no credentials and decompresses nothing (resources RES-105, RES-111).
//
// It stands in for net/http, which is linked into a program only at the price of
// 0.2 ms at each start and 0.5 MB in memory for a server that may never fetch
// anything (docs/ARCHITECTURE.md).
package http1
