// stage.mjs REPOSITORY FOLDER copies the pages of the repository to the folder, in the form that
// VitePress expects: README.md becomes index.md, and each file or folder that a page links to
// becomes a page below source/.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

const [repository, stage] = process.argv.slice(2);
const files = execFileSync("git", ["-C", repository, "ls-files"], { encoding: "utf8" }).trim().split("\n");
const isPage = (name) => /^(README|CHANGELOG|CONTRIBUTING)\.md$|^docs\/.*\.md$|^examples\/.*README\.md$/.test(name);
const pages = new Set(files.filter(isPage));
if (pages.size === 0) throw new Error(`${repository} has no pages: git lists none`);

function write(name, text) {
  const path = join(stage, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

// asPage returns the text of the page that shows a file or a folder.
function asPage(name) {
  const head = `---\nsearch: false\neditLink: false\n---\n\n# ${name}\n\n`;
  const path = join(repository, name);
  if (statSync(path).isDirectory()) {
    const inside = files.filter((file) => file.startsWith(name + "/"));
    return head + inside.map((file) => `- ${file.slice(name.length + 1)}`).join("\n") + "\n";
  }
  const language = { sh: "bash", json: "json", mjs: "js", js: "js", py: "python", html: "html" }[name.split(".").pop()] ?? "text";
  return head + "``````" + language + "\n" + readFileSync(path, "utf8") + "\n``````\n";
}

// staged maps a path of the repository that a link names to the address of its page.
const staged = {};
for (const page of pages) {
  const text = readFileSync(join(repository, page), "utf8");
  write(page.replace(/README\.md$/, "index.md"), text);
  for (const [, picture] of text.matchAll(/!\[[^\]]*\]\(([^)\s]+)\)/g)) {
    const name = posix.join(dirname(page), picture);
    cpSync(join(repository, name), join(stage, name));
  }
  for (const [, target] of text.matchAll(/(?<!!\[[^\]]*)\]\(([^)#\s]+)(?:#[^)\s]*)?\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const name = posix.join(dirname(page), target).replace(/\/$/, "");
    const path = join(repository, name);
    if (staged[name] || pages.has(name) || !existsSync(path)) continue; // VitePress reports a missing file
    if (pages.has(name + "/README.md")) {
      staged[name] = `/${name}/`;
      continue;
    }
    const address = "source/" + name.replaceAll(".", "-");
    staged[name] = "/" + address;
    write(address + ".md", asPage(name));
  }
}
writeFileSync(join(stage, "staged.json"), JSON.stringify(staged));
