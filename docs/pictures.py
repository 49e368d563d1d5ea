"""Make the pictures of the pages: ``python docs/pictures.py`` (Chromium, its driver, selenium).

Plays a small comparison into a temporary folder, opens it with ``gym-memory view`` in a headless
Chromium, plays the beginning of a game there, and writes ``docs/pictures/*.png`` and
``replay.gif``.
"""

from __future__ import annotations

import dataclasses
import io
import tempfile
import time
from pathlib import Path

from PIL import Image

from gym_memory.run.compare import compare
from gym_memory.run.jobs import RunConfig
from gym_memory.testing.browser import Browser, open_window, serving
from gym_memory.viewer.recordings import choose, find
from gym_memory.wrappers.make import make_env

OUT = Path(__file__).parent / "pictures"
CONFIG = RunConfig(
    envs=("TreasureHunt?level=hard", "Cooking?level=hard"),
    memories=("none", "history", "shuffled", "arigraph", "oracle"),
    policies=("planner",),
    seeds=tuple(range(8)),
)


def save(browser: Browser, name: str) -> None:
    time.sleep(2)
    path = OUT / f"{name}.png"
    picture = Image.open(io.BytesIO(browser.driver.get_screenshot_as_png())).convert("RGB")
    picture.quantize(128).save(path, optimize=True)  # a third of the size
    print(path.name, path.stat().st_size)


def shoot_runs(runs: Path) -> None:
    found = find([runs])
    hunt = choose(found, "TreasureHunt arigraph seed 3").key
    other = choose(found, "TreasureHunt history seed 3").key
    cook = choose(found, "Cooking arigraph seed 1").key
    with serving("view", str(runs), cwd=runs.parent) as site:
        with open_window(1360, 860) as browser:
            browser.open(f"{site}/replay?a={hunt}#26")
            save(browser, "replay")
            browser.dark()
            browser.open(f"{site}/replay?a={cook}#20")
            save(browser, "replay-dark")
        with open_window(1280, 800) as browser:
            browser.open(f"{site}/compare")
            save(browser, "compare")
        with open_window(1360, 1200) as browser:
            browser.open(f"{site}/replay?a={hunt}&b={other}")
            browser.click("#differ")
            save(browser, "two-runs")


def animate(runs: Path) -> None:
    """Write ``replay.gif``: one episode of a hunt, a frame every four steps."""
    key = choose(find([runs]), "TreasureHunt arigraph seed 3").key
    frames = []
    with serving("view", str(runs), cwd=runs.parent) as site, open_window(1360, 860) as browser:
        for step in range(0, 49, 4):
            browser.driver.get("about:blank")  # a new fragment alone loads no page
            browser.open(f"{site}/replay?a={key}#{step}")
            time.sleep(1.5)
            picture = Image.open(io.BytesIO(browser.driver.get_screenshot_as_png()))
            frames.append(picture.convert("RGB").resize((952, 602)).quantize(48))
    path = OUT / "replay.gif"
    frames[0].save(
        path, save_all=True, append_images=frames[1:], duration=900, loop=0, optimize=True
    )
    print(path.name, path.stat().st_size)


def shoot_play(folder: Path) -> None:
    env = make_env("TreasureHunt", level="easy")
    env.reset(seed=0)
    actions = env.get_wrapper_attr("oracle")().walkthrough[:14]
    env.close()
    words = ("play", "--web", "-e", "TreasureHunt?level=easy")
    with serving(*words, cwd=folder) as address, open_window(1360, 860) as browser:
        browser.open(address)
        browser.click("#setup button")
        for step, action in enumerate(actions):
            browser.wait(f"return document.body.dataset.step === '{step}'")
            browser.click(f'[data-action="{action}"]')
        save(browser, "play")


def main() -> None:
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        compare(CONFIG, Path(folder) / "runs", workers=2)
        shoot_runs(Path(folder) / "runs")
        shoot_play(Path(folder))
        hunt = dataclasses.replace(
            CONFIG, envs=("TreasureHunt?level=hard",), memories=("arigraph",), seeds=(3,)
        )
        compare(hunt, Path(folder) / "hunt", workers=1)
        animate(Path(folder) / "hunt")


if __name__ == "__main__":
    main()
