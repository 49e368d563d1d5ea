"""The pages in a real browser: play, replay, compare, export; keyboard, themes, accessibility."""

from __future__ import annotations

import csv
import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser, serving

from gym_memory.core.names import specs
from gym_memory.core.trajectory import read_trajectory
from gym_memory.draw.page import inline_page
from gym_memory.evaluate.rank.card import cards
from gym_memory.evaluate.rank.page import page as rank_page
from gym_memory.evaluate.rank.result import load_reference
from gym_memory.evaluate.rank.suite import SuiteCell, load_suite
from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, Job, RunConfig
from gym_memory.run.play import play_job
from gym_memory.run.results import ResultsFolder
from gym_memory.run.results.report import build_report, read_source
from gym_memory.viewer.recordings import Recording, choose, find, load, write_replay
from gym_memory.viewer.server import RUNS, runs_body
from gym_memory.wrappers.make import make_env

pytestmark = pytest.mark.slow

LEVEL = "TreasureHunt?level=easy"
READY = "return document.body.dataset"


def key_of(runs: Path, words: str) -> str:
    return choose(find([runs]), words).key


@pytest.fixture(scope="module")
def walkthrough() -> list[str]:
    env = make_env("TreasureHunt", level="easy")
    env.reset(seed=0)
    actions = list(env.get_wrapper_attr("oracle")().walkthrough)
    env.close()
    return actions


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Yield a server to play at, and the folder that games go to."""
    pytest.importorskip("textworld", reason="pip install 'gym-memory[textworld]'")
    cwd = tmp_path_factory.mktemp("play")
    with serving("play", "--web", "-e", LEVEL, "-m", "arigraph", cwd=cwd) as address:
        yield address, cwd / "results" / "human"


def begin(browser: Browser, address: str) -> None:
    browser.open(address)  # the page starts the game that the command named
    browser.wait(f"{READY}.turn === 'mine'", seconds=240)


def wait_for_turn(browser: Browser, step: int) -> None:
    browser.wait(
        "const d = document.body.dataset; return d.step === arguments[0] && d.turn === 'mine'",
        str(step),
    )


def test_play_to_the_end_by_clicking(
    browser: Browser, table: tuple[str, Path], walkthrough: list[str]
) -> None:
    address, folder = table
    begin(browser, address)
    for step, action in enumerate(walkthrough):
        wait_for_turn(browser, step)
        browser.click(f'[data-action="{action}"]')
    browser.wait(f"{READY}.turn === 'stored'")
    assert "You won!" in browser.text(".banner")

    # It stands in the tables as any agent's, and can be reported with theirs.
    (run,) = folder.iterdir()
    (row,) = read_source(run).rows
    assert (row.job.policy, row.result.success, row.result.steps) == (
        "human",
        True,
        len(walkthrough),
    )
    (episode,) = read_trajectory(next((run / "steps").iterdir()))
    assert [step.action for step in episode.steps[1:]] == walkthrough
    assert [r.policy for r in build_report([run], run.parent / "report")] == ["human"]

    # And it is replayed where the page says so.
    browser.click(".banner a")
    browser.wait(f"{READY}.ready === 'yes'")
    browser.press("\ue010")  # End
    browser.wait("return document.querySelector('.badge.came')?.textContent === 'won'")


def test_play_to_the_end_by_keyboard(
    browser: Browser, table: tuple[str, Path], walkthrough: list[str]
) -> None:
    address, folder = table
    games = len(list(folder.glob("*/config.json"))) if folder.is_dir() else 0
    begin(browser, address)
    browser.run("document.activeElement.blur()")
    for _ in range(30):  # from the top of the page to the button, by Tab alone
        browser.press("\ue004")
        if browser.run("return document.activeElement.matches('#setup button')"):
            break
    browser.press("\ue007")  # Enter
    browser.wait(f"{READY}.turn !== 'mine'")
    browser.wait(f"{READY}.turn === 'mine'", seconds=240)
    for step, action in enumerate(walkthrough):
        wait_for_turn(browser, step)
        browser.wait("return document.activeElement.id === 'say'")
        if step % 2:
            browser.press(action, "\ue007")
        else:  # filter, go down to the button, press it
            browser.press(action, "\ue015")
            assert browser.run("return document.activeElement.dataset.action") == action
            browser.press("\ue007")  # the input has the focus again when the answer is there
    browser.wait(f"{READY}.turn === 'stored'")
    assert "You won!" in browser.text(".banner")
    # The same game again has a folder of its own, beside the one that was left.
    assert len(list(folder.glob("*/config.json"))) == games + 2


def test_error_is_marked_and_another_game_begins(browser: Browser, table: tuple[str, Path]) -> None:
    browser.open(table[0])
    options = (
        "return [...document.querySelectorAll(`[name=${arguments[0]}] option`)].map((o) => o.value)"
    )
    assert {"Cooking?level=hard", LEVEL, "NetHack"} <= set(browser.run(options, "env"))
    assert {"none", "arigraph"} <= set(browser.run(options, "memory"))
    assert browser.run("return document.querySelector('[name=env]').value") == LEVEL
    browser.find("[name=task_id]").send_keys("nowhere")
    browser.click("#setup button")
    browser.wait(f"{READY}.turn === 'error'")
    assert "nowhere" in browser.text(".banner.error")
    assert "Making the game" not in browser.text("#play")
    begin(browser, table[0])
    assert browser.text(".banner") == ""
    browser.press("dance with the locker", "\ue007")
    wait_for_turn(browser, 1)
    assert "refused" in browser.text(".story")


# ---------------------------------------------------------------- replay


def test_replay_follows_the_slider(browser: Browser, site: str, runs: Path) -> None:
    key = key_of(runs, "arigraph seed 0")
    _, story = load(choose(find([runs]), "arigraph seed 0"))
    browser.open(f"{site}/replay?a={key}")
    for step in (0, 3, len(story.beats) - 1):
        browser.run(
            "const s = document.getElementById('slider'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('input'))",
            step,
        )
        beat = story.beats[step]
        browser.wait(
            "return document.querySelector('.story pre')?.textContent === arguments[0]",
            beat.heavy["text"],
        )
        shown = browser.run("return [...document.querySelectorAll('.knows ol.facts li')].length")
        assert shown == len(beat.heavy["recalled"])
        browser.click("#A-changes")
        came = browser.run("return document.querySelectorAll('.facts.came li').length")
        went = browser.run("return document.querySelectorAll('.facts.went li').length")
        assert (came, went) == (len(beat.came), len(beat.went))
        browser.click("#A-recalled")


def test_replay_by_keyboard(browser: Browser, site: str, runs: Path) -> None:
    browser.open(f"{site}/replay?a={key_of(runs, 'arigraph seed 0')}")

    def at() -> int:
        return int(browser.text(".at").split("/")[0])

    last = int(browser.text(".at").split("/")[1])
    browser.press("\ue014", "\ue014")  # right
    assert at() == 2
    browser.press("\ue012")  # left
    assert at() == 1
    browser.press("\ue010")
    assert at() == last
    browser.press("\ue011")
    assert at() == 0
    browser.press(" ")
    browser.wait("return !document.querySelector('.at').textContent.startsWith('0')")
    browser.press(" ")


def test_map_follows_the_compass(browser: Browser, site: str, runs: Path) -> None:
    browser.open(f"{site}/replay?a={key_of(runs, 'arigraph seed 0')}")
    browser.press("\ue010")
    ways = browser.run(
        """
        const cy = document.querySelector('.canvas')._cyreg.cy;
        return cy.nodes('.place').map((n) => [n.data('name'), n.position('x'), n.position('y')]);
        """
    )
    places = {name: (x, y) for name, x, y in ways}
    _, story = load(choose(find([runs]), "arigraph seed 0"))
    checked = 0
    for fact in story.facts:
        if fact["kind"] == "way" and fact["s"] in places and fact["o"] in places:
            (x, y), (from_x, from_y) = places[fact["s"]], places[fact["o"]]
            right = {
                "east": x > from_x,
                "west": x < from_x,
                "north": y < from_y,
                "south": y > from_y,
            }
            assert right[fact["d"]], fact
            checked += 1
    assert checked >= 6
    inside = browser.run(
        """
        const cy = document.querySelector('.canvas')._cyreg.cy;
        const box = (n) => n.boundingBox({ includeLabels: false });
        const i = box(cy.getElementById('n:inventory')), t = box(cy.getElementById('n:treasure'));
        return t.x1 >= i.x1 && t.x2 <= i.x2 && t.y1 >= i.y1 && t.y2 <= i.y2;
        """
    )
    assert inside


def test_compare_two_runs(browser: Browser, site: str, runs: Path) -> None:
    browser.open(site)
    everything = browser.text("#count").split()[-1]  # games begun at this server are among them
    browser.find("#filter").send_keys("planner")
    assert browser.text("#count") == f"4 of {everything}"
    browser.find("#filter").send_keys(" seed 0")
    assert browser.text("#count") == f"2 of {everything}"
    for words in ("none seed 0", "arigraph seed 0"):
        browser.click(f'#runs input[value="{key_of(runs, words)}"]')
    browser.click("#beside")
    browser.wait(f"{READY}.ready === 'yes' && document.querySelectorAll('.pane').length === 2")
    browser.press("d")
    browser.wait("return document.querySelector('.controls [role=status]').textContent")
    stories = [load(choose(find([runs]), words))[1] for words in ("none seed 0", "arigraph seed 0")]
    seen = [[(b.light["action"], b.heavy["text"]) for b in story.beats] for story in stories]
    parted = next(n for n, (a, b) in enumerate(zip(*seen, strict=False)) if a != b)
    assert browser.text(".controls [role=status]") == f"They part at step {parted}."
    assert int(browser.text(".at").split("/")[0]) == parted


# ---------------------------------------------------------------- run list

CELLS = (
    "return [...document.querySelectorAll('#runs tbody tr:not(.group)')]"
    ".map((r) => r.cells[arguments[0]].textContent)"
)


def test_the_run_list_sorts_groups_and_turns_pages(browser: Browser, tmp_path: Path) -> None:
    rows = []
    for run, count in (("first", 70), ("second", 40)):
        for seed in range(count):
            result = EpisodeResult(
                score=float(seed), normalized=(seed * 37 % 100) / 100, steps=seed
            )
            job = Job("Cooking", ("none", "arigraph")[seed % 2], "planner", seed)
            file = tmp_path / run / "steps" / "a.jsonl.gz"
            rows.append(Recording(f"{run}-{seed}", file, 0, job, EpisodeRow(job, 0, result)))
    page = tmp_path / "runs.html"
    page.write_text(inline_page("runs", runs_body(rows), RUNS))
    browser.open(page.as_uri())
    assert browser.text("#count") == "110 of 110"
    assert len(browser.run(CELLS, 0)) == 50
    assert "first – 70 episodes" in browser.text("#runs .group")
    browser.click(".pages button:last-child")
    assert browser.run("return document.querySelectorAll('#runs .group').length") == 2
    browser.click('[data-sort="score"]')
    scores = browser.run(CELLS, 6)
    assert scores == sorted(scores)  # of one run: the page holds the first 50 of 70
    browser.click('#runs input[type="checkbox"]')  # no longer grouped
    browser.click('[data-sort="score"]')
    scores = browser.run(CELLS, 6)
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == "0.990"
    assert browser.run("return document.querySelector('[aria-sort]').ariaSort") == "descending"
    # The address keeps the view.
    browser.driver.refresh()
    browser.wait(f"{READY}.ready === 'yes'")
    assert browser.run(CELLS, 6) == scores
    browser.run("const s = document.querySelector('#runs select'); s.value = arguments[0];"
                "s.dispatchEvent(new Event('change'))", str(tmp_path / "second"))  # fmt: skip
    assert browser.text("#count") == "40 of 110"


# ---------------------------------------------------------------- compare


def test_comparison_filters_and_exports(browser: Browser, site: str, runs: Path) -> None:
    browser.open(f"{site}/compare")
    check_comparison(browser)


def test_report_html_is_the_same_from_a_disk(browser: Browser, runs: Path) -> None:
    browser.open((runs / "report.html").as_uri())
    check_comparison(browser)


def check_comparison(browser: Browser) -> None:
    shown = (
        "return [...document.querySelectorAll('svg.plot [data-memory=\"none\"]')]"
        ".filter((n) => n.getClientRects().length).length"
    )
    assert browser.run(shown) > 0
    browser.click('[data-filter="memory"][value="none"]')
    assert browser.run(shown) == 0
    rows = browser.run(
        "return [...document.querySelectorAll('tbody tr')].filter((r) => !r.hidden)"
        ".map((r) => r.textContent)"
    )
    assert rows
    assert not any("none" in row for row in rows)
    for form in ("svg", "png", "csv"):
        for old in browser.downloads.iterdir():
            old.unlink()
        browser.click(f'figure[data-name^="score"] [data-export="{form}"]')
        data = downloaded(browser, form)
        if form == "svg":
            assert data.startswith(b"<svg")
            assert b"arigraph" in data
            assert b'data-memory="none"' not in data
        elif form == "png":
            assert data.startswith(b"\x89PNG")
            assert len(data) > 5000
        else:
            header, *lines = csv.reader(data.decode().splitlines())
            assert header[:3] == ["environment", "memory", "policy"]
            assert {line[1] for line in lines} == {"none", "arigraph"}


def downloaded(browser: Browser, form: str) -> bytes:
    end = time.monotonic() + 600
    while time.monotonic() < end:
        files = [p for p in browser.downloads.iterdir() if p.suffix == f".{form}"]
        if files and files[0].stat().st_size:
            return files[0].read_bytes()
        time.sleep(0.05)
    raise AssertionError(f"no {form} came")


# ---------------------------------------------------------------- one file


def test_single_file_works_offline(browser: Browser, runs: Path, tmp_path: Path) -> None:
    page = tmp_path / "replay.html"
    recordings = find([runs])
    write_replay([choose(recordings, "none seed 1"), choose(recordings, "arigraph seed 1")], page)
    text = page.read_text()
    assert "default-src 'none'" in text
    browser.open(page.as_uri())
    assert browser.run("return document.querySelectorAll('.pane').length") == 2
    browser.press("\ue010")
    browser.wait("return document.querySelector('.side:last-child .badge.came')")
    assert browser.run("return performance.getEntriesByType('resource').length") == 0


# ---------------------------------------------------------------- for everyone


PAGES = ("", "/compare", "/replay?a={a}&b={b}", "/replay?a={b}", "/play")
"""Pages of a viewer, and the one of a server that starts games."""
VIOLATIONS = """
const done = arguments[arguments.length - 1];
const told = (n) => n.html.slice(0, 160) + ' | ' + n.any.map((c) => c.message).join('; ');
axe.run(document, { resultTypes: ['violations'] }).then((found) =>
  done(found.violations.map((v) => [v.id, v.impact, v.nodes.map(told)])));
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_contrast_and_labels(
    browser: Browser,
    site: str,
    table: tuple[str, Path],
    runs: Path,
    axe: str,
    path: str,
    dark: bool,
) -> None:
    browser.dark(dark)
    a, b = key_of(runs, "none seed 0"), key_of(runs, "arigraph seed 0")
    browser.open(table[0] if path == "/play" else site + path.format(a=a, b=b))
    if path == "/play":
        browser.click("#setup button")
        browser.wait(f"{READY}.turn === 'mine'", seconds=240)
    if "replay" in path:
        browser.press("\ue014", "\ue014", "\ue014")
        browser.wait("return document.querySelector('.story pre')")
    assert violations(browser, axe) == []
    with browser.sized(360, 740):
        wide = "return [document.documentElement.scrollWidth, innerWidth]"
        assert browser.run(wide) == [360, 360]
        assert violations(browser, axe) == []


