"""Write the record, or the part of it that belongs to some games."""

from __future__ import annotations

import argparse

from .record import PLAYS, replay, write

parser = argparse.ArgumentParser(prog="python -m tests.manifest", description=__doc__)
parser.add_argument("--write", action="store_true", required=True, help="play and record")
parser.add_argument("--only", action="append", choices=PLAYS, metavar="GAME", help=" ".join(PLAYS))
arguments = parser.parse_args()
write({game: replay(game) for game in arguments.only or PLAYS})
