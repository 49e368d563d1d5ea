"use strict";
// A game: say something, see what came of it and what the memory made of it.
(() => {
  const el = GM.el, show = GM.show;
  const setup = document.getElementById("setup"), root = document.getElementById("play");
  let socket = null, live = null, pane = null, waiting = true, over = false, shown = [];

  const find = el("input", { type: "text", id: "say", autocomplete: "off", spellcheck: "false", placeholder: "Say anything, or filter the actions", "aria-label": "Say anything, or filter the actions", maxlength: 4000 });
  const enter = el("button", { type: "submit" }, "Say");
  const form = el("form", { class: "say" }, find, enter);
  const moves = el("div", { class: "moves", role: "group", "aria-label": "Valid actions" });
  const hint = el("p", { class: "muted small" }, "Enter says it; 1 to 9 pick an action, / goes to the input, the arrows walk the actions; [ and ] look back and forth.");
  const banner = el("p", { class: "banner", role: "status", "aria-live": "polite" });
  const back = el("button", { type: "button", class: "quiet", "aria-label": "One step back", onclick: () => look(pane.step - 1) }, "‹");
  const on = el("button", { type: "button", class: "quiet", "aria-label": "One step on", onclick: () => look(pane.step + 1) }, "›");
  const controls = el("div", { class: "say-box" }, form, moves, hint);

  const look = (step) => { if (pane) { pane.show(step); back.disabled = step <= 0; on.disabled = step >= live.steps.length - 1; } };
  const say = (words) => {
    if (waiting || over || !words.trim()) return;
    waiting = true;
    find.value = "";
    for (const button of moves.children) button.disabled = true;
    document.body.dataset.turn = "game";
    socket.send(JSON.stringify({ say: words }));
  };
  const list = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const last = live ? live.heavy[live.heavy.length - 1] : null;
    const valid = last && !over ? last.valid_actions : [];
    shown = valid.filter((action) => words.every((word) => action.toLowerCase().includes(word)));
    show(moves, shown.slice(0, 120).map((action, n) => el("button", { type: "button", "data-action": action, onclick: () => say(action) }, n < 9 ? el("kbd", { "aria-hidden": "true" }, n + 1) : null, GM.cut(action, 120))),
      shown.length > 120 ? el("span", { class: "muted small" }, `and ${shown.length - 120} more: filter them`) : null);
  };

  const begin = (head) => {
    const heavy = [];
    const light = { head, steps: [], facts: [], places: {}, keeps_graph: false, chunk: 1 };
    live = { ...GM.episode(light, (n) => [heavy[n]]), heavy };
    const box = el("div", { class: "pane" });
    show(root, el("details", { class: "title task", open: true }, el("summary", {}, "Task: ", head.task_id), GM.long(head.task, 4000)), banner, box);
    report();
    pane = GM.pane(box, live, "play", true);
    box.querySelector(".seen").append(controls);
    box.querySelector(".seen h2").append(el("span", { class: "tools" }, back, on));
  };
  const take = (message) => {
    const t = live.steps.length;
    for (const fact of message.facts) live.facts.push({ ...fact, when: [] });
    for (const [number, by] of message.went) { const when = live.facts[number].when.at(-1); when[1] = t; when[2] = by; }
    for (const number of message.came) live.facts[number].when.push([t, null, ""]);
    for (const [name, square] of Object.entries(message.places)) live.places[name] = square;
    live.keeps_graph = message.keeps_graph;
    live.steps.push(message.light);
    live.heavy.push(message.heavy);
    over = Boolean(message.light.end);
    waiting = false;
    look(t);
    list();
    document.body.dataset.turn = over ? "over" : "mine";
    document.body.dataset.step = t;
    if (!over && (!t || document.activeElement === document.body)) find.focus();
  };
  const report = (...words) => {
    if (!banner.isConnected) show(root, banner); // no game came of it
    banner.classList.remove("error");
    show(banner, ...words);
  };
  const fail = (words) => { report(el("strong", {}, "Error: "), GM.cut(words, 600)); banner.classList.add("error"); };

  const start = () => {
    const wanted = Object.fromEntries(new FormData(setup));
    if (socket) socket.close();
    over = false; waiting = true;
    document.body.dataset.turn = "begin";
    banner.remove(); show(root, el("p", { class: "muted", role: "status" }, "Making the game…"));
    const mine = socket = new WebSocket(`ws://${location.host}/talk`);
    mine.addEventListener("open", () => mine.send(JSON.stringify({ start: wanted })));
    mine.addEventListener("message", (event) => {
      if (mine !== socket) return;
      const message = JSON.parse(event.data);
      if (message.begin) begin(message.begin);
      else if (message.light) take(message);
      else if (message.error) { fail(message.error); document.body.dataset.turn = "error"; }
      else if (message.over) {
        report(el("strong", {}, message.over), " Stored in ", message.folder, ". ", message.key ? el("a", { href: "/replay?a=" + encodeURIComponent(message.key) }, "Replay it") : null);
        document.body.dataset.turn = "stored";
      }
    });
    mine.addEventListener("close", () => { if (mine === socket && !over) fail("the server has ended."); });
  };

  setup.addEventListener("submit", (event) => { event.preventDefault(); start(); });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    say(shown.length === 1 && find.value.trim() ? shown[0] : find.value);
  });
  find.addEventListener("input", list);
  controls.addEventListener("keydown", (event) => {
    const buttons = [...moves.querySelectorAll("button")], at = buttons.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1 }[event.key];
    if (to == null || (at < 0 && event.key !== "ArrowDown")) return;
    (buttons[to] || find).focus();
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, [role=application]") || !live) return;
    if (/^[1-9]$/.test(event.key) && shown[event.key - 1]) say(shown[event.key - 1]);
    else if (event.key === "/") find.focus();
    else if (event.key === "[") look(pane.step - 1);
    else if (event.key === "]") look(pane.step + 1);
    else return;
    event.preventDefault();
  });
  if (setup.dataset.start) start();
  document.body.dataset.ready = "yes";
})();
