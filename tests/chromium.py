"""Drive a headless Chromium for tests of pages, and the server that it shows."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gym_memory.core.optional import require

__all__ = ["GET_CHROMIUM", "SLIDE", "Browser", "busy", "open_window", "serving"]

GET_CHROMIUM = (
    "no Chromium: apt-get install chromium chromium-driver, and pip install selenium "
    "(gym-memory[dev] has it)"
)
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--force-prefers-reduced-motion"),
)
# From the input to the frame after the step's text (of write_long_episode) stands on the page.
SLIDE = """
const [step, done] = arguments, slider = document.getElementById('slider');
const begun = performance.now();
slider.value = step;
slider.dispatchEvent(new Event('input'));
const look = () => {
  const shown = document.querySelector('.story pre');
  if (shown && shown.textContent.startsWith(`step ${step}:`)) {
    requestAnimationFrame(() => done(performance.now() - begun));
  } else setTimeout(look, 2);
};
look();
"""


class Browser:
    """A window of a Selenium driver, which saves to the folder ``downloads``."""

    def __init__(self, driver: Any, downloads: Path):
        self.driver, self.downloads = driver, downloads

    def open(self, address: str, ready: bool = True) -> None:
        """Open a page, and wait until its script has run."""
        self.driver.get(address)
        if ready:
            self.wait("return document.body.dataset.ready === 'yes'")

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, script: str, *arguments: Any, seconds: float = 600) -> Any:
        """Wait until a script returns something true; return it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.run(script, *arguments)
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError(f"{script} was never true; page: {self.text()[:600]}")

    def find(self, selector: str) -> Any:
        """Return the first element of a selector."""
        return self.driver.find_element("css selector", selector)

    def text(self, selector: str = "body") -> str:
        """Return the text of an element."""
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector: str) -> None:
        """Click an element."""
        self.find(selector).click()

    def press(self, *keys: str) -> None:
        """Press keys, each as a person does."""
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def dark(self, on: bool = True) -> None:
        """Prefer dark pages, or light ones."""
        value = "dark" if on else "light"
        features = [{"name": "prefers-color-scheme", "value": value}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    @contextlib.contextmanager
    def sized(self, width: int, height: int) -> Iterator[None]:
        """Show pages at another size, in pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        before = self.run("return [innerWidth, innerHeight]")
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        try:
            yield
        finally:
            size |= dict(zip(("width", "height"), before, strict=True))
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def opening_ms(self, address: str) -> float:
        """Return the milliseconds, on the page's clock, from a request to a replay's first step."""
        self.open("about:blank", ready=False)
        self.open(address, ready=False)
        return float(self.wait("return document.body.dataset.opened"))

    def sliding_ms(self, step: int) -> float:
        """Return the milliseconds from moving the slider to showing the step, see :data:`SLIDE`."""
        return float(self.driver.execute_async_script(SLIDE, step))

    def errors(self) -> list[str]:
        """Return the lines of the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]


@contextlib.contextmanager
def open_window(width: int = 1440, height: int = 900) -> Iterator[Browser]:
    """Open a window of an installed Chromium, with a profile of its own."""
    webdriver = require("selenium.webdriver", "dev", "a browser")
    service = require("selenium.webdriver.chrome.service", "dev", "a browser").Service
    with tempfile.TemporaryDirectory() as profile, tempfile.TemporaryDirectory() as downloads:
        options = webdriver.ChromeOptions()
        for flag in (*_FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
            options.add_argument(flag)
        options.add_experimental_option("prefs", {"download.default_directory": downloads})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=service(shutil.which("chromedriver")))
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.set_script_timeout(600)
        try:
            yield Browser(driver, Path(downloads))
        finally:
            driver.quit()


def busy() -> float:
    """Return the wall seconds of a second of computing at present, >= 1."""
    wall, own = time.perf_counter(), time.process_time()
    while time.process_time() - own < 0.3:
        sum(range(10_000))
    return max((time.perf_counter() - wall) / 0.3, 1.0)


@contextlib.contextmanager
def serving(*words: str, cwd: Path) -> Iterator[str]:
    """Run ``gym-memory WORDS`` as a user does; give its address."""
    log = cwd / "server.log"
    with open(log, "w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "gym_memory", *words, "--no-browser"],
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    try:
        end = time.monotonic() + 600
        while "Pages at " not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        yield log.read_text().split("Pages at ")[1].split(" ")[0].rstrip("/")
    finally:
        process.terminate()
        process.wait(600)
