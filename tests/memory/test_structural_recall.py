"""Structural recall ranks the facts near the agent, its task and its plan."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_arigraph import facts, graph_of, walked

from gym_memory.core.records import Cue, Triple
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import current_place, unexplored_exits
from gym_memory.graph.schema import OPPOSITE, UNEXPLORED, direction_of
from gym_memory.memory.arigraph import AriGraph
from gym_memory.memory.base import CHARS_PER_TOKEN
from gym_memory.memory.reading import Page, fact_block
from gym_memory.memory.recall.structural import StructuralIndex, rank

WORLD = (
    "you | is in | kitchen",
    "fridge | is in | kitchen", "fridge | is | open", "apple | is in | fridge",
    "apple | is | raw",
    "kitchen | has exit | east", "kitchen | has exit | north",
    "hall | is east of | kitchen", "kitchen | is west of | hall",
    "hall | has exit | west", "hall | has exit | east",
    "kitchen | has north door | oak door", "oak door | is | closed",
    "knife | is in | inventory",
    "cookbook | is in | hall", "recipe | requires | salt", "salt | is on | shelf",
    "shelf | is in | hall", "salt | needs to be | diced",
    "cellar | is east of | hall", "hall | is west of | cellar",
    "broom | is in | cellar", "cellar | has exit | west",
    "note | says | Beware, the cellar is dark.",
)  # fmt: skip


def ranked(graph: TemporalGraph, budget: int = 1000, **cue: object) -> list[Triple]:
    page = Page(budget * CHARS_PER_TOKEN)
    rank(StructuralIndex(graph), Cue("", **cue), page)
    return page.triples


def test_everything_that_fits_is_recalled_once() -> None:
    graph = graph_of(*WORLD)
    shown = ranked(graph)
    assert len(shown) == len(set(shown))
    assert set(shown) - set(graph.live()) == set(
        facts(f"kitchen | {UNEXPLORED} | north")
    )  # cellar and hall are explored
    # Of each way one direction is enough.
    assert set(graph.live()) - set(shown) == set(
        facts("kitchen | is west of | hall", "hall | is west of | cellar")
    )


def test_parts_are_ranked_in_order() -> None:
    place = {fact: at for at, fact in enumerate(ranked(graph_of(*WORLD)))}
    order = facts(
        f"kitchen | {UNEXPLORED} | north",  # here
        "recipe | requires | salt",  # read
        "fridge | is in | kitchen",  # in the same room
        "apple | is in | fridge",
        "oak door | is | closed",
        "knife | is in | inventory",
        "note | says | Beware, the cellar is dark.",  # word for word
        "cellar | is east of | hall",  # the map
        "broom | is in | cellar",  # other places
        "hall | has exit | east",  # implied by the map
    )
    assert sorted(order, key=lambda fact: place[fact]) == order
    # What the recipe needs comes with where it is.
    assert place[Triple("salt", "is on", "shelf")] < place[Triple("cellar", "is east of", "hall")]
    assert place[Triple("shelf", "is in", "hall")] < place[Triple("cellar", "is east of", "hall")]


def test_focus_task_and_actions_are_found_first() -> None:
    graph = graph_of(*WORLD)
    broom = Triple("broom", "is in", "cellar")
    note = Triple("note", "says", "Beware, the cellar is dark.")

    def comes_early(**cue: object) -> bool:
        shown = ranked(graph, **cue)
        return shown.index(broom) < shown.index(note)

    assert not comes_early()
    assert comes_early(focus="Fetch the Broom, then sweep")
    assert comes_early(task="Use a broom!")
    assert comes_early(valid_actions=("take broom", "look"))


def test_names_are_matched_whole_and_longest() -> None:
    graph = graph_of("red apple | is in | hall", "apple | is in | hall", "key card | is in | hall")
    index = StructuralIndex(graph)
    index.sync()
    assert index.entities_in("Take the RED apple, then the apple (not a pineapple).") == (
        "red apple", "apple",
    )  # fmt: skip
    assert index.entities_in("key cards and a key") == ()
    graph.add(Triple("key", "is in", "hall"), 5)
    index.sync()
    assert index.entities_in("key cards and a key") == ("key",)


def test_the_same_question_has_the_same_answer() -> None:
    graph = graph_of(*WORLD)
    index, cue = StructuralIndex(graph), Cue("", focus="find the broom")
    pages = [Page(60 * CHARS_PER_TOKEN) for _ in range(3)]
    counts = [rank(index, cue, page) for page in pages]
    assert len(set(counts)) == 1
    assert pages[0].triples == pages[1].triples == pages[2].triples
    assert pages[0].text() == pages[1].text()
    pages[1].put(fact_block(facts("a | is | b")))  # what was handed out is not kept
    again = Page(60 * CHARS_PER_TOKEN)
    rank(index, cue, again)
    assert again.triples == pages[0].triples
    other = Page(60 * CHARS_PER_TOKEN)
    rank(index, cue._replace(focus="find the apple"), other)
    assert other.triples != again.triples
    graph.add(Triple("broom", "is in", "kitchen"), 99)
    moved = Page(60 * CHARS_PER_TOKEN)
    rank(index, cue, moved)
    assert Triple("broom", "is in", "kitchen") in moved.triples


def test_reasons_need_no_recall_before() -> None:
    memory = AriGraph()
    cue = walked(memory, 10)
    alone = memory.fork().reasons(cue, 500)
    memory.recall(cue, 500)
    assert memory.reasons(cue, 500) == alone
    assert alone.triples


def test_small_budget_drops_far_places_first() -> None:
    """A row of rooms: under pressure near rooms keep their things, far ones lose them."""
    graph = TemporalGraph()
    graph.add(Triple("you", "is in", "room 0"), 0)
    for i in range(40):
        if i:
            graph.add(Triple(f"room {i}", "is east of", f"room {i - 1}"), 0)
            graph.add(Triple(f"room {i - 1}", "is west of", f"room {i}"), 0)
        graph.add(Triple(f"box {i}", "is in", f"room {i}"), 0)
    shown = set(ranked(graph, 250))
    boxes = [i for i in range(40) if Triple(f"box {i}", "is in", f"room {i}") in shown]
    ways = [i for i in range(1, 40) if Triple(f"room {i}", "is east of", f"room {i - 1}") in shown]
    assert boxes == list(range(len(boxes)))
    assert ways == list(range(1, len(ways) + 1))
    assert len(boxes) > 5 < len(ways)


@st.composite
def changes(draw: st.DrawFn) -> list[tuple]:
    place = st.sampled_from(["kitchen", "hall", "attic"])
    thing = st.sampled_from(["apple", "box", "key"])
    direction = st.sampled_from(["east", "west", "up", "down"])
    fact = st.one_of(
        st.builds(Triple, st.just("you"), st.just("is in"), place),
        st.builds(Triple, thing, st.just("is in"), st.one_of(place, st.just("inventory"), thing)),
        st.builds(Triple, thing, st.just("is"), st.sampled_from(["open", "closed", "red"])),
        st.builds(Triple, place, st.just("has exit"), direction),
        st.builds(lambda a, d, b: Triple(a, f"is {d} of", b), place, direction, place),
        st.builds(lambda p, d: Triple(p, f"has {d} door", "gate"), place, direction),
        st.builds(Triple, st.just("note"), st.just("says"), thing),
        st.builds(Triple, st.just("note"), st.just("mentions"), thing),
    )
    step = st.tuples(st.sampled_from(["add", "add", "add", "retire", "save", "back", "rank"]), fact)
    return draw(st.lists(step, max_size=40))


@pytest.mark.slow
@settings(derandomize=True, max_examples=200, deadline=None)
@given(changes(), st.integers(0, 120))
def test_index_that_follows_is_a_fresh_index(steps, budget) -> None:
    """Answer as a new index would, whatever was kept from earlier steps."""
    graph = TemporalGraph()
    index = StructuralIndex(graph)
    saved = [graph.snapshot()]
    cue = Cue("", "the key", "", ("open box",), "find an apple")
    for t, (kind, fact) in enumerate(steps):
        if kind == "add":
            graph.add(fact, max(t, graph.now))
        elif kind == "retire":
            graph.retire(fact, max(t, graph.now))
        elif kind == "save":
            saved.append(graph.snapshot())
        elif kind == "back":
            graph.restore(saved[len(fact.subject) % len(saved)])
        else:
            rank(index, cue, Page(budget * CHARS_PER_TOKEN))
    pages = Page(budget * CHARS_PER_TOKEN), Page(budget * CHARS_PER_TOKEN)
    rank(index, cue, pages[0])
    rank(StructuralIndex(graph), cue, pages[1])
    assert pages[0].triples == pages[1].triples
    assert pages[0].lines == pages[1].lines
    full = Page(20_000)
    rank(index, cue, full)
    assert len(full.triples) == len(set(full.triples))
    shown, live = set(full.triples), set(graph.live())
    for fact in live - shown:  # only ways whose other direction is given
        direction = direction_of(fact.relation)
        assert Triple(fact.object, f"is {OPPOSITE[direction]} of", fact.subject) in shown
    assert all(fact.relation == UNEXPLORED for fact in shown - live)
    here = current_place(graph)
    if here is not None:
        assert set(unexplored_exits(graph, here)) <= shown
