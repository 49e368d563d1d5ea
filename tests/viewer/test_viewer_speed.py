"""How fast long episodes open and how fast the slider answers, in a real browser.

On a busy machine everything waits for its turn: a limit grows by how long a plain computation
waits there. ``benchmarks/viewer_speed.py`` measures the same way.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median

import pytest
from chromium import Browser, busy, serving
from long_episode import write_long_episode

from gym_memory.viewer.recordings import find, write_replay

pytestmark = pytest.mark.slow


def test_5000_steps_and_5000_facts(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl.gz"
    write_long_episode(file, steps=5000, facts=5000)
    with serving("view", str(file), cwd=tmp_path) as address:
        assert browser.opening_ms(f"{address}/replay?a={find([file])[0].key}") < 3000 * busy()
        times = [browser.sliding_ms(step) for step in (4999, 10, 2500, 2501, 4000, 77, 3333)]
        assert median(times) < 300 * busy()
        browser.sliding_ms(5000)
        assert "5001 facts hold" in browser.text(".map")


def test_one_file_of_500_steps(browser: Browser, tmp_path: Path) -> None:
    file, page = tmp_path / "long.jsonl.gz", tmp_path / "replay.html"
    write_long_episode(file, steps=500, facts=500)
    write_replay(find([file])[:1], page)
    assert page.stat().st_size < 5e6
    assert min(browser.opening_ms(page.as_uri()) for _ in range(3)) < 1000 * busy()
    assert min(browser.sliding_ms(step) for step in (499, 3, 250)) < 300 * busy()


@pytest.mark.parametrize("whole", [False, True])
def test_2000_names(browser: Browser, tmp_path: Path, whole: bool) -> None:
    file, page = tmp_path / "long.jsonl.gz", tmp_path / "replay.html"
    write_long_episode(file, steps=30, facts=2000)
    write_replay(find([file])[:1], page)
    browser.open(page.as_uri())
    browser.press("\ue010")
    browser.wait("return document.querySelector('.story pre')?.textContent.startsWith('step 30:')")
    drawn = "return document.querySelector('.canvas')._cyreg.cy.nodes('[name]').length"
    assert browser.run(drawn) <= 100
    if whole:
        browser.click(".tools button[aria-pressed]")
        browser.wait(f"{drawn} >= 1900")
    times = [browser.sliding_ms(step) for step in (29, 28, 30)]
    assert min(times) < (1000 if whole else 300) * busy()
