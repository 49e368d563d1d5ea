"""``gym-memory memory`` and ``gym-memory exam``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gym_memory.cli import main
from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.core.records import Cue, Step, Task
from gym_memory.core.trajectory import read_trajectory
from gym_memory.memory.arigraph import AriGraph
from gym_memory.memory.stores.store import Store
from gym_memory.run.config import Job
from gym_memory.run.play import play_job
from gym_memory.run.results.archive import fact_records, open_memory

PLUGIN_FOLDER = Path(__file__).parents[1] / "run"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(PLUGIN_FOLDER))
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words: str) -> tuple[int, str, str]:
        code = 0
        try:
            main([str(word) for word in words])
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    """Return two recorded trials of random play in the fake house."""
    path = tmp_path / "steps.jsonl.gz"
    job = Job("FakeHouse?max_steps=30", "arigraph", "random", 0, protocol="trials?k=2")
    assert not any(row.result.failed for row in play_job(job, record=str(path)))
    return path


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


# ---------------------------------------------------------------- inspect


@pytest.mark.parametrize(
    "name", ["clin?lifetime=forever&store={}/any/x.db", "clin?k=1", "nothing", ["clin"], None, 3]
)
def test_file_names_only_its_memory(run: Run, tmp_path: Path, name: Any) -> None:
    """Its parameters come from someone else and could make the memory write anywhere."""
    name = name.format(tmp_path) if isinstance(name, str) else name
    (tmp_path / "m.json").write_text(json.dumps({"format": 1, "memory": name, "state": {}}))
    for command in ("inspect", "diff"):
        code, out, err = run("memory", command, "m.json")
        assert (code, out) == (2, "")
        assert "expected a saved memory with the name of one of" in err
    assert [path.name for path in tmp_path.iterdir()] == ["m.json"]


def test_facts_come_with_steps_and_words(run: Run, steps: Path) -> None:
    code, out, _ = run("memory", "inspect", steps, "--all", "--json")
    assert code == 0
    facts = [row for row in rows(out) if row["kind"] == "fact"]
    texts = {step.t: step.text for step in list(read_trajectory(steps))[-1].steps}
    quoted = 0
    for fact in facts:
        assert fact["intervals"] or fact["ended_by"]
        for evidence in fact["evidence"]:
            assert evidence["words"] in texts[evidence["step"]]
            quoted += bool(evidence["words"])
        assert fact["live"] == (not fact["ended_by"])
    assert quoted > 10
    assert any(fact["ended_by"] for fact in facts)


def test_the_table_shows_a_fact_with_its_evidence(run: Run, steps: Path) -> None:
    code, out, _ = run("memory", "inspect", steps, "--entity", "table")
    assert code == 0
    assert "table, is in, kitchen" in out
    assert "«table»" in out
    assert "It recalls" in out
    assert "desk, is in, study" not in out.partition("It recalls")[0]


def test_table_shows_who_states_a_fact(run: Run, tmp_path: Path) -> None:
    memory = AriGraph()
    memory.begin(Task("t", "Cook.", "textworld"), 0)
    memory.observe(Step(0, "-= Kitchen =-\nYou see a note."))
    memory.observe(Step(1, "The red key is in the attic.", "read note"))
    memory.save(tmp_path / "m.json")
    lines = run("memory", "inspect", "m.json")[1].splitlines()
    (key,) = [line for line in lines if "red key, is in" in line]
    assert "said by note" in key
    assert not any("said by" in line for line in lines if "kitchen" in line)


@pytest.mark.parametrize("t", [0, 3, 11])
def test_as_of_shows_facts_and_recall_of_that_step(run: Run, steps: Path, t: int) -> None:
    episode = list(read_trajectory(steps))[-1]
    memory = AriGraph()
    memory.begin(episode.task, None)
    for step in episode.steps[: t + 1]:
        memory.observe(step)
    last = episode.steps[t]
    cue = Cue(last.text, episode.task.goal, last.inventory, last.valid_actions)
    then = memory.recall(cue, 300)
    found = rows(run("memory", "inspect", steps, "--as-of", t, "--budget", "300", "--json")[1])
    facts = [(r["subject"], r["relation"], r["object"]) for r in found if r["kind"] == "fact"]
    assert sorted(facts) == sorted(memory.graph.live())
    assert found[-1]["text"] == then.text
    whole = fact_records(open_memory(steps).memory)
    held = {
        fact.fact
        for fact in whole
        if any(start <= t and (end is None or t < end) for start, end in fact.intervals)
    }
    assert held == set(facts)


def test_a_focus_steers_the_recall(run: Run, steps: Path) -> None:
    asked = run("memory", "inspect", steps, "--focus", "Where were you at step 2?")[1]
    assert "[step 2] you: is in" in asked


def test_any_memory_can_be_taught_the_steps(run: Run, steps: Path) -> None:
    for name in ("history?window=2", "none", "clin", "summary", "stma"):
        code, out, err = run("memory", "inspect", steps, "--memory", name, "--as-of", "5")
        assert code == 0, err
        assert out.startswith(name.partition("?")[0])
    assert run("memory", "inspect", steps, "-m", "oracle")[0] == 2


def test_memories_that_last_see_the_earlier_episodes(run: Run, steps: Path) -> None:
    def observations(*words: str) -> int:
        return open_memory(steps, *words).memory.stats().episodes

    one, two = (len(episode.steps) for episode in read_trajectory(steps))
    assert observations("arigraph") == two
    assert observations("arigraph?lifetime=forever") == one + two
    first = open_memory(steps, "arigraph?lifetime=forever", episode=0)
    assert first.memory.stats().episodes == one


# ---------------------------------------------------------------- save and diff


def test_saved_memory_is_the_same_and_can_go_back(run: Run, steps: Path) -> None:
    assert run("memory", "save", steps, "a.json")[0] == 0
    taught, saved = open_memory(steps), open_memory("a.json")
    assert saved.memory.state() == taught.memory.state()
    assert fact_records(saved.memory) == fact_records(taught.memory)
    early = open_memory("a.json", as_of=4)
    assert set(early.memory.graph.live()) <= {f.fact for f in fact_records(saved.memory)}  # type: ignore[attr-defined]
    assert early.steps[-1].t == 4
    assert run("memory", "inspect", "a.json", "--as-of", "4")[0] == 0


def test_diff_between_two_steps(run: Run, steps: Path) -> None:
    run("memory", "save", steps, "a.json")
    graph = open_memory("a.json").memory.graph  # type: ignore[attr-defined]
    added, removed = graph.diff(2, 9)
    out = run("memory", "diff", "a.json", "--as-of", "2", "--until", "9", "--json")[1]
    found = {(row["change"], row["what"]) for row in rows(out)}
    assert found == {("+", str(f)) for f in added} | {("-", str(f)) for f in removed}
    assert run("memory", "diff", "a.json")[1].strip() == "No difference."


def test_diff_of_memories_without_a_graph(run: Run, steps: Path) -> None:
    code, out, _ = run(*("memory", "diff", steps, "-m", "history", "--as-of", "3", "--until", "4"))
    assert code == 0
    assert out.count("+ ") >= 2


# ---------------------------------------------------------------- stores


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "lessons.db"
    lessons = Store(path)
    lessons.add("clin", "cooking", "lesson", "Opening the fridge may be necessary.", {"n": 2})
    lessons.add("ldm2", "cooking", "tuple", ["a", "b"])
    return path


def test_stores_are_inspected_exported_imported_and_compared(run: Run, store: Path) -> None:
    code, out, _ = run("memory", "inspect", store)
    assert code == 0
    assert "Opening the fridge may be necessary." in out
    assert len(rows(run("memory", "inspect", store, "--json", "--last", "2")[1])) == 2
    assert run("memory", "export", store, "out.jsonl")[0] == 0
    assert run("memory", "import", "out.jsonl", "other.db")[0] == 0
    assert Store("other.db").records() == Store(store).records()
    assert run("memory", "diff", store, "other.db")[1].strip() == "No difference."
    Store("other.db").add("clin", "cooking", "lesson", "New.")
    found = rows(run("memory", "diff", store, "other.db", "--json")[1])
    assert found == [{"change": "+", "what": "clin | cooking | lesson | New."}]


# ---------------------------------------------------------------- mistakes


@pytest.mark.slow
def test_store_on_a_server_is_inspected_like_a_file(run: Run, store, postgres) -> None:
    run("memory", "export", store, "out.jsonl")
    secret = postgres.replace("postgres:@", "postgres:s3cret@")
    code, out, _ = run("memory", "import", "out.jsonl", secret)
    assert code == 0
    assert "s3cret" not in out
    assert run("memory", "diff", store, postgres)[1].strip() == "No difference."
    shown = [run("memory", "inspect", place, "--json")[1] for place in (store, postgres)]
    assert shown[0] == shown[1]


@pytest.mark.slow
def test_mistakes_are_one_line(run: Run, steps: Path, store: Path) -> None:
    Path("junk.json").write_text("{}")
    run("memory", "save", steps, "a.json")
    run("memory", "save", steps, "h.json", "-m", "history")
    for words, said in (
        (("inspect", "absent.json"), "cannot read"),
        (("inspect", "."), "expected one file, got the folder"),
        (("inspect", "junk.json"), "expected a saved memory"),
        (("inspect", "a.json", "-m", "history"), "expected memory 'arigraph'"),
        (("inspect", "a.json", "--episode", "1"), "recorded steps"),
        (("inspect", "h.json", "--as-of", "1"), "use the recorded steps"),
        (("inspect", "h.json", "--entity", "table"), "with a graph"),
        (("inspect", steps, "--episode", "7"), "expected an episode of the file"),
        (("inspect", steps, "-m", "arigrap"), "arigraph"),
        (("export", "a.json", "out.jsonl"), "expected a durable store"),
        (("diff", "a.json", store), "one of each"),
        (("import", "absent.jsonl", "new.db"), "absent.jsonl': [Errno 2]"),
        (("import", "junk.json", "new.db"), "junk.json', line 1"),
    ):
        code, _, err = run("memory", *words)
        assert code == 2, words
        assert said in err, err
        assert err.count("\n") == 1
    assert not Path("new.db").exists()


def test_files_that_are_no_memory_raise_store_errors(tmp_path: Path) -> None:
    for content in ("", "[]", "{", '{"memory": "arigraph"}', '{"memory": "arigraph", "state": 3}'):
        path = tmp_path / "file.json"
        path.write_text(content)
        with pytest.raises(StoreError):
            open_memory(path)
    with pytest.raises(InvalidArgumentError):
        fact_records(open_memory_of_history())


def open_memory_of_history() -> Any:
    from gym_memory.memory.history import History

    return History()


# ---------------------------------------------------------------- exam


@pytest.mark.slow
def test_exam_prints_a_table_and_writes_files(run: Run) -> None:
    words = ("exam", "--import", "run_plugin", "-e", "FakeHouse", "-p", "random", "--seeds", "0:2")
    words += ("-m", "none", "-m", "arigraph", "--budgets", "40,500", "--lengths", "20")
    code, out, _ = run(*words, "--out", "exam")
    assert code == 0
    assert "where" in out
    assert out.count("arigraph") >= 2
    assert sorted(path.name for path in Path("exam").iterdir()) == [
        "exam.json", "exam.md", "exam_age.svg", "exam_budget.svg", "questions.jsonl.gz",
    ]  # fmt: skip
    marks = rows(run(*words, "--json")[1])
    assert marks == json.loads(Path("exam/exam.json").read_text())["marks"]
    shares = {(m["budget"], m["kind"]): m["right"] for m in marks if m["memory"] == "arigraph"}
    assert shares[40, "all"] < shares[500, "all"]
    assert {right for (budget, _), right in shares.items() if budget == 500} == {1}


def test_exam_refuses_unknown_arguments(run: Run) -> None:
    code, _, err = run("exam", "-e", "FakeHouse", "--budgets", "many")
    assert code == 2
    assert "expected --budgets as numbers" in err
