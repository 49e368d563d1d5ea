"""SECURITY.md's promises about files: data are never executed, and sizes are limited."""

from __future__ import annotations

import ast
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_memory.core.errors import GymMemoryError
from gym_memory.core.files import read_bytes
from gym_memory.core.trajectory import read_rows

ROOT = Path(__file__).parents[1]
FORBIDDEN = {
    "eval", "exec", "compile", "marshal.load", "marshal.loads", "pickle.load", "pickle.loads",
    "pickle.Unpickler", "dill.load", "dill.loads", "joblib.load", "shelve.open", "torch.load",
    "yaml.load", "yaml.load_all", "yaml.unsafe_load", "yaml.full_load", "runpy.run_path",
    "os.system", "shutil.unpack_archive", "pandas.read_pickle",
}  # fmt: skip
ALLOWED = {
    ("gym_memory/run/worker.py", "pickle.loads"),  # tries whether an error of its own can be sent
    # What a process wrote whom this one started, with the same code and no game in it.
    ("gym_memory/cli/__init__.py", "exec"),  # of an empty text
    ("gym_memory/evaluate/contract/environment.py", "pickle.loads"),  # what it pickled itself
    ("gym_memory/evaluate/contract/memory.py", "pickle.loads"),  # the same
    ("gym_memory/evaluate/rank/watched.py", "pickle.load"),
    ("gym_memory/evaluate/rank/watched.py", "pickle.loads"),
    ("gym_memory/games/textworld/matching.py", "eval"),  # of numbers; a game's names are values
    ("gym_memory/games/spaces.py", "pickle.loads"),  # shared memory of a vector environment
}


def called(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Yield full names of what is called, through whatever name it was imported."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update({a.asname or a.name: a.name for a in node.names})
        elif isinstance(node, ast.ImportFrom):
            names.update({a.asname or a.name: f"{node.module}.{a.name}" for a in node.names})
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            first, dot, rest = ast.unparse(node.func).partition(".")
            yield names.get(first, first) + dot + rest, node


def unsafe(text: str) -> list[str]:
    found = []
    for name, call in called(ast.parse(text)):
        given = {word.arg: ast.unparse(word.value) for word in call.keywords}
        if (
            name in FORBIDDEN
            or given.get("shell", "False") != "False"
            or given.get("allow_pickle", "False") != "False"
            or given.get("trust_remote_code", "False") != "False"
            or name.endswith((".extractall", ".extract_all"))
        ):
            found.append(name)
    return found


@pytest.mark.slow
def test_input_is_never_executed() -> None:
    files = [*ROOT.glob("gym_memory/**/*.py"), *ROOT.glob("baselines/**/*.py")]
    files += ROOT.glob("wrappers/**/*.py")
    assert len(files) > 300
    found = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in files
        for name in unsafe(path.read_text(encoding="utf-8"))
    }
    assert found == ALLOWED


def test_the_check_sees_through_names() -> None:
    text = "import pickle as p\nfrom yaml import load as safe\np.loads(x)\nsafe(x)\neval(x)\n"
    text += "np.load(x, allow_pickle=True)\nrun(x, shell=True)\nmodel.eval()\nnp.load(x)\n"
    assert sorted(unsafe(text)) == ["eval", "np.load", "pickle.loads", "run", "yaml.load"]


def test_files_that_are_too_large_are_not_read(tmp_path: Path) -> None:
    """Holes in a file take no room on the disk; read, they would fill the memory."""
    from gym_memory.games.textworld.zmachine import check_story

    large = tmp_path / "game.z8"
    with open(large, "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(GymMemoryError, match="cannot read the game"):
        check_story(large)
    with pytest.raises(OSError, match="expected at most 10 bytes, got 1099511627776"):
        read_bytes(large, 10)


@pytest.mark.slow
def test_endlessly_inflating_line_is_refused(tmp_path: Path) -> None:
    deflate = zlib.compressobj(9, wbits=31)
    data = b"".join(deflate.compress(b" " * (1 << 20)) for _ in range(200)) + deflate.flush()
    path = tmp_path / "steps.jsonl.gz"
    path.write_bytes(data)
    assert len(data) < 1 << 20
    with pytest.raises(GymMemoryError, match="a line is longer than 67108864 bytes"):
        list(read_rows(path))


def test_each_defence_names_an_existing_test() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    rows = text.partition("## What is defended")[2].partition("\n\n## ")[0].splitlines()
    defences = [row for row in rows if row.startswith("| ") and "Defence" not in row]
    assert len(defences) >= 20
    for row in defences:
        named = re.findall(r"`(tests/[\w/]+\.py)`", row)
        assert named, row
        assert all((ROOT / name).is_file() for name in named), row


def test_each_listed_fault_names_its_tests() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    part = text.partition("## Faults that were found")[2].partition("\n## ")[0]
    rows = [row for row in part.splitlines() if row.startswith("| ") and "Fault |" not in row]
    assert len(rows) == 15
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row)
        assert named, row
        for file, test in named:
            assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), (file, test)
