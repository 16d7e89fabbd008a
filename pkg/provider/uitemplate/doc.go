// Package uitemplate renders the built-in views of MCP Apps. From a template's name and a
// configuration, it creates one HTML document (resources section 20). Documents load no
// other files, so they work under the policy of hosts for views without declared domains
// (RES-381, RES-402).
//
// page/ has the parts of the documents. page.css and view.js are in every document; the
// other files belong to the template of the same name. view.js communicates with the host
// (RES-401) and reads its results (RES-383). The script of a template has its configuration
// as `config`.
package uitemplate
