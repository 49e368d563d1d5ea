"""English verbs by sense, in all their forms.

What a sentence says of two things hangs on the sense of its verb, not on the verb: whatever
*holds*, *shelters* or *conceals* a coin has it in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = [
    "GO",
    "INSERT",
    "KEEP",
    "LIE",
    "OPEN",
    "OTHER",
    "PUT",
    "REFUSE",
    "REQUIRE",
    "SEEK",
    "SUPPOSE",
    "VERBS",
    "is_base",
    "is_past",
    "senses",
]

OPEN, REQUIRE, KEEP, LIE, PUT = "open", "require", "keep", "lie", "put"
INSERT, SEEK, GO, SUPPOSE, TELL, OTHER = "insert", "seek", "go", "suppose", "tell", "other"
REFUSE = "refuse"

_BASES = {
    OPEN: """
        open unlock unseal undo unbolt unlatch unfasten unbar unclasp uncover fit suit match operate
        obey yield surrender lock secure fasten bolt respond accept admit budge defeat master
        conquer crack disarm reopen relock pair correspond turn answer
    """,
    REQUIRE: """
        need require want demand ask call crave desire deserve lack await
    """,
    KEEP: """
        hold contain have keep hide conceal carry bear support house guard shelter host boast
        feature include harbour harbor store stock own offer protect cradle enclose accommodate
        enshrine display possess cover shield present entomb swallow bury secrete safeguard give
        provide supply reveal yield
    """,
    LIE: """
        lie stand sit rest reside live dwell sleep wait remain stay hang lurk nestle lean recline
        perch belong slumber linger repose abide lodge doze
    """,
    PUT: """
        put place leave lay set drop hide stow stash store deposit bring carry move deliver
        drag throw push shove shift stack position park plant install transfer haul lug
        relocate toss fling tuck rest situate locate station bury conceal return
    """,
    INSERT: """
        insert slide stick slip slot thrust twist turn apply try use employ rotate jam poke click
        work function spin engage succeed
    """,
    SEEK: """
        search look check seek find see spot notice discover examine inspect explore get fetch
        take grab retrieve collect remove pick reach touch hunt encounter meet rummage peek peer
        glance glimpse view behold observe recover obtain acquire uncover reveal turn scour probe
        investigate study consult frisk dig extract withdraw snatch
    """,
    GO: """
        go walk head proceed travel move return continue come wander run hurry visit enter step
        march stroll stride make turn follow dash rush race trot climb descend ascend drive ride
        betake depart leave pop drop call stop cross journey aim try report hike creep sneak tiptoe
        pace saunter swing steer navigate roam venture find reach seek bring lead point
    """,
    SUPPOSE: """
        seem appear think believe suppose guess expect look pretend claim imagine assume
    """,
    REFUSE: """
        resist refuse withstand fail reject ignore avoid forget skip shun bypass defy deny
    """,
    TELL: """
        say tell hear claim swear know remember whisper mention read write mean learn recall note
        report reckon bet trust mind insist suggest recommend advise promise warn assure explain
        declare state announce confirm admit hint murmur confess maintain wonder doubt dream
    """,
    OTHER: """
        begin start work help serve make do become grow give let allow enable permit prove happen
        end finish change break cut forge craft build design fashion intend create shape form fill
        furnish equip decorate adorn grace face overlook save waste bother lose win gain buy sell
        play sing eat drink cook serve show shine gleam point press pull push lift hurt hit kick
        attack force smash pry stay keep pass miss love like hate care enjoy laugh cry smile speak
        talk answer listen hear watch stare inherit borrow lend steal rob bear hang swing pop fly
        fall rise raise climb jump kneel bow bend tie untie bind wrap pack empty clean wash tidy
        sort order arrange mend repair fix paint polish spare share join separate link connect
        attach adapt tailor adjust measure weigh count belong relate concern matter regard involve
        cause produce bring adopt choose select prefer decide plan hope wish dare manage succeed
        persuade coax convince try attempt tend use cease continue keep quit carry spend cost pay
        charge depend rely
        remind surprise please thank welcome greet meet follow obey rule lead guide show teach
        hurry dawdle linger delay rattle click snap creak squeak groan sound taste smell seem
        solve complete grant provide supply deny block bar prevent stop dally lay gather collect
        act behave exist last dine consult fry roast grill bake boil steam poach simmer toast chop
        slice dice mince feed introduce send melt occupy feel laugh guess peel season stir mix burn
    """,
}
_IRREGULAR = {
    base.strip(): forms
    for line in """
    be: is are was were been being am; do: does did done doing; have: has had having; go: goes
    went gone going; fit: fits fitted fit fitting; get: gets got gotten getting; hide: hides
    hid hidden hiding; hold: holds held holding; keep: keeps kept keeping; lie: lies lay lain
    lying; stand: stands stood standing; sit: sits sat sitting; find: finds found finding;
    see: sees saw seen seeing; take: takes took taken taking; put: puts put putting; set: sets
    set setting; leave: leaves left leaving; lay: lays laid laying; lose: loses lost losing;
    bring: brings brought bringing; throw: throws threw thrown throwing; forget: forgets
    forgot forgotten forgetting; stick: sticks stuck sticking; hang: hangs hung hanged
    hanging; seek: seeks sought seeking; come: comes came coming; run: runs ran running; make:
    makes made making; think: thinks thought thinking; say: says said saying; tell: tells told
    telling; hear: hears heard hearing; swear: swears swore sworn swearing; know: knows knew
    known knowing; read: reads reading; write: writes wrote written writing; mean: means meant
    meaning; meet: meets met meeting; sleep: sleeps slept sleeping; undo: undoes undid undone
    undoing; bear: bears bore borne bearing; lead: leads led leading; steal: steals stole
    stolen stealing; give: gives gave given giving; cut: cuts cutting; build: builds built
    building; buy: buys bought buying; fall: falls fell fallen falling; rise: rises rose risen
    rising; break: breaks broke broken breaking; grow: grows grew grown growing; let: lets
    letting; show: shows showed shown showing; begin: begins began begun beginning; feel:
    feels felt feeling; dwell: dwells dwelt dwelled dwelling; ride: rides rode ridden riding;
    drive: drives drove driven driving; fling: flings flung flinging; become: becomes became
    becoming; choose: chooses chose chosen choosing; swing: swings swung swinging; speak:
    speaks spoke spoken speaking; creep: creeps crept creeping; withstand: withstands
    withstood; behold: beholds beheld; bind: binds bound binding; eat: eats ate eaten eating;
    drink: drinks drank drunk; sing: sings sang sung; win: wins won winning; hit: hits
    hitting; hurt: hurts hurting; bet: bets betting; spend: spends spent; pay: pays paid
    paying; lend: lends lent; sell: sells sold; bend: bends bent; shine: shines shone; fly:
    flies flew flown; teach: teaches taught; dream: dreams dreamt dreamed dreaming; dig: digs
    dug digging; learn: learns learnt learned learning; cost: costs; quit: quits; slide:
    slides slid sliding; thrust: thrusts thrusting; lean: leans leaned leant leaning; smell:
    smells smelt; admit: admits admitted admitting; slip: slips slipped slipping;
    """.strip(" ;\n").split(";")
    for base, _, forms in [line.partition(":")]
}
_DOUBLED = re.compile(r"[^aeiou]?[^aeiou][aeiou][bdgklmnprt]")


def _forms(base: str) -> Iterator[tuple[str, bool]]:
    """The forms of a verb, and whether each can tell what was done."""
    yield base, False
    if base in _IRREGULAR:
        for form in _IRREGULAR[base].split():
            yield form, not form.endswith(("s", "ing")) or form in ("was", "lost")
        return
    soft = base.endswith(("s", "x", "z", "ch", "sh", "o"))
    if base[-1] == "y" and base[-2] not in "aeiou":
        yield base[:-1] + "ies", False
        yield base[:-1] + "ied", True
        yield base + "ing", False
        return
    yield base + ("es" if soft else "s"), False
    stem = base + base[-1] if _DOUBLED.fullmatch(base) else base
    if base.endswith("e"):
        yield base + "d", True
        yield base[:-1] + "ing", False
    else:
        yield stem + "ed", True
        yield stem + "ing", False


_SENSES: dict[str, set[str]] = {}
_PAST: set[str] = set()
for _sense, _words in _BASES.items():
    for _base in _words.split():
        for _form, _is_past in _forms(_base):
            _SENSES.setdefault(_form, set()).add(_sense)
            if _is_past:
                _PAST.add(_form)
_BARE = frozenset(base for words in _BASES.values() for base in words.split())
VERBS = frozenset(_SENSES)
"""All forms of all verbs that have a sense here."""


def senses(word: str) -> frozenset[str]:
    """What a word may mean as a verb, in lower case; empty if it is none.

    >>> sorted(senses("shelters")), sorted(senses("stashed"))
    (['keep'], ['put'])
    """
    return frozenset(_SENSES.get(word, ()))


def is_base(word: str) -> bool:
    """Whether a word can command: ``visit``, and not ``visits``."""
    return word in _BARE


def is_past(word: str) -> bool:
    """Whether a verb tells what was done: ``hid``, ``hidden``."""
    return word in _PAST
