"""BALROG's progression in NetHack: the share of human players as far who won."""

from __future__ import annotations

__all__ = ["progression"]

# fmt: off
_WON_AFTER_DEPTH = (
    0.0, 0.0154, 0.0175, 0.0212, 0.0265, 0.0354, 0.0485, 0.0696, 0.0977, 0.1256, 0.1613, 0.2061,
    0.2566, 0.2925, 0.3088, 0.3249, 0.3401, 0.3526, 0.3655, 0.379, 0.3929, 0.4083, 0.4258, 0.4452,
    0.4664, 0.5068, 0.5544, 0.6016, 0.6465, 0.6913, 0.7101, 0.7176, 0.7232, 0.7284, 0.7328, 0.7369,
    0.7421, 0.7471, 0.7537, 0.761, 0.7674, 0.7725, 0.7772, 0.7813, 0.7859, 0.789, 0.793, 0.7967,
    0.8018, 0.8068,
)
"""Share of human games won after reaching dungeon level 1, 2, ... 50; the first is set to 0. Both
tables are from BALROG's ``achievements.json`` (MIT), rounded to four digits.
"""
_WON_AFTER_EXPERIENCE = (
    0.0, 0.0185, 0.0208, 0.0242, 0.0291, 0.0369, 0.0508, 0.0745, 0.117, 0.1791, 0.2548, 0.3326,
    0.4144, 0.494, 0.5779, 0.6261, 0.6563, 0.681, 0.7015, 0.7174, 0.7287, 0.7371, 0.7443, 0.7513,
    0.7586, 0.7642, 0.7703, 0.776, 0.7783, 0.7805,
)
"""Same share for experience level 1, 2, ... 30."""
# fmt: on


def progression(depth: int, experience: int) -> float:
    """Return the larger of both shares: for the deepest dungeon level, for the experience level.

    >>> progression(5, 1), progression(1, 10)
    (0.0265, 0.1791)
    """
    found = ((_WON_AFTER_DEPTH, depth), (_WON_AFTER_EXPERIENCE, experience))
    return max(shares[min(max(level, 1), len(shares)) - 1] for shares, level in found)