def test_ranking_on_a_phone_keeps_names_in_sight(
    browser: Browser, tmp_path: Path, axe: str
) -> None:
    shipped = load_reference("smoke")["memories"]
    cells = {name: [SuiteCell.from_json(c) for c in found] for name, found in shipped.items()}
    suite = load_suite("smoke")
    file = tmp_path / "rank.html"
    file.write_text(rank_page(suite, cards(suite, cells), ["history"]))
    with browser.sized(360, 740):
        browser.open(file.as_uri(), ready=False)
        assert browser.run("return document.documentElement.scrollWidth") == 360
        moved, *names = browser.run(
            "const table = document.querySelector('.scroll'); table.scrollLeft = 400;"
            "const left = (e) => e.getBoundingClientRect().left;"
            "const cells = [...table.querySelectorAll('td:first-child')];"
            "return [table.scrollLeft, ...cells.map((e) => left(e) - left(table))]"
        )
        assert violations(browser, axe) == []
    assert moved == 400
    assert set(names) == {0}


def violations(browser: Browser, axe: str) -> list[Any]:
    browser.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})
    found: list[Any] = browser.driver.execute_async_script(VIOLATIONS)
    return found


def test_axe_detects_faults(browser: Browser, site: str, axe: str) -> None:
    """The check above can fail."""
    browser.open(site)
    browser.run("document.getElementById('filter').removeAttribute('aria-label');"
                "document.getElementById('filter').removeAttribute('placeholder')")  # fmt: skip
    assert [v[0] for v in violations(browser, axe)] == ["label"]


