const table = byId("dataTable");
const body = byId("tableBody");
let columns = config.columns.map((c) => c.key);
let rows = [];
let sorted = { key: "", down: false };

const draw = () => {
  body.replaceChildren(
    ...rows.map((row) =>
      element(
        "tr",
        {},
        ...columns.map((key) => {
          const value = isObject(row) && Object.hasOwn(row, key) ? row[key] : undefined;
          return element("td", { class: typeof value === "number" ? "number" : null }, asText(value));
        }),
      ),
    ),
  );
  if (rows.length === 0) {
    body.append(element("tr", {}, element("td", { class: "empty", colspan: Math.max(1, columns.length) }, "No data")));
  }
};

const sort = () => {
  if (!sorted.key) return;
  const of = (row) => (isObject(row) && Object.hasOwn(row, sorted.key) ? row[sorted.key] : undefined);
  rows = [...rows].sort((a, b) => compare(of(a), of(b)) * (sorted.down ? -1 : 1));
  for (const head of table.querySelectorAll("th[data-sortable]")) {
    const order = head.dataset.key !== sorted.key ? "none" : sorted.down ? "descending" : "ascending";
    head.setAttribute("aria-sort", order);
  }
};

table.tHead.addEventListener("click", (event) => {
  const head = event.target.closest('th[data-sortable="true"]');
  if (!head) return;
  const key = head.dataset.key;
  sorted = { key, down: sorted.key === key && !sorted.down };
  sort();
  draw();
});

host.data((data) => {
  const list = Array.isArray(data) ? data : isObject(data) && Array.isArray(data.items) ? data.items : [data];
  rows = list.filter((row) => row !== undefined && row !== null);
  if (config.columns.length === 0) {
    // No columns were asked for: those that the rows have.
    columns = [...new Set(rows.filter(isObject).flatMap(Object.keys))];
    table.tHead.rows[0].replaceChildren(...columns.map((key) => element("th", { scope: "col", "data-key": key }, key)));
  }
  sort();
  draw();
});
