"""A graph's live facts in the forms that other libraries read: networkx and integer arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from gym_memory.core.optional import require
from gym_memory.core.records import Triple
from gym_memory.graph.facts import Fact

if TYPE_CHECKING:
    import networkx

__all__ = ["EdgeArrays", "edge_arrays", "to_networkx"]

Ids = npt.NDArray[np.int64]


class EdgeArrays(NamedTuple):
    """Facts as edges of a multigraph, e.g. for a relational graph network.

    Attributes:
        subjects: Index of each fact's subject in ``entity_names``; int64, shape (facts,).
        relations: Index of its relation in ``relation_names``; int64, shape (facts,).
        objects: Index of its object in ``entity_names``; int64, shape (facts,).
        entity_names: Subjects and objects in order of first appearance.
        relation_names: Relations in order of first appearance.
    """

    subjects: Ids
    relations: Ids
    objects: Ids
    entity_names: tuple[str, ...]
    relation_names: tuple[str, ...]


def edge_arrays(triples: Iterable[Triple]) -> EdgeArrays:
    """Triples in order as edges; texts (``note says ...``) count as entities."""
    entities: dict[str, int] = {}
    kinds: dict[str, int] = {}
    edges = np.array(
        [
            (
                entities.setdefault(subject, len(entities)),
                kinds.setdefault(relation, len(kinds)),
                entities.setdefault(obj, len(entities)),
            )
            for subject, relation, obj in triples
        ],
        dtype=np.int64,
    ).reshape(-1, 3)
    subjects, relations, objects = np.ascontiguousarray(edges.T)
    return EdgeArrays(subjects, relations, objects, tuple(entities), tuple(kinds))


def to_networkx(facts: Iterable[Fact]) -> networkx.MultiDiGraph:
    """An edge a fact, its relation the key.

    Edges have the attributes ``relation`` and ``since``, the step since which the fact is true.

    Raises:
        MissingDependencyError: networkx is not installed.
    """
    library = require("networkx", "dev", "exporting a graph to networkx")
    exported = library.MultiDiGraph()
    for fact in facts:
        subject, relation, obj = fact.triple
        exported.add_edge(
            subject, obj, key=relation, relation=relation, since=fact.intervals[-1][0]
        )
    return exported
