"""A run of many episodes: its workers, the comparison, LDM2's exploration, CLIN's transfer.

What one job is and how its episodes follow each other lives in ``run/``; what they came to, in
``results/``. Nothing here prints.
"""
