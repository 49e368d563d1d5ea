"""Features: names make no difference, relations do."""

from __future__ import annotations

from typing import Any

import pytest

from gym_memory.baselines.actions import parse_action
from gym_memory.baselines.rl.shared.features import RecalledScene, describe, names_of
from gym_memory.baselines.rl.shared.lexicon import Lexicon
from gym_memory.core.records import Triple
from gym_memory.core.text import stem

pytestmark = pytest.mark.slow

KITCHEN = """
you | is in | kitchen
knife | is on | counter
counter | is in | kitchen
stove | is in | kitchen
stove | used for | frying
carrot | is in | inventory
carrot | needs to be | diced
carrot | needs to be | fried
carrot | is | fried
potato | is in | shed
recipe | requires | carrot
recipe | requires | potato
hall | is north of | kitchen
shed | is north of | hall
kitchen | has unexplored exit | west
hall | has unexplored exit | east
"""


def facts(text: str) -> tuple[Triple, ...]:
    return tuple(Triple(*line.split(" | ")) for line in text.strip().splitlines())


def obs(triples: str = "", actions: tuple[str, ...] = (), **more: Any) -> Any:
    empty = {"text": "", "task": "", "inventory": "", "memory": "", "episodes": (), "lessons": ()}
    return {**empty, "triples": facts(triples) if triples else (), "valid_actions": actions, **more}


def features(observation: Any, lexicon: Lexicon | None = None) -> dict[str, tuple[str, ...]]:
    described = describe(observation, lexicon or Lexicon(1.0))
    named = map(names_of, described.actions)
    return dict(zip(observation["valid_actions"], named, strict=True))


def test_actions_are_split_into_verb_and_things() -> None:
    assert parse_action("Take the red apple from counter") == (
        "take",
        "<> from <>",
        ("red apple", "counter"),
    )
    assert parse_action("go up").names == ("up",)
    assert parse_action("look") == ("look", "", ())
    assert parse_action("") == ("", "", ())
    assert parse_action("turn on the stove") == ("turn", "on <>", ("stove",))


@pytest.mark.parametrize(
    "forms",
    [
        ("chop", "chopped"), ("dice", "diced"), ("slice", "sliced"), ("fry", "fried", "frying"),
        ("roast", "roasted", "roasting"), ("grill", "grilled", "grilling"), ("close", "closed"),
    ],
)  # fmt: skip
def test_forms_of_a_word_share_their_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1
    assert stem(forms[0]) != stem("burned")


def test_scene_has_places_relative_to_the_agent() -> None:
    scene = RecalledScene(facts(KITCHEN))
    assert [scene.whereabouts(name) for name in ("knife", "carrot", "potato", "pear")] == [
        "@here",
        "@hand",
        "@away",
        "@unknown",
    ]
    assert scene.values("carrot") == [("needs to be", "diced"), ("is+needs to be", "fried")]
    assert scene.atoms("carrot") == (
        "needs to be:diced",
        "is+needs to be:fried",
        "<requires",
        "@hand",
    )
    assert scene.held == ["carrot"]


def test_signposts_lead_to_the_nearest() -> None:
    scene = RecalledScene(facts(KITCHEN))
    assert scene.ways("kitchen")["north"] == "hall"
    assert scene.unexplored("kitchen") == ["west"]
    signs = scene.signposts
    assert list(signs) == ["north"]
    assert {"<requires", "name:potato", "unexplored"} <= set(signs["north"])
    # The way back is known although the recall gives only one direction.
    there = RecalledScene(facts(KITCHEN.replace("you | is in | kitchen", "you | is in | shed")))
    assert there.ways("shed")["south"] == "hall"
    assert "used for:frying" in there.signposts["south"]


def test_things_in_a_circle_do_not_hang() -> None:
    assert RecalledScene(facts("a | is in | b\nb | is in | a\nyou | is in | c")).room_of("a") == ""


def test_names_make_no_difference() -> None:
    actions = ("take potato", "dice carrot with knife", "go north", "drop carrot")
    other = KITCHEN.replace("carrot", "papaya").replace("potato", "fig").replace("hall", "attic")
    renamed = tuple(a.replace("carrot", "papaya").replace("potato", "fig") for a in actions)
    one, two = obs(KITCHEN, actions), obs(other, renamed)
    assert describe(one, Lexicon(1)) == describe(two, Lexicon(1))


def test_relations_make_a_difference() -> None:
    actions = ("dice carrot with knife", "chop carrot with knife")
    found = features(obs(KITCHEN, actions))
    assert "= 1 needs to be =" in found[actions[0]]
    assert "chop 1 needs to be diced" in found[actions[1]]
    # Dicing what is to be diced is described as chopping what is to be chopped.
    chopped = features(obs(KITCHEN.replace("diced", "chopped"), actions))
    assert chopped[actions[1]] == found[actions[0]]


def test_appliance_matches_its_use() -> None:
    found = features(obs(KITCHEN, ("cook carrot with stove",)))["cook carrot with stove"]
    assert {"cook 1 is+needs to be =", "cook 2 used for ="} <= set(found)


def test_common_names_are_listed() -> None:
    lexicon = Lexicon(share=0.8, least=2)
    take = ("take knife from counter", "take fig from counter")
    for game in range(5):
        more = (take[1],) if game == 0 else ()
        describe(obs(KITCHEN, (take[0], *more)), lexicon, f"game {game}")
    found = features(obs(KITCHEN, take), lexicon)
    assert "take 1 is knife" in found[take[0]]
    assert not [name for name in found[take[1]] if "fig" in name]
    assert "take 2 is counter" in found[take[1]]
    twin = Lexicon(share=0.8, least=2, state=lexicon.state())
    assert features(obs(KITCHEN, take), twin) == found