def test_theme_is_chosen_and_kept(browser: Browser, site: str) -> None:
    browser.open(site)
    colour = "return getComputedStyle(document.body).backgroundColor"
    light = browser.run(colour)
    browser.click("#theme")
    browser.click("#theme")
    assert browser.text("#theme") == "Theme: dark"
    dark = browser.run(colour)
    assert light != dark
    browser.open(f"{site}/compare")
    assert browser.run(colour) == dark
    browser.click("#theme")
    assert browser.run(colour) == light


def test_notebook_views_are_shown(browser: Browser, runs: Path, tmp_path: Path) -> None:
    from gym_memory.run.results.archive import open_memory
    from gym_memory.run.results.score import table, units

    file = choose(find([runs]), "arigraph seed 0").file
    rows = table(units(read_source(runs).rows))
    shown = [
        open_memory(file).memory._repr_html_(),
        next(read_trajectory(file))._repr_html_(),
        rows._repr_html_(),
    ]
    page = tmp_path / "notebook.html"
    page.write_text("<!doctype html><meta charset=utf-8>" + "".join(shown))
    browser.open(page.as_uri(), ready=False)
    text = browser.text("body")
    for part in ("arigraph", "treasure_hunt/easy", "TreasureHunt?level=easy", "golden locker"):
        assert part in text
    assert json.dumps(text)


