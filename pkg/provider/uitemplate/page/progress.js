const bar = document.querySelector(".progress-bar");
const fill = byId("progressFill");
const percentage = byId("progressPercent");
const current = byId("currentStep");
const steps = byId("stepList");
const cancelButton = byId("cancelBtn");

const number = (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

const percentOf = (data) => {
  const percent = number(data.percent);
  if (percent !== undefined) return percent;
  const progress = number(data.progress);
  const total = number(data.total);
  return progress !== undefined && total > 0 ? (progress / total) * 100 : progress;
};

host.data((data) => {
  if (!isObject(data)) data = { message: asText(data) };
  const given = percentOf(data);
  if (given !== undefined) {
    const percent = Math.round(Math.min(100, Math.max(0, given)));
    fill.style.width = percent + "%";
    fill.classList.toggle("done", percent === 100);
    bar.setAttribute("aria-valuenow", percent);
    if (percentage) percentage.textContent = percent + "%";
    if (percent === 100 && cancelButton) {
      cancelButton.hidden = true;
      ask(false);
    }
  }
  const step = asText(data.message ?? data.step);
  if (!step) return;
  if (current) current.textContent = step;
  for (const earlier of steps.children) earlier.className = "past";
  steps.append(element("li", { class: given >= 100 ? "past" : null }, step));
});

// confirm() is blocked in the sandbox of a host; the question is part of the page.
const ask = (open) => {
  byId("confirm").hidden = !open;
  cancelButton.disabled = open || !host.canCall();
  if (open) byId("confirmNo").focus();
};

if (cancelButton) {
  cancelButton.addEventListener("click", () => ask(true));
  byId("confirmNo").addEventListener("click", () => {
    ask(false);
    cancelButton.focus();
  });
  byId("confirm").addEventListener("keydown", (event) => {
    if (event.key === "Escape") byId("confirmNo").click();
  });
  byId("confirmYes").addEventListener("click", async () => {
    ask(false);
    cancelButton.disabled = true;
    show("Cancelling...");
    if (await attempt(() => host.call(config.cancelTool, {}))) show("Cancelled");
    else cancelButton.disabled = false;
  });
}
