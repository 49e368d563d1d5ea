"""Record behaviour: hashes of what games show, memories recall, policies do and training gives.

After an intended change, write the record again; ``git diff`` shows which cells changed::

    python -m tests.manifest --write --only Cooking
"""
