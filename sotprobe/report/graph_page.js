"use strict";
// Pan and zoom, search, and details of a subgraph graph. Text is only ever set as text: nothing in it becomes markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const stage = document.getElementById("stage");
  const svg = stage.querySelector("svg");
  const details = document.getElementById("details");
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  const LISTS = ["notes", "findings", "figures", "versions", "inputs", "outputs", "from", "to", "members", "statements", "old_statements"];
  const filled = (item) => Object.assign(Object.fromEntries(LISTS.map((name) => [name, []])), item);
  const items = new Map(data.items.map((item) => [item.key, filled(item)]));
  const drawn = (key) => document.getElementById(items.get(key)?.drawn ?? key);

  // --- pan and zoom: `view` is what of the picture is seen, its scale is CSS pixels per unit of the picture
  const whole = svg.viewBox.baseVal;
  const size = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
  const NATURAL = 96 / 72;
  const view = { x: 0, y: 0, scale: NATURAL };
  svg.setAttribute("preserveAspectRatio", "xMinYMin meet");

  const show = () => {
    const width = stage.clientWidth / view.scale;
    const height = stage.clientHeight / view.scale;
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${width} ${height}`);
  };
  const zoom = (factor, x = stage.clientWidth / 2, y = stage.clientHeight / 2) => {
    const scale = Math.min(20, Math.max(0.02, view.scale * factor));
    view.x += x / view.scale - x / scale;
    view.y += y / view.scale - y / scale;
    view.scale = scale;
    show();
  };
  const place = (scale) => {
    view.scale = scale;
    view.x = size.x + Math.min(0, (size.width - stage.clientWidth / scale) / 2);
    view.y = size.y;
    show();
  };
  const natural = () => place(NATURAL);
  const fit = () => place(Math.min(NATURAL, stage.clientWidth / size.width, stage.clientHeight / size.height) || NATURAL);
  const reveal = (element) => {
    const box = element.getBoundingClientRect();
    const frame = stage.getBoundingClientRect();
    const outside = box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom;
    if (outside) {
      view.x += ((box.left + box.right) / 2 - (frame.left + frame.right) / 2) / view.scale;
      view.y += ((box.top + box.bottom) / 2 - (frame.top + frame.bottom) / 2) / view.scale;
      show();
    }
  };

  let grip = null;
  let dragged = false;
  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    grip = { x: event.clientX, y: event.clientY, left: view.x, top: view.y };
    dragged = false;
  });
  window.addEventListener("pointermove", (event) => {
    if (!grip) return;
    const [x, y] = [event.clientX - grip.x, event.clientY - grip.y];
    if (!dragged && Math.hypot(x, y) < 4) return;
    dragged = true;
    stage.classList.add("dragged");
    view.x = grip.left - x / view.scale;
    view.y = grip.top - y / view.scale;
    show();
  });
  for (const name of ["pointerup", "pointercancel"])
    window.addEventListener(name, () => {
      grip = null;
      stage.classList.remove("dragged");
    });
  stage.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const frame = stage.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - frame.left, event.clientY - frame.top);
    },
    { passive: false },
  );
  window.addEventListener("resize", show);
  document.getElementById("in").addEventListener("click", () => zoom(1.25));
  document.getElementById("out").addEventListener("click", () => zoom(0.8));
  document.getElementById("natural").addEventListener("click", natural);
  document.getElementById("whole").addEventListener("click", fit);

  // --- details
  const add = (parent, tag, text, name) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    parent.append(element);
    return element;
  };
  const link = (parent, text, url) => {
    if (!url) return add(parent, "span", text);
    const anchor = add(parent, "a", text);
    anchor.href = url;
    return anchor;
  };
  const table = (title, head, rows) => {
    if (!rows.length) return;
    add(details, "h3", title);
    const body = add(details, "table");
    if (head.length) {
      const line = add(body, "tr");
      head.forEach((text) => add(line, "th", text));
    }
    for (const row of rows) {
      const line = add(body, "tr");
      row.forEach((text) => add(line, "td", text));
    }
  };
  const buttons = (title, list) => {
    if (!list.length) return;
    if (title) add(details, "h3", title);
    const box = add(details, "div", undefined, "items");
    for (const [key, text] of list) {
      const button = add(box, "button", text, items.get(key)?.state ?? "");
      button.addEventListener("click", () => select(key, true));
    }
  };

  const statements = (title, list) => {
    if (list.length) add(details, "h3", title);
    for (const group of list) {
      const head = add(details, "p");
      link(head, group.place, group.url);
      if (group.line) {
        head.append("  ");
        add(head, "code", group.line);
      }
      add(details, "pre", group.texts.join("\n"));
    }
  };

  const overview = () => {
    details.replaceChildren();
    add(details, "h2", "Nodes in program order");
    add(details, "p", "Click a node or an edge. Drag to move, turn the wheel to zoom.");
    buttons("", data.order.map((key) => [key, items.get(key).label]));
  };
  const describe = (item) => {
    details.replaceChildren();
    add(details, "button", "all nodes", "back").addEventListener("click", () => select(null));
    add(details, "h2", item.title);
    if (item.place) link(add(details, "p"), item.place, item.url);
    if (item.state_text) add(details, "span", item.state_text, `state ${item.state}`);
    if (item.line) add(add(details, "p"), "code", item.line);
    for (const note of item.notes) add(details, "p", note);
    for (const entry of item.findings) {
      add(details, "h3", entry.head);
      link(add(details, "p"), entry.title, entry.url);
      for (const text of entry.texts) add(details, "p", text);
    }
    table("figures", data.figures_head, item.figures);
    table("versions", ["", "step", "ops", "runs", "compile ms", "guards that failed"], item.versions);
    table("inputs", ["", "dtype", "shape", "shapes seen"], item.inputs);
    table("outputs", ["", "dtype", "shape", "shapes seen"], item.outputs);
    buttons("comes from", item.from);
    buttons("goes to", item.to);
    buttons("folded here", item.members);
    statements("statements", item.statements);
    statements("statements before", item.old_statements);
    if (item.id) {
      add(details, "h3", "identity across runs");
      add(add(details, "p"), "code", item.id);
    }
    details.scrollTop = 0;
  };
  const select = (key, moved = false) => {
    for (const element of svg.querySelectorAll(".current")) element.classList.remove("current");
    const item = items.get(key);
    if (!item) return overview();
    const element = drawn(key);
    element?.classList.add("current");
    for (const edge of data.edges) {
      if (edge.source === item.drawn || edge.target === item.drawn) document.getElementById(edge.key)?.classList.add("current");
    }
    if (moved && element) reveal(element);
    describe(item);
    history.replaceState(null, "", `#${encodeURIComponent(item.id || key)}`);
  };
  stage.addEventListener("click", (event) => {
    if (dragged) return;
    const element = event.target.closest(".node, .edge");
    select(element ? element.id : null);
  });

  // --- search
  const texts = new Map();
  const strings = (value) => (value && typeof value === "object" ? Object.values(value).map(strings).join("\n") : String(value));
  const text_of = (key) => {
    if (!texts.has(key)) {
      const { from, to, members, ...own } = items.get(key); // what only others are called is no match
      texts.set(key, strings(own).toLowerCase());
    }
    return texts.get(key);
  };
  let matches = [];
  let current = -1;
  const look = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const element of svg.querySelectorAll(".match")) element.classList.remove("match");
    matches = words.length ? data.nodes.filter((key) => words.every((word) => text_of(key).includes(word))) : [];
    for (const key of matches) drawn(key)?.classList.add("match");
    svg.classList.toggle("searching", words.length > 0);
    current = -1;
    found.textContent = words.length ? `${matches.length} found` : "";
  };
  const next = (step) => {
    if (!matches.length) return;
    current = (current + step + matches.length) % matches.length;
    found.textContent = `${current + 1} of ${matches.length}`;
    select(matches[current], true);
  };
  search.addEventListener("input", look);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") next(event.shiftKey ? -1 : 1);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      search.value = "";
      look();
      select(null);
      search.blur();
      return;
    }
    if (event.target === search) return;
    const node = event.target.closest?.(".node");
    if (node && (event.key === "Enter" || event.key === " ")) select(node.id);
    else if (event.key === "/") search.focus();
    else if (event.key === "+") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") natural();
    else if (event.key === "f") fit();
    else return;
    event.preventDefault();
  });

  for (const element of svg.querySelectorAll(".node")) {
    element.setAttribute("tabindex", "0");
    element.setAttribute("role", "button");
  }
  const start = () => {
    let asked = "";
    try {
      asked = decodeURIComponent(location.hash.slice(1));
    } catch {
      return select(null); // a hash that is no address of ours
    }
    const item = asked && data.items.find((candidate) => candidate.id === asked || candidate.key === asked);
    select(item ? item.key : null, true);
  };
  natural();
  start();
  window.addEventListener("hashchange", start);
})();
