"""Wordings: their number, and half of them occur nowhere else in this repository."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

from gym_memory.evaluate.exam.questions import draw_wording, templates

ROOT = Path(__file__).parents[2]
DATA = "gym_memory/evaluate/exam/wordings.json"
_NAMED = re.compile(r"\{\w+\}")


def test_every_sort_of_question_has_eight_wordings() -> None:
    for sort, halves in templates().items():
        assert set(halves) == {"seen", "unseen", "everyday"}, sort
        both = [*halves["seen"], *halves["unseen"]]
        assert len(set(both)) == len(both) >= 8, sort
        assert len(halves["seen"]) >= 4, sort
        assert len(halves["unseen"]) >= 4, sort


def test_all_wordings_of_a_sort_name_their_subject() -> None:
    for sort, halves in templates().items():
        for half, texts in halves.items():
            for text in texts:
                named = set(_NAMED.findall(text))
                times = named & {"{t}", "{now}", "{ago}"}
                needed = set(_NAMED.findall(halves["seen"][0])) - {"{t}", "{now}"}
                assert named - times == needed, (sort, half, text)
                assert bool(times) == (sort in ("past", "past you", "did", "there")), (
                    sort,
                    half,
                    text,
                )


def test_words_are_drawn_by_chance_alone() -> None:
    drawn = {draw_wording("where", random.Random(seed), thing="egg") for seed in range(40)}
    assert len(drawn) >= 12
    assert drawn == {draw_wording("where", random.Random(seed), thing="egg") for seed in range(40)}
    assert all("egg" in asked.seen and "egg" in asked.unseen for asked in drawn)


@pytest.mark.slow
def test_no_other_file_has_an_unseen_wording() -> None:
    """Find no long piece of an unseen wording in rules or tests."""
    pieces = {
        piece.strip().lower()
        for halves in templates().values()
        for text in halves["unseen"]
        for piece in _NAMED.split(text)
        if len(piece.split()) >= 5
    }
    assert len(pieces) > 30
    git = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if git.returncode:
        pytest.skip("no git here to list the files")
    endings = (".py", ".md", ".json", ".jsonl", ".txt", ".toml", ".yaml", ".sh", ".ipynb", ".ni")
    for name in git.stdout.decode().split("\0"):
        if name.endswith(endings) and name != DATA:
            text = (ROOT / name).read_text(encoding="utf-8", errors="replace").lower()
            found = [piece for piece in pieces if piece in text]
            assert not found, (name, found)
