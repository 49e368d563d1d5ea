"""Make the pictures of the pages: ``python docs/pictures.py`` (Chromium, its driver, selenium).

Plays two small comparisons into a temporary folder, opens each page in a headless Chromium, light
and dark, at 1280 and 360 pixels, and writes ``docs/pictures/*.png`` and ``replay.gif``.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig
from gym_memory.viewer.recordings import choose, find
from gym_memory.wrappers.make import make_env

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from chromium import Browser, open_window, serving

OUT = Path(__file__).parent / "pictures"
RUNS = {
    "memories": RunConfig(
        envs=("TreasureHunt?level=hard", "Cooking?level=hard"),
        memories=("none", "history", "shuffled", "arigraph", "oracle"),
        policies=("planner",),
        seeds=tuple(range(8)),
    ),
    "rooms36": RunConfig(
        ("TreasureHunt?level=hardest",), ("none", "history", "arigraph"), ("planner",), (0, 1, 2)
    ),
}
SIZES = {"": (1280, 860), "-phone": (360, 740)}
HUNT = "TreasureHunt level=hard arigraph seed 3"


def picture(browser: Browser) -> Image.Image:
    time.sleep(1.5)  # the map is drawn
    return Image.open(io.BytesIO(browser.driver.get_screenshot_as_png())).convert("RGB")


def save(browser: Browser, name: str) -> None:
    path = OUT / f"{name}.png"
    shown = picture(browser)
    colours = Image.new("P", (1, 1))  # the most frequent ones as they are: a third of the size
    frequent = sorted(shown.getcolors(shown.width * shown.height), reverse=True)[:256]
    colours.putpalette([part for _, colour in frequent for part in colour])
    shown.quantize(palette=colours, dither=Image.Dither.NONE).save(path, optimize=True)
    print(path.name, path.stat().st_size)


def shoot(browser: Browser, name: str) -> None:
    """Write pictures of an open page in all sizes and both themes."""
    for size, (width, height) in SIZES.items():
        with browser.sized(width, height):
            assert browser.run("return document.documentElement.scrollWidth") <= width
            for theme, dark in (("", False), ("-dark", True)):
                browser.dark(dark)
                save(browser, f"{name}{theme}{size}")
    browser.dark(False)


def shoot_runs(runs: Path) -> None:
    found = find([runs])
    rooms = choose(found, "level=hardest arigraph seed 0").key
    hunt, other = choose(found, HUNT).key, choose(found, HUNT.replace("arigraph", "history")).key
    with serving("view", runs.name, cwd=runs.parent) as site, open_window(1280, 860) as browser:
        for name, path in (("runs", ""), ("replay", f"/replay?a={rooms}#100")):
            browser.open(site + path)
            shoot(browser, name)
        browser.open(f"{site}/compare")
        shoot(browser, "compare")
        with browser.sized(1360, 1200):
            browser.open(f"{site}/replay?a={hunt}&b={other}")
            browser.click("#differ")
            save(browser, "two-runs")
        animate(browser, f"{site}/replay?a={hunt}")


def animate(browser: Browser, page: str) -> None:
    """Write ``replay.gif``: one episode of a hunt, a frame every four steps."""
    frames = []
    with browser.sized(1360, 860):
        for step in range(0, 49, 4):
            browser.driver.get("about:blank")  # a new fragment alone loads no page
            browser.open(f"{page}#{step}")
            frames.append(picture(browser).resize((952, 602)).quantize(48))
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
    with serving(*words, cwd=folder) as address, open_window(1280, 860) as browser:
        browser.open(address)
        browser.click("#setup button")
        for step, action in enumerate(actions):
            browser.wait(f"return document.body.dataset.step === '{step}'")
            browser.click(f'[data-action="{action}"]')
        browser.wait(f"return document.body.dataset.step === '{len(actions)}'")
        browser.run("scrollTo(0, 0)")
        shoot(browser, "play")


def main() -> None:
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        for name, config in RUNS.items():
            compare(config, at / "runs" / name, workers=1)
        shoot_runs(at / "runs")
        shoot_play(at)


if __name__ == "__main__":
    main()
