"use strict";
// A replay: one or two episodes under one slider.
(async () => {
  const el = GM.el;
  const root = document.getElementById("replay");

  // From this page itself, or from the server that gave it.
  const sources = async () => {
    const block = (name) => document.getElementById(name).textContent;
    if (document.getElementById("count")) {
      const count = await GM.unpack(block("count"));
      return Promise.all([...Array(count).keys()].map(async (n) =>
        GM.episode(await GM.unpack(block(`light-${n}`)), (chunk) => GM.unpack(block(`heavy-${n}-${chunk}`)))));
    }
    const get = async (address) => {
      const answer = await fetch(address);
      if (!answer.ok) throw new Error(await answer.text());
      return answer.json();
    };
    return Promise.all(root.dataset.keys.split(" ").map(async (key) =>
      GM.episode(await get(`/episode/${key}`), (chunk) => get(`/episode/${key}/${chunk}`))));
  };

  let episodes;
  try { episodes = await sources(); } catch (error) {
    GM.show(root, el("p", { class: "card error", role: "alert" }, `This episode cannot be shown: ${error.message}`));
    return;
  }
  const last = Math.max(...episodes.map((episode) => episode.steps.length)) - 1;
  let step = 0, timer = null;

  const slider = el("input", { type: "range", min: 0, max: last, value: 0, "aria-label": "Step", id: "slider" });
  const output = el("output", { for: "slider", class: "at" });
  const button = (id, title, text, move) => el("button", { type: "button", id, title, "aria-label": /\w/.test(text) ? null : title, onclick: move }, text);
  const play = button("play", "Play (space)", "▶", () => toggle());
  const fault = button("fault", "To the next step that was refused, failed or not decided by the model (f)", "Next fault", () => toFault());
  const marked = (n) => episodes.some(({ steps }) => steps[n] && (!steps[n].ok || steps[n].substitute || steps[n].end === "lost"));
  const toFault = () => {
    const at = [...Array(last + 1).keys()].map((n) => (step + 1 + n) % (last + 1)).find(marked);
    said.textContent = at == null ? "No step was refused, lost or left undecided." : "";
    if (at != null) go(at);
  };
  const beside = (name, text) => (root.dataset[name] ? el("a", { href: `/replay?a=${encodeURIComponent(root.dataset[name])}`, id: name }, text) : null);
  const differ = button("differ", "To the first step where the two differ (d)", "First difference", () => toDifference());
  const said = el("span", { role: "status", class: "muted" });
  const track = track_of(episodes, last);
  const controls = el("section", { class: "card timeline", "aria-label": "Steps" },
    el("div", { class: "controls" },
      button("first", "First step (Home)", "«", () => go(0)), button("back", "One step back (left arrow)", "‹", () => go(step - 1)), play,
      button("on", "One step on (right arrow)", "›", () => go(step + 1)), button("last", "Last step (End)", "»", () => go(last)), output,
      fault, episodes.length > 1 ? differ : null, beside("before", "Previous episode"), beside("after", "Next episode"), said),
    el("div", { class: "rail" }, track, slider));
  const panes = episodes.map((episode, n) => {
    const { head } = episode;
    const box = el("div", { class: "pane" });
    const facts = [head.env, head.memory && [el("span", { class: `swatch k${head.colour}`, "aria-hidden": "true" }), ` memory ${head.memory}`], head.policy && `policy ${head.policy}`, `seed ${head.seed}`, `trial ${head.trial + 1}`].filter(Boolean);
    const key = (root.dataset.keys || "").split(" ")[n];
    const tags = key ? el("input", { type: "text", class: "tags", value: GM.tags.of(key), maxlength: 200, placeholder: "Tags", "aria-label": `Tags of episode ${["A", "B"][n]}`, onchange: () => GM.tags.set(key, tags.value) }) : null;
    const title = el("div", { class: "title" },
      el("h2", {}, episodes.length > 1 ? ["A", "B"][n] + ": " : "", facts.map((fact, at) => [at ? " · " : "", fact])),
      head.task ? el("details", { class: "task" }, el("summary", {}, "Task: ", GM.cut(head.task.split("\n")[0], 140)), GM.long(head.task, 4000)) : null,
      tags,
      head.note ? el("p", { class: "muted small" }, head.note) : null,
      head.failed ? el("p", { class: "error" }, "Failed: ", GM.cut(head.failed, 500)) : null);
    return { title, box, n };
  });
  root.classList.toggle("two", episodes.length > 1);
  GM.show(root, controls, el("div", { class: "panes" }, panes.map(({ title, box }) => el("div", { class: "side" }, title, box))));
  const shown = panes.map(({ box, n }) => GM.pane(box, episodes[n], ["A", "B"][n]));

  const go = (next) => {
    step = Math.max(0, Math.min(next, last));
    slider.value = step;
    slider.setAttribute("aria-valuetext", `step ${step} of ${last}`);
    output.textContent = `${step} / ${last}`;
    track.at(step);
    try { history.replaceState(null, "", "#" + step); } catch { /* some browsers refuse it to a page from a disk */ }
    return Promise.all(shown.map((pane) => pane.show(step)));
  };
  const toggle = () => {
    if (timer) { clearInterval(timer); timer = null; } else timer = setInterval(() => (step < last ? go(step + 1) : toggle()), 700);
    play.textContent = timer ? "❚❚" : "▶";
    play.setAttribute("aria-pressed", String(Boolean(timer)));
  };
  const toDifference = async () => {
    const found = await GM.firstDifference(episodes[0], episodes[1]);
    said.textContent = found < 0 ? "The two never differ." : `They part at step ${found}.`;
    if (found >= 0) await go(found);
  };
  slider.addEventListener("input", () => go(Number(slider.value)));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, [role=tablist], [role=application]")) return;
    if (event.key === " " && event.target.closest("button, summary, a")) return;
    const by = event.shiftKey ? 10 : 1;
    const to = { ArrowLeft: step - by, ArrowRight: step + by, Home: 0, End: last, PageUp: step - 10, PageDown: step + 10 }[event.key];
    if (to != null) go(to);
    else if (event.key === " ") toggle();
    else if (event.key === "d" && episodes.length > 1) toDifference();
    else if (event.key === "f") toFault();
    else if ("np".includes(event.key) && document.getElementById(event.key === "n" ? "after" : "before")) document.getElementById(event.key === "n" ? "after" : "before").click();
    else return;
    event.preventDefault();
  });
  await (location.hash === "#difference" && episodes.length > 1 ? toDifference() : go(Number(location.hash.slice(1)) || 0));
  document.body.dataset.opened = performance.now().toFixed(0);
  document.body.dataset.ready = "yes";

  // The score over the steps, behind the slider; a click goes there.
  function track_of(all, end) {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    const add = (tag, attributes) => {
      const node = document.createElementNS(space, tag);
      for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
      svg.append(node);
      return node;
    };
    for (const [name, value] of Object.entries({ viewBox: "0 0 1000 40", preserveAspectRatio: "none", class: "track", "aria-hidden": "true" })) svg.setAttribute(name, value);
    const x = (n) => (end ? (n / end) * 1000 : 0);
    all.forEach(({ steps }, which) => {
      let path = "";
      steps.forEach((now, n) => { if (!n || now.score !== steps[n - 1].score || n === steps.length - 1) path += `${n ? "H" + x(n).toFixed(1) + "V" : "M0 "}${(37 - 33 * now.score).toFixed(1)}`; });
      add("path", { d: path, class: `curve k${all[which].head.colour} c${which}` });
      steps.forEach((now, n) => { if (now.substitute) add("path", { d: `M${x(n)} 39h.01`, class: "aside" }); });
      if (all.length === 1) steps.forEach((now, n) => { if (now.reward) add("path", { d: `M${x(n)} ${37 - 33 * now.score}h.01`, class: now.reward > 0 ? "up" : "down" }); });
    });
    const cursor = add("line", { x1: 0, x2: 0, y1: 0, y2: 40, class: "cursor" });
    svg.at = (n) => { cursor.setAttribute("x1", x(n)); cursor.setAttribute("x2", x(n)); };
    return svg;
  }
})();
