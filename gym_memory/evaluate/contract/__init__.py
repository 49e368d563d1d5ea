"""Check a memory, a policy or an environment against its contract, in seconds.

Each check plays real episodes. A finding gives the sentence of the contract that it tried.
"""

from gym_memory.evaluate.contract.checks import CheckResult
from gym_memory.evaluate.contract.kinds import check_own, kind_of

__all__ = ["CheckResult", "check_own", "kind_of"]
