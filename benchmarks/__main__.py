"""Run a benchmark by its name, or list all names.

python -m benchmarks                        # list
python -m benchmarks structure --ways       # run; further words go to the script
"""

from __future__ import annotations

import ast
import difflib
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent


def scripts() -> dict[str, Path]:
    """Return every script by its name: its path, less the suffix and less a repeated folder."""
    found: dict[str, Path] = {}
    for path in sorted(HERE.rglob("*")):
        if path.suffix == ".sh" or (path.suffix == ".py" and "__main__" in path.read_text("utf-8")):
            folder, stem = path.parent.relative_to(HERE).as_posix(), path.stem
            short = stem in ("run", path.parent.name)
            found[folder if short else f"{folder}/{stem}".removeprefix("./")] = path
    found.pop("__main__")
    return found


def summary(path: Path) -> str:
    """Return the first sentence of a script's docstring or comment."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        text = ast.get_docstring(ast.parse(text)) or ""
    else:
        text = " ".join(re.findall(r"^# ?(.*)", text.partition("\n")[2], re.MULTILINE))
    return re.split(r"(?<=\.)\s|\n\n", text)[0].replace("\n", " ")


def main(argv: list[str]) -> None:
    """List the benchmarks, or replace this process by the script, run in the repository's root."""
    known = scripts()
    if not argv or argv[0] in ("-h", "--help"):
        width = max(map(len, known))
        print((__doc__ or "").partition("\n\n")[0], end="\n\n")
        print("\n".join(f"{name:{width}}  {summary(path)}" for name, path in known.items()))
        return
    name, *rest = argv
    if name not in known:
        near = difflib.get_close_matches(name, known, 3) or ["run it without a name for a list"]
        sys.exit(f"no benchmark {name!r}: {', '.join(near)}")
    os.chdir(HERE.parent)
    # Shell scripts call `python` and `gym-memory`: those of this interpreter's environment.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    program = sys.executable if known[name].suffix == ".py" else "sh"
    os.execvp(program, [program, str(known[name]), *rest])


if __name__ == "__main__":
    main(sys.argv[1:])
