"""Record behaviour: hashes of observations, recalls, actions and trained weights.

After an intended change, write the record again; ``git diff`` shows which cells changed::

    python -m tests.manifest --write --only Cooking
"""
