"""Measure how the library is built: sizes, names, homes of concepts, imports, ways through files.

    python -m benchmarks structure            # per folder, and every measure
    python -m benchmarks structure --ways     # also the files of a step and of a job
    python -m benchmarks structure --json     # the measures as JSON

`--root` measures another checkout. A step is the planner's tenth with ``arigraph`` in Cooking hard.
A job goes from the command ``compare`` to the loop, over a worker process.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("gym_memory", "wrappers", "baselines")
STEP = 10

IRREGULAR = {"Written", "Seen", "Found", "Given", "Known", "Kept", "Sent", "Held", "Shown", "Made"}
IRREGULAR |= {"Done", "Taken", "Drawn", "Built", "Chosen", "Heard", "Lost", "Left", "Won", "Met"}
IRREGULAR |= {"Said", "Broken", "Bound", "Spoken", "Thrown", "Hidden", "Gone", "Learnt", "Put"}
NOUNS = {"Seed", "Speed", "Need", "Feed", "Bed", "Deed", "Breed", "Shed"}
"""Nouns with the ending of a participle."""

TEXT_HOME = "gym_memory/core/text.py"
HELPERS = {
    "words": r"_?(?:split_|find_)?(?:words?|tokens?)(?:_of)?",
    "stems": r"_?stems?(?:_of)?|_?stemmed",
    "sentences": r"_?(?:split_)?sentences?(?:_of)?",
    "articles": r"_?(?:without_|drop_|strip_)?articles?",
}
"""Names of functions that split text, by concept."""
WORDS = "the red key, in a box. It opens!"
SENTENCES = "It is dark (the lamp is off), and cold. You see: a key. Is it yours?"
SCORING = "scoring"
"""Part of the name of a pattern reserved for a score, so that other changes do not affect it."""


class Library:
    """The library's files, each once, although two of its folders are links."""

    def __init__(self, root: Path):
        self.root = root
        walked = [entry for folder in FOLDERS for entry in os.walk(root / folder)]  # no links
        names = sorted(Path(at) / n for at, _, found in walked for n in found if n.endswith(".py"))
        self.text = {p.relative_to(root).as_posix(): p.read_text("utf-8") for p in names}
        self.tree = {name: ast.parse(text) for name, text in self.text.items()}

    def nodes(self) -> Iterator[tuple[str, ast.AST]]:
        """Yield every node with its file."""
        for name, tree in self.tree.items():
            for node in ast.walk(tree):
                yield name, node

    def classes(self) -> Iterator[tuple[str, ast.ClassDef]]:
        """Yield every class with its file."""
        for name, node in self.nodes():
            if isinstance(node, ast.ClassDef):
                yield name, node

    def file_of(self, target: str) -> str | None:
        """Return the file of a dotted name, or of the module that has it."""
        parts = target.split(".")
        if parts[:1] == ["gym_memory"] and parts[1:2] in (["wrappers"], ["baselines"]):
            parts = parts[1:]
        while parts:
            for name in ("/".join(parts) + ".py", "/".join(parts) + "/__init__.py"):
                if name in self.text:
                    return name
            parts.pop()
        return None

    def imports(self, name: str) -> list[tuple[str, str]]:
        """Return the files that a file imports, with the imported name; typing alone counts."""
        found = []
        for node in ast.walk(self.tree[name]):
            targets = []
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                targets = [f"{node.module}.{alias.name}" for alias in node.names]
            for target in targets:
                file = self.file_of(target) if target.startswith("gym_memory") else None
                if file and file != name:
                    found.append((file, target))
        return found


def docstring_lines(tree: ast.AST) -> int:
    """Return how many lines of a module are docstrings, those of attributes included."""
    return sum(
        node.end_lineno - node.lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        and node.end_lineno is not None
    )


