"""The map of a replay, drawn by Chromium, can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chromium import Browser

from gym_memory.run.config import Job
from gym_memory.run.play import play_job
from gym_memory.viewer.recordings import find, write_replay

pytestmark = pytest.mark.slow

MAP = """
const cy = document.querySelector('.canvas')._cyreg.cy, zoom = cy.zoom();
const size = (n) => n.numericStyle('font-size') * zoom;
const shown = (n) => n.visible() && n.style('label')
  && size(n) >= n.numericStyle('min-zoomed-font-size');
const label = { includeNodes: false, includeEdges: false, includeOverlays: false };
const labels = cy.nodes().filter(shown).map((n) => {
  const { x1, y1, x2, y2 } = n.renderedBoundingBox(label);
  return { id: n.id(), name: n.data('name'), place: n.hasClass('place'), size: size(n),
    box: [x1, y1, x2, y2], seen: x1 >= 0 && y1 >= 0 && x2 <= cy.width() && y2 <= cy.height() };
});
const point = ({ x, y }) => [x * zoom + cy.pan().x, y * zoom + cy.pan().y];
const lines = cy.edges().filter((e) => e.visible() && e.hasClass('way')).map((e) => ({
  ends: [e.source().id(), e.target().id()],
  points: [e.sourceEndpoint(), ...(e.segmentPoints() || []), e.targetEndpoint()].map(point) }));
return { labels, lines, under: cy.edges(':visible').every((e) => e.numericStyle('z-index') < 0) };
"""


@pytest.fixture(scope="module")
def rooms36(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a replay of the largest hunt, as one file."""
    pytest.importorskip("textworld", reason="pip install 'gym-memory[textworld]'")
    folder = tmp_path_factory.mktemp("rooms")
    file = folder / "hunt.jsonl.gz"
    list(play_job(Job("TreasureHunt?level=hardest", "arigraph", "planner", 0), record=str(file)))
    write_replay(find([file]), folder / "replay.html")
    return folder / "replay.html"


def check_map(browser: Browser) -> list[dict[str, Any]]:
    """Check that every label can be read, none covers another and no way crosses one."""
    shown = browser.run(MAP)
    labels: list[dict[str, Any]] = shown["labels"]
    assert shown["under"]  # what crosses a box is drawn below it
    for label in labels:
        assert label["size"] >= 10.99, label
    for n, label in enumerate(labels):
        left, top, right, bottom = label["box"]
        for other in labels[:n]:
            x1, y1, x2, y2 = other["box"]
            assert right <= x1 or x2 <= left or bottom <= y1 or y2 <= top, (label, other)
        for line in shown["lines"]:
            if label["id"] not in line["ends"]:
                for (ax, ay), (bx, by) in zip(line["points"], line["points"][1:], strict=False):
                    for k in range(21):
                        x, y = ax + (bx - ax) * k / 20, ay + (by - ay) * k / 20
                        assert not (left < x < right and top < y < bottom), (label, line)
    return labels


def test_a_map_of_36_rooms_can_be_read(browser: Browser, rooms36: Path) -> None:
    browser.open(rooms36.as_uri())
    browser.press("\ue010")
    browser.wait("return document.querySelector('.story pre')")
    labels = check_map(browser)
    places = [label for label in labels if label["place"]]
    assert len(places) >= 30
    assert all(label["seen"] for label in places)  # as a whole, without zooming
    browser.click('.tools [aria-label^="Zoom in"]')
    check_map(browser)
    for _ in range(3):
        browser.click('.tools [aria-label^="Zoom in"]')
    near = check_map(browser)
    assert "inventory" in {label["name"] for label in near}
    assert len(near) > len(labels)  # now with the things in the rooms
    browser.click('.tools [aria-label^="Fit"]')
    assert [label["id"] for label in check_map(browser)] == [label["id"] for label in labels]
    with browser.sized(360, 740):  # around the agent, where not all fits
        browser.wait("return document.querySelector('.canvas').clientWidth < 360")
        browser.press("\ue012")
        browser.press("\ue010")
        here = "document.querySelector('.canvas')._cyreg.cy.nodes('.here').data('name')"
        assert browser.run(f"return {here}") in {
            label["name"] for label in check_map(browser) if label["seen"]
        }


def test_ways_go_around_other_places(browser: Browser, rooms36: Path) -> None:
    """A way over two squares meets the place between; it is led past it."""
    browser.open(rooms36.as_uri())
    browser.run(
        """
        const facts = ["ba east", "cb east", "ca north", "da south", "dc down", "ed south", "ea up"]
          .map((w) => ({ s: w[0], o: w[1], d: w.slice(3), kind: "way", when: [[0, null]] }));
        const places = { a: [0, 0], b: [1, 0], c: [2, 0], d: [0, 1], e: [0, 2] };
        const drawn = GM.drawing(GM.episode({ facts, places }), 0, {});
        document.querySelector('.canvas').remove();
        const graph = GM.graph(document.querySelector('.sheet'), () => {});
        graph.draw(drawn);
        """
    )
    check_map(browser)
    bent = "document.querySelector('.canvas')._cyreg.cy.edges('.bent').map((e) => e.id())"
    assert set(browser.run(f"return {bent}")) == {"w:a\nc", "w:a\ne", "w:c\nd"}
