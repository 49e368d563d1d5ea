"""GATA-like (Adhikari et al. 2020): message passing over live triples, attention, action scorer."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, NamedTuple

import numpy as np

from gym_memory.baselines.actions import parse_action
from gym_memory.baselines.rl.drrn import DrrnLearner, DrrnSettings
from gym_memory.baselines.rl.shared.bags import (
    BagEncoder,
    Batch,
    Ints,
    ObservationBags,
    packed,
    torch,
)
from gym_memory.baselines.rl.shared.features import Group, RecalledScene
from gym_memory.core.records import Observation
from gym_memory.core.settings import Help
from gym_memory.core.text import compounds, stem
from gym_memory.graph.recalled import ATTRIBUTES
from gym_memory.graph.schema import PLAYER

__all__ = ["GataLearner", "GataSettings", "GraphBag", "GraphBags"]


@dataclasses.dataclass(frozen=True)
class GataSettings(DrrnSettings):
    """Settings of GATA, beyond DRRN's."""

    layers: Annotated[int, Help("Rounds of message passing.", low=0)] = 2
    tokens: Annotated[int, Help("Most words of the text in the attention, from its end.", 1)] = 32
    neighbourhood: Annotated[bool, Help("Also give actions the features that DRRN sees.")] = True
    dim: Annotated[
        int, Help("Size of an encoding; half of DRRN's, because every node has one.", low=1)
    ] = 32


# ------------------------------------------------------------ graphs


class GraphBag(NamedTuple):
    """A situation with its graph, or an action with the nodes that it names.

    Attributes:
        bag: Rows of the features.
        nodes: All nodes of a situation, or the nodes that an action names.
        edges: Triples of node, row of the relation and node, end to end.
        marks: Pairs of node and row of one of its features, end to end.
        words: Rows of the words.
    """

    bag: bytes
    nodes: bytes
    edges: bytes = b""
    marks: bytes = b""
    words: bytes = b""


class GraphBags(NamedTuple):
    """A batch of graphs, whose fields are laid end to end."""

    bag: Batch
    nodes: Batch
    edges: Batch
    marks: Batch
    words: Batch

    @classmethod
    def of(cls, bags: list[GraphBag]) -> GraphBags:
        """Lay graphs end to end."""
        return cls(*(Batch.of(field) for field in zip(*bags, strict=True)))

    def take(self, which: Ints) -> GraphBags:
        """Return the graphs of some indices, in their order."""
        return GraphBags(*(_taken(field, which) for field in self))


def _taken(lists: Batch, which: Ints) -> Batch:
    """Return the lists of some indices, in their order."""
    starts, lengths = lists.offsets[which], lists.lengths[which]
    offsets = np.cumsum(lengths) - lengths
    where = np.arange(int(lengths.sum())) + np.repeat(starts - offsets, lengths)
    return Batch(lists.values[where], offsets, lengths)


# ------------------------------------------------------------ the network


class GataNetwork(torch.nn.Module):
    """A network of Q over graphs, words and actions.

    Differences from GATA:

    * The graph is what the memory recalls: sparse, of any size, without a table of entities. Only a
      common name is a feature of its node. All other nodes start equal and differ by their edges
      alone, so a food that training never showed works as well as any.
    * A message is the product of neighbour and relation (CompGCN, Vashishth et al. 2020), with one
      matrix per layer instead of R-GCN's matrix or basis per relation.
    * An action has the nodes that it names, after the message passing, and the relations around
      them that DRRN sees; ``neighbourhood=false`` leaves the relations out.
    """

    def __init__(self, settings: GataSettings):
        super().__init__()
        dim, hidden = settings.dim, settings.hidden
        self.encoder = BagEncoder(settings.vocabulary, dim)
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

    def forward(self, bags: list[GraphBag], states: Ints, actions: Ints) -> torch.Tensor:
        """Return the values of pairs, float32 of shape (pairs,); as DRRN's network."""
        device, every = self.anyone.device, GraphBags.of(bags)
        used, state = np.unique(states, return_inverse=True)
        graphs = every.take(used)
        nodes, summary = self._read(graphs)
        s = self.of_state(torch.cat([self.encoder(graphs.bag), summary], 1))

        acts, action = np.unique(actions, return_inverse=True)
        a = self.of_bag(self.encoder(_taken(every.bag, acts)))
        mixed = s[_on(state, device)] + a[_on(action, device)]

        # The nodes named by the action of a pair belong to the situation of that pair.
        named = _taken(every.nodes, actions)
        which = named.values + np.repeat(graphs.nodes.offsets[state], named.lengths)
        pairs = _on(np.repeat(np.arange(len(actions)), named.lengths), device)
        mixed = mixed.index_add(0, pairs, self.of_nodes(nodes)[_on(which, device)])
        return self.head(torch.relu(self.layer(torch.relu(mixed)))).squeeze(1)

    def _read(self, graphs: GraphBags) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the nodes after messages and attention, and a summary of each situation."""
        device, table = self.anyone.device, self.encoder.bag.weight
        first = graphs.nodes.offsets
        edges, marks = graphs.edges.values.reshape(-1, 3), graphs.marks.values.reshape(-1, 2)
        edges[:, [0, 2]] += np.repeat(first, graphs.edges.lengths // 3)[:, None]
        marks[:, 0] += np.repeat(first, graphs.marks.lengths // 2)
        source, relation, goal = (_on(column, device) for column in edges.T)
        marked, mark = (_on(column, device) for column in marks.T)
        total = len(graphs.nodes.values)
        nodes = self.anyone.expand(total, -1).index_add(0, marked, _rows(table, mark))
        degree = torch.ones(total, device=device).index_add(
            0, goal, torch.ones(len(goal), device=device)
        )
        factor = 1 + _rows(table, relation)
        for own, others in zip(self.own, self.others, strict=True):
            sent = torch.zeros_like(nodes).index_add(0, goal, nodes[source] * factor)
            nodes = nodes + torch.relu(own(nodes) + others(sent / degree[:, None]))
        words = _rows(table, _on(graphs.words.values, device))
        node_table, is_node = _padded(nodes, graphs.nodes.lengths)
        word_table, is_word = _padded(words, graphs.words.lengths)
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
    """Return rows of the table; row 0 is for unknown features and is never trained."""
    return torch.nn.functional.embedding(rows, table, padding_idx=0)


def _padded(flat: torch.Tensor, counts: Ints) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows as a table (situations, most rows, dim), and its used places."""
    most = max(int(counts.max(initial=0)), 1)
    used = torch.from_numpy(np.arange(most) < counts[:, None]).to(flat.device)
    table = flat.new_zeros(len(counts), most, flat.shape[1])
    table[used] = flat
    return table, used


