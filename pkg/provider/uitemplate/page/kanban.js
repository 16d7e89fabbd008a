const board = byId("kanbanBoard");
const columns = [...board.querySelectorAll(".kanban-column")];
const titles = new Map(config.columns.map((c) => [c.id, c.title]));

const listOf = (column) => column.querySelector(".cards");
const columnOf = (id) => columns.find((c) => c.dataset.column === id);
const mayMove = () => draggable && (!config.onMoveTool || host.canCall());
const mayClick = () => config.onCardClickTool && host.canCall();

const count = () => {
  for (const column of columns) column.querySelector(".count").textContent = listOf(column).children.length;
};

// The buttons of a card lead to the columns beside its own.
const arrow = (card, step) => {
  const column = columns[columns.indexOf(card.closest(".kanban-column")) + step];
  const button = card.querySelector(step < 0 ? ".move-left" : ".move-right");
  if (!button) return;
  button.disabled = !column || !mayMove();
  button.setAttribute("aria-label", column ? `Move "${card.name}" to ${titles.get(column.dataset.column)}` : "No further column");
};
const arrows = () => {
  for (const card of board.querySelectorAll(".card")) {
    arrow(card, -1);
    arrow(card, 1);
    card.draggable = mayMove();
  }
};

const move = async (card, to) => {
  const from = card.closest(".kanban-column");
  if (from === to || !mayMove()) return;
  const behind = card.nextElementSibling;
  const place = (column, before) => {
    listOf(column).insertBefore(card, before);
    count();
    arrows();
  };
  place(to, null);
  const moved = await attempt(async () => {
    const change = { cardId: card.id_, fromColumn: from.dataset.column, toColumn: to.dataset.column };
    if (config.onMoveTool) await host.call(config.onMoveTool, change);
    show(`Moved "${card.name}" to ${titles.get(to.dataset.column)}`);
  });
  if (!moved) place(from, behind && behind.parentElement === listOf(from) ? behind : null);
};

const open = (card) =>
  attempt(async () => {
    const result = await host.call(config.onCardClickTool, { cardId: card.id_ });
    show(textOf(result) || `Opened "${card.name}"`);
  });

const levels = ["high", "medium", "low"];

const draw = (data) => {
  const name = asText(data.title ?? data.id);
  const card = element("li", { class: "card" });
  card.id_ = data.id;
  card.name = name;
  const title = config.onCardClickTool
    ? element("button", { class: "card-title", type: "button", "data-calls": true, disabled: !mayClick() }, name)
    : element("span", { class: "card-title" }, name);
  const head = element("div", { class: "card-head" }, title);
  if (draggable) {
    const step = (by) => (event) => {
      event.stopPropagation();
      const button = event.currentTarget;
      const to = columns[columns.indexOf(card.closest(".kanban-column")) + by];
      if (!to) return;
      move(card, to);
      (button.disabled ? card.querySelector(".moves button:not(:disabled)") || button : button).focus();
    };
    head.append(
      element(
        "span",
        { class: "moves" },
        element("button", { class: "move-left", type: "button", onclick: step(-1) }, "‹"),
        element("button", { class: "move-right", type: "button", onclick: step(1) }, "›"),
      ),
    );
  }
  card.append(head);
  if (data.description) card.append(element("p", {}, asText(data.description)));
  const tags = Array.isArray(data.tags) ? data.tags : [];
  if (levels.includes(data.priority) || tags.length > 0 || data.assignee) {
    card.append(
      element(
        "div",
        { class: "card-foot" },
        levels.includes(data.priority) ? element("span", { class: "priority " + data.priority }, data.priority) : null,
        ...tags.map((t) => element("span", { class: "tag" }, asText(t))),
        data.assignee ? element("span", { class: "assignee" }, asText(data.assignee)) : null,
      ),
    );
  }
  card.addEventListener("click", (event) => {
    if (!event.target.closest(".moves") && mayClick()) open(card);
  });
  card.addEventListener("dragstart", (event) => {
    event.dataTransfer.setData("text/plain", asText(card.id_));
    event.dataTransfer.effectAllowed = "move";
    card.classList.add("dragged");
    dragged = card;
  });
  card.addEventListener("dragend", () => {
    card.classList.remove("dragged");
    dragged = null;
  });
  return card;
};

let dragged = null;

for (const column of columns) {
  column.addEventListener("dragover", (event) => {
    if (!dragged) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "move";
    column.classList.add("over");
  });
  column.addEventListener("dragleave", (event) => {
    if (!column.contains(event.relatedTarget)) column.classList.remove("over");
  });
  column.addEventListener("drop", (event) => {
    event.preventDefault();
    column.classList.remove("over");
    if (dragged) move(dragged, column);
  });
}

host.data((data) => {
  const list = Array.isArray(data) ? data : isObject(data) && Array.isArray(data.cards) ? data.cards : [];
  for (const column of columns) listOf(column).replaceChildren();
  for (const card of list.filter(isObject)) {
    const column = columnOf(asText(card.column ?? card.status)) || columns[0]; // a card is never lost
    listOf(column).append(draw(card));
  }
  count();
  arrows();
});

document.addEventListener("ready", () => {
  if ((config.onMoveTool || config.onCardClickTool) && !host.canCall()) show("This host does not let views call tools.");
});
