"""Tests use public names only, and assert no times."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted({*ROOT.glob("tests/**/*.py"), *ROOT.glob("packages/*/tests/**/*.py")})
ALLOWED = {
    "_replace": "of named tuples", "_repr_html_": "IPython's name", "_exit": "of os",
    "_handle": "of ctypes: a library has to be closed", "_ctypes": "closes it",
    "_asdict": "of named tuples", "_host": "the process of a story, which a test kills",
    "_temporary": "the folder of a pool, in which a test leaves a file",
    "_rng": "the order of games, which a test fixes",
    "_MOST_CONNECTIONS": "a limit that a test reaches", "_protocol": "the class that has it",
    "_step_s": "a limit that a test lowers for the step that hangs",
    "_cli_utils": "the check behind openenv validate",
    "_Play": "what a pool hears, by which its clock runs in tests",
    "_private": "of Ray, which gives a node 30 seconds to start",
    "_wait_for_node": "of Ray, with more patience",
}  # fmt: skip
PATCHES = re.compile("attr|patch|import")
TIMED = re.compile(r"assert\b.*\b(perf_counter|process_time|thread_time)\(")


def private(tree: ast.AST) -> Iterator[str]:
    """Yield the private names of others that code reads, imports or patches."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            names = [] if ast.unparse(node.value) in ("self", "cls", "super()") else [node.attr]
        elif isinstance(node, ast.ImportFrom):
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Call):
            texts = [str(a.value) for a in node.args if isinstance(a, ast.Constant)]
            if "_" in "".join(texts) and PATCHES.search(ast.unparse(node.func)):
                names = ".".join(texts).split(".")
        yield from (name for name in names if re.fullmatch(r"_[A-Za-z]\w*", name))


@pytest.mark.slow
def test_tests_touch_nothing_private_and_assert_no_time() -> None:
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert set(private(ast.parse(text))) <= ALLOWED.keys(), path
        assert not TIMED.search(text), path
