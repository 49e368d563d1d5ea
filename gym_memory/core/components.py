"""Built-in components by kind: a name, and where its class or function is.

A component of this package joins by a line here; one of another package by an entry point or by
``register`` of its :class:`~gym_memory.core.names.Registry`.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

__all__ = ["CALLBACKS", "ENVIRONMENTS", "EXTRACTORS", "MEMORIES", "MODELS", "POLICIES"]
__all__ += ["PROTOCOLS", "Component"]


class Component(NamedTuple):
    """A built-in component: its ``module:name``, and a required parameter."""

    target: str
    needs: str = ""

    @property
    def about(self) -> str:
        """Return a line about it, the first sentence of its docstring or help; imports nothing."""
        module, _, name = self.target.partition(":")
        top, *parts = module.split(".")
        spec = find_spec(top)
        folders = spec.submodule_search_locations if spec else None
        if not folders:
            return ""
        path = Path(folders[0], *parts)
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        start = "help=" if name == "app" else rf"\n(?:class|def) {name}\b.*?"
        found = re.search(start + r'"""(.+?)(?:\n\n|""")', path.read_text("utf-8"), re.DOTALL)
        return " ".join(found[1].split()) if found else ""


ENVIRONMENTS = {
    "ALFWorld": Component("gym_memory.games.alfworld.env:ALFWorld"),
    "AgentOdyssey": Component("gym_memory.games.agentodyssey:AgentOdyssey"),
    "Cleaning": Component("gym_memory.games.textworld.cleaning:Cleaning"),
    "Cooking": Component("gym_memory.games.textworld.cooking:Cooking"),
    "Errands": Component("gym_memory.games.textworld.errands:Errands"),
    "Fetch": Component("gym_memory.games.fetch:Fetch"),
    "Foreign": Component("gym_memory.games.foreign.env:make_foreign"),
    "Jericho": Component("gym_memory.games.jericho.env:Jericho"),
    "MultiHopQA": Component("gym_memory.games.qa.env:MultiHopQA"),
    "NetHack": Component("gym_memory.games.nethack.env:NetHack"),
    "Panel": Component("gym_memory.panels.env:PanelEnv", needs="panel"),
    "ScienceWorld": Component("gym_memory.games.scienceworld.env:ScienceWorld"),
    "TextWorld": Component("gym_memory.games.textworld.challenges:make_textworld"),
    "TreasureHunt": Component("gym_memory.games.textworld.treasure_hunt:TreasureHunt"),
    "WebShop": Component("gym_memory.games.webshop.env:WebShop"),
}

EXTRACTORS = {
    "alfworld": Component("gym_memory.games.alfworld.rules:ALFWorldRules"),
    "nethack": Component("gym_memory.games.nethack.rules:NetHackRules"),
    "plain": Component("gym_memory.extract.plain:PlainRules"),
    "prose": Component("gym_memory.games.qa.rules:ProseRules"),
    "scienceworld": Component("gym_memory.games.scienceworld.rules:ScienceWorldRules"),
    "textworld": Component("gym_memory.games.textworld.rules:TextWorldRules"),
    "webshop": Component("gym_memory.games.webshop.rules:WebShopRules"),
}

MEMORIES = {
    "adversarial": Component("gym_memory.memory.controls:Adversarial"),
    "amem": Component("gym_memory.memory.experience.amem:AMem"),
    "arigraph": Component("gym_memory.memory.arigraph:AriGraph"),
    "clin": Component("gym_memory.memory.clin:Clin"),
    "evotest": Component("gym_memory.memory.experience.evotest:EvoTest"),
    "expel": Component("gym_memory.memory.experience.expel:ExpeL"),
    "exprag": Component("gym_memory.memory.experience.exprag:ExpRAG"),
    "exprecent": Component("gym_memory.memory.experience.exprag:ExpRecent"),
    "fusion": Component("gym_memory.memory.experience.fusion:Fusion"),
    "history": Component("gym_memory.memory.history:History"),
    "ldm2": Component("gym_memory.memory.ldm2.memory:LDM2"),
    "memp": Component("gym_memory.memory.experience.memp:Memp"),
    "memrl": Component("gym_memory.memory.experience.memrl:MemRL"),
    "noise": Component("gym_memory.memory.controls:Noise"),
    "none": Component("gym_memory.memory.controls:NoMemory"),
    "notes": Component("gym_memory.memory.experience.notes:PolicyNotes"),
    "oracle": Component("gym_memory.memory.controls:OracleGraph"),
    "placebo": Component("gym_memory.memory.controls:Placebo"),
    "playbook": Component("gym_memory.memory.experience.playbook:Playbook"),
    "present": Component("gym_memory.memory.controls:Present"),
    "rag": Component("gym_memory.memory.rag:RAG"),
    "reasoningbank": Component("gym_memory.memory.experience.reasoningbank:ReasoningBank"),
    "reflexion": Component("gym_memory.memory.reflexion:Reflexion"),
    "remote": Component("gym_memory.memory.remote:Remote", needs="url"),
    "shuffled": Component("gym_memory.memory.controls:ShuffledGraph"),
    "simulacra": Component("gym_memory.memory.simulacra:Simulacra"),
    "simutil": Component("gym_memory.memory.experience.simutil:SimUtil"),
    "skills": Component("gym_memory.memory.experience.skills:Skills"),
    "stma": Component("gym_memory.memory.stma:STMA"),
    "summary": Component("gym_memory.memory.summary:Summary"),
    "workflows": Component("gym_memory.memory.experience.workflows:WorkflowMemory"),
}

POLICIES = {
    "a2c": Component("gym_memory.baselines.rl.players:A2c"),
    "adaplanner": Component("gym_memory.baselines.llm.adaplanner:AdaPlanner"),
    "answerer": Component("gym_memory.baselines.llm.answerer:Answerer"),
    "ariadne": Component("gym_memory.baselines.llm.ariadne:Ariadne"),
    "bc": Component("gym_memory.baselines.rl.players:Bc"),
    "calm": Component("gym_memory.baselines.llm.calm:Calm"),
    "choose": Component("gym_memory.baselines.llm.saycan:Choose"),
    "clin": Component("gym_memory.baselines.llm.clin:Clin"),
    "descender": Component("gym_memory.baselines.rules.nethack:Descender"),
    "drrn": Component("gym_memory.baselines.rl.players:Drrn"),
    "explorer": Component("gym_memory.baselines.rules.explorer:Explorer"),
    "gata": Component("gym_memory.baselines.rl.players:Gata"),
    "glow": Component("gym_memory.baselines.llm.glow:Glow"),
    "human": Component("gym_memory.baselines.scripted:Human"),
    "imitator": Component("gym_memory.baselines.rules.scienceworld.imitator:Imitator"),
    "ldm2": Component("gym_memory.baselines.llm.ldm2:Ldm2"),
    "learner": Component("gym_memory.baselines.rules.learner:LessonFollower"),
    "lm": Component("gym_memory.train.lm:Lm"),
    "ltl-gata": Component("gym_memory.baselines.rl.players:LtlGata"),
    "netplay": Component("gym_memory.baselines.llm.netplay:NetPlay"),
    "plain": Component("gym_memory.baselines.llm.react:Plain"),
    "planner": Component("gym_memory.baselines.rules.textworld.planner:Planner"),
    "prompted": Component("gym_memory.train.steps:PromptedPolicy"),
    "random": Component("gym_memory.baselines.scripted:Random"),
    "react": Component("gym_memory.baselines.llm.react:React"),
    "reader": Component("gym_memory.baselines.rules.qa:Reader"),
    "reflexion": Component("gym_memory.baselines.llm.react:Reflexion"),
    "saycan": Component("gym_memory.baselines.llm.saycan:SayCan"),
    "sb3": Component("gym_memory.train.sb3:Sb3Player"),
    "scribe": Component("gym_memory.baselines.scripted:Scribe"),
    "searcher": Component("gym_memory.baselines.rules.alfworld:Searcher"),
    "shopper": Component("gym_memory.baselines.rules.webshop:Shopper"),
    "stma": Component("gym_memory.baselines.llm.stma:Stma"),
    "symbolic": Component("gym_memory.baselines.rl.symbolic:Symbolic"),
    "text": Component("gym_memory.baselines.rl.players:Text"),
    "walkthrough": Component("gym_memory.baselines.scripted:Walkthrough"),
}

MODELS = {
    "openai": Component("gym_memory.llm.client:OpenAIChat"),
    "smollm": Component("gym_memory.llm.smollm:SmolLM"),
    "transformers": Component("gym_memory.llm.local:TransformersChat"),
}

PROTOCOLS = {
    "best_of": Component("gym_memory.run.protocols:BestOf"),
    "evotest": Component("gym_memory.run.protocols:TestTimeLearning"),
    "interactions": Component("gym_memory.run.protocols:Interactions"),
    "restart_budget": Component("gym_memory.run.protocols:RestartBudget"),
    "single_episode": Component("gym_memory.run.protocols:SingleEpisode"),
    "stream": Component("gym_memory.run.streams:Stream"),
    "tales": Component("gym_memory.run.protocols:Tales"),
    "trials": Component("gym_memory.run.protocols:Trials"),
}

CALLBACKS = {
    "mlflow": Component("gym_memory.run.callbacks:MLflow"),
    "tensorboard": Component("gym_memory.run.callbacks:TensorBoard"),
    "wandb": Component("gym_memory.run.callbacks:WandB"),
}