def test_running_run_is_shown_live(browser: Browser, tmp_path: Path) -> None:
    """Rows and figures come in without a reload; the links lead through the episodes."""
    config = RunConfig(
        specs(["Fetch?level=hard&max_steps=90"]),
        specs(["none", "arigraph"]),
        specs(["planner"]),
        (0, 1),
    )
    folder = tmp_path / "live"
    with ResultsFolder(folder, config) as results:
        jobs = results.todo()

        def play(job: Job) -> None:
            results.append([*play_job(job, record=str(folder / "steps" / job.steps_file))])

        (folder / "steps").mkdir()
        play(jobs[0])
        with serving("view", str(folder), cwd=tmp_path) as address:
            browser.open(address)
            browser.wait("return document.querySelectorAll('#runs tbody tr').length === 1")
            browser.run("window.stays = true")
            for job in jobs[1:]:
                play(job)
            browser.wait("return document.querySelectorAll('#runs tbody tr').length === 4")
            assert browser.run("return window.stays")
            assert "4 episodes" in browser.text(".find")

            browser.open(f"{address}/compare")
            browser.wait(f"{READY}.ready === 'yes'")
            assert "Games that cost most" in browser.text("main")
            browser.click("main a")
            browser.wait(f"{READY}.ready === 'yes'")
            browser.wait(
                "return document.querySelector('[role=status]').textContent.includes('part')"
            )

            browser.open(f"{address}/replay?a={key_of(folder, 'none seed 0')}")
            browser.wait(f"{READY}.ready === 'yes'")
            assert not browser.run("return document.getElementById('before')")
            browser.press("n")
            browser.wait("return document.getElementById('before')")
            browser.driver.get("about:blank")  # a page that follows a run calls its server


