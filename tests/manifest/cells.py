"""List the cells of the record: which policy plays which game with which memory."""

from __future__ import annotations

from gym_memory.memory import MEMORIES
from gym_memory.run.config import Job
from gym_memory.testing.fake_env import RAW_ID, register_fake

__all__ = ["cell_name", "cells"]

register_fake()

SCIENCE = "ScienceWorld?split=dev&valid_actions=false"
DEMONSTRATIONS = "gym_memory/baselines/rules/scienceworld/demonstrations.jsonl.gz"
IMITATOR = "imitator?checkpoint=shipped"

EVERY_MEMORY = {
    "Cooking?level=medium": "planner",
    "Cooking?level=voices&split=valid": "planner",
    "TreasureHunt?level=hard": "planner",
    "TreasureHunt?level=voices-hard&split=valid": "planner",
    "Errands?level=short": "planner",
    "Cleaning?level=standard": "planner?encoder=hash",
    "Cleaning?level=voices-house&split=valid": "planner?encoder=hash",
    "TextWorld?challenge=treasure_hunter": "planner",
    "ALFWorld?path=generated": "searcher",
    "WebShop?split=valid": "shopper",
    "MultiHopQA": "reader",
    "NetHack?view=room": "descender",
    "Fetch?level=hard": "planner",
    "FakeHouse": "learner",
    f"Foreign?id={RAW_ID}": "planner",
}
"""Game to the policy that knows it; these are cheap enough to be played with every memory."""

FEW = ("none", "arigraph", "stma", "summary", "rag")
FEW_MEMORIES = {
    "Cooking?level=voices&split=train": "planner",
    "Cooking?level=voices&split=test": "planner",
    "TreasureHunt?level=voices-easy&split=train": "planner",
    "TreasureHunt?level=voices-easy&split=test": "planner",
    "Cleaning?level=voices-room&split=train": "planner?encoder=hash",
    "Cleaning?level=voices-room&split=test": "planner?encoder=hash",
    "NetHack?view=level": "descender",
    "TextWorld?challenge=simple": "planner",
    "TextWorld?challenge=coin_collector": "planner",
    "AgentOdyssey": "planner",
    "ForeignHouse": "random",
    "MultiHopQA?search=true": "reader",
    "Jericho": "planner",
    SCIENCE: IMITATOR,
}
"""Game to its policy; these are slow, or variants of the games above."""

VARIANTS = (
    "arigraph?episodic=false",
    "arigraph?exploration=false&semantic=false",
    "arigraph?lifetime=trial",
    "arigraph?encoder=hash&recall=semantic",
    "stma?buffer=3&encoder=hash&size=100",
    "stma?aggregator=false&spatial_summarizer=false&summarizer=false",
    "stma?spatial=false",
    "history?full=true",
    "rag?order=rank&recent=3",
    "rag?by=hash&k=5",
    "simulacra?recent=1&threshold=9",
    "reflexion?inner=arigraph",
)
LEARNING = ("clin", "clin?advice=true&lifetime=forever", "reflexion", "arigraph?lifetime=trial")
LEARNING += ("memrl", "simutil", "skills", "memp", "exprag", "exprecent")
LEARNING += ("reasoningbank", "workflows", "expel", "playbook", "evotest")
"""Memories that learn from trial to trial."""

BY_MODEL = ("arigraph", "stma", "summary", "simulacra", "clin", "reflexion")
"""Memories whose roles a language model can take."""
AGENTS = ("react", "reflexion", "plain", "stma", "clin?encoder=hash", "ldm2", "glow")
AGENTS += ("adaplanner?llm=openai",)
"""Policies that call a language model, as Ariadne does."""


def cells() -> list[Job]:
    """Return every cell, as the job of its first seed."""
    found = [
        Job(env, memory, EVERY_MEMORY[env], 0)
        for env in EVERY_MEMORY
        for memory in MEMORIES.names()
    ]
    found += [Job(env, memory, FEW_MEMORIES[env], 0) for env in FEW_MEMORIES for memory in FEW]
    for env in ("Cooking?level=medium", "FakeHouse"):
        found += [Job(env, memory, EVERY_MEMORY[env], 0) for memory in VARIANTS]
    for env in ("TreasureHunt?level=easy", "FakeHouse"):
        found += [Job(env, memory, "learner", 0, "trials?k=2") for memory in LEARNING]
    found += [
        Job(env, memory, "ariadne", 0)
        for env in ("Cooking?level=rl-2", "TreasureHunt?level=easy", "FakeHouse")
        for memory in ("none", "history", "arigraph", "stma")
    ]
    found += [Job("FakeHouse", f"{memory}?llm=openai", "planner", 0) for memory in BY_MODEL]
    found += [Job("FakeHouse", memory, agent, 0) for memory in FEW[:2] for agent in AGENTS]
    found += [
        Job("FakeHouse", "none", policy, 0)
        for policy in ("random", "walkthrough", "explorer", "saycan", "adaplanner", "symbolic")
    ]
    found += [Job("FakeHouse", memory, "scribe", 0) for memory in ("none", "notes", "notes?free=0")]
    found += [
        Job("TreasureHunt?level=easy&navigate=true", "arigraph", "ariadne", 0),
        Job("Cooking?level=medium", "arigraph", "planner", 0, budget=100),
        Job("MultiHopQA", "arigraph", "answerer", 0),
        Job("NetHack?view=room", "arigraph", "netplay", 0),
        Job(SCIENCE, f"ldm2?store={DEMONSTRATIONS}", IMITATOR, 0),
        Job("ScienceWorld?split=dev", "arigraph", "random", 0),
    ]
    return found


def cell_name(job: Job) -> str:
    """Return the name of a cell in the record."""
    parts = [job.env, job.memory, job.policy]
    defaults = Job("", "", "", 0)
    if job.protocol != defaults.protocol:
        parts.append(job.protocol)
    if job.budget != defaults.budget:
        parts.append(f"{job.budget} tokens")
    return " | ".join(parts)
