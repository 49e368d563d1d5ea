"""Roles: the parts of a memory that the papers give to a language model.

``base.py`` holds their protocols, ``rules.py`` and ``stma_rules.py`` the defaults, ``llm*.py`` the
versions that ask a model. A role keeps no state.
"""

from gym_memory.memory.roles.base import (
    AbstractCauses,
    Aggregate,
    CausalAbstraction,
    Classify,
    Cluster,
    Compare,
    EvaluateSubgoals,
    Explore,
    ExtractRelations,
    GeneralizeCauses,
    Importance,
    Insights,
    Learnings,
    Outdated,
    Reflect,
    RelevantEntities,
    Subgoal,
    Summarize,
)
from gym_memory.memory.roles.llm import (
    LLMRole,
    RoleCounts,
    chat_model,
    role_counts,
)
from gym_memory.memory.roles.llm_graph import (
    LLMAggregate,
    LLMExplore,
    LLMExtractor,
    LLMExtractRelations,
    LLMOutdated,
    LLMRelevantEntities,
)
from gym_memory.memory.roles.llm_index import (
    LLMClassify,
    LLMCluster,
    LLMCompare,
    LLMEvaluateSubgoals,
)
from gym_memory.memory.roles.llm_lessons import (
    LLMAbstractCauses,
    LLMGeneralizeCauses,
    LLMImportance,
    LLMInsights,
    LLMReflect,
    LLMSummarize,
)

__all__ = [
    "AbstractCauses",
    "Aggregate",
    "CausalAbstraction",
    "Classify",
    "Cluster",
    "Compare",
    "EvaluateSubgoals",
    "Explore",
    "ExtractRelations",
    "GeneralizeCauses",
    "Importance",
    "Insights",
    "LLMAbstractCauses",
    "LLMAggregate",
    "LLMClassify",
    "LLMCluster",
    "LLMCompare",
    "LLMEvaluateSubgoals",
    "LLMExplore",
    "LLMExtractRelations",
    "LLMExtractor",
    "LLMGeneralizeCauses",
    "LLMImportance",
    "LLMInsights",
    "LLMOutdated",
    "LLMReflect",
    "LLMRelevantEntities",
    "LLMRole",
    "LLMSummarize",
    "Learnings",
    "Outdated",
    "Reflect",
    "RelevantEntities",
    "RoleCounts",
    "Subgoal",
    "Summarize",
    "chat_model",
    "role_counts",
]
