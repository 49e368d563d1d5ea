"""Long episodes open, and a page draws no more of them than one can look at.

``benchmarks/viewer_speed.py`` times the same in milliseconds.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from chromium import Browser, serving
from long_episode import write_long_episode

from gym_memory.viewer.recordings import find, write_replay

pytestmark = pytest.mark.slow

DRAWN = "return document.querySelector('.canvas')._cyreg.cy.nodes('[name]').length"


def elements(browser: Browser) -> int:
    """Count the elements of a page."""
    return int(browser.run("return document.querySelectorAll('*').length"))


def test_5000_steps_and_5000_facts(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl.gz"
    write_long_episode(file, steps=5000, facts=5000)
    with serving("view", str(file), cwd=tmp_path) as address:
        browser.opening_ms(f"{address}/replay?a={find([file])[0].key}")
        for step in (4999, 10, 2500, 2501, 4000, 77, 3333, 5000):
            browser.sliding_ms(step)
            assert elements(browser) < 1000
        assert "5001 facts hold" in browser.text(".map")


def test_one_file_of_500_steps(browser: Browser, tmp_path: Path) -> None:
    file, page = tmp_path / "long.jsonl.gz", tmp_path / "replay.html"
    write_long_episode(file, steps=500, facts=500)
    write_replay(find([file])[:1], page)
    assert page.stat().st_size < 5e6
    browser.opening_ms(page.as_uri())
    for step in (499, 3, 250):
        browser.sliding_ms(step)
        assert elements(browser) < 1000


@pytest.mark.parametrize("whole", [False, True])
def test_graph_of_2000_names_opens(browser: Browser, tmp_path: Path, whole: bool) -> None:
    file, page = tmp_path / "long.jsonl.gz", tmp_path / "replay.html"
    write_long_episode(file, steps=30, facts=2000)
    write_replay(find([file])[:1], page)
    browser.open(page.as_uri())
    browser.press("\ue010")
    browser.wait("return document.querySelector('.story pre')?.textContent.startsWith('step 30:')")
    assert browser.run(DRAWN) <= 100
    if whole:
        browser.click(".tools button[aria-pressed]")
        browser.wait(f"{DRAWN} >= 1900")
    for step in (29, 28, 30):
        browser.sliding_ms(step)
        assert elements(browser) < 1000
        assert whole or browser.run(DRAWN) <= 100
