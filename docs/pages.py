"""Extend the mkdocs site: pages outside docs/, recalls of memories, and checks.

README, the root's documents and the benchmarks are pages too, each at its own path, so a link
between two files works on the site as in the repository; other link targets are copied. A memory's
page ends with its recall in a real game (`recalls.py`) and with its class.
"""

from __future__ import annotations

import gc
import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import griffe
import memory_tables
from mkdocs.structure.files import File, Files
from recalls import Recalled, recall_all

from gym_memory.memory import MEMORIES

ROOT = Path(__file__).parents[1]
LOG = logging.getLogger("mkdocs.hooks.pages")  # a warning fails a strict build
ROOT_PAGES = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "SECURITY.md")
FENCES = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<=\]\()([^)#\s:]+)(?=[)#])")
DIRECTIVE = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)

recalled: dict[str, Recalled] = {}


def on_startup(**_: Any) -> None:
    gc.disable()  # hundreds of syntax trees are kept to the end of a build: nothing to collect
    recalled.update(recall_all())


def on_files(files: Files, config: Any) -> Files:
    """Add the pages outside docs/, and the targets of links."""
    pages = {"README.md": "index.md", **{name: name for name in ROOT_PAGES}}
    own = {f"docs/{file.src_uri}" for file in files.documentation_pages()}
    pages |= {_name(path): _name(path) for path in (ROOT / "benchmarks").rglob("*.md")}
    linked = {target for page in (*own, *pages) for target in _targets(page)}
    for source, uri in {**{name: _uri(name) for name in sorted(linked - own)}, **pages}.items():
        if (ROOT / source).is_file() and files.get_file_from_path(uri) is None:
            files.append(File.generated(config, uri, abs_src_path=str(ROOT / source)))
    for name, what in recalled.items():
        files.append(File.generated(config, f"replays/{name}.html", content=what.replay))
    for name in MEMORIES.builtin():
        if files.get_file_from_path(f"memories/{name}.md") is None:
            text = memory_tables.page(name)
            files.append(File.generated(config, f"memories/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links to the site's files; add the end of a memory's page."""
    uri = page.file.src_uri
    here = os.path.dirname(_source(uri))

    def to_site(link: re.Match[str]) -> str:
        target = _uri(_inside(os.path.normpath(os.path.join(here, unquote(link[1])))))
        return os.path.relpath(target, os.path.dirname(uri) or ".")

    parts = FENCES.split(memory_tables.fill(markdown))
    parts[::2] = [LINK.sub(to_site, part) for part in parts[::2]]
    folder, _, name = uri.removesuffix(".md").rpartition("/")
    if folder == "memories":
        page.meta["hide"] = ["toc"]  # the replay needs space
        parts.append(_ending(name))
    return "".join(parts)


def on_env(env: Any, config: Any, files: Files) -> None:
    """Warn of public names without a docstring, and of memories without a page."""
    pages = {file.src_uri: file.content_string for file in files.documentation_pages()}
    for name in MEMORIES.names():
        if f"memories/{name}.md" not in pages:
            LOG.warning("memory %r has no page docs/memories/%s.md", name, name)
    documented = {m for text in pages.values() for m in DIRECTIVE.findall(text)}
    for missing in undocumented(documented):
        LOG.warning("%s has no docstring", missing)


def undocumented(names: set[str], root: Path = ROOT) -> list[str]:
    """Return public names in modules or classes without a docstring, own or inherited."""
    loader = griffe.GriffeLoader(search_paths=[root])
    package = loader.load("gym_memory", try_relative_path=False)
    loader.resolve_aliases(implicit=True)
    found: list[str] = []
    for name in sorted(names):
        found += _bare(package[name.removeprefix("gym_memory.")])
    return found


def _bare(thing: Any) -> Iterator[str]:
    thing = thing.final_target if thing.is_alias else thing
    if not thing.has_docstring and not (thing.is_attribute and thing.parent.is_class):
        yield thing.path
    if thing.is_module:
        members = [thing.members[n] for n in map(str, thing.exports or ()) if n in thing.members]
    elif thing.is_class:
        public = (m for n, m in thing.members.items() if not n.startswith("_"))
        given = {n for base in thing.mro() for n, m in base.members.items() if m.has_docstring}
        members = [m for m in public if m.name not in given]
    else:
        return
    for member in members:
        yield from _bare(member)


def _ending(name: str) -> str:
    what, factory = recalled[name], MEMORIES.get(name)
    return f"""

## What it recalls

Step {what.step} of a real game, made by

```sh
{what.command}
```

The agent sees

```text
{what.seen}
```

and beside it what `{name}` recalls ({what.tokens} tokens of {what.budget}):

```text
{what.text or "(nothing)"}
```

{f"Facts: {what.facts}, all of them on the map below." if what.facts else "It recalls no facts."}

<iframe src="../replays/{name}.html#{what.step}" title="A replay with the memory {name}"
 loading="lazy" style="width: 100%; height: 62rem; border: 1px solid"></iframe>

[The replay on a page of its own](../replays/{name}.html)

## Settings

{memory_tables.settings(name)}

## Class

::: {factory.__module__}.{factory.__qualname__}
"""


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _source(uri: str) -> str:
    """Return the repository's file of a page."""
    if uri == "index.md":
        return "README.md"
    return uri if (ROOT / uri).is_file() else f"docs/{uri}"


def _targets(page: str) -> Iterator[str]:
    """Return the repository's files that a page links to."""
    text = "".join(FENCES.split((ROOT / page).read_text(encoding="utf-8"))[::2])
    for link in LINK.findall(text):
        yield _inside(os.path.normpath(os.path.join(os.path.dirname(page), unquote(link))))


def _inside(name: str) -> str:
    """Return the README of a folder, else the path itself."""
    readme = f"{name}/README.md"
    return readme if (ROOT / readme).is_file() else name


def _uri(name: str) -> str:
    """Return the address on the site of a file of the repository."""
    if name == "README.md":
        return "index.md"
    if name.startswith("docs/") and not name.endswith(".py"):
        return name.removeprefix("docs/")
    return name if name.endswith(".md") or not name.endswith(".py") else f"source/{name}.txt"
