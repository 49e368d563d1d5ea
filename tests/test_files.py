"""A file is replaced as a whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_memory.files import write_atomic


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


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        write_atomic(tmp_path / "nowhere" / "file", "new")
