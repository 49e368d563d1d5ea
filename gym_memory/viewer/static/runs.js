"use strict";
// The table of recorded episodes: filter it, choose two to stand side by side.
(() => {
  const table = document.getElementById("runs");
  GM.filterRows(document.getElementById("filter"), [...table.tBodies[0].rows], document.getElementById("count"));
  const beside = document.getElementById("beside");
  const chosen = [];
  table.addEventListener("change", (event) => {
    const box = event.target;
    if (box.checked) chosen.push(box); else chosen.splice(chosen.indexOf(box), 1);
    if (chosen.length > 2) chosen.shift().checked = false;
    beside.disabled = chosen.length !== 2;
  });
  beside.addEventListener("click", () => {
    const [a, b] = chosen.map((box) => encodeURIComponent(box.value));
    location.href = `/replay?a=${a}&b=${b}`;
  });
  document.body.dataset.ready = "yes";
})();
