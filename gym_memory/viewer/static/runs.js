"use strict";
// The table of recorded episodes: filter, sort, group, turn pages, choose two to stand side by side.
// The address keeps the view after its #.
(async () => {
  const el = GM.el, MOST = 50, COLUMNS = ["environment", "memory", "policy", "seed", "trial", "score", "steps", "seconds", "tokens", "cost", "result"];
  const NUMBERS = new Set(["seed", "trial", "score", "steps", "seconds", "tokens", "cost"]);
  let rows = await GM.unpack(document.getElementById("rows").textContent), shownRows = JSON.stringify(rows);
  const view = { find: "", run: "", sort: "", down: "", apart: "yes", page: "1", ...Object.fromEntries(new URLSearchParams(location.hash.slice(1))) };
  const runs = new Map();
  const gather = () => {
    runs.clear();
    for (const row of rows) {
      row.words = [row.run, row.environment, row.memory, row.policy, `seed=${row.seed};`, `trial=${row.trial};`, row.result, GM.tags.of(row.key)].join(" ").toLowerCase();
      if (!runs.has(row.run)) runs.set(row.run, []);
      runs.get(row.run).push(row);
    }
  };
  gather();
  const total = (name, all) => all.reduce((sum, row) => sum + (row[name] || 0), 0);
  const about = (all) => {
    const scores = all.map(({ score }) => score).filter((score) => score != null), failed = all.filter(({ result }) => result === "failed").length;
    return [all[0].date, `${all.length} episodes`, scores.length ? `mean score ${(scores.reduce((sum, score) => sum + score, 0) / scores.length).toFixed(3)}` : "", failed ? `${failed} failed` : "",
      `${GM.number(total("seconds", all), 0)} s`, total("tokens", all) ? `${GM.number(total("tokens", all))} tokens` : "", total("cost", all) ? `$${total("cost", all).toFixed(4)}` : ""].filter(Boolean).join(", ");
  };
  const chosen = [];
  const change = (changes) => { Object.assign(view, { page: "1" }, changes); draw(); };

  const find = el("input", { type: "search", id: "filter", value: view.find, placeholder: "Filter, e.g. arigraph seed 3", "aria-label": "Filter episodes", oninput: () => change({ find: find.value }) });
  const run = el("select", { "aria-label": "Run folder", onchange: () => change({ run: run.value }) },
    el("option", { value: "" }, `All ${runs.size} runs`), [...runs.keys()].map((name) => el("option", { value: name, selected: name === view.run }, GM.cut(name, 60))));
  const apart = el("input", { type: "checkbox", checked: view.apart === "yes", onchange: () => change({ apart: apart.checked ? "yes" : "no" }) });
  const count = el("span", { id: "count", class: "muted", role: "status" });
  const whole = el("span", { class: "muted" });
  const beside = el("button", { type: "button", id: "beside", onclick: () => { location.href = `/replay?a=${chosen[0]}&b=${chosen[1]}`; } }, "Compare two");
  const heads = COLUMNS.map((name) => el("th", { scope: "col", class: NUMBERS.has(name) ? "number" : null },
    el("button", { type: "button", "data-sort": name, onclick: () => change(view.sort !== name ? { sort: name, down: "" } : view.down ? { sort: "", down: "" } : { down: "yes" }) }, name[0].toUpperCase() + name.slice(1))));
  const body = el("tbody");
  const turn = (text, by) => el("button", { type: "button", class: "quiet", onclick: () => { change({ page: String(Number(view.page) + by) }); scrollTo(0, 0); } }, text);
  const back = turn("Previous", -1), on = turn("Next", 1), where = el("span", { class: "muted small", role: "status" });

  const compare = (a, b) => (a == null) - (b == null) || (typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  const line = (row) => {
    const box = el("input", { type: "checkbox", value: row.key, checked: chosen.includes(row.key), "aria-label": `Choose ${row.title}`, onchange: () => {
      if (box.checked) chosen.push(row.key); else chosen.splice(chosen.indexOf(row.key), 1);
      if (chosen.length > 2) { const old = body.querySelector(`input[value="${chosen.shift()}"]`); if (old) old.checked = false; }
      beside.disabled = chosen.length !== 2;
    } });
    const shown = { ...row, environment: row.environment.split(/(?<=[?&])/).flatMap((part) => [part, el("wbr")]), score: row.score == null ? "" : row.score.toFixed(3), seconds: GM.number(row.seconds, 1), tokens: row.tokens ? GM.number(row.tokens) : "–", cost: row.cost ? `$${row.cost.toFixed(4)}` : row.tokens ? "?" : "–", memory: [el("span", { class: `swatch k${row.colour}`, "aria-hidden": "true" }), row.memory] };
    const tags = GM.tags.of(row.key);
    if (tags) shown.result = [row.result, " ", el("span", { class: "tags" }, tags)];
    return el("tr", {}, el("td", {}, box), COLUMNS.map((name) => el("td", { class: NUMBERS.has(name) ? "number" : null, "data-policy": name === "memory" ? row.policy : null }, shown[name])),
      el("td", {}, el("a", { href: `/replay?a=${row.key}`, "aria-label": `Replay ${row.title}` }, "Replay")));
  };
  const draw = () => {
    const words = view.find.toLowerCase().replace(/\b(seed|trial)[ =](\d+)/g, "$1=$2;").split(/\s+/).filter(Boolean);
    const found = rows.filter((row) => (!view.run || row.run === view.run) && words.every((word) => row.words.includes(word)));
    const order = new Map([...runs.keys()].map((name, n) => [name, n])), grouped = view.apart === "yes" && runs.size > 1;
    found.sort((a, b) => (grouped && order.get(a.run) - order.get(b.run)) || (view.sort ? (view.down ? -1 : 1) * compare(a[view.sort], b[view.sort]) : 0));
    const last = Math.max(1, Math.ceil(found.length / MOST)), page = Math.min(Math.max(1, Number(view.page) || 1), last), first = (page - 1) * MOST;
    view.page = String(page);
    let group = null;
    GM.show(body, found.slice(first, first + MOST).map((row) => {
      if (!grouped || row.run === group) return line(row);
      group = row.run;
      return [el("tr", { class: "group" }, el("th", { colspan: COLUMNS.length + 2, scope: "rowgroup" }, group, el("span", { class: "muted" }, ` – ${about(runs.get(group))}`))), line(row)];
    }));
    heads.forEach((head, n) => (COLUMNS[n] === view.sort ? head.setAttribute("aria-sort", view.down ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
    count.textContent = `${found.length} of ${rows.length}`;
    whole.textContent = runs.size === 1 ? about(rows) : "";
    where.textContent = found.length ? `${first + 1} to ${Math.min(first + MOST, found.length)} of ${found.length}` : "";
    back.disabled = page === 1; on.disabled = page === last; beside.disabled = chosen.length !== 2;
    document.querySelector(".pages").hidden = last === 1;
    const kept = Object.entries(view).filter(([name, value]) => value && value !== { apart: "yes", page: "1" }[name]);
    history.replaceState(null, "", "#" + new URLSearchParams(kept));
  };
  GM.show(document.getElementById("runs"), rows.length ? el("section", { class: "card" },
    el("p", { class: "find" }, find, runs.size > 1 ? [run, el("label", {}, apart, " Group by run")] : null, count, beside, whole),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Recorded episodes" },
      el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Choose"), heads, el("th", { scope: "col" }, "Replay"))), body)),
    el("p", { class: "pages" }, back, where, on)) : el("p", { class: "card" }, "No steps are recorded in these folders yet."));
  if (rows.length) draw();
  // A run that is being played: its rows come in as they are written.
  const follow = async () => {
    try {
      const answer = await fetch("/rows");
      const found = answer.ok ? JSON.stringify(await answer.json()) : "";
      if (found && found !== shownRows) { // rows that stay keep their elements
        const before = rows.length;
        rows = JSON.parse(found);
        shownRows = found;
        gather();
        if (!before && rows.length) location.reload();
        else if (rows.length) draw();
      }
    } catch { /* the server has ended */ }
    setTimeout(follow, 2000);
  };
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); }); // tags may have changed
  if (document.getElementById("runs").dataset.live) setTimeout(follow, 2000);
  document.body.dataset.ready = "yes";
})();
