"use strict";
// An episode, and what is to be drawn of its facts at a step. Knows nothing of the page.

// light: what a page loads at once; heavy(chunk): promises the texts of some steps.
GM.episode = (light, heavy) => {
  const chunks = new Map();
  return {
    ...light,
    detail(step) {
      const number = Math.floor(step / light.chunk);
      if (!chunks.has(number)) chunks.set(number, Promise.resolve(heavy(number)));
      return chunks.get(number).then((steps) => steps[step - number * light.chunk]);
    },
    // Facts true at the end of a step, those that began in it, and those that ended in it.
    at(step) {
      const live = [], came = [], went = [];
      light.facts.forEach((fact, number) => {
        for (const [from, to, by] of fact.when) {
          if (from > step) break;
          if (from === step) came.push(number);
          if (to === step) went.push([number, by]);
          if (to == null || to > step) live.push(number);
        }
      });
      return { live, came, went };
    },
  };
};

GM.firstDifference = async (a, b) => {
  const shared = Math.min(a.steps.length, b.steps.length);
  for (let step = 0; step < shared; step++) {
    if (a.steps[step].action !== b.steps[step].action) return step;
    const [left, right] = await Promise.all([a.detail(step), b.detail(step)]);
    if (left.text !== right.text) return step;
  }
  return a.steps.length === b.steps.length ? -1 : shared;
};

// Where things are: what each is in, where the player is, what leads where.
GM.world = (facts, numbers) => {
  const world = { parent: new Map(), states: new Map(), ways: new Map(), exits: [], doors: new Map(), links: [], here: null, names: new Map() };
  const know = (name, number) => {
    if (!world.names.has(name)) world.names.set(name, []);
    world.names.get(name).push(number);
  };
  for (const number of numbers) {
    const { s, r, o, kind, d } = facts[number];
    know(s, number);
    if (kind === "here") { world.here = o; know(o, number); }
    else if (kind === "in") { if (s !== o) world.parent.set(s, o); know(o, number); }
    else if (kind === "holds") { if (s !== o && !world.parent.has(o)) world.parent.set(o, s); know(o, number); }
    else if (kind === "way") { world.ways.set(o + "\n" + d, { from: o, to: s, d, number }); know(o, number); }
    else if (kind === "exit") world.exits.push({ from: s, d, number });
    else if (kind === "door") { world.doors.set(s + "\n" + d, o); know(o, number); }
    else if (kind === "is") { if (!world.states.has(s)) world.states.set(s, []); world.states.get(s).push(o); }
    else if (kind === "other") { world.links.push({ from: s, to: o, r, number }); know(o, number); }
  }
  world.names.delete("you");
  if (world.here != null) { // on a map, what is only said of others is no thing, nor is a door
    const told = new Set([world.here, ...world.parent.keys(), ...world.parent.values(), ...world.states.keys(), ...world.links.map((link) => link.from)]);
    for (const { from, to } of world.ways.values()) told.add(from).add(to);
    for (const { from } of world.exits) told.add(from);
    for (const door of world.doors.values()) if (!world.parent.has(door)) told.delete(door);
    world.links = world.links.filter((link) => told.has(link.to));
    for (const name of world.names.keys()) if (!told.has(name)) world.names.delete(name);
  }
  for (const [thing] of world.parent) { // no thing is in itself, however it is told
    const seen = new Set();
    for (let at = thing; at != null; at = world.parent.get(at)) {
      if (seen.has(at)) { world.parent.delete(at); break; }
      seen.add(at);
    }
  }
  return world;
};

// How the page came from the agent's place to a fact: ways to the place, then things inwards.
GM.path = (world, fact) => {
  const chain = [];
  let at = fact.kind === "way" ? fact.o : fact.kind === "here" ? fact.o : fact.s;
  for (; world.parent.has(at) && chain.length < 9; at = world.parent.get(at)) chain.unshift(at);
  if (!world.here || at === world.here || at === "inventory") return [at, ...chain];
  world.came = world.came || GM.routes(world);
  if (!world.came.has(at)) return [at, ...chain];
  const ways = [];
  for (let way = world.came.get(at); way; way = world.came.get(way.from)) ways.unshift(`${way.d} to ${way.to}`);
  return [world.here, ...ways, ...chain];
};

