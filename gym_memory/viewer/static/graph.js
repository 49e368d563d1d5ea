"use strict";
// Draw a map on a canvas with cytoscape.js. A new drawing adds and removes only what changed.
GM.graph = (holder, onChoose) => {
  const canvas = GM.el("div", { class: "canvas", tabindex: "0", role: "application", "aria-label": "Map of the memory. Arrow keys move it, plus and minus zoom, 0 shows all." });
  holder.append(canvas);
  const colour = (name) => { canvas.style.color = `var(--${name})`; return getComputedStyle(canvas).color; }; // as resolved for the theme
  const style = () => [
    { selector: "node", style: {
      shape: "round-rectangle", width: "data(w)", height: "data(h)", label: "data(label)", "text-wrap": "wrap", "text-max-width": "240px",
      "font-family": "system-ui, sans-serif", "font-size": 11, color: colour("ink"), "background-color": colour("thing"), "border-width": 1,
      "border-color": colour("line"), "text-valign": "center", "text-halign": "center", "z-compound-depth": "auto", "z-index": "data(order)", "z-index-compare": "manual",
      "overlay-opacity": 0, "line-height": 1.25, "min-zoomed-font-size": 10.9 } },
    { selector: ".holder", style: { "text-valign": "top", "text-margin-y": "data(down)", "background-color": colour("holder") } },
    { selector: ".place", style: { "background-color": colour("place"), "font-size": 12.5, "font-weight": 600, "border-color": colour("place-line"), "border-width": 1.5 } },
    { selector: ".loose", style: { "background-color": colour("holder"), "border-style": "dashed" } },
    { selector: ".inventory", style: { "background-color": colour("carried"), "border-style": "solid", "border-color": colour("accent") } },
    { selector: ".here", style: { "border-color": colour("accent"), "border-width": 3 } },
    { selector: "node.fresh", style: { "border-color": colour("came"), "border-width": 2.5 } },
    { selector: "node.here.fresh", style: { "border-color": colour("accent"), "border-width": 3 } },
    { selector: ".pale", style: { "background-color": colour("page"), color: colour("muted") } },
    { selector: ".chosen", style: { "border-color": colour("chosen"), "border-width": 3 } },
    { selector: ".exit", style: { shape: "ellipse", "background-color": colour("page"), "border-style": "dashed", "border-color": colour("muted"), color: colour("muted"), "font-weight": 700 } },
    // Zoomed out, a place shows its name alone; its contents appear once they are legible.
    { selector: ".afar", style: { label: "data(far)", "text-valign": "center", "text-margin-y": 0, "font-size": "data(font)", "font-weight": 600 } },
    { selector: ".within", style: { display: "none" } },
    { selector: "edge", style: { // under all boxes, so that none crosses a name
      width: 1.2, "line-color": colour("line"), "curve-style": "straight", label: "data(label)", "text-wrap": "wrap", "font-family": "system-ui, sans-serif", "font-size": 11, color: colour("muted"),
      "text-background-color": colour("page"), "text-background-opacity": 0.85, "text-background-padding": 2, "z-index": -1, "z-index-compare": "manual", "overlay-opacity": 0, "min-zoomed-font-size": 10.9 } },
    { selector: "edge.way", style: { width: 4, "line-color": colour("way") } },
    { selector: "edge.bent", style: { "curve-style": "round-segments", "edge-distances": "node-position", "segment-weights": "data(weights)", "segment-distances": "data(distances)", "segment-radii": 10 } },
    { selector: "edge.unexplored", style: { "line-style": "dashed", "line-color": colour("muted") } },
    { selector: "edge.link", style: { "curve-style": "bezier", "line-color": colour("link"), "target-arrow-shape": "vee", "target-arrow-color": colour("link"), "arrow-scale": 0.7, "line-opacity": 0.55, label: "" } },
    { selector: "edge.unsaid", style: { display: "none" } },
    { selector: "edge.link.fresh, edge.named", style: { display: "element", label: "data(label)", "line-opacity": 1, color: colour("ink") } },
    { selector: "edge.named", style: { "z-index": 20 } },
    { selector: "edge.fresh", style: { "line-color": colour("came"), "target-arrow-color": colour("came") } },
    { selector: "edge.gone", style: { "line-color": colour("went"), "line-style": "dotted", color: colour("went"), "line-opacity": 0.7, "target-arrow-shape": "none", "curve-style": "bezier" } },
  ];
  const cy = cytoscape({
    container: canvas, style: style(), layout: { name: "preset" }, autoungrabify: true, boxSelectionEnabled: false, autounselectify: true,
    minZoom: 0.04, maxZoom: 3, hideEdgesOnViewport: true, textureOnViewport: false, pixelRatio: Math.min(devicePixelRatio || 1, 2),
  });
  let touched = false, afar = false, extent = [0, 0, 1, 1], centre = null, level = "";
  // Use the measures of the drawing, because the library would measure every label again. Show a
  // drawing that is too large to be legible around its centre.
  const fit = () => {
    const [left, top, right, bottom] = extent, width = canvas.clientWidth, height = canvas.clientHeight;
    const whole = Math.min((width - 24) / (right - left), (height - 24) / (bottom - top), 1.25);
    const zoom = Math.max(whole, afar ? GM.FARTHEST : 1);
    const middle = (low, high, size, at) => {
      const half = (size / 2 - 12) / zoom;
      return high - low <= 2 * half ? (low + high) / 2 : Math.min(Math.max(at, low + half), high - half);
    };
    const x = middle(left, right, width, centre ? centre.x : left), y = middle(top, bottom, height, centre ? centre.y : top);
    cy.viewport({ zoom, pan: { x: width / 2 - zoom * x, y: height / 2 - zoom * y } });
  };
  // While things are not legible, hide them and keep the names of places at one size on the screen.
  const relabel = () => {
    const zoom = cy.zoom(), far = afar && zoom < 0.995;
    const font = GM.AFAR / Math.max(zoom, GM.FARTHEST), now = far ? font.toFixed(1) : "near";
    if (now === level) return;
    level = now;
    cy.batch(() => {
      cy.nodes("[depth > 0]").toggleClass("within", far);
      cy.nodes("[?far]").data("font", font).toggleClass("afar", far);
    });
  };
  const zoomBy = (factor) => {
    touched = true;
    cy.zoom({ level: cy.zoom() * factor, renderedPosition: { x: canvas.clientWidth / 2, y: canvas.clientHeight / 2 } });
  };
  cy.on("zoom", relabel);
  const element = (item, group) => {
    const { classes, x, y, ...data } = item;
    data.down = 6 + (data.depth ? 14 : 15.6) * String(item.label).split("\n").length;
    return group === "nodes" ? { group, data, classes, position: { x, y } } : { group, data, classes };
  };
  canvas.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    const zoom = { "+": 1.25, "=": 1.25, "-": 0.8 }[event.key];
    if (move) cy.panBy({ x: move[0], y: move[1] });
    else if (zoom) zoomBy(zoom);
    else if (event.key === "0") { touched = false; fit(); }
    else return;
    if (event.key !== "0") touched = true;
    event.preventDefault();
    event.stopPropagation();
  });
  for (const kind of ["wheel", "mousedown", "touchstart"]) canvas.addEventListener(kind, () => { touched = true; }, { passive: true });
  cy.on("tap", (event) => {
    const node = event.target !== cy && event.target.isNode() ? event.target : null, near = node && node.hasClass("afar");
    onChoose(node ? node.data("name") || null : null);
    if (near) { // zoom in until its things are legible
      const { x, y } = node.position(), zoom = 1.1;
      touched = true;
      cy.viewport({ zoom, pan: { x: canvas.clientWidth / 2 - zoom * x, y: canvas.clientHeight / 2 - zoom * y } });
    }
  });
  // Show the labels of a node's links while the pointer is over the node.
  cy.on("mouseover", "node", (event) => event.target.connectedEdges(".link").addClass("named"));
  cy.on("mouseout", "node", (event) => event.target.connectedEdges(".named").removeClass("named"));
  document.addEventListener("theme", () => cy.style(style()));
  new ResizeObserver(() => { cy.resize(); if (!touched) fit(); }).observe(canvas);
  return {
    cy,
    draw(drawing) {
      ({ extent, afar } = drawing);
      centre = drawing.nodes.find(({ classes }) => /chosen/.test(classes)) || drawing.nodes.find(({ classes }) => /here/.test(classes)) || null;
      cy.batch(() => {
        const wanted = new Map();
        for (const node of drawing.nodes) wanted.set(node.id, element(node, "nodes"));
        for (const line of drawing.lines) wanted.set(line.id, element(line, "edges"));
        const edges = [], nodes = [];
        cy.elements().forEach((old) => {
          const now = wanted.get(old.id());
          if (!now) old.remove();
          else {
            if (now.position) old.position(now.position);
            old.data(now.data);
            old.classes(now.classes);
            wanted.delete(old.id());
          }
        });
        for (const item of wanted.values()) (item.group === "nodes" ? nodes : edges).push(item);
        cy.add([...nodes, ...edges]);
      });
      level = ""; // all classes are new
      if (!touched) fit();
      relabel();
    },
    // Show names that were not recalled in a paler colour.
    mark(names) {
      const recalled = new Set(names);
      cy.batch(() => cy.nodes("[name]").forEach((node) => node.toggleClass("pale", recalled.size > 0 && !recalled.has(node.data("name")))));
    },
    fit() { touched = false; fit(); },
    zoomBy,
  };
};