def test_evaluating_teaches_no_names() -> None:
    lexicon = Lexicon(share=0.5, least=1)
    for _ in range(3):
        describe(obs(KITCHEN, ("take knife",)), lexicon)
    assert lexicon.state() == []


def test_words_around_a_name_describe_it_without_facts() -> None:
    lexicon = Lexicon(share=0.5, least=1)
    seen = obs(
        actions=("dice fig with knife", "chop fig with knife"),
        text="Directions: dice the fig, fry the fig.",
        inventory="You carry a roasted fig.",
    )
    describe(seen, lexicon, "game")
    found = features(seen, lexicon)
    assert "= 1 text = before" in found["dice fig with knife"]
    assert "chop 1 text dice before" in found["chop fig with knife"]
    assert "chop 1 inventory roasted before" in found["chop fig with knife"]
    with_facts = {**seen, "triples": facts(KITCHEN)}
    assert not [f for f in features(with_facts, lexicon)["dice fig with knife"] if "text" in f]
    always = names_of(describe(with_facts, lexicon, words="always").actions[0])
    assert "= 1 text = before" in always


def test_plain_facts_leave_out_matches_and_signposts() -> None:
    actions = ("fry carrot with stove", "go north")
    plain = describe(obs(KITCHEN, actions), Lexicon(1.0), facts="plain").actions
    cook, north = map(names_of, plain)
    assert not [feature for feature in (*cook, *north) if "=" in feature]
    assert "fry 1 needs to be fried" not in cook  # it is fried already, and that stays one atom
    assert "fry 2 used for frying" in cook
    assert north == ("go <>", "<>", "way known")
    full = [*map(names_of, describe(obs(KITCHEN, actions), Lexicon(1.0)).actions)]
    assert "= 2 used for =" in full[0]
    assert len(full[1]) > len(north)


def test_facts_may_be_read_as_text_alone() -> None:
    lexicon = Lexicon(share=0.5, least=1)
    observed = obs(KITCHEN, ("dice carrot",), memory="carrot: needs to be diced")
    describe(observed, lexicon, "game", facts="rendered")
    as_text = describe(observed, lexicon, facts="rendered")
    assert "dice 1 memory needs after" in names_of(as_text.actions[0])
    assert as_text == describe({**observed, "triples": ()}, lexicon, facts="plain")


def test_recalled_text_is_read_without_recalled_facts() -> None:
    lexicon = Lexicon(share=0.5, least=1)
    seen = obs(actions=("take fig",), memory="[step 1] Ingredients: fig")
    describe(seen, lexicon, "game")
    assert "take 1 memory ingredients before" in features(seen, lexicon)["take fig"]


def test_a_direction_is_read_like_a_name_unless_a_fact_states_the_place() -> None:
    lexicon = Lexicon(share=0.5, least=1)
    memory = "hall: is west of attic\nattic: has unexplored exit north"
    seen = obs(actions=("go north", "go west"), memory=memory)
    describe(seen, lexicon, "game")
    found = features(seen, lexicon)
    assert {"1 is north", "1 memory unexplored before"} < {*found["go north"]}
    assert "1 memory of after" in found["go west"]
    assert not {"1 is west", "1 memory of after"} & {*found["go north"]}


def test_clauses_of_a_line_describe_its_names() -> None:
    lexicon = Lexicon(share=0.5, least=1)
    memory = "carrot: is on table; needs to be diced\nfig: is in oven"
    seen = obs(actions=("dice carrot", "put carrot on table", "eat fig"), memory=memory)
    describe(seen, lexicon, "game")
    found = features(seen, lexicon)
    assert {"dice 1 memory needs to be diced says", "dice 1 memory <> says"} < {
        *found["dice carrot"]
    }
    assert "put 2 memory is on <> says" in found["put carrot on table"]
    assert {"1 is carrot", "2 is table"} < {*found["put carrot on table"]}
    assert not [feature for feature in found["eat fig"] if "diced" in feature]


def test_rare_words_are_hidden_sooner_in_names() -> None:
    lexicon = Lexicon(share=0.8)
    for game in range(10):
        food, state = ("fig", "fried") if game % 2 == 0 else ("kiwi", "grilled")
        seen = obs(actions=(f"eat {food}",), memory=f"kiwi and {food}: is {state}")
        describe(seen, lexicon, str(game))
    words = ("fried", "fig", "kiwi", "unheard")
    assert [word for word in words if lexicon.shown(word)] == ["fried", "kiwi"]


def test_features_of_text_follow_present_common_names() -> None:
    obs: Any = {
        "text": "You see a red apple on the table.",
        "inventory": "You are carrying a knife.",
        "memory": "",
        "triples": (),
        "valid_actions": ("take apple from table", "eat apple", "drop knife"),
    }
    lexicon = Lexicon(0.5)
    before = describe(obs, lexicon)
    assert describe(obs, lexicon) == before
    for game in "abcdef":
        lexicon.learn(game, ["apple", "red"])
    after = describe(obs, lexicon)
    other = Lexicon(0.5, state=lexicon.state())
    assert after == describe(obs, other) != before
