"""Docstrings name what exists, parameters and paths, and begin as CONTRIBUTING asks."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("gym_memory", "wrappers", "baselines", "packages")
QUESTIONS = ("What", "Whether", "Where", "Which", "Who", "How")
ARTICLES = ("The", "A", "An", "All", "One")
VERBS = ("Ask", "Extract", "Find", "Follow", "Hold", "Keep", "Learn", "List", "Make", "Play")
VERBS += ("Return", "Run", "Say", "Send", "Serve", "Show")
MADE_FROM = ("cli", "new")
"""Folder of the templates, whose docstrings are those of a user's first component."""
ENTRY = re.compile(r"^    \*{0,2}(\w+)(?: \([^)]*\))?: ", re.MULTILINE)


def tracked(*patterns: str) -> list[Path]:
    """Return the files that git knows, each once: two folders of the library are links."""
    command = ["git", "ls-files", "-z", "--", *patterns]
    try:
        names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs a git checkout")
    return [path for name in names.stdout.split("\0") if name and (path := ROOT / name).is_file()]


@functools.cache
def parsed() -> dict[Path, ast.Module]:
    """Parse our sources once."""
    return {path: ast.parse(path.read_text("utf-8")) for path in tracked("*.py") if is_ours(path)}


def documented(docstring: str) -> list[str]:
    """Return the names below ``Args:``.

    >>> documented("Do.\\n\\nArgs:\\n    one: First.\\n    two: Second,\\n        more.\\n")
    ['one', 'two']
    """
    section = docstring.partition("\nArgs:\n")[2]
    section = re.split(r"\n\S", f"\n{section}", maxsplit=1)[0]
    return ENTRY.findall(section)


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    given = node.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {arg.arg for arg in named if arg}


def fields(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> set[str]:
    """Return what a class can be built with: its constructor's parameters, or its fields."""
    found = set()
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            return parameters(part)
        if isinstance(part, ast.AnnAssign):
            found.add(ast.unparse(part.target))
    for base in node.bases:
        if (parent := classes.get(ast.unparse(base).partition("[")[0])) is not None:
            found |= fields(parent, classes)
    return found


@pytest.mark.slow
def test_args_entry_is_a_parameter() -> None:
    trees = parsed()
    classes = {
        node.name: node
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    wrong, seen = [], 0
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            names = documented(ast.get_docstring(node) or "")
            if not names:
                continue
            is_class = isinstance(node, ast.ClassDef)
            known = fields(node, classes) if is_class else parameters(node)
            seen += len(names)
            where = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
            wrong += [f"{where}: {name}" for name in names if name not in known]
    assert seen > 300
    assert wrong == []


def first_word(text: str) -> str:
    return text.split(maxsplit=1)[0].strip(",.:;") if text.strip() else ""


def wrong_beginnings(tree: ast.Module) -> list[str]:
    """Return functions that begin as a noun phrase, classes that begin with a verb, questions."""
    found = []
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            wrong: tuple[str, ...] = QUESTIONS + ARTICLES
        elif isinstance(node, ast.ClassDef):
            wrong = QUESTIONS + VERBS + tuple(f"{verb}s" for verb in VERBS if verb != "List")
        else:
            wrong = QUESTIONS
        for statement in body if isinstance(body, list) else ():
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                here = wrong if statement is body[0] else QUESTIONS  # else of an attribute
                if first_word(value.value) in here:
                    found.append(f"{statement.lineno}: {value.value.splitlines()[0]}")
    return found


@pytest.mark.slow
def test_docstring_of_library_begins_with_verb_or_noun() -> None:
    trees = {path: tree for path, tree in parsed().items() if path.parts[-3:-1] != MADE_FROM}
    wrong = [
        f"{path.relative_to(ROOT)}:{entry}"
        for path, tree in trees.items()
        for entry in wrong_beginnings(tree)
    ]
    assert len(trees) > 300
    assert wrong == []


def test_wrong_beginning_of_a_docstring_is_found() -> None:
    text = '''
class Store:
    """Keeps texts."""
    size: int
    """How many."""
    def find(self):
        """The best text."""
'''
    assert [entry.partition(": ")[2] for entry in wrong_beginnings(ast.parse(text))] == [
        "Keeps texts.",
        "How many.",
        "The best text.",
    ]


def is_ours(path: Path) -> bool:
    return path.relative_to(ROOT).parts[0] in FOLDERS


LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s#]+)")
PATH = re.compile(r"`((?:gym_memory|baselines|wrappers|benchmarks|docs|tests|examples)/[\w./-]+)`")
ENVIRONMENT = re.compile(r"gym_memory/\w+-v\d")
MADE = ("docs/memories",)
"""Pages that the documentation's build writes."""


@pytest.mark.parametrize("page", tracked("*.md"), ids=lambda path: str(path.relative_to(ROOT)))
def test_path_in_a_page_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    dead = [link for link in LINK.findall(text) if not exists(page.parent / link)]
    for path in PATH.findall(text):
        # The pages of papers name tests without their folder.
        if not (
            ENVIRONMENT.fullmatch(path) or exists(ROOT / path) or exists(ROOT / "tests" / path)
        ):
            dead.append(path)
    assert dead == []


def exists(place: Path) -> bool:
    place = place.resolve()
    return place.exists() or str(place.relative_to(ROOT)).startswith(MADE)
