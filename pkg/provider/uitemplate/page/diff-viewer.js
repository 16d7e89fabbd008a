const panels = byId("diffPanels");
const leftContent = byId("leftContent");
const rightContent = byId("rightContent");
const [leftPanel, rightPanel] = document.querySelectorAll(".diff-panel");
let mode = config.viewMode;
let edits = null; // [{kind: " " | "-" | "+", text, left, right}], null before there is data

const lines = (text) => {
  const list = asText(text).split(/\r\n|\n/);
  if (list[list.length - 1] === "") list.pop(); // the end of the last line, not a line
  return list;
};

// shortest is the shortest way from a to b (Myers), as steps of kind, or null
// when it is so long that showing all of a removed and all of b added says as
// much.
const shortest = (a, b, limit = 1500) => {
  const most = Math.min(limit, a.length + b.length);
  const middle = most + 1;
  const reach = new Int32Array(2 * most + 3); // how far in a each diagonal is, after d edits
  const trail = [];
  for (let d = 0; d <= most; d++) {
    trail.push(reach.slice(middle - d - 1, middle + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && reach[middle + k - 1] < reach[middle + k + 1]);
      let x = down ? reach[middle + k + 1] : reach[middle + k - 1] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reach[middle + k] = x;
      if (x >= a.length && x - k >= b.length) return retrace(trail, a, b);
    }
  }
  return null;
};

const retrace = (trail, a, b) => {
  const steps = [];
  let x = a.length;
  let y = b.length;
  for (let d = trail.length - 1; d >= 0; d--) {
    const before = (k) => trail[d][k + d + 1];
    const k = x - y;
    const down = k === -d || (k !== d && before(k - 1) < before(k + 1));
    const fromX = before(down ? k + 1 : k - 1);
    const fromY = fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      steps.push([" ", a[--x]]);
      y--;
    }
    if (d > 0) steps.push(down ? ["+", b[--y]] : ["-", a[--x]]);
  }
  return steps.reverse();
};

const difference = (left, right) => {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start++;
  let end = 0;
  while (end < left.length - start && end < right.length - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end++;
  const a = left.slice(start, left.length - end);
  const b = right.slice(start, right.length - end);
  const middle = shortest(a, b) || [...a.map((t) => ["-", t]), ...b.map((t) => ["+", t])];
  const same = (t) => [" ", t];
  return [...left.slice(0, start).map(same), ...middle, ...left.slice(left.length - end).map(same)];
};

// numbered gives each step its line on either side; at is where a change says it stands.
const numbered = (steps) => {
  let left = 1;
  let right = 1;
  return steps.map(([kind, text, at]) => {
    if (at && kind !== "+") left = at;
    if (at && kind !== "-") right = at;
    return { kind, text, left: kind === "+" ? undefined : left++, right: kind === "-" ? undefined : right++ };
  });
};

const stepsOf = (change) => {
  if (!isObject(change)) return [];
  const kind = change.added ? "+" : change.removed ? "-" : " ";
  const at = Number.isInteger(change.lineNumber) && change.lineNumber > 0 ? change.lineNumber : undefined;
  return lines(change.value).map((text, i) => [kind, text, i === 0 ? at : undefined]);
};

const words =
  /((?:^|\s)(?:\/\/|#|--\s).*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)|\b(\d+(?:\.\d+)?|true|false|null|nil|None|True|False)\b|\b(if|then|else|elif|fi|for|while|do|done|case|esac|function|func|def|class|return|const|let|var|local|export|import|from|package|type|struct|interface|public|private|static|new|async|await|try|catch|except|finally|raise|throw|switch|break|continue|in|of|and|or|not)\b/g;

const colored = (text) => {
  if (!config.syntaxHighlight || text.length > 2000) return [text];
  const pieces = [];
  let end = 0;
  for (const m of text.matchAll(words)) {
    const kind = m[1] ? "comment" : m[2] ? "string" : m[3] ? "literal" : "keyword";
    pieces.push(text.slice(end, m.index), element("span", { class: "code-" + kind }, m[0]));
    end = m.index + m[0].length;
  }
  pieces.push(text.slice(end));
  return pieces;
};

const names = { "+": "added", "-": "removed", " ": "same", "": "filler" };
const said = { "+": "Added: ", "-": "Removed: " };

const line = (kind, text, ...numbers) =>
  element(
    "div",
    { class: "line " + names[kind] },
    ...(config.showLineNumbers ? numbers.map((n) => element("span", { class: "line-number", "data-number": n ?? "", "aria-hidden": "true" })) : []),
    element("span", { class: "sign", "data-sign": kind, "aria-hidden": "true" }),
    said[kind] && element("span", { class: "unseen" }, said[kind]),
    element("code", {}, ...colored(text)),
  );

// split puts what was removed beside what was added in its place.
const split = () => {
  const left = [];
  const right = [];
  const level = () => {
    while (left.length < right.length) left.push(line("", ""));
    while (right.length < left.length) right.push(line("", ""));
  };
  for (const e of edits) {
    if (e.kind === " ") {
      level();
      left.push(line(" ", e.text, e.left));
      right.push(line(" ", e.text, e.right));
    } else if (e.kind === "-") {
      left.push(line("-", e.text, e.left));
    } else {
      right.push(line("+", e.text, e.right));
    }
  }
  level();
  leftContent.replaceChildren(...left);
  rightContent.replaceChildren(...right);
};

const unified = () => {
  leftContent.replaceChildren(...edits.map((e) => line(e.kind, e.text, e.left ?? "", e.right ?? "")));
  rightContent.replaceChildren();
};

const draw = () => {
  byId("splitBtn").setAttribute("aria-pressed", mode === "split");
  byId("unifiedBtn").setAttribute("aria-pressed", mode === "unified");
  panels.dataset.mode = mode;
  rightPanel.hidden = mode === "unified";
  leftPanel.querySelector("h3").textContent =
    mode === "unified" ? config.leftTitle + " → " + config.rightTitle : config.leftTitle;
  if (!edits) return;
  if (mode === "unified") unified();
  else split();
  const count = (kind) => edits.filter((e) => e.kind === kind).length;
  byId("diffStats").textContent = `+${count("+")} / -${count("-")} lines`;
};

for (const [id, name] of [["splitBtn", "split"], ["unifiedBtn", "unified"]]) {
  byId(id).addEventListener("click", () => {
    mode = name;
    draw();
  });
}

// Both sides move together.
for (const [from, to] of [[leftContent, rightContent], [rightContent, leftContent]]) {
  from.addEventListener("scroll", () => (to.scrollLeft = from.scrollLeft), { passive: true });
}

host.data((data) => {
  if (!isObject(data)) throw new Error("Error parsing data");
  const steps = Array.isArray(data.changes)
    ? data.changes.flatMap(stepsOf)
    : difference(lines(data.left ?? data.original), lines(data.right ?? data.modified));
  edits = numbered(steps);
  draw();
});
draw();
