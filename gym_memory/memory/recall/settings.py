"""Settings of AriGraph's recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from gym_memory.core.settings import Help, Settings
from gym_memory.llm.base import ChatModel
from gym_memory.memory.encoders import DEFAULT_MODEL

__all__ = ["AriGraphSettings"]


@dataclass(frozen=True)
class AriGraphSettings(Settings):
    """Settings of AriGraph; those marked (ours) are not in the paper."""

    width: Annotated[int, Help("Edges that one query of Algorithm 2 retrieves, w.", low=1)] = 6
    depth: Annotated[int, Help("Depth d of Algorithm 2; 1 or 2 in the authors' code.", low=0)] = 2
    episodes: Annotated[int, Help("Observations to recall, k.", low=0)] = 2
    recent: Annotated[
        int,
        Help("Latest observations that are never recalled: the agent's history has them.", low=0),
    ] = 5
    attempts: Annotated[
        int,
        Help("Last actions to show without gaps, with the first line of the result (ours).", low=0),
    ] = 20
    dated: Annotated[bool, Help("Answer questions about the past with dated facts (ours).")] = True
    recall: Annotated[
        Literal["structural", "semantic"],
        Help("Search for facts: without an encoder (ours), or the paper's Algorithm 2."),
    ] = "structural"
    encoder: Annotated[str, Help("Encoder of ``semantic``; see gym_memory.memory.encoders.")] = (
        DEFAULT_MODEL
    )
    threshold: Annotated[
        float | str | None,
        Help(
            "Least similarity of a retrieved edge; None for any, as in the paper; ``auto`` for "
            "what unrelated texts rarely reach with this encoder."
        ),
    ] = None
    episodic: Annotated[bool, Help("Recall observations (the paper's ablation).")] = True
    semantic: Annotated[
        bool,
        Help("Recall facts (the paper's ablation); an episodic search still starts from them."),
    ] = True
    exploration: Annotated[bool, Help("Recall unexplored exits (the paper's ablation).")] = True
    episodic_score: Annotated[
        Literal["paper", "code", "relevance"],
        Help(
            "Equation 1, the score of the authors' code, or the relevance of the recalled facts "
            "instead of their number (ours, for long texts with many facts)."
        ),
    ] = "paper"
    lifetime: Annotated[
        Literal["episode", "trial", "task", "forever"],
        Help(
            "When graph and episodes are cleared: at every episode, at a new task instance, at a "
            "new goal, never. For another trial of an instance, things return to first sight."
        ),
    ] = "episode"
    store: Annotated[
        str | None,
        Help(
            "File or postgresql:// URL that keeps graph and observations, for any number of "
            "processes and a lifetime beyond the episode. An episode starts from the newest state "
            "and adds what it learnt when it ends; one that is cut off adds nothing."
        ),
    ] = None
    llm: Annotated[
        str | ChatModel | None,
        Help("Chat model, or its spec, that plays the roles; None for the rules."),
    ] = None
