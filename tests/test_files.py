"""A file is replaced as a whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gym_memory.core.files import write_atomic


@pytest.mark.parametrize("content", ["fünf\n", b"\x00\xff"])
def test_text_and_bytes(tmp_path: Path, content: str | bytes) -> None:
    write_atomic(tmp_path / "file", "old")
    write_atomic(str(tmp_path / "file"), content)
    expected = content.encode() if isinstance(content, str) else content
    assert (tmp_path / "file").read_bytes() == expected


def test_replacing_a_file_keeps_the_old_one_on_failure(tmp_path: Path) -> None:
    target = tmp_path / "file"
    write_atomic(target, "old")
    with pytest.raises(TypeError):
        write_atomic(target, None)  # type: ignore[arg-type]
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        write_atomic(tmp_path / "nowhere" / "file", "new")


@pytest.mark.slow
@pytest.mark.parametrize("mask", [0o077, 0o027, 0o022, 0o002])
def test_permissions_follow_the_users_umask(
    tmp_path: Path, mask: int, python: Callable[..., str]
) -> None:
    code = (
        "import os, sys; os.umask(int(sys.argv[2]))\n"
        "from gym_memory.core.files import write_atomic\n"
        "from gym_memory.llm.model import ResponseCache\n"
        "os.chdir(sys.argv[1])\n"
        "write_atomic('file', 'x'); ResponseCache('answers.sqlite').put"
    )
    python(code, str(tmp_path), str(mask))
    found = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert found.pop("file") == 0o666 & ~mask
    assert found.keys() >= {"answers.sqlite"}
    assert set(found.values()) == {0o600}
