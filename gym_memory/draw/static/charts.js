"use strict";
// A comparison: hide what a filter leaves out, export what is shown.
(() => {
  const form = document.getElementById("filters");
  if (!form) return;
  const apply = () => {
    const hidden = { env: new Set(), memory: new Set(), policy: new Set() };
    for (const box of form.querySelectorAll("[data-filter]")) if (!box.checked) hidden[box.dataset.filter].add(box.value).add(box.dataset.short);
    const out = (values) => Object.entries(hidden).some(([name, names]) => names.has(values[name]));
    for (const mark of document.querySelectorAll("svg.plot, svg.plot [data-env], svg.plot [data-policy]")) {
      mark.style.display = out(mark.dataset) ? "none" : "";
    }
    for (const row of document.querySelectorAll("main table tbody tr")) {
      const cells = [...row.cells].map((cell) => cell.textContent);
      row.hidden = Object.values(hidden).some((names) => cells.some((cell) => names.has(cell)));
    }
  };
  form.addEventListener("change", apply);
  apply();
  // A run that is being played: what is new replaces what is shown; the filters stay.
  const follow = async () => {
    try {
      const answer = await fetch(location.href);
      const page = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".page");
      const old = document.querySelector(".page");
      if (page && page.textContent !== follow.last) {
        if (follow.last !== undefined) {
          for (const part of [...old.children]) if (part !== form) part.remove();
          for (const part of [...page.children]) if (part.id !== "filters") old.append(part);
          apply();
        }
        follow.last = page.textContent;
      }
    } catch { /* the server has ended */ }
    setTimeout(follow, 3000);
  };
  if (document.querySelector(".page").dataset.live) follow();

  const NAMES = ["fill", "stroke", "stroke-width", "fill-opacity", "stroke-linejoin", "stroke-dasharray", "font-family", "font-size", "font-weight", "text-anchor"];
  // One picture of the shown panels, with its colours written into it.
  const picture = (figure) => {
    const shown = [...figure.querySelectorAll("svg.plot")].filter((svg) => svg.style.display !== "none");
    const space = "http://www.w3.org/2000/svg";
    const sheet = document.createElementNS(space, "svg");
    let x = 0, y = 0, row = 0, width = 0;
    for (const svg of shown) {
      const w = svg.width.baseVal.value, h = svg.height.baseVal.value;
      if (x && x + w > 1200) { x = 0; y += row + 12; row = 0; }
      const copy = svg.cloneNode(true);
      const originals = svg.querySelectorAll("*");
      [...copy.querySelectorAll("*")].forEach((node, n) => {
        const style = getComputedStyle(originals[n]);
        if (style.display === "none") { node.dataset.out = ""; return; }
        for (const name of NAMES) node.setAttribute(name, style.getPropertyValue(name));
        node.removeAttribute("class");
      });
      for (const node of copy.querySelectorAll("[data-out]")) node.remove();
      copy.removeAttribute("style");
      for (const [name, value] of Object.entries({ x, y, width: w, height: h })) copy.setAttribute(name, value);
      sheet.append(copy);
      x += w + 16; row = Math.max(row, h); width = Math.max(width, x - 16);
    }
    const height = y + row;
    const back = document.createElementNS(space, "rect");
    for (const [name, value] of Object.entries({ width, height, fill: getComputedStyle(document.querySelector(".card")).backgroundColor })) back.setAttribute(name, value);
    sheet.prepend(back);
    for (const [name, value] of Object.entries({ xmlns: space, width, height, viewBox: `0 0 ${width} ${height}` })) sheet.setAttribute(name, value);
    return { source: new XMLSerializer().serializeToString(sheet), width, height };
  };
  const save = (blob, name) => {
    const link = GM.el("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-export]");
    if (!button) return;
    const figure = button.closest("figure"), form = button.dataset.export, name = `${figure.dataset.name}.${form}`;
    if (form === "csv") {
      save(new Blob([JSON.parse(figure.querySelector("script").textContent)], { type: "text/csv" }), name);
      return;
    }
    const { source, width, height } = picture(figure);
    const svg = new Blob([source], { type: "image/svg+xml" });
    if (form === "svg") { save(svg, name); return; }
    const image = new Image();
    image.src = URL.createObjectURL(svg);
    await image.decode();
    const canvas = GM.el("canvas", { width: width * 2, height: height * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, width * 2, height * 2);
    URL.revokeObjectURL(image.src);
    canvas.toBlob((blob) => save(blob, name), "image/png");
  });
  document.body.dataset.ready = "yes";
})();
