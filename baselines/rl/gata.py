"""GATA-like (Adhikari et al. 2020): message passing over live triples, attention, action scorer.

As in GATA's text-and-graph agent: relational message passing over the graph, attention from the
words to the nodes and back, and a score for each action, learnt by double DQN with prioritized
replay. What differs:

* The graph is whatever the memory recalls, sparse and of any size, with no table of entities. A
  node is told by its name only where that is common; all others begin alike and become what their
  edges make of them, so a food never seen in training is as good as any.
* A message is the neighbour times the relation (as in CompGCN, Vashishth et al. 2020), one matrix
  a layer, where R-GCN has a matrix a relation or a basis of them.
* An action is the nodes that it names, after the message passing, besides the relations around
  them that DRRN sees (:mod:`gym_memory.baselines.rl.shared.features`); ``neighbourhood=false``
  leaves these out.

The rest is :class:`~gym_memory.baselines.rl.drrn.DrrnLearner`: a situation's bag holds the graph.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gym_memory.baselines.rl.shared.encoders import Encoder
from gym_memory.baselines.rl.shared.interning import Batch, Ints
from gym_memory.baselines.rl.shared.player import LearnedPolicy
from gym_memory.baselines.rl.shared.scene import ATTRIBUTES, Scene

from gym_memory.baselines.registry import POLICIES
from gym_memory.baselines.rl.drrn import DrrnLearner, DrrnSettings
from gym_memory.baselines.rl.shared.bags import BagNetwork, Seen
from gym_memory.baselines.rl.shared.features import parse_action, stem, words_of
from gym_memory.core.optional import require
from gym_memory.core.records import Observation
from gym_memory.core.settings import check_int
from gym_memory.graph.schema import PLAYER

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")

__all__ = ["Gata", "GataLearner", "GataSettings", "Graphs", "unpack_graphs"]

_HEAD = 5
"""A situation's bag begins with its text and the numbers of nodes, edges, marks and words."""


@dataclasses.dataclass(frozen=True)
class GataSettings(DrrnSettings):
    """Settings, besides DRRN's.

    Attributes:
        layers: Rounds of message passing.
        tokens: Words of the text that take part in the attention, the last ones.
        neighbourhood: Whether an action also has the features that DRRN sees.
        dim: Size of an encoding; half of DRRN's, because here every node has one.
    """

    layers: int = 2
    tokens: int = 32
    neighbourhood: bool = True
    dim: int = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("layers", self.layers, 0)
        check_int("tokens", self.tokens, 1)


class Graphs(NamedTuple):
    """Some situations' graphs as one, with their words.

    Attributes:
        counts: Nodes of each situation, shape (n,).
        edges: Node, relation's row, node; shape (edges, 3).
        marks: Node and row of one of its features; shape (marks, 2).
        words: Rows of the words, end to end.
        word_counts: Words of each situation, shape (n,).
        bags: What is left: text and features of each situation, as bags.
    """

    counts: Ints
    edges: Ints
    marks: Ints
    words: Ints
    word_counts: Ints
    bags: Batch


def _spans(starts: Ints, lengths: Ints) -> Ints:
    """``starts[i], starts[i] + 1, ...``, ``lengths[i]`` of them, for all i end to end."""
    begins = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) + np.repeat(starts - begins, lengths)


def _rest(bags: Batch, which: Ints, skipped: Ints) -> Batch:
    """The first number of some bags, and what follows after the next ``skipped`` ones."""
    lengths = bags.lengths[which] - skipped
    starts = bags.offsets[which] + skipped
    values = bags.values[_spans(starts, lengths)]
    offsets = np.cumsum(lengths) - lengths
    values[offsets] = bags.values[bags.offsets[which]]
    return Batch(values, offsets, lengths)


def unpack_graphs(bags: Batch, which: Ints) -> Graphs:
    """Read the bags of situations.

    Args:
        bags: All bags.
        which: Those that are situations, shape (n,).
    """
    starts = bags.offsets[which]
    nodes, edges, marks, words = (bags.values[starts + 1 + i] for i in range(_HEAD - 1))
    first = np.cumsum(nodes) - nodes
    at_marks = starts + _HEAD + 3 * edges
    at_words = at_marks + 2 * marks
    all_edges = bags.values[_spans(starts + _HEAD, 3 * edges)].reshape(-1, 3)
    all_edges[:, [0, 2]] += np.repeat(first, edges)[:, None]
    all_marks = bags.values[_spans(at_marks, 2 * marks)].reshape(-1, 2)
    all_marks[:, 0] += np.repeat(first, marks)
    skipped = _HEAD - 1 + 3 * edges + 2 * marks + words
    return Graphs(
        nodes,
        all_edges,
        all_marks,
        bags.values[_spans(at_words, words)],
        words,
        _rest(bags, which, skipped),
    )