def is_participle(name: str) -> bool:
    """Return True if the last word of a class name is a participle.

    >>> [is_participle(name) for name in ("_Watched", "Written", "Seed", "WrittenItem")]
    [True, True, False, False]
    """
    words = re.findall(r"[A-Z]+[a-z0-9]*", name)
    last = words[-1] if words else name
    return last not in NOUNS and (last in IRREGULAR or bool(re.fullmatch(r"[A-Z][a-z]+ed", last)))


def names(library: Library) -> dict[str, list[str]]:
    """Return class names used more than once, participles, and docstrings that begin with Hold."""
    homes = defaultdict(list)
    for file, node in library.classes():
        homes[node.name.lstrip("_")].append(file)
    hold = []
    for file, node in library.nodes():
        documented = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if documented and (ast.get_docstring(node) or "").startswith("Hold"):
            hold.append(f"{file}:{node.lineno} {node.name}")
    return {
        "class names used more than once": sorted(n for n, at in homes.items() if len(at) > 1),
        "class names that are participles": sorted(
            f"{file} {node.name}" for file, node in library.classes() if is_participle(node.name)
        ),
        'docstrings that begin with "Hold"': hold,
    }


def helpers(library: Library) -> dict[str, list[str]]:
    """Return the homes of each concept of text.

    ``core/text.py`` is one home. Each of these is another:

    * a pattern by which a file finds, splits or cuts text, if it splits an example as the concept
      does. A pattern that also finds stops, or that cuts sentences into clauses, is the grammar of
      some language; one with ``scoring`` in its name belongs to a score;
    * a function named for the concept that calls ``split`` or ``sub`` and no helper of the home.
    """
    found = {concept: [TEXT_HOME] * (TEXT_HOME in library.text) for concept in HELPERS}
    for file, node in library.nodes():
        concepts: list[str] = []
        name = ""
        if isinstance(node, ast.FunctionDef) and _splits_text(node, library.text[file]):
            name = node.name
            concepts = [c for c, pattern in HELPERS.items() if re.fullmatch(pattern, name)]
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            name = ast.unparse(node.targets[0])
            uses = rf"\b{re.escape(name)}\.(findall|finditer|split|sub)\("
            concepts = _concepts(node.value, set(re.findall(uses, library.text[file])))
        elif isinstance(node, ast.Call):
            name = ast.unparse(node)
            concepts = _concepts(node, {name.partition("(")[0].removeprefix("re.")} - {"compile"})
        if file != TEXT_HOME and SCORING not in name.lower():
            for concept in concepts:
                found[concept].append(f"{file}:{node.lineno} {name}")
    return found


