// The View side of MCP Apps: JSON-RPC 2.0 with the parent window (RES-401).

const config = JSON.parse(document.querySelector('script[type="application/json"]').textContent);
const part = (name) => document.querySelector(`[data-part="${name}"]`);
const byId = (id) => document.getElementById(id);

// element("li", {class: "x", onclick: f}, child, "text"): text stays text.
const element = (tag, attributes, ...children) => {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") e.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) e.setAttribute(name, value === true ? "" : value);
  }
  e.append(...children.filter((c) => c !== undefined && c !== null));
  return e;
};

// asText is any JSON value as people read it.
const asText = (value) =>
  value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const compare = (a, b) =>
  typeof a === "number" && typeof b === "number" ? a - b : asText(a).localeCompare(asText(b), undefined, { numeric: true });

// show tells what became of a request; kind: "", "success", "error".
const show = (text, kind = "") => {
  const message = part("message");
  message.textContent = text;
  message.className = "message" + (kind && " " + kind);
};

// attempt runs f and shows its failure; the answer is whether there was none.
const attempt = async (f) => {
  try {
    await f();
    return true;
  } catch (error) {
    show("Error: " + error.message, "error");
    return false;
  }
};

// textOf is the first text of a tool's result, valueOf the data in it (RES-383).
const textOf = (result) => {
  const content = Array.isArray(result.content) ? result.content : [];
  const item = content.find((c) => c && c.type === "text" && typeof c.text === "string");
  return item && item.text;
};
const valueOf = (result) => {
  let value = result.structuredContent;
  if (value === undefined || value === null) {
    const text = textOf(result);
    if (text === undefined) return undefined;
    try {
      value = JSON.parse(text);
    } catch {
      throw new Error("Error parsing data");
    }
  }
  return isObject(value) && value.success === true && "result" in value ? value.result : value;
};

const host = (() => {
  const parent = window.parent;
  const waiting = new Map();
  let last = 0;
  let capabilities = {};
  let ready = false;
  let onData = () => {};

  const post = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const notify = (method, params) => post({ method, params });
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, { resolve, reject });
      post({ id, method, params });
    });

  window.addEventListener("message", ({ source, data }) => {
    if (source !== parent || parent === window || !isObject(data) || data.jsonrpc !== "2.0") return;
    if (typeof data.method === "string") {
      if (data.id === undefined) notified(data.method, isObject(data.params) ? data.params : {});
      else if (data.method === "ping" || data.method === "ui/resource-teardown") post({ id: data.id, result: {} });
      else post({ id: data.id, error: { code: -32601, message: "Method not found" } });
      return;
    }
    const asked = waiting.get(data.id);
    if (!asked) return;
    waiting.delete(data.id);
    if (data.error) asked.reject(new Error(data.error.message || "The host refused"));
    else asked.resolve(isObject(data.result) ? data.result : {});
  });

  const notified = (method, params) => {
    switch (method) {
      case "ui/notifications/tool-result":
        received(params);
        break;
      case "ui/notifications/tool-cancelled":
        show("The tool call was cancelled" + (params.reason ? ": " + params.reason : ""));
        break;
      case "ui/notifications/host-context-changed":
        dress(params);
        break;
    }
  };

  const received = (result) => {
    if (result.isError) {
      show(textOf(result) || "The tool failed", "error");
      return;
    }
    try {
      const value = valueOf(result);
      show("");
      onData(value);
    } catch (error) {
      show(error.message, "error");
    }
  };

  // dress puts on the host's colours, fonts and insets.
  const dress = (context) => {
    const root = document.documentElement;
    if (context.theme === "light" || context.theme === "dark") {
      root.dataset.theme = context.theme;
      root.style.colorScheme = context.theme;
    }
    const styles = isObject(context.styles) ? context.styles : {};
    for (const [name, value] of Object.entries(styles.variables || {})) {
      if (name.startsWith("--") && typeof value === "string") root.style.setProperty(name, value);
    }
    const fonts = isObject(styles.css) && styles.css.fonts;
    if (typeof fonts === "string" && !part("fonts")) {
      document.head.append(element("style", { "data-part": "fonts" }, fonts));
    }
    for (const [side, inset] of Object.entries(context.safeAreaInsets || {})) {
      if (["top", "right", "bottom", "left"].includes(side) && typeof inset === "number") {
        document.body.style.setProperty("padding-" + side, inset + "px");
      }
    }
  };

  // What needs the server's tools is disabled where the host offers none (RES-384).
  const settle = () => {
    for (const e of document.querySelectorAll("[data-calls]")) e.disabled = !ready;
  };

  const report = () => {
    let before = "";
    new ResizeObserver(() => {
      const box = document.documentElement.getBoundingClientRect();
      const size = { width: Math.ceil(window.innerWidth), height: Math.ceil(box.height) };
      if (before === (before = JSON.stringify(size))) return;
      notify("ui/notifications/size-changed", size);
    }).observe(document.documentElement);
  };

  return {
    // data is called with the data of every result the host hands over.
    data: (f) => {
      onData = f;
    },
    canCall: () => ready,
    // call calls a tool of the server; its failure is an Error.
    call: async (name, args) => {
      if (!ready) throw new Error("This host does not let views call tools");
      const result = await request("tools/call", { name, arguments: args });
      if (result.isError) throw new Error(textOf(result) || "The tool failed");
      return result;
    },
    // say puts a message of the user into the conversation, where the host takes any.
    say: async (text) => {
      const content = { type: "text", text };
      const send = (c) => request("ui/message", { role: "user", content: c });
      await send(content)
        .catch(() => send([content])) // what newer hosts take
        .catch(() => {});
    },
    // connect is called once, at the end.
    connect: async () => {
      settle();
      if (parent === window) {
        show("This view works inside of an MCP Apps host only.");
        return;
      }
      try {
        const result = await request("ui/initialize", {
          appCapabilities: { availableDisplayModes: ["inline"] },
          appInfo: { name: "mcp-bash " + view, version: "1.0.0" },
          protocolVersion: "2026-01-26",
        });
        capabilities = isObject(result.hostCapabilities) ? result.hostCapabilities : {};
        dress(isObject(result.hostContext) ? result.hostContext : {});
        ready = isObject(capabilities.serverTools);
        settle();
        if (!ready && document.querySelector("[data-calls]")) show("This host does not let views call tools.");
        notify("ui/notifications/initialized", {});
        document.dispatchEvent(new Event("ready"));
        report();
      } catch (error) {
        show("The host did not accept this view: " + error.message, "error");
      }
    },
  };
})();