class GataNetwork(BagNetwork):
    """Graphs, words and actions to Q.

    Args:
        settings: Sizes.
        encoder: Bags to vectors; its table is that of words, relations and names, too.
    """

    def __init__(self, settings: GataSettings, encoder: Encoder):
        super().__init__(encoder)
        dim, hidden = settings.dim, settings.hidden
        self.anyone = torch.nn.Parameter(torch.randn(dim) / dim**0.5)
        self.own = torch.nn.ModuleList(torch.nn.Linear(dim, dim) for _ in range(settings.layers))
        self.others = torch.nn.ModuleList(
            torch.nn.Linear(dim, dim, bias=False) for _ in range(settings.layers)
        )
        self.node_of_words = torch.nn.Linear(2 * dim, dim)
        self.word_of_nodes = torch.nn.Linear(2 * dim, dim)
        self.of_state = torch.nn.Linear(3 * dim, hidden)
        self.of_bag = torch.nn.Linear(dim, hidden, bias=False)
        self.of_nodes = torch.nn.Linear(dim, hidden, bias=False)
        self.layer = torch.nn.Linear(hidden, hidden)
        self.head = torch.nn.Linear(hidden, 1)

    def forward(self, bags: Batch, states: Ints, actions: Ints) -> torch.Tensor:
        """Values of pairs.

        Args:
            bags: Distinct bags.
            states: Which bag is the situation, of each pair, shape (pairs,).
            actions: Which bag is the action, likewise.

        Returns:
            float32 of shape (pairs,).
        """
        device = self.anyone.device
        used, state = np.unique(states, return_inverse=True)
        graphs = unpack_graphs(bags, used)
        nodes, summary = self._read(graphs)
        s = self.of_state(torch.cat([self.encoder(graphs.bags), summary], 1))

        acts, action = np.unique(actions, return_inverse=True)
        named = bags.values[bags.offsets[acts] + 1]
        a = self.of_bag(self.encoder(_rest(bags, acts, named + 1)))
        mixed = s[_on(state, device)] + a[_on(action, device)]

        # What each pair's action names: nodes of the pair's own situation.
        counts = named[action]
        first = np.cumsum(graphs.counts) - graphs.counts
        names = bags.values[_spans(bags.offsets[actions] + 2, counts)]
        which = _on(names + np.repeat(first[state], counts), device)
        pairs = _on(np.repeat(np.arange(len(counts)), counts), device)
        mixed = mixed.index_add(0, pairs, self.of_nodes(nodes)[which])
        return self.head(torch.relu(self.layer(torch.relu(mixed)))).squeeze(1)

    def _read(self, graphs: Graphs) -> tuple[torch.Tensor, torch.Tensor]:
        """Nodes after messages and attention, and each situation's nodes and words summed up."""
        device, table = self.anyone.device, self.encoder.bag.weight
        source, relation, goal = (_on(column, device) for column in graphs.edges.T)
        marked, mark = (_on(column, device) for column in graphs.marks.T)
        total = int(graphs.counts.sum())
        nodes = self.anyone.expand(total, -1).index_add(0, marked, _rows(table, mark))
        degree = torch.ones(total, device=device).index_add(
            0, goal, torch.ones(len(goal), device=device)
        )
        factor = 1 + _rows(table, relation)
        for own, others in zip(self.own, self.others, strict=True):
            sent = torch.zeros_like(nodes).index_add(0, goal, nodes[source] * factor)
            nodes = nodes + torch.relu(own(nodes) + others(sent / degree[:, None]))
        words = _rows(table, _on(graphs.words, device))
        node_table, is_node = _padded(nodes, graphs.counts)
        word_table, is_word = _padded(words, graphs.word_counts)
        match = word_table @ node_table.transpose(1, 2) / nodes.shape[1] ** 0.5
        to_nodes = _softmax(match, is_node[:, None, :])
        to_words = _softmax(match.transpose(1, 2), is_word[:, None, :])
        seen_nodes = self.node_of_words(torch.cat([node_table, to_words @ word_table], 2))
        node_table = node_table + torch.relu(seen_nodes)
        seen_words = self.word_of_nodes(torch.cat([word_table, to_nodes @ node_table], 2))
        word_table = torch.relu(seen_words) * is_word[:, :, None]
        summary = [
            (node_table * is_node[:, :, None]).sum(1) / is_node.sum(1)[:, None],
            word_table.sum(1) / is_word.sum(1).clamp(min=1)[:, None],
        ]
        return node_table[is_node], torch.cat(summary, 1)


