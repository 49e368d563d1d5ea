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
    const mentioned = new Set([world.here, ...world.parent.keys(), ...world.parent.values(), ...world.states.keys(), ...world.links.map((link) => link.from)]);
    for (const { from, to } of world.ways.values()) mentioned.add(from).add(to);
    for (const { from } of world.exits) mentioned.add(from);
    for (const door of world.doors.values()) if (!world.parent.has(door)) mentioned.delete(door);
    world.links = world.links.filter((link) => mentioned.has(link.to));
    for (const name of world.names.keys()) if (!mentioned.has(name)) world.names.delete(name);
  }
  for (const [thing] of world.parent) { // no thing is in itself, whatever was said
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

GM.AFAR = 11.5; // pixels of a place's name on the screen where its things are too small to read
GM.FARTHEST = 0.42; // the zoom at which these names still fit into their boxes
GM.width = (() => { // of words as the browser draws them
  const pen = document.createElement("canvas").getContext("2d"), known = new Map();
  return (words, size, weight = 400) => {
    const key = `${weight} ${size} ${words}`;
    if (!known.has(key)) {
      pen.font = `${weight} ${size}px system-ui, sans-serif`;
      known.set(key, pen.measureText(words).width);
    }
    return known.get(key);
  };
})();

// A name on lines about as wide as its longest word.
GM.wrap = (name) => {
  const words = name.split(" ").map((word) => GM.cut(word, 14)), lines = [];
  const most = Math.max(8, ...words.map((word) => word.length));
  for (const word of words) {
    const last = lines.at(-1);
    if (last && last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
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

// True if the line between the middles of two boxes meets a third box, drawn a little larger.
GM.meets = (from, to, box) => {
  let low = 0, high = 1;
  for (const [start, end, middle, size] of [[from.x, to.x, box.x, box.w], [from.y, to.y, box.y, box.h]]) {
    const span = end - start, reach = size / 2 + 4;
    if (!span) { if (Math.abs(start - middle) > reach) return false; continue; }
    const ends = [(middle - reach - start) / span, (middle + reach - start) / span].sort((a, b) => a - b);
    low = Math.max(low, ends[0]); high = Math.min(high, ends[1]);
  }
  return low <= high;
};

// Bends as the graph library takes them: how far along the straight line, and how far from it.
GM.bent = (from, to, bends) => {
  if (!bends) return {};
  const [dx, dy] = [to.x - from.x, to.y - from.y], length = Math.hypot(dx, dy);
  return {
    weights: bends.map(([x, y]) => (((x - from.x) * dx + (y - from.y) * dy) / length ** 2).toFixed(4)).join(" "),
    distances: bends.map(([x, y]) => (((x - from.x) * dy - (y - from.y) * dx) / length).toFixed(1)).join(" "),
  };
};

// Boxes and lines with their places on the sheet, in pixels of it. A map that is larger than
// options.width and options.height gets boxes whose names can be read from afar.
GM.drawing = (episode, step, options) => {
  const near = GM.layOut(episode, step, options, false), [left, top, right, bottom] = near.extent;
  return !near.mappable || (right - left <= options.width - 24 && bottom - top <= options.height - 24) ? near : GM.layOut(episode, step, options, true);
};

GM.layOut = (episode, step, options, afar) => {
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
  const mappable = roots.some((name) => episode.places[name]);
  const measure = (name, depth) => {
    const shown = label(name).split("\n");
    let width = Math.max(64, ...shown.map((line, n) => 14 + (depth || n ? GM.width(line, 11) : GM.width(line, 12.5, 600))));
    const title = shown.length * 14 + 10;
    const children = (depth < 6 ? inside.get(name) || [] : []).map((child) => measure(child, depth + 1));
    let far = [], least = depth ? 24 : 54;
    if (!depth && afar) {
      far = GM.wrap(GM.visible(GM.cut(name, 30)));
      if (children.length) far.push(`${children.length} thing${children.length > 1 ? "s" : ""}`);
      width = Math.max(width, (8 + Math.max(...far.map((line) => GM.width(line, GM.AFAR, 600)))) / GM.FARTHEST);
      least = Math.max(least, (far.length * 15 + 4) / GM.FARTHEST);
    }
    const box = { name, w: width, h: Math.max(title, least), title, children, depth, far: far.join("\n") };
    if (!children.length) return box;
    const columns = children.length < 5 ? 1 : Math.ceil(Math.sqrt(children.length * 0.7));
    let x = 0, y = 0, row = 0, w = 0;
    children.forEach((child, n) => {
      if (n && n % columns === 0) { x = 0; y += row + 6; row = 0; }
      child.x = x; child.y = y;
      x += child.w + 6;
      row = Math.max(row, child.h);
      w = Math.max(w, x - 6);
    });
    return { ...box, w: Math.max(width, w + 12), h: Math.max(least, title + y + row + 8) };
  };
  const place = (box, x, y) => {
    const held = box.children.length > 0;
    nodes.push({
      id: "n:" + box.name, name: box.name, label: label(box.name), far: box.far, x: x + box.w / 2, y: y + box.h / 2, w: box.w, h: box.h,
      depth: box.depth, order: box.depth,
      classes: [
        box.depth ? "thing" : box.place || box.name === world.here ? "place" : "loose", held && "holder", box.name === world.here && "here",
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
  // Between columns there is room for the name of a door.
  const between = new Map(), doors = new Map();
  for (const way of world.ways.values()) {
    const door = world.doors.get(way.from + "\n" + way.d), [from, to] = [episode.places[way.from], episode.places[way.to]];
    if (!door || !from || !to || Math.abs(from[0] - to[0]) + Math.abs(from[1] - to[1]) !== 1) continue;
    const shown = [GM.visible(GM.cut(door, 22)), (world.states.get(door) || []).join(", ")].filter(Boolean);
    doors.set([way.from, way.to].sort().join("\n"), shown.join("\n"));
    const left = Math.min(from[0], to[0]);
    if (from[1] === to[1]) between.set(left, Math.max(between.get(left) || 0, 10 + Math.max(...shown.map((line) => GM.width(line, 11)))));
  }
  const GAP = 32;
  const along = (sizes, gaps) => {
    const starts = new Map();
    let at = 0, last = null;
    for (const key of [...sizes.keys()].sort((a, b) => a - b)) {
      if (last != null) at += Math.max(GAP, gaps.get(last) || 0) + (key - last > 1 ? GAP : 0);
      starts.set(key, at);
      at += sizes.get(key);
      last = key;
    }
    return [starts, at];
  };
  const [columns, width] = along(wide, between);
  const [rows, height] = along(high, new Map());
  const squares = new Map();
  for (const box of mapped) {
    const [column, row] = episode.places[box.name];
    squares.set(`${column} ${row}`, box);
    place(box, columns.get(column) + (wide.get(column) - box.w) / 2, rows.get(row) + (high.get(row) - box.h) / 2);
  }
  // Things without a place on the map are below it, the inventory first.
  const others = boxes.filter((box) => !box.place).sort((a, b) => (b.name === "inventory") - (a.name === "inventory") || (b.name === world.here) - (a.name === world.here));
  const area = others.reduce((sum, box) => sum + (box.w + 16) * (box.h + 16), 0);
  const sheet = Math.max(width, Math.sqrt(area), 300);
  let x = 0, y = mapped.length ? height + 44 : 0, row = 0;
  for (const box of others) {
    if (x && x + box.w > sheet) { x = 0; y += row + 16; row = 0; }
    place(box, x, y);
    x += box.w + 16;
    row = Math.max(row, box.h);
  }

  // Ways in both directions are one line; where it would cross another place, it goes between them.
  const at = new Map(nodes.map((node) => [node.name, node]));
  const done = new Set();
  const recent = new Set(came);
  const detour = (from, to) => {
    const [[c1, r1], [c2, r2]] = [episode.places[from.name], episode.places[to.name]];
    const crossed = (column, row) => {
      const box = squares.get(`${column} ${row}`);
      return box && box.name !== from.name && box.name !== to.name && GM.meets(from, to, at.get(box.name));
    };
    let free = true;
    for (let c = Math.min(c1, c2); c <= Math.max(c1, c2); c++) for (let r = Math.min(r1, r2); r <= Math.max(r1, r2); r++) free = free && !crossed(c, r);
    if (free) return null;
    const beside = c2 > c1 ? columns.get(c2) - GAP / 2 : columns.get(c2) + wide.get(c2) + GAP / 2;
    const below = r2 >= r1 ? rows.get(r1) + high.get(r1) + GAP / 2 : rows.get(r1) - GAP / 2;
    return c1 === c2 ? [[beside, from.y], [beside, to.y]] : r1 === r2 ? [[from.x, below], [to.x, below]] : [[from.x, below], [beside, below], [beside, to.y]];
  };
  for (const way of world.ways.values()) {
    const from = at.get(way.from), to = at.get(way.to);
    if (!from || !to || from === to) continue;
    const key = [way.from, way.to].sort().join("\n");
    if (done.has(key)) continue;
    done.add(key);
    const bends = episode.places[from.name] && episode.places[to.name] && from.depth + to.depth === 0 ? detour(from, to) : null;
    lines.push({ id: "w:" + key, source: from.id, target: to.id, label: (!bends && doors.get(key)) || "", ...GM.bent(from, to, bends), classes: "way" + (recent.has(way.number) ? " fresh" : "") + (bends ? " bent" : "") });
  }
  const steps = { north: [0, -1], south: [0, 1], east: [1, 0], west: [-1, 0], northeast: [1, -1], northwest: [-1, -1], southeast: [1, 1], southwest: [-1, 1], up: [0.6, -1], down: [-0.6, 1] };
  for (const exit of world.exits) {
    const from = at.get(exit.from);
    if (!from || world.ways.has(exit.from + "\n" + exit.d)) continue;
    const [dx, dy] = steps[exit.d] || [0.7, 0.9];
    const id = `x:${exit.from}\n${exit.d}`;
    nodes.push({ id, label: "?", x: from.x + dx * (from.w / 2 + 8.5), y: from.y + dy * (from.h / 2 + 8.5), w: 13, h: 13, order: 0, classes: "exit" });
    lines.push({ id: "e" + id, source: from.id, target: id, label: steps[exit.d] ? "" : GM.visible(exit.d), classes: "unexplored" });
  }
  const pairs = new Map();
  for (const link of world.links) {
    if (!at.has(link.from) || !at.has(link.to) || link.from === link.to) continue;
    const id = `l:${link.from}\n${link.to}`;
    if (pairs.has(id)) { pairs.get(id).label += ", " + GM.visible(GM.cut(link.r, 24)); continue; }
    const line = { id, source: "n:" + link.from, target: "n:" + link.to, label: GM.visible(GM.cut(link.r, 28)), classes: "link" + (mappable ? " unsaid" : recent.has(link.number) ? " fresh" : "") };
    pairs.set(id, line);
    lines.push(line);
  }
  // What ended in this step is shown once more, faded, where both of its ends stand.
  for (const [number] of went) {
    const { s, o, kind } = episode.facts[number];
    if ((kind === "in" || (kind === "other" && !mappable) || kind === "way") && at.has(s) && at.has(o)) lines.push({ id: "g:" + number, source: "n:" + s, target: "n:" + o, label: "", classes: "gone" });
  }
  const extent = nodes.reduce(([l, t, r, b], { x, y, w, h }) => [Math.min(l, x - w / 2), Math.min(t, y - h / 2), Math.max(r, x + w / 2), Math.max(b, y + h / 2)], nodes.length ? [1e9, 1e9, -1e9, -1e9] : [0, 0, 1, 1]);
  return { nodes, lines, extent, afar, world, mappable, total, drawn: at.size, came, went, live };
};
