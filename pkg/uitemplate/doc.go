// Package uitemplate renders the ready-made views of MCP Apps: a name and a
// configuration in, one self-contained HTML document out (resources section
// 20). The documents load nothing, so they work under the policy that hosts
// apply to a view that declares no domains (RES-381, RES-402).
//
// page/ holds what the documents consist of: page.css and view.js are in every
// one, the rest is named after its template. view.js speaks with the host
// (RES-401) and reads its results (RES-383); a template's script has its
// configuration as `config`.
package uitemplate