def _on(numbers: Any, device: Any) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(numbers)).to(device)


def _rows(table: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Rows of the table; row 0, for what is unknown, is never trained."""
    return torch.nn.functional.embedding(rows, table, padding_idx=0)


def _padded(flat: torch.Tensor, counts: Ints) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows end to end as a table (situations, most rows, dim), and which of its places are used."""
    most = max(int(counts.max(initial=0)), 1)
    used = torch.from_numpy(np.arange(most) < counts[:, None]).to(flat.device)
    table = flat.new_zeros(len(counts), most, flat.shape[1])
    table[used] = flat
    return table, used


def _softmax(match: torch.Tensor, used: torch.Tensor) -> torch.Tensor:
    """Attention over the places used; a situation without any attends to nothing."""
    weights = torch.softmax(match.masked_fill(~used, -1e9), 2)
    return weights * used


class GataLearner(DrrnLearner):
    """Learns; see the module."""

    name = "gata"
    settings_class = GataSettings
    settings: GataSettings

    def _network(self, encoder: Encoder) -> BagNetwork:
        return GataNetwork(self.settings, encoder)

    def see(
        self, obs: Observation, task_id: str = "", before: Seen | None = None, action: int = -1
    ) -> Seen:
        """As DRRN, with the graph in the situation's bag and the nodes named in the actions'."""
        seen = super().see(obs, task_id, before, action)
        numbers: dict[str, int] = {PLAYER: 0}
        graph = self._graph(obs, task_id, numbers)
        state, *actions = seen.bags
        bags = [(state[0], *graph, *state[1:])]
        for command, bag in zip(obs["valid_actions"], actions, strict=True):
            phrase = parse_action(command)
            named = tuple(numbers[name] for name in phrase.names if name in numbers)
            features = bag[1:] if self.settings.neighbourhood else ()
            said = self._vocabulary.rows((f"a {phrase.verb} {phrase.template}", _said(phrase.verb)))
            bags.append((bag[0], len(named), *named, *said, *features))
        return seen._replace(bags=tuple(bags))

    def _graph(self, obs: Observation, task_id: str, numbers: dict[str, int]) -> list[int]:
        """Counts, edges, marks and words; gives the nodes their numbers."""
        rows, lexicon = self._vocabulary.rows, self._lexicon
        text = words_of(obs["text"])
        if task_id:
            lexicon.learn(task_id, text)
        values: dict[str, None] = {}
        edges: list[int] = []
        for subject, relation, obj in obs["triples"]:
            one = numbers.setdefault(subject, len(numbers))
            two = numbers.setdefault(obj, len(numbers))
            there, back = rows((f"r {relation}", f"r <{relation}"))
            edges += (one, there, two, two, back, one)
            if relation in ATTRIBUTES:
                values[obj] = None
        scene, told = Scene(obs["triples"]), frozenset(text)
        marks: list[int] = []
        for name, number in numbers.items():
            features = [f"n {scene.whereabouts(name)}"]
            if name in values:
                features.append(_said(name))
            elif lexicon.common(name):
                features.append(f"n {name}")
            if told.issuperset(words_of(name)):
                features.append("n told")
            for row in rows(features):
                marks += (number, row)
        words = rows(f"t {word}" for word in text if lexicon.common(word))[-self.settings.tokens :]
        counts = (len(numbers), len(edges) // 3, len(marks) // 2, len(words))
        return [*counts, *edges, *marks, *words]


def _said(word: str) -> str:
    """What a verb shares with the value that it leads to: ``chop`` and ``chopped``."""
    return f"n said {stem(word)}"


@POLICIES.register("gata")
class Gata(LearnedPolicy):
    """Plays a trained GATA-like agent."""

    name = "gata"
    learner_class = GataLearner