def test_step_that_the_model_did_not_decide_is_marked(
    browser: Browser, runs: Path, tmp_path: Path
) -> None:
    file = next((runs / "steps").glob("*.jsonl.gz"))
    rows = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    rows[3]["substitute"] = {"reason": "no action in it", "answer": "I would rather sing"}
    copy = tmp_path / "steps.jsonl.gz"
    copy.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode() + b"\n"))
    write_replay(find([copy])[:1], tmp_path / "replay.html")
    browser.open((tmp_path / "replay.html").as_uri())
    browser.wait(f"{READY}.ready === 'yes'")
    browser.press("f")
    browser.wait("return document.querySelector('.badge.aside')")
    assert browser.text("output").startswith("3 ")
    assert "no action in it" in browser.text(".story")
    assert "rather sing" in browser.text(".story")


def test_tags_of_an_episode_are_kept_shown_and_found(
    browser: Browser, site: str, runs: Path
) -> None:
    browser.open(f"{site}/replay?a={key_of(runs, 'arigraph seed 1')}")
    browser.run("const box = document.querySelector('input.tags'); box.value = 'lost the key';"
                "box.dispatchEvent(new Event('change'))")  # fmt: skip
    browser.open(f"{site}/#find=lost+key")
    assert browser.text("#count").startswith("1 of ")
    assert "lost the key" in browser.text("#runs tbody")
    browser.open(f"{site}/replay?a={key_of(runs, 'arigraph seed 1')}")
    assert browser.run("return document.querySelector('input.tags').value") == "lost the key"
    browser.run("localStorage.clear()")