// From the agent's place, breadth first: the way that led to each place.
GM.routes = (world) => {
  const out = new Map(), came = new Map([[world.here, null]]);
  for (const way of world.ways.values()) {
    if (!out.has(way.from)) out.set(way.from, []);
    out.get(way.from).push(way);
  }
  for (const place of came.keys()) {
    for (const way of out.get(place) || []) if (!came.has(way.to)) came.set(way.to, way);
  }
  return came;
};

GM.NEAR = 100; // names that are drawn around the agent where there are more than MANY
GM.MANY = 320;

// The names to draw: all, or those nearest to one.
GM.nearest = (world, centre, most) => {
  const around = new Map();
  const tie = (a, b) => {
    for (const [x, y] of [[a, b], [b, a]]) {
      if (!around.has(x)) around.set(x, []);
      around.get(x).push(y);
    }
  };
  for (const [thing, holder] of world.parent) tie(thing, holder);
  for (const way of world.ways.values()) tie(way.from, way.to);
  for (const link of world.links) tie(link.from, link.to);
  const start = world.names.has(centre) ? centre : world.names.keys().next().value;
  const near = new Set([start]);
  for (const name of near) {
    for (const next of around.get(name) || []) {
      if (near.size >= most) return near;
      near.add(next);
    }
  }
  return near;
};