def _splits_text(node: ast.FunctionDef, text: str) -> bool:
    kinds = {ast.unparse(a.annotation) for a in node.args.args if a.annotation}
    calls = {ast.unparse(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
    home = re.search(r"^from gym_memory\.core\.text import (.+)$", text, re.MULTILINE)
    helpers = set(re.findall(r"\w+", home[1])) if home else set()
    splits = any(call.endswith((".split", ".sub")) for call in calls) and not calls & helpers
    return splits and {"str"} <= kinds <= {"str", "int", "bool"}


def _concepts(call: ast.Call, uses: set[str]) -> list[str]:
    """Return the concepts that a literal pattern splits by in these uses."""
    source = call.args[0] if call.args and ast.unparse(call.func).startswith("re.") else None
    if not isinstance(source, ast.Constant) or not isinstance(source.value, str):
        return []
    flags = re.findall(
        r"re\.([A-Z]+)", " ".join(map(ast.unparse, (*call.args[1:], *call.keywords)))
    )
    pattern = re.compile(source.value, sum(re.RegexFlag[flag] for flag in flags))

    def parts(text: str) -> list[str]:
        found = [m[0] for m in pattern.finditer(text)] if uses & {"findall", "finditer"} else []
        cut = pattern.split(text) if "split" in uses and not pattern.groups else []
        return [part.strip(" ") for part in found or cut if part.strip()]

    words, found = {"red", "key", "box", "opens"}, parts(WORDS.lower())
    sentences = [part.rstrip(".?") for part in parts(SENTENCES)]
    taken_apart = {
        "words": words <= set(found) and all(re.search(r"\w", part) for part in found),
        "sentences": sentences == re.split("[.?] ?", SENTENCES)[:-1],
        "articles": "sub" in uses and pattern.sub("", "the box") == "box" == pattern.sub("", "box"),
    }
    return [concept for concept, does in taken_apart.items() if does]


def reading_list(library: Library, *start: str) -> dict[str, int]:
    """Return the files of the learners that a reader of ``start`` needs, with their lines."""
    found, todo = {}, [name for name in start if name in library.text]
    while todo:
        name = todo.pop()
        if name not in found and name.startswith("baselines/rl/"):
            found[name] = library.text[name].count("\n")
            todo += [file for file, _ in library.imports(name)]
    return found


def upward_arrows(library: Library) -> list[str]:
    """Return the imports that run against the layers of the library."""
    sys.path.insert(0, str(ROOT))
    from tests.test_imports import TOP, layer

    def level(file: str) -> int:
        dotted = file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        return layer(dotted if dotted.startswith("gym_memory") else f"gym_memory.{dotted}")

    files = [
        (name, file, target) for name in library.text for file, target in library.imports(name)
    ]
    return sorted({
        f"{name} imports {target}"
        for name, file, target in files
        if level(file) > level(name) and (level(name) < TOP)
    })  # fmt: skip


def circles(library: Library) -> list[str]:
    """Return a circle of imports between files, none if there is none."""
    from tests.test_imports import cycle_in

    edges = {
        name: {file for file, _ in library.imports(name) if not file.endswith("__init__.py")}
        for name in library.text
    }
    return cycle_in(edges)


TRACE_STEP = """
import json, os, sys
from collections import Counter
import gymnasium as gym
import gym_memory
from gym_memory.baselines import make_policy
from gym_memory.run import rollout
calls = Counter()
def count(frame, event, _):
    if event == "call":
        calls[frame.f_code.co_filename] += 1
def on_step(step, info):
    sys.setprofile(count if step == int(sys.argv[1]) - 1 else None)
env = gym.make("gym_memory/Cooking-v0", level="hard", memory="arigraph")
rollout(env, make_policy("planner"), seed=0, limit=int(sys.argv[1]), on_step=on_step)
env.close()
print(json.dumps(calls))
"""
TRACE_JOB = '''
"""Follow configurations and jobs through the calls of a process until the loop begins."""
import json, os, sys, threading
open_file = open(os.environ["STRUCTURE_TRACE"], "a")
def count(frame, event, _):
    code = frame.f_code
    if event != "call" or "gym_memory" not in code.co_filename + "gym_memory":
        return
    values = list(frame.f_locals.values())
    values += [item for v in values if type(v) in (list, tuple) for item in v[:3]]
    kinds = {type(value).__name__ for value in values}
    if code.co_name == "rollout":
        kinds = {"Job"}
        sys.setprofile(None)
    if code.co_name in ("parse_spec", "_parse_spec"):
        kinds = {"Job"}
    if kinds & {"RunConfig", "Job"} and not code.co_filename.startswith("<"):
        open_file.write(json.dumps([code.co_filename, code.co_name]) + chr(10))
        open_file.flush()
threading.setprofile(count)
sys.setprofile(count)
'''
RUN_JOB = """
import sys
import structure_trace
from gym_memory.cli import main
main()
"""


def files_of_step(library: Library) -> dict[str, int]:
    """Play until the tenth step; return the library's files that it visits, with its calls."""
    done = _python(library.root, ["-c", TRACE_STEP, str(STEP)])
    return _ours(library, json.loads(done))


def way_of_job(library: Library) -> list[tuple[str, str]]:
    """Play a job by the command ``compare``; return file and function of each call on its way.

    A call counts if a :class:`RunConfig` or :class:`Job` is among its arguments, or if it parses
    a name with parameters.
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "structure_trace.py").write_text(TRACE_JOB, "utf-8")
        trace = Path(folder, "trace")
        trace.touch()
        words = "compare -e Fetch -m none -p random --seeds 0:1 --import structure_trace --out"
        more = {"STRUCTURE_TRACE": str(trace), "PYTHONPATH": folder}
        _python(library.root, ["-c", RUN_JOB, *words.split(), f"{folder}/out"], more)
        calls = [json.loads(line) for line in trace.read_text("utf-8").splitlines()]
    files = {name: short for name, _ in calls for short in _ours(library, {name: 1})}
    return [(files[name], function) for name, function in calls if name in files]


def _python(root: Path, words: list[str], more: dict[str, str] | None = None) -> str:
    paths = [str(root), *filter(None, [(more or {}).get("PYTHONPATH")])]
    settings = {**os.environ, **(more or {}), "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=root, env=settings, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def _ours(library: Library, calls: dict[str, int]) -> dict[str, int]:
    found = {}
    for name, number in calls.items():
        path = Path(name).resolve()
        if path.is_relative_to(library.root):
            short = path.relative_to(library.root).as_posix()
            if short in library.text:
                found[short] = number
    return found


def sizes(library: Library, depth: int, longest: int) -> None:
    """Print lines, files and the share of docstrings per folder, then the longest files."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    lengths = {name: text.count("\n") for name, text in library.text.items()}
    for name, lines in lengths.items():
        folder = "/".join(Path(name).parent.parts[:depth])
        for key in (folder, "all"):
            found[key].append((lines, docstring_lines(library.tree[name])))
    print(f"{'folder':32}{'files':>7}{'lines':>8}{'docstrings':>12}")
    for folder in sorted(found, key=lambda key: (key == "all", key)):
        lines, docs = (sum(column) for column in zip(*found[folder], strict=True))
        print(f"{folder:32}{len(found[folder]):7}{lines:8}{docs / max(lines, 1):12.1%}")
    print("\nlongest files")
    for name in sorted(lengths, key=lengths.__getitem__, reverse=True)[:longest]:
        print(f"{lengths[name]:6}  {name}")


def measures(library: Library, ways: bool) -> dict[str, list[str]]:
    """Return the measures, each with the counted items."""
    drrn = reading_list(library, "baselines/rl/drrn.py", "baselines/rl/shared/training.py")
    found = {
        **names(library),
        "files to read for DRRN": [f"{name} {lines}" for name, lines in sorted(drrn.items())],
        **{f"helpers for {concept}": where for concept, where in helpers(library).items()},
        "upward arrows": upward_arrows(library),
        "files in a circle of imports": circles(library),
    }
    if ways:
        found[f"files of step {STEP}"] = sorted(files_of_step(library))
        way = way_of_job(library)
        parses = [call for call in way if call[1].endswith("parse_spec")]
        found["files of a job"] = sorted({file for file, _ in way} - {"gym_memory/core/names.py"})
        found["names parsed for a job"] = [f"{file} {function}" for file, function in parses]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="checkout to measure")
    parser.add_argument("--depth", type=int, default=2, help="depth of the folders")
    parser.add_argument("--longest", type=int, default=10, help="how many of the longest files")
    parser.add_argument("--ways", action="store_true", help="trace a step and a job")
    parser.add_argument("--list", action="store_true", help="print what each measure counted")
    parser.add_argument("--json", action="store_true", help="print the measures as JSON")
    given = parser.parse_args()
    library = Library(given.root.resolve())
    found = measures(library, given.ways)
    counts = {name: len(items) for name, items in found.items()}
    counts["lines to read for DRRN"] = sum(
        int(item.split()[1]) for item in found["files to read for DRRN"]
    )
    counts["lines of the library"] = sum(text.count("\n") for text in library.text.values())
    if given.json:
        print(json.dumps(counts, indent=1))
        return
    sizes(library, given.depth, given.longest)
    print("\nmeasures")
    for name, number in counts.items():
        print(f"{number:6}  {name}")
        for item in found.get(name, ()) if given.list else ():
            print(f"          {item}")


if __name__ == "__main__":
    main()
