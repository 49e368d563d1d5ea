"""Measure the pages in a browser (needs Chromium, its driver and selenium).

Opens long episodes in a headless Chromium with software rendering, a fresh page each time, and
writes ``measured.json``. ``busy`` is the wall time of a second of computing at that time; it is 1
on an idle machine.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from statistics import median

from keep import write_measured

from gym_memory.viewer.recordings import find, write_replay
from tests.chromium import Browser, busy, open_window, serving
from tests.long_episode import write_long_episode

SLIDES = 20


def slides(browser: Browser, steps: int) -> list[float]:
    return sorted(browser.sliding_ms(n * 7919 % steps) for n in range(1, SLIDES + 1))


def summary(times: list[float]) -> dict[str, float]:
    return {"best": round(min(times)), "median": round(median(times)), "worst": round(max(times))}


def main() -> None:
    found: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder, open_window() as browser:
        at = Path(folder)
        before = busy()
        file = at / "long.jsonl.gz"
        write_long_episode(file, steps=5000, facts=5000)
        opened = []
        for _ in range(3):  # each time a server that has not seen the episode yet
            with serving("view", str(file), cwd=at) as address:
                opened.append(browser.opening_ms(f"{address}/replay?a={find([file])[0].key}"))
                if len(opened) == 3:
                    found["5,000 steps, 5,000 facts: slider, ms"] = summary(slides(browser, 5000))
        found["5,000 steps, 5,000 facts: opens, ms"] = summary(opened)
        file, page = at / "half.jsonl.gz", at / "replay.html"
        write_long_episode(file, steps=500, facts=500)
        write_replay(find([file]), page)
        found["one file of 500 steps: bytes"] = page.stat().st_size
        opened = [browser.opening_ms(page.as_uri()) for _ in range(5)]
        found["one file of 500 steps: opens, ms"] = summary(opened)
        found["one file of 500 steps: slider, ms"] = summary(slides(browser, 500))
        file = at / "names.jsonl.gz"
        write_long_episode(file, steps=30, facts=2000)
        write_replay(find([file]), page)
        browser.open(page.as_uri())
        found["2,000 names, the nearest drawn: slider, ms"] = summary(slides(browser, 30))
        browser.click(".tools button[aria-pressed]")
        found["2,000 names, all drawn: slider, ms"] = summary(slides(browser, 30))
        found["busy"] = [round(before, 2), round(busy(), 2)]
        assert browser.errors() == []
    write_measured("viewer_speed", found)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