// Boxes and lines with their places on the sheet, in pixels of it.
GM.drawing = (episode, step, options) => {
  const { live, came, went } = episode.at(step);
  const world = GM.world(episode.facts, live);
  const total = world.names.size;
  const centre = options.centre && world.names.has(options.centre) ? options.centre : world.here;
  const near = options.all || total <= GM.MANY ? null : GM.nearest(world, centre, GM.NEAR);
  const drawn = (name) => world.names.has(name) && (!near || near.has(name));

  const inside = new Map(), roots = [];
  for (const name of world.names.keys()) {
    if (!drawn(name)) continue;
    const holder = world.parent.get(name);
    if (holder != null && drawn(holder)) {
      if (!inside.has(holder)) inside.set(holder, []);
      inside.get(holder).push(name);
    } else roots.push(name);
  }
  const fresh = new Set(came.map((n) => episode.facts[n].s));
  const nodes = [], lines = [];
  const label = (name) => {
    const states = world.states.get(name);
    return GM.visible(GM.cut(name, 30) + (states ? "\n" + GM.cut(states.join(", "), 34) : ""));
  };
  const measure = (name, depth) => {
    const shown = label(name).split("\n");
    const width = Math.max(64, ...shown.map((line, n) => 18 + line.length * (n ? 5.3 : depth ? 6 : 7.2)));
    const title = shown.length * 14 + 10;
    const children = (depth < 6 ? inside.get(name) || [] : []).map((child) => measure(child, depth + 1));
    if (!children.length) return { name, w: width, h: Math.max(title, depth ? 24 : 54), title, children, depth };
    const columns = Math.ceil(Math.sqrt(children.length * 0.7));
    let x = 0, y = 0, row = 0, w = 0;
    children.forEach((child, n) => {
      if (n && n % columns === 0) { x = 0; y += row + 8; row = 0; }
      child.x = x; child.y = y;
      x += child.w + 8;
      row = Math.max(row, child.h);
      w = Math.max(w, x - 8);
    });
    return { name, w: Math.max(width, w + 20), h: title + y + row + 12, title, children, depth };
  };
  const place = (box, x, y) => {
    const held = box.children.length > 0;
    nodes.push({
      id: "n:" + box.name, name: box.name, label: label(box.name), x: x + box.w / 2, y: y + box.h / 2, w: box.w, h: box.h,
      depth: box.depth, order: box.depth, top: held || !box.depth,
      classes: [
        box.depth ? "thing" : box.place ? "place" : "loose", held && "holder", box.name === world.here && "here",
        box.name === "inventory" && "inventory", fresh.has(box.name) && "fresh", options.centre === box.name && "chosen",
      ].filter(Boolean).join(" "),
    });
    const left = x + (box.w - Math.max(...box.children.map((c) => c.x + c.w), 0)) / 2;
    for (const child of box.children) place(child, left + child.x, y + box.title + 2 + child.y);
  };

  // Places on their squares; a column is as wide as its widest place, a row as high.
  const boxes = roots.map((name) => measure(name, 0));
  const mapped = boxes.filter((box) => episode.places[box.name]);
  const wide = new Map(), high = new Map();
  for (const box of mapped) {
    box.place = true;
    const [column, row] = episode.places[box.name];
    wide.set(column, Math.max(wide.get(column) || 0, box.w));
    high.set(row, Math.max(high.get(row) || 0, box.h));
  }
  const along = (sizes, gap) => {
    const starts = new Map();
    let at = 0, last = null;
    for (const key of [...sizes.keys()].sort((a, b) => a - b)) {
      if (last != null && key - last > 1) at += gap;
      starts.set(key, at);
      at += sizes.get(key) + gap;
      last = key;
    }
    return [starts, at - gap];
  };
  const [columns, width] = along(wide, 48);
  const [rows, height] = along(high, 50);
  for (const box of mapped) {
    const [column, row] = episode.places[box.name];
    place(box, columns.get(column) + (wide.get(column) - box.w) / 2, rows.get(row) + (high.get(row) - box.h) / 2);
  }
  // What lies nowhere on the map stands below it, what is carried first.
  const others = boxes.filter((box) => !box.place).sort((a, b) => (b.name === "inventory") - (a.name === "inventory") || (b.name === world.here) - (a.name === world.here));
  const area = others.reduce((sum, box) => sum + (box.w + 16) * (box.h + 16), 0);
  const sheet = Math.max(width, Math.sqrt(area * 1.6), 300);
  let x = 0, y = mapped.length ? height + 60 : 0, row = 0;
  for (const box of others) {
    if (x && x + box.w > sheet) { x = 0; y += row + 16; row = 0; }
    place(box, x, y);
    x += box.w + 16;
    row = Math.max(row, box.h);
  }

  // Ways in both directions are one line; exits that nobody took end in a question.
  const at = new Map(nodes.map((node) => [node.name, node]));
  const done = new Map();
  const recent = new Set(came);
  for (const way of world.ways.values()) {
    if (!at.has(way.from) || !at.has(way.to)) continue;
    const door = world.doors.get(way.from + "\n" + way.d);
    const states = door ? world.states.get(door) : null;
    const key = [way.from, way.to].sort().join("\n");
    const label = door ? GM.visible(GM.cut(door, 22) + (states ? ` (${states.join(", ")})` : "")) : "";
    const known = done.get(key);
    if (known) { known.label = known.label || label; continue; }
    const line = { id: "w:" + key, source: "n:" + way.from, target: "n:" + way.to, label, classes: "way" + (recent.has(way.number) ? " fresh" : "") };
    done.set(key, line);
    lines.push(line);
  }
  const steps = { north: [0, -1], south: [0, 1], east: [1, 0], west: [-1, 0], northeast: [1, -1], northwest: [-1, -1], southeast: [1, 1], southwest: [-1, 1], up: [0.6, -1], down: [-0.6, 1] };
  for (const exit of world.exits) {
    const from = at.get(exit.from);
    if (!from || world.ways.has(exit.from + "\n" + exit.d)) continue;
    const [dx, dy] = steps[exit.d] || [0.7, 0.9];
    const id = `x:${exit.from}\n${exit.d}`;
    nodes.push({ id, label: "?", x: from.x + dx * (from.w / 2 + 26), y: from.y + dy * (from.h / 2 + 22), w: 20, h: 20, order: 0, classes: "exit" });
    lines.push({ id: "e" + id, source: from.id, target: id, label: steps[exit.d] ? "" : GM.visible(exit.d), classes: "unexplored" });
  }
  const pairs = new Map();
  for (const link of world.links) {
    if (!at.has(link.from) || !at.has(link.to) || link.from === link.to) continue;
    const id = `l:${link.from}\n${link.to}`;
    if (pairs.has(id)) { pairs.get(id).label += ", " + GM.visible(GM.cut(link.r, 24)); continue; }
    const line = { id, source: "n:" + link.from, target: "n:" + link.to, label: GM.visible(GM.cut(link.r, 28)), classes: "link" + (recent.has(link.number) ? " fresh" : "") };
    pairs.set(id, line);
    lines.push(line);
  }
  // What ended in this step is shown once more, faded, where both of its ends stand.
  for (const [number] of went) {
    const { s, o, r, kind } = episode.facts[number];
    if ((kind === "in" || kind === "other" || kind === "way") && at.has(s) && at.has(o)) {
      lines.push({ id: "g:" + number, source: "n:" + s, target: "n:" + o, label: GM.visible(GM.cut(r, 28)), classes: "gone" });
    }
  }
  return { nodes, lines, world, total, drawn: at.size, came, went, live };
};
