const root = byId("treeRoot");
const search = byId("searchInput");
const stats = byId("treeStats");
const empty = part("empty");
let total = 0;

const icons = {
  folder: "M1.5 4.5v8h13v-7h-7l-1.5-2h-4.5z",
  "folder-open": "M1.5 12.5v-9h4.5l1.5 2h6v1.5M1.5 12.5l2-5.5h11.5l-2 5.5z",
  file: "M3.5 1.5h6l3 3v10h-9zM9.5 1.5v3h3",
};
const icon = (name) => {
  const make = (tag, attributes) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    return e;
  };
  const svg = make("svg", { viewBox: "0 0 16 16", class: "icon " + name, "aria-hidden": "true" });
  svg.append(make("path", { d: icons[name] }));
  return svg;
};

const childrenOf = (node) => (Array.isArray(node.children) ? node.children.filter(isObject) : []);

const item = (node, depth) => {
  total++;
  const children = childrenOf(node);
  const branch = children.length > 0;
  const open = branch && depth < expandLevel;
  const label = asText(node.label ?? node.id);
  const row = element("div", { class: "row" }, element("span", { class: "twist", "aria-hidden": "true" }));
  if (showIcons) {
    const named = Object.hasOwn(icons, node.icon) ? node.icon : branch ? "folder" : "file";
    row.append(node.iconChar ? element("span", { class: "icon", "aria-hidden": "true" }, asText(node.iconChar)) : icon(named));
  }
  row.append(element("span", { class: "label" }, label));
  if (node.meta !== undefined && node.meta !== null) row.append(element("span", { class: "meta" }, asText(node.meta)));
  const li = element("li", { role: "treeitem", tabindex: "-1", "aria-level": depth + 1, "aria-label": label }, row);
  if (branch) {
    li.setAttribute("aria-expanded", open);
    li.append(element("ul", { role: "group" }, ...children.map((c) => item(c, depth + 1))));
  }
  if (selectable) li.setAttribute("aria-selected", false);
  li.node = node;
  return li;
};

const items = () => [...root.querySelectorAll("li")];
const seen = () => items().filter((li) => li.offsetParent !== null);
const isBranch = (li) => li.hasAttribute("aria-expanded");
const isOpen = (li) => li.getAttribute("aria-expanded") === "true";
const toggle = (li, open = !isOpen(li)) => isBranch(li) && li.setAttribute("aria-expanded", open);

const focus = (li) => {
  if (!li) return;
  for (const other of root.querySelectorAll('li[tabindex="0"]')) other.tabIndex = -1;
  li.tabIndex = 0;
  li.focus();
};

const select = async (li) => {
  for (const other of root.querySelectorAll('[aria-selected="true"]')) other.setAttribute("aria-selected", false);
  li.setAttribute("aria-selected", true);
  const id = li.node.id ?? li.node.label;
  await attempt(async () => {
    if (config.onSelectTool) await host.call(config.onSelectTool, { nodeId: id });
    show("Selected: " + id);
    host.say("Selected: " + id);
  });
};

// Where a tool is to be called and cannot be, selecting is disabled (RES-384).
const maySelect = () => selectable && (!config.onSelectTool || host.canCall());

const use = (li) => {
  if (maySelect()) select(li);
  else toggle(li);
};

root.addEventListener("click", (event) => {
  const li = event.target.closest("li");
  if (!li || !event.target.closest(".row")) return;
  focus(li);
  if (event.target.closest(".twist")) toggle(li);
  else use(li);
});

root.addEventListener("keydown", (event) => {
  const li = event.target.closest("li");
  if (!li || event.altKey || event.ctrlKey || event.metaKey) return;
  const list = seen();
  const at = list.indexOf(li);
  switch (event.key) {
    case "ArrowDown":
      focus(list[at + 1]);
      break;
    case "ArrowUp":
      focus(list[at - 1]);
      break;
    case "Home":
      focus(list[0]);
      break;
    case "End":
      focus(list[list.length - 1]);
      break;
    case "ArrowRight":
      if (isBranch(li) && !isOpen(li)) toggle(li, true);
      else if (isBranch(li)) focus(list[at + 1]);
      break;
    case "ArrowLeft":
      if (isOpen(li)) toggle(li, false);
      else focus(li.parentElement.closest("li"));
      break;
    case "Enter":
    case " ":
      use(li);
      break;
    default:
      return;
  }
  event.preventDefault();
});

// filter hides what neither matches, nor holds a match, nor lies in one.
const filter = () => {
  const wanted = search.value.trim().toLowerCase();
  let found = 0;
  const visit = (li, within) => {
    const hit = asText(li.node.label ?? li.node.id).toLowerCase().includes(wanted);
    if (hit) found++;
    let inside = false;
    for (const child of li.querySelectorAll(":scope > ul > li")) inside = visit(child, within || hit) || inside;
    li.hidden = !(hit || inside || within);
    li.classList.toggle("found", wanted !== "" && hit);
    if (wanted && inside) toggle(li, true);
    return hit || inside;
  };
  for (const li of root.children) visit(li, false);
  stats.textContent = wanted ? `${found} of ${total} items` : `${total} item${total === 1 ? "" : "s"}`;
};
search.addEventListener("input", filter);

host.data((data) => {
  const list = Array.isArray(data) ? data : isObject(data) ? data.nodes ?? data.items ?? data.tree ?? data : [];
  const nodes = (Array.isArray(list) ? list : [list]).filter(isObject);
  total = 0;
  root.replaceChildren(...nodes.map((n) => item(n, 0)));
  if (root.firstElementChild) root.firstElementChild.tabIndex = 0;
  empty.hidden = nodes.length > 0;
  empty.textContent = "No data";
  filter();
});

document.addEventListener("ready", () => {
  if (selectable && config.onSelectTool && !host.canCall()) show("This host does not let views call tools.");
});