def _softmax(match: torch.Tensor, used: torch.Tensor) -> torch.Tensor:
    """Return the attention over used places; without any, a situation attends to nothing."""
    weights = torch.softmax(match.masked_fill(~used, -1e9), 2)
    return weights * used


# ------------------------------------------------------------ the learner


class GataLearner(DrrnLearner):
    """A DRRN learner with a graph in each situation and nodes in each action."""

    name = "gata"
    settings_class = GataSettings
    settings: GataSettings
    network_class = GataNetwork

    def see(
        self,
        obs: Observation,
        task_id: str = "",
        before: ObservationBags | None = None,
        action: int = -1,
    ) -> ObservationBags:
        """Encode an observation with its graph."""
        seen = super().see(obs, task_id, before, action)
        numbers: dict[str, int] = {PLAYER: 0}
        state, *actions = seen.bags
        bags = [self._situation(obs, task_id, numbers, state)]
        for command, features in zip(obs["valid_actions"], actions, strict=True):
            phrase = parse_action(command)
            named = packed(numbers[name] for name in phrase.names if name in numbers)
            kept = features if self.settings.neighbourhood else b""
            verb = (f"a {phrase.verb} {phrase.template}", _result_feature(phrase.verb))
            bags.append(GraphBag(packed(self.vocabulary.rows([Group("", verb)])) + kept, named))
        encoded: ObservationBags = seen._replace(bags=tuple(bags))
        return encoded

    def _situation(
        self, obs: Observation, task_id: str, numbers: dict[str, int], bag: bytes
    ) -> GraphBag:
        rows, lexicon = self.vocabulary.rows, self.lexicon
        text = compounds(obs["text"])
        if task_id:
            lexicon.learn(task_id, text)
        values: dict[str, None] = {}
        edges: list[int] = []
        for subject, relation, obj in obs["triples"]:
            one = numbers.setdefault(subject, len(numbers))
            two = numbers.setdefault(obj, len(numbers))
            there, back = rows([Group("r", (relation, f"<{relation}"))])
            edges += (one, there, two, two, back, one)
            if relation in ATTRIBUTES:
                values[obj] = None
        scene, mentioned = RecalledScene(obs["triples"]), frozenset(text)
        marks: list[int] = []
        for name, number in numbers.items():
            features = [f"n {scene.whereabouts(name)}"]
            if name in values:
                features.append(_result_feature(name))
            elif lexicon.common(name):
                features.append(f"n {name}")
            if mentioned.issuperset(compounds(name)):
                features.append("n told")
            features += self.marks_of(name)
            for row in rows([Group("", tuple(features))]):
                marks += (number, row)
        words = rows([Group("t", tuple(filter(lexicon.common, text)))])[-self.settings.tokens :]
        return GraphBag(bag, *map(packed, (numbers.values(), edges, marks, words)))

    def marks_of(self, name: str) -> list[str]:
        """Return further features of a node; none unless a subclass adds some."""
        return []


def _result_feature(word: str) -> str:
    """Return a feature that a verb shares with its result, such as ``chop`` and ``chopped``."""
    return f"n said {stem(word)}"
