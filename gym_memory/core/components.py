"""Built-in components by kind: a name, where its class or function is, and one line about it.

A component of this package joins by a line here; one of another package by an entry point or by
``register`` of its :class:`~gym_memory.core.names.Registry`.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CALLBACKS", "ENVIRONMENTS", "EXTRACTORS", "MEMORIES", "MODELS", "POLICIES"]
__all__ += ["PROTOCOLS", "Component"]


class Component(NamedTuple):
    """A built-in component: its ``module:name``, a line about it, and a required parameter."""

    target: str
    about: str
    needs: str = ""


ENVIRONMENTS = {
    "ALFWorld": Component(
        "gym_memory.games.alfworld.env:ALFWorld",
        "Six types of household tasks in a room full of furniture and objects.",
    ),
    "AgentOdyssey": Component(
        "gym_memory.games.agentodyssey:AgentOdyssey",
        "The worlds of the package `agentodyssey` on its own engine.",
    ),
    "Cleaning": Component(
        "gym_memory.games.textworld.cleaning:Cleaning",
        "A house to tidy, by putting misplaced things where they belong.",
    ),
    "Cooking": Component(
        "gym_memory.games.textworld.cooking:Cooking",
        "A meal to cook by its recipe.",
    ),
    "Errands": Component(
        "gym_memory.games.textworld.errands:Errands",
        "Things and places to find again over days, while some things are moved out of view.",
    ),
    "Fetch": Component(
        "gym_memory.games.fetch:Fetch",
        "Things to fetch, one after another, in a house of 5, 10 or 20 rooms.",
    ),
    "Foreign": Component(
        "gym_memory.games.foreign.env:make_foreign",
        "Any other text environment, by its Gymnasium id or by a function that makes it.",
    ),
    "Jericho": Component(
        "gym_memory.games.jericho.env:Jericho",
        "Z-machine stories (.z3 to .z8), those that jericho knows and any other.",
    ),
    "MultiHopQA": Component(
        "gym_memory.games.qa.env:MultiHopQA",
        "A question to answer from its passages, distractors among them.",
    ),
    "NetHack": Component(
        "gym_memory.games.nethack.env:NetHack",
        "NetHack 3.6 in words, with skills as actions.",
    ),
    "Panel": Component(
        "gym_memory.panels.env:PanelEnv",
        "A fixed list of tasks, whose texts are checked: `panel:NAME`, see `gym-memory panel`.",
        needs="panel",
    ),
    "ScienceWorld": Component(
        "gym_memory.games.scienceworld.env:ScienceWorld",
        "The thirty tasks of ScienceWorld on the original engine, which needs Java.",
    ),
    "TextWorld": Component(
        "gym_memory.games.textworld.challenges:make_textworld",
        "A story file, or a challenge of TextWorld.",
    ),
    "TreasureHunt": Component(
        "gym_memory.games.textworld.treasure_hunt:TreasureHunt",
        "A treasure to find by keys and notes that lead to a golden locker.",
    ),
    "WebShop": Component(
        "gym_memory.games.webshop.env:WebShop",
        "A shop with search, result, item and detail pages.",
    ),
}

EXTRACTORS = {
    "alfworld": Component(
        "gym_memory.games.alfworld.rules:ALFWorldRules",
        "Rules that read ALFWorld.",
    ),
    "nethack": Component(
        "gym_memory.games.nethack.rules:NetHackRules",
        "Rules that read NetHack.",
    ),
    "plain": Component(
        "gym_memory.extract.plain:PlainRules",
        "Rules that read plain English of any game.",
    ),
    "prose": Component(
        "gym_memory.games.qa.rules:ProseRules",
        "Rules that read the passages of MultiHopQA.",
    ),
    "scienceworld": Component(
        "gym_memory.games.scienceworld.rules:ScienceWorldRules",
        "Rules that read ScienceWorld.",
    ),
    "textworld": Component(
        "gym_memory.games.textworld.rules:TextWorldRules",
        "Rules that read TextWorld.",
    ),
    "webshop": Component(
        "gym_memory.games.webshop.rules:WebShopRules",
        "Rules that read the pages of WebShop.",
    ),
}

MEMORIES = {
    "adversarial": Component(
        "gym_memory.memory.controls:Adversarial",
        "Recalled facts with permuted objects.",
    ),
    "amem": Component(
        "gym_memory.memory.experience.amem:AMem",
        "A-MEM: each observation is a note that is linked to its nearest notes.",
    ),
    "arigraph": Component(
        "gym_memory.memory.arigraph:AriGraph",
        "AriGraph's memory: a temporal graph of facts, and the observations that are tied to it.",
    ),
    "clin": Component(
        "gym_memory.memory.clin:Clin",
        "CLIN's memory: causes and effects, as sentences of four forms.",
    ),
    "evotest": Component(
        "gym_memory.memory.experience.evotest:EvoTest",
        "EvoTest: a memory of gains and loops, and guidance chosen from a tree after each trial.",
    ),
    "expel": Component(
        "gym_memory.memory.experience.expel:ExpeL",
        "ExpeL: rules that operations add, agree with, edit and remove, and worked examples.",
    ),
    "exprag": Component(
        "gym_memory.memory.experience.exprag:ExpRAG",
        "The past episodes with the most similar goals: input, output and feedback.",
    ),
    "exprecent": Component(
        "gym_memory.memory.experience.exprag:ExpRecent",
        "The last `k` episodes, whatever their goals.",
    ),
    "fusion": Component(
        "gym_memory.memory.experience.fusion:Fusion",
        "Several memories in turn, each within its share of the budget.",
    ),
    "history": Component(
        "gym_memory.memory.history:History",
        "A transcript of the latest (action, observation) pairs that fit.",
    ),
    "ldm2": Component(
        "gym_memory.memory.ldm2.memory:LDM2",
        "LDM2's dynamic memory: formation, two-level index, retrieval, refinement.",
    ),
    "memp": Component(
        "gym_memory.memory.experience.memp:Memp",
        "Memp: a procedure from each episode, found by the goal or by the facts in it.",
    ),
    "memrl": Component(
        "gym_memory.memory.experience.memrl:MemRL",
        "MemRL: two-phase recall, by similarity and by values that outcomes update.",
    ),
    "noise": Component(
        "gym_memory.memory.controls:Noise",
        "Facts of another world, with as many characters as AriGraph would recall.",
    ),
    "none": Component(
        "gym_memory.memory.controls:NoMemory",
        "Remembers nothing; its recall is always empty.",
    ),
    "notes": Component(
        "gym_memory.memory.experience.notes:PolicyNotes",
        "Numbered notes within a budget, which only the policy writes.",
    ),
    "oracle": Component(
        "gym_memory.memory.controls:OracleGraph",
        "Exactly the engine's facts, seen or not; recalls and ranks as AriGraph does.",
    ),
    "placebo": Component(
        "gym_memory.memory.controls:Placebo",
        "Another memory's lessons with one thing spoiled: the controls of memories over trials.",
    ),
    "playbook": Component(
        "gym_memory.memory.experience.playbook:Playbook",
        "ACE: a playbook whose bullets grow, and are counted helpful or harmful.",
    ),
    "present": Component(
        "gym_memory.memory.controls:Present",
        "A graph of the present step alone: extraction without remembering.",
    ),
    "rag": Component(
        "gym_memory.memory.rag:RAG",
        "Retrieval-augmented generation, the baseline of the AriGraph paper.",
    ),
    "reasoningbank": Component(
        "gym_memory.memory.experience.reasoningbank:ReasoningBank",
        "ReasoningBank: a few general items from each episode, found by its task.",
    ),
    "reflexion": Component(
        "gym_memory.memory.reflexion:Reflexion",
        "Reflections on failed trials of one task instance, the last few of them.",
    ),
    "remote": Component(
        "gym_memory.memory.remote:Remote",
        "A memory that a service keeps, in any language, reached by HTTP.",
        needs="url",
    ),
    "shuffled": Component(
        "gym_memory.memory.controls:ShuffledGraph",
        "A graph with randomly exchanged names: the neutral control.",
    ),
    "simulacra": Component(
        "gym_memory.memory.simulacra:Simulacra",
        "Memory of generative agents, a baseline of the AriGraph paper.",
    ),
    "simutil": Component(
        "gym_memory.memory.experience.simutil:SimUtil",
        "SimUtil-UCB of RetroAgent: similarity, utility and a bonus for rarely shown items.",
    ),
    "skills": Component(
        "gym_memory.memory.experience.skills:Skills",
        "D2Skill: task skills from the start, step skills where an error happened before.",
    ),
    "stma": Component(
        "gym_memory.memory.stma:STMA",
        "STMA's spatio-temporal memory: a summary of the past, and a graph of places.",
    ),
    "summary": Component(
        "gym_memory.memory.summary:Summary",
        "Iterative summarisation, the baseline of the AriGraph paper.",
    ),
    "workflows": Component(
        "gym_memory.memory.experience.workflows:WorkflowMemory",
        "Agent Workflow Memory: routines induced online from every success.",
    ),
}

POLICIES = {
    "a2c": Component(
        "gym_memory.baselines.rl.players:A2c",
        "A trained actor.",
    ),
    "adaplanner": Component(
        "gym_memory.baselines.llm.adaplanner:AdaPlanner",
        "AdaPlanner: a plan as code, refined in the plan by `ask` and out of it by feedback.",
    ),
    "answerer": Component(
        "gym_memory.baselines.llm.answerer:Answerer",
        "A model that looks passages up, then answers.",
    ),
    "ariadne": Component(
        "gym_memory.baselines.llm.ariadne:Ariadne",
        "Ariadne: plans, then decides; keeps the last plan if planning fails.",
    ),
    "bc": Component(
        "gym_memory.baselines.rl.players:Bc",
        "A policy cloned from demonstrations.",
    ),
    "calm": Component(
        "gym_memory.baselines.llm.calm:Calm",
        "CALM: softmax Q(o, a) over the k proposals A(c, k) (sections 3.2 and 3.3).",
    ),
    "choose": Component(
        "gym_memory.baselines.llm.saycan:Choose",
        "A model that scores each valid action by its likelihood.",
    ),
    "clin": Component(
        "gym_memory.baselines.llm.clin:Clin",
        "CLIN's agent: a goal set with the help of learnings, then the action for it.",
    ),
    "descender": Component(
        "gym_memory.baselines.rules.nethack:Descender",
        "A NetHack player that explores, fights, rests, prays when weak, and descends when ready.",
    ),
    "drrn": Component(
        "gym_memory.baselines.rl.players:Drrn",
        "A trained DRRN.",
    ),
    "explorer": Component(
        "gym_memory.baselines.rules.explorer:Explorer",
        "Go-Explore: archives every state with the way to it, chooses one, tries what is new.",
    ),
    "gata": Component(
        "gym_memory.baselines.rl.players:Gata",
        "A trained GATA-like agent.",
    ),
    "glow": Component(
        "gym_memory.baselines.llm.glow:Glow",
        "GLoW: explores as the explorer does, with a model in its three roles.",
    ),
    "human": Component(
        "gym_memory.baselines.scripted:Human",
        "A person at the terminal.",
    ),
    "imitator": Component(
        "gym_memory.baselines.rules.scienceworld.imitator:Imitator",
        "A ScienceWorld player that follows the best demonstration.",
    ),
    "ldm2": Component(
        "gym_memory.baselines.llm.ldm2:Ldm2",
        "LDM2's agent, which imitates examples.",
    ),
    "learner": Component(
        "gym_memory.baselines.rules.learner:LessonFollower",
        "A player that follows its lessons, then explores with actions that they do not reject.",
    ),
    "lm": Component(
        "gym_memory.train.lm:Lm",
        "A cloned language model that takes the likeliest valid action.",
    ),
    "ltl-gata": Component(
        "gym_memory.baselines.rl.players:LtlGata",
        "A trained LTL-GATA.",
    ),
    "netplay": Component(
        "gym_memory.baselines.llm.netplay:NetPlay",
        "NetPlay: a model that names a skill and its arguments.",
    ),
    "plain": Component(
        "gym_memory.baselines.llm.react:Plain",
        "A model that acts on the full history.",
    ),
    "planner": Component(
        "gym_memory.baselines.rules.textworld.planner:Planner",
        "A TextWorld player that explores, follows clues and recipes, unlocks, cooks and tidies.",
    ),
    "prompted": Component(
        "gym_memory.train.steps:PromptedPolicy",
        "A model that acts on the present state and the memory alone.",
    ),
    "random": Component(
        "gym_memory.baselines.scripted:Random",
        "A player that draws one of the valid actions, all equally likely.",
    ),
    "react": Component(
        "gym_memory.baselines.llm.react:React",
        "ReAct: a model that thinks, then acts.",
    ),
    "reader": Component(
        "gym_memory.baselines.rules.qa:Reader",
        "A MultiHopQA player that reads everything, then answers.",
    ),
    "reflexion": Component(
        "gym_memory.baselines.llm.react:Reflexion",
        "Reflexion: thinks, acts, and reflects after a trial that did not win.",
    ),
    "saycan": Component(
        "gym_memory.baselines.llm.saycan:SayCan",
        "SayCan: argmax p(c | s, action) p(action | instruction) (section 3, Algorithm 1).",
    ),
    "sb3": Component(
        "gym_memory.train.sb3:Sb3Player",
        "A trained PPO or MaskablePPO of Stable-Baselines3.",
    ),
    "scribe": Component(
        "gym_memory.baselines.scripted:Scribe",
        "A player that tries actions that its notes lack, then the one tried longest ago.",
    ),
    "searcher": Component(
        "gym_memory.baselines.rules.alfworld:Searcher",
        "An ALFWorld player for all six task types; it explores if the task has another type.",
    ),
    "shopper": Component(
        "gym_memory.baselines.rules.webshop:Shopper",
        "A WebShop player that searches, compares and buys.",
    ),
    "stma": Component(
        "gym_memory.baselines.llm.stma:Stma",
        "STMA's agent: plans several actions, criticises each before it is played.",
    ),
    "symbolic": Component(
        "gym_memory.baselines.rl.symbolic:Symbolic",
        "A learner of symbolic rules that takes an action with a rule for it, else explores.",
    ),
    "text": Component(
        "gym_memory.baselines.rl.players:Text",
        "A trained reader of text.",
    ),
    "walkthrough": Component(
        "gym_memory.baselines.scripted:Walkthrough",
        "The engine's solution: the upper bound of every score.",
    ),
}

MODELS = {
    "openai": Component(
        "gym_memory.llm.client:OpenAIChat",
        "A chat model behind the OpenAI wire format.",
    ),
    "smollm": Component(
        "gym_memory.llm.smollm:SmolLM",
        "SmolLM2-135M-Instruct in this process, with weights in float32.",
    ),
    "transformers": Component(
        "gym_memory.llm.local:TransformersChat",
        "A causal language model in this process.",
    ),
}

PROTOCOLS = {
    "best_of": Component(
        "gym_memory.run.protocols:BestOf",
        "Several episodes of one task instance, the best of which counts (LDM2, Eq. 5).",
    ),
    "evotest": Component(
        "gym_memory.run.protocols:TestTimeLearning",
        "Trials of one game, scored by the area under their curve (EvoTest's J-TTL).",
    ),
    "interactions": Component(
        "gym_memory.run.protocols:Interactions",
        "A budget of steps on one task instance; the policy may go back (GLoW, Go-Explore).",
    ),
    "restart_budget": Component(
        "gym_memory.run.protocols:RestartBudget",
        "Restarts of one task instance until a win or the last step; the best episode counts.",
    ),
    "single_episode": Component(
        "gym_memory.run.protocols:SingleEpisode",
        "One episode per seed, with an initially empty memory.",
    ),
    "stream": Component(
        "gym_memory.run.streams:Stream",
        "Tasks in sequence with one memory, whose layers keep their lifetimes.",
    ),
    "tales": Component(
        "gym_memory.run.protocols:Tales",
        "Restarts of a lost game until the last step, as in TALES; the best final score counts.",
    ),
    "trials": Component(
        "gym_memory.run.protocols:Trials",
        "Trials of one task instance; the memory is kept (CLIN, Reflexion).",
    ),
}

CALLBACKS = {
    "mlflow": Component(
        "gym_memory.run.callbacks:MLflow",
        "Logs to MLflow.",
    ),
    "tensorboard": Component(
        "gym_memory.run.callbacks:TensorBoard",
        "Events in `tensorboard/` of the results folder, for `tensorboard --logdir`.",
    ),
    "wandb": Component(
        "gym_memory.run.callbacks:WandB",
        "Logs to Weights & Biases; without an account `wandb?mode=offline` writes to the folder.",
    ),
}
