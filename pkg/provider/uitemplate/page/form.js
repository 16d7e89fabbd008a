// A field may be named like a property of the form, which hides the property:
// nothing here asks the form itself.
const submit = part("submit");
const fields = () => [...document.querySelectorAll("[data-field]")];
let cancelled = false;

// value is what a field sends, undefined for an optional number that is empty.
const value = (field) => {
  switch (field.dataset.field) {
    case "boolean":
      return field.checked;
    case "number":
      return field.value === "" ? undefined : Number(field.value);
    default:
      return field.value;
  }
};

// values are the arguments of the call; with hide, as they may be shown.
const values = (hide) =>
  Object.fromEntries(
    fields()
      .map((f) => [f.name, hide && f.dataset.field === "secret" && f.value ? "(hidden)" : value(f)])
      .filter(([, v]) => v !== undefined),
  );

const merged = (hide) => Object.fromEntries([...Object.entries(config.submitArgs), ...Object.entries(values(hide))]);

// The click, which Enter in a field makes too, and not the submission: hosts
// whose sandbox lacks allow-forms block that.
submit.addEventListener("click", async (event) => {
  event.preventDefault();
  if (!fields().every((field) => field.reportValidity())) return;
  submit.disabled = true;
  show("Submitting...");
  await attempt(async () => {
    if (config.submitTool) await host.call(config.submitTool, merged(false));
    show("Form submitted successfully", "success");
    host.say("Form submitted: " + JSON.stringify(merged(true)));
  });
  submit.disabled = cancelled;
});

const cancel = part("cancel");
if (cancel) {
  cancel.addEventListener("click", () => {
    cancelled = true;
    for (const e of [...fields(), submit, cancel]) e.disabled = true;
    show("Form cancelled");
    host.say("Form cancelled");
  });
}

// A range shows its value.
for (const field of document.querySelectorAll('[data-field][type="range"]')) {
  const output = element("output", {}, field.value);
  field.after(output);
  field.addEventListener("input", () => (output.textContent = field.value));
}
