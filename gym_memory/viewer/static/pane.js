"use strict";
// One step of an episode: what was seen and done, the map of the memory, what was recalled.
GM.pane = (root, episode, label, fixed = false) => {
  const el = GM.el, show = GM.show;
  let step = -1, all = false, centre = null, drawing = null, detail = null, tab = "recalled", words = "";
  const named = (name) => (fixed ? name : `${name}, ${label}`);
  const unique = label.replace(/\W/g, "") || "pane";

  const chips = el("div", { class: "chips" });
  const story = el("div", { class: "story" });
  const summary = el("p", { class: "legend" });
  const whole = el("button", { type: "button", class: "quiet", "aria-pressed": "false", hidden: true, onclick: () => { all = !all; whole.setAttribute("aria-pressed", String(all)); redraw(); } }, "Whole graph");
  const tool = (text, title, act) => el("button", { type: "button", class: "quiet", title, "aria-label": named(title), onclick: act }, text);
  const zooms = [tool("−", "Zoom out", () => graph.zoomBy(0.8)), tool("+", "Zoom in", () => graph.zoomBy(1.25)), tool("Fit", "Fit the map", () => graph.fit())];
  const sheet = el("div", { class: "sheet" });
  const tabs = {};
  const bar = el("div", { role: "tablist", class: "tabs", "aria-label": named("Memory") });
  const panel = el("div", { role: "tabpanel", class: "panel", id: unique + "-panel", tabindex: "0" });
  for (const [name, title] of [["recalled", "Recalled"], ["changes", "Changes"], ["facts", "All facts"], ["text", "As text"]]) {
    tabs[name] = el("button", { type: "button", role: "tab", id: `${unique}-${name}`, "aria-controls": unique + "-panel", onclick: () => open(name) }, title);
    bar.append(tabs[name]);
  }
  bar.addEventListener("keydown", (event) => {
    const names = Object.keys(tabs), move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    open(names[(names.indexOf(tab) + move + names.length) % names.length]);
    tabs[tab].focus();
    event.preventDefault();
    event.stopPropagation();
  });
  root.append(
    el("section", { class: "card seen", "aria-label": named("Seen and done") }, el("h2", {}, "Seen and done"), chips, story),
    el("section", { class: "card map", "aria-label": named("Map of the memory") }, el("h2", {}, "Memory at this step", el("span", { class: "tools" }, whole, zooms)), sheet, summary),
    el("section", { class: "card knows", "aria-label": named("Recalled and known") }, bar, panel),
  );
  const graph = GM.graph(sheet, (name) => {
    centre = name;
    words = name || "";
    if (name) tab = "facts";
    redraw();
    open(tab);
  });

  const fact = (number, ...more) => {
    const { s, r, o, kind } = episode.facts[number];
    return el("li", { class: "fact" }, el("bdi", { class: "subject" }, GM.cut(s, 80)), " ", el("span", { class: "relation" }, r), " ", el("bdi", {}, kind === "text" ? GM.cut(o, 300) : GM.cut(o, 80)), ...more);
  };
  const badge = (name, text) => el("span", { class: "badge " + name }, text);

  const chip = (name, value, title) => (value == null || value === "" ? null : el("span", { class: "chip", title }, el("span", { class: "name" }, name), " ", value));

  const showStory = () => {
    const now = episode.steps[step], { points } = now;
    show(chips,
      chip("step", step),
      chip("score", `${GM.number(points[0])}${points[1] ? " of " + GM.number(points[1]) : ""}`),
      now.reward ? chip("reward", (now.reward > 0 ? "+" : "") + GM.number(now.reward)) : null,
      chip("memory", now.tokens ? `${GM.number(now.tokens)} tokens` : null, "Tokens of the recalled memory"),
      now.prompt ? chip("model", `${GM.number(now.prompt)} + ${GM.number(now.completion)} tokens`, "Prompt and completion tokens of this step") : null,
      now.cost || now.unpriced ? chip("cost", now.unpriced ? "?" : `$${now.cost.toFixed(4)}`) : null,
      now.ms != null ? chip("time", `${GM.number(now.ms, 1)} ms`, "Wall time of the step: policy, game and memory") : null,
      now.end ? badge(now.end === "won" ? "came" : "went", now.end) : null);
    const parts = [];
    if (now.action) parts.push(el("p", { class: "action" }, el("span", { class: "prompt", "aria-hidden": "true" }, "> "), el("bdi", {}, GM.cut(now.action, 400)), now.ok ? null : [" ", badge("went", "refused")], now.substitute ? [" ", badge("aside", "not the model's choice")] : null));
    if (now.substitute) parts.push(el("p", { class: "muted small" }, `The model did not decide this action: ${GM.cut(now.substitute.reason, 400)}`), now.substitute.answer ? GM.long(now.substitute.answer, 2000) : null);
    if (!detail) parts.push(el("p", { class: "muted" }, "…"));
    else {
      parts.push(GM.long(detail.text));
      if (detail.inventory) parts.push(el("h3", {}, "Inventory"), GM.long(detail.inventory, 2000));
      const notes = Object.entries(detail.plan);
      if (notes.length) parts.push(el("h3", {}, "Plan"), el("dl", {}, notes.map(([name, note]) => [el("dt", {}, name), el("dd", {}, GM.cut(note, 2000))])));
      else if (detail.focus) parts.push(el("h3", {}, "Plan that steered the recall"), GM.long(detail.focus, 2000));
      if (detail.valid_actions.length) {
        parts.push(el("details", {}, el("summary", {}, `${detail.valid_actions.length} valid actions`),
          el("ul", { class: "actions" }, detail.valid_actions.slice(0, 400).map((action) => el("li", {}, action)))));
      }
      for (const call of detail.calls) {
        const cost = call.cost_usd === null ? ", cost unknown" : call.cost_usd ? `, $${call.cost_usd.toFixed(4)}` : "";
        parts.push(el("details", { class: "call" },
          el("summary", {}, `Model call: ${call.role || "other"}`, el("span", { class: "muted" }, ` ${call.tokens.prompt} + ${call.tokens.completion} tokens${cost}, ${GM.number(call.ms, 0)} ms${call.hit ? ", from the cache" : ""}`)),
          call.messages.map((message) => [el("h3", {}, message.role), GM.long(message.content)]),
          call.thought ? [el("h3", {}, "thought"), GM.long(call.thought)] : [],
          el("h3", {}, "answer"), GM.long(call.answer)));
      }
      const { stats } = detail;
      if (stats.update_ms != null) parts.push(el("p", { class: "muted small" }, `Memory: learnt in ${GM.number(stats.update_ms)} ms, recalled in ${GM.number(stats.recall_ms)} ms; ${stats.live_facts} of ${stats.facts} facts hold, ${stats.episodes} observations, ${stats.lessons} lessons.`));
    }
    show(story, parts);
  };

  const spread = (runs) => runs.flatMap(([count, why, score, path, note]) => Array(count).fill({ why, score, path, note }));

  const panels = {
    recalled() {
      if (!detail) return [el("p", { class: "muted" }, "…")];
      const parts = [];
      if (detail.recalled.length) {
        const why = spread(detail.why);
        let last = null, list = null, before = "";
        detail.recalled.forEach((number, rank) => {
          const reason = why[rank] || { why: "" };
          if (!list || reason.why !== last) {
            if (reason.why) parts.push(el("h3", {}, reason.why));
            list = el("ol", { class: "facts", start: rank + 1 });
            parts.push(list);
            last = reason.why;
          }
          const way = reason.path && reason.path.length ? reason.path : GM.path(drawing.world, episode.facts[number]);
          const led = way.length > 2 || (reason.path && reason.path.length) ? way.map((name) => GM.cut(name, 60)).join(" → ") : "";
          list.append(fact(number,
            reason.score != null ? el("span", { class: "score", title: "Score of the search" }, ` ${reason.score.toFixed(3)}`) : null,
            led && led !== before ? el("span", { class: "path", title: "What led to it" }, led) : null,
            reason.note ? el("span", { class: "path" }, GM.cut(reason.note, 300)) : null));
          before = led;
        });
      }
      if (detail.episodes.length) {
        const why = spread(detail.why_episodes);
        parts.push(el("h3", {}, "Past observations"));
        detail.episodes.forEach((text, rank) => {
          const reason = why[rank];
          parts.push(el("p", { class: "muted small" }, `${rank + 1}. ${reason ? [reason.why, reason.score != null ? `score ${reason.score.toFixed(3)}` : "", GM.cut(reason.note || "", 300)].filter(Boolean).join(", ") : ""}`), GM.long(text, 1200));
        });
      }
      if (detail.lessons.length) {
        const why = spread(detail.why_lessons);
        parts.push(el("h3", {}, "Lessons"), el("ol", { class: "facts" }, detail.lessons.map((lesson, rank) =>
          el("li", {}, GM.cut(lesson, 1000), why[rank] && why[rank].note ? el("span", { class: "path" }, GM.cut(why[rank].note, 300)) : null))));
      }
      return parts.length ? parts : [el("p", { class: "muted" }, "Nothing was recalled as facts, observations or lessons at this step.")];
    },
    changes() {
      const { came, went } = drawing;
      if (!came.length && !went.length) return [el("p", { class: "muted" }, "No fact came or went at this step.")];
      return [
        came.length ? [el("h3", {}, `Came (${came.length})`), el("ul", { class: "facts came" }, came.map((number) => fact(number)))] : null,
        went.length ? [el("h3", {}, `Went (${went.length})`), el("ul", { class: "facts went" }, went.map(([number, by]) => fact(number, by ? el("span", { class: "path" }, "ended by " + by) : null)))] : null,
      ];
    },
    facts() {
      const count = el("span", { class: "muted small", role: "status" });
      const list = el("ul", { class: "facts" });
      const find = el("input", { type: "search", value: words, placeholder: "Filter facts", "aria-label": "Filter facts" });
      const fill = () => {
        words = find.value;
        const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
        const found = drawing.live.filter((number) => {
          const { s, r, o } = episode.facts[number], text = `${s} ${r} ${o}`.toLowerCase();
          return wanted.every((word) => text.includes(word));
        });
        show(list, found.slice(0, 300).map((number) => {
          const last = episode.facts[number].when.findLast(([from]) => from <= step);
          return fact(number, el("span", { class: "path" }, `since step ${last[0]}`));
        }));
        count.textContent = ` ${found.length} of ${drawing.live.length} facts` + (found.length > 300 ? ", the first 300 shown" : "");
      };
      find.addEventListener("input", fill);
      fill();
      return [el("p", { class: "find" }, find, count), list];
    },
    text() {
      if (!detail) return [el("p", { class: "muted" }, "…")];
      return [detail.memory ? GM.long(detail.memory, 20000) : el("p", { class: "muted" }, "The memory rendered nothing at this step.")];
    },
  };

  const open = (name) => {
    tab = name;
    for (const [other, button] of Object.entries(tabs)) {
      button.setAttribute("aria-selected", String(other === tab));
      button.tabIndex = other === tab ? 0 : -1;
    }
    panel.setAttribute("aria-labelledby", `${unique}-${tab}`);
    if (drawing) show(panel, panels[tab]());
  };
  const mark = () => {
    if (!detail) return;
    graph.mark(detail.recalled.flatMap((number) => [episode.facts[number].s, episode.facts[number].o]));
  };
  const redraw = () => {
    if (step < 0) return;
    drawing = GM.drawing(episode, step, { all, centre, width: sheet.clientWidth, height: sheet.clientHeight });
    graph.draw(drawing);
    whole.hidden = drawing.total <= GM.MANY;
    mark();
    const facts = episode.keeps_graph ? "facts hold" : "facts are recalled";
    summary.textContent = drawing.live.length
      ? `${drawing.live.length} ${facts}; ${drawing.came.length} came, ${drawing.went.length} went. ${drawing.drawn < drawing.total ? `Drawn: the ${drawing.drawn} of ${drawing.total} names nearest to ${GM.visible(GM.cut(centre || drawing.world.here || "the first", 40))}. ` : ""}`
      : "This memory holds no facts at this step: see what it recalls as text.";
  };

  const holdsFacts = () => {
    const none = !episode.facts.length;
    root.querySelector(".map").hidden = none;
    root.classList.toggle("factless", none);
    if (none && tab !== "text") open("text");
  };

  open(tab);
  return {
    graph,
    get step() { return step; },
    episode,
    async show(next) {
      step = Math.max(0, Math.min(next, episode.steps.length - 1));
      const mine = step;
      detail = null;
      const wanted = episode.detail(mine); // under way while the rest is drawn
      if (!fixed) holdsFacts();
      redraw();
      showStory();
      if (tab === "changes" || tab === "facts") open(tab);
      const found = await wanted;
      if (mine !== step) return;
      detail = found;
      mark();
      showStory();
      open(tab);
    },
  };
};
