// VitePress's configuration for the site made of README.md, docs/ and examples/ (make site).
// build.sh copies this file to the place where VitePress looks for it.
import { readFileSync } from "node:fs";
import { dirname, posix } from "node:path";

const page = (text, name) => ({ text, link: `/docs/${name}` });
const staged = JSON.parse(readFileSync(new URL("../staged.json", import.meta.url)));

// follow rewrites a link of the repository to the address of the page on the site.
function follow(from, href) {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const [path, anchor] = href.split("#");
  const name = posix.join(dirname(from), path).replace(/\/$/, "");
  const address = staged[name] ?? "/" + name.replace(/README\.md$/, "");
  return anchor ? `${address}#${anchor}` : address;
}

export default {
  title: "mcp-bash",
  description: "Turn a folder of shell scripts into a Model Context Protocol server",
  head: [
    ["link", { rel: "icon", href: "data:," }], // no icon, and no request for one
    // Code in a sentence moves to the next line as a whole. It breaks only if it is longer than a line, or in a table
    // longer than 18rem.
    ["style", {}, ".vp-doc{overflow-wrap:break-word}" +
      ".vp-doc :not(pre)>code{display:inline-block;max-width:100%;padding-block:0;overflow-wrap:anywhere}" +
      ".vp-doc :is(td,th) code{width:max-content;max-width:18rem}"],
  ],
  cleanUrls: false,
  appearance: true, // follows the system, with a switch
  lastUpdated: false,
  // Pages contain text such as <name> and {{name}}, and no HTML or templates.
  markdown: {
    html: false,
    config(md) {
      for (const kind of ["text", "code_inline"]) {
        const render = md.renderer.rules[kind];
        md.renderer.rules[kind] = (...args) => render(...args).replaceAll("{{", "&#123;&#123;");
      }
      md.core.ruler.push("follow", ({ tokens, env }) => {
        for (const { children } of tokens) {
          for (const token of children ?? []) {
            if (token.type === "link_open") token.attrSet("href", follow(env.relativePath, token.attrGet("href")));
          }
        }
      });
    },
  },
  outDir: process.env.SITE_OUT,
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Start", link: `/docs/GETTING-STARTED` },
      { text: "Contract", link: `/docs/contract/` },
      { text: "Changes", link: "/CHANGELOG" },
    ],
    sidebar: [
      { text: "Begin", items: [page("Install", "INSTALL"), page("Getting started", "GETTING-STARTED"), page("Clients", "CLIENTS"), page("Troubleshooting", "TROUBLESHOOTING"), page("Migration", "MIGRATION")] },
      { text: "Build", items: [page("Project structure", "PROJECT-STRUCTURE"), page("Scaffolding", "SCAFFOLDING"), page("Your scripts", "IMPORTING"), page("Wrapping programs", "WRAPPING"), page("Recipes", "RECIPES"), page("Writing tools", "WRITING-TOOLS"), page("Tools that ask", "ASKING"), page("Large results", "LARGE-RESULTS"), page("Calls that take long", "LONG-CALLS"), page("Roots", "ROOTS"), page("Resources", "RESOURCES"), page("Writing providers", "WRITING-PROVIDERS"), page("Prompts", "PROMPTS"), page("Completion", "COMPLETION"), page("Skills", "SKILLS"), page("MCP Apps", "MCP-APPS")] },
      { text: "Run and ship", items: [page("Testing", "TESTING"), page("Checking", "VALIDATE"), page("Registry", "REGISTRY"), page("Security", "SECURITY"), page("Publishing", "PUBLISH"), page("Bundles", "BUNDLES"), page("Plugins", "PLUGINS"), page("Deploy", "DEPLOY"), page("Operations", "OPERATIONS"), page("Settings", "SETTINGS")] },
      { text: "Inside", items: [page("Performance", "PERFORMANCE"), page("Reliability", "RELIABILITY"), page("Architecture", "ARCHITECTURE"), page("Decisions", "decisions/"), page("Compliance", "COMPLIANCE"), page("Contract", "contract/")] },
    ],
  },
};
