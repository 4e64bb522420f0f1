"""Invents tools: an operation on a thing, with combinations of parameters that occur nowhere else.

The things are real, compound or pure invention.
"""
# ruff: noqa: SIM905 (word lists read better as running text)

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType

from duologue_mini.text import payloads, words
from duologue_mini.toolbox import shared_parameters as o
from duologue_mini.toolbox.actions import Action
from duologue_mini.toolbox.outcomes import ToolOutcome, done, facts, listing
from duologue_mini.toolbox.parameters import Parameter


@dataclass(frozen=True)
class Family:
    """An operation: verbs in tool names, verbs of users, its past form, and what it applies to."""

    names: str
    says: str
    past: str
    form: str


@dataclass(frozen=True)
class Noun:
    """A thing in words, singular and plural."""

    one: str
    many: str

    @property
    def name(self) -> str:
        """The form in tool names."""
        return self.one.replace("-", " ").lower()


ONE, NEW, MANY, SHOW, SOME = "one", "new", "many", "show", "some"
FAMILIES = [
    Family("create add new make register", "create|add|make|set up|register", "created", NEW),
    Family("book reserve", "book|reserve", "booked", NEW),
    Family("order buy request", "order|request|send for", "ordered", NEW),
    Family("plan draft prepare", "plan|prepare|draft", "planned", NEW),
    Family("delete remove drop erase", "delete|remove|erase|get rid of|throw away", "deleted", ONE),
    Family("update change edit modify", "update|change|edit|modify", "changed", ONE),
    Family("start launch begin run", "start|launch|begin|run", "started", ONE),
    Family("stop halt end kill", "stop|halt|end|shut down", "stopped", ONE),
    Family("archive store file", "archive|put away", "archived", ONE),
    Family("approve accept confirm", "approve|accept|confirm", "approved", ONE),
    Family("reject decline refuse", "reject|decline|turn down|refuse", "rejected", ONE),
    Family("copy duplicate clone", "copy|duplicate|clone|make a copy of", "copied", ONE),
    Family("lock freeze block", "lock|block|freeze", "locked", ONE),
    Family("unlock release unblock", "unlock|unblock|release", "unlocked", ONE),
    Family("send ship deliver dispatch", "send|ship|deliver|send off", "sent", ONE),
    Family("print", "print|print out", "printed", ONE),
    Family("export download save", "export|download|save", "exported", ONE),
    Family("enable activate", "enable|activate|switch on", "enabled", ONE),
    Family("disable deactivate", "disable|deactivate|switch off", "disabled", ONE),
    Family("repair fix mend", "repair|fix|mend", "repaired", ONE),
    Family("clean wash rinse", "clean|wash", "cleaned", ONE),
    Family("weigh measure", "weigh|measure", "measured", ONE),
    Family("paint color", "paint", "painted", ONE),
    Family("publish post", "publish", "published", ONE),
    Family("hide mute", "hide|mute", "hidden", ONE),
    Family("pause suspend hold", "pause|suspend", "paused", ONE),
    Family("sync refresh reload", "sync|refresh|reload", "synced", ONE),
    Family("return give_back", "return|give back|send back", "returned", ONE),
    Family("feed", "feed", "fed", ONE),
    Family("water", "water", "watered", ONE),
    Family("get fetch show read describe", "show|get|fetch|look up|pull up|tell me about", "", SHOW),
    Family("list all show", "list|show|give me", "", MANY),
    Family("find search query lookup", "find|search for|look for", "", SOME),
    Family("count number total", "count", "", "count"),
]
_PLAIN = """account agent album alarm asset badge balloon barrel batch bed boat box branch bridge bucket budget bus
cabin camera campaign candle canal car card cart case channel clock coat coin container contract course crane crate
customer dashboard dataset deal delivery desk device document domain door drawer drone engine entry exam experiment
farm fence field filter flag flight folder forecast form forklift garden gate generator grant greenhouse guest hive
horse inspection instrument invoice job kiln ladder lamp lane lease lens lesson library license list loan locker log
loom machine map meter mill mirror model monitor mower mural nest network nursery oven order package painting panel
parcel park patient payment permit pipeline pump plan plant platform player playlist policy pool poster printer
product profile project quarry queue quote rack raft record recipe refund region rental report reservation robot
roof room route rule sample schedule scooter sensor shelf shift ship shipment shop signal site sketch snapshot song
stage stall station statue subscription survey switch table tank task team telescope template tent ticket token
tower track tractor train trap tree trip truck tunnel turbine unit user valve vault vehicle voucher wagon wallet
warehouse well wheel window workflow workshop""".split()
_SPECIAL = """user account|shift plan|water meter|work order|gift card|purchase order|price list|train car|phone line
|job posting|team member|storage unit|parking space|test run|data source|access token|solar panel|time sheet
|sales report|office chair|music lesson|power outlet|trail map|fish tank|bee hive|voice mail|sand box|feature flag
|build job|cash register|season pass|ski lift|bike rack|blood sample|guest list|price alert|swim lane""".replace(
    "\n", ""
).split("|")


def noun(random: Random) -> Noun:
    """A thing that tools work on."""
    chance = random.random()
    if chance < 0.45:
        one = random.choice(_PLAIN)
    elif chance < 0.6:
        one = random.choice(_SPECIAL)
    elif chance < 0.75:
        one = f"{payloads.word(random)} {random.choice(_PLAIN)}"
    elif chance < 0.95:
        one = payloads.coin_word(random)
    else:
        one = f"{random.choice(_PLAIN)} {payloads.coin_word(random)}"
    return Noun(one, payloads.plural(one))


LABELS = [
    *[
        (label, "token")
        for label in "reason format mode region channel code profile source target group".split()
    ],
    *[
        (label, "word")
        for label in "category kind material brand pattern theme mood flavour topic label".split()
    ],
    *[
        (label, "int:1:100")
        for label in "level depth speed size copies attempts floor shelf row rank".split()
    ],
    *[
        (label, "num:1:500")
        for label in "weight length price budget ratio width height distance load".split()
    ],
    *[(label, "person") for label in "owner author manager guest driver contact_name assignee".split()],
    *[(label, "date") for label in "due_date start_date valid_until delivery_date birthday".split()],
    *[(label, "time") for label in "start_time pickup_time opening_time until".split()],
    *[(label, "place") for label in "city destination site branch_office home_town".split()],
    *[(label, "text") for label in "comment remark reason_text details greeting".split()],
    *[(label, "title") for label in "headline caption nickname".split()],
    *[(label, "mail") for label in "contact_email reply_to owner_email".split()],
    ("file", "path"),
    ("output_path", "path"),
    ("link", "url"),
    ("callback_url", "url"),
    ("phone", "phone"),
    ("colour", "colour"),
    ("currency", "currency"),
    ("version", "version"),
    ("tags", "words"),
    ("keywords", "tokens"),
    ("members", "persons"),
    ("recipients", "mails"),
    ("ports", "ints"),
    ("values", "nums"),
    ("page_range", "range"),
    ("dimensions", "size"),
    ("position", "point"),
    ("address", "address"),
    ("filter", "filter"),
]
KINDS = [
    "token",
    "word",
    "word",
    "int:0:999",
    "int:1:20",
    "num:0:90",
    "code",
    "words",
    "title",
    "person",
    "date",
]
SWITCHES = [
    ("with $l", "without $l"),
    (", $l on", ", $l off"),
    ("and $l", "but no $l"),
    (", $l true", ", $l false"),
    (", $l: yes", ", $l: no"),
    ("with $l on", "with $l off"),
]


def parameter(random: Random) -> Parameter:
    """An input of a common kind, or one with an invented name."""
    chance = random.random()
    if chance < 0.5:
        label, kind = random.choice(LABELS)
        return Parameter(label, kind)
    label = _label(random)
    label_words = label.replace("_", " ")
    if chance < 0.62:
        wording = random.choice(SWITCHES)
        phrases = [text.replace("$l", label_words) for text in wording]
        return Parameter(label, about="Whether to use $l", choices=((True, phrases[0]), (False, phrases[1])))
    if chance < 0.76:
        values = list(dict.fromkeys(payloads.word(random) for _ in range(random.choice([2, 3, 3, 4, 6]))))
        clause = random.choice(["with $l $v", ", $l $v", "in $v $l", ", $l: $v", "with $v as $l"])
        clause = clause.replace("$l", label_words)
        return Parameter(label, choices=tuple((value, clause.replace("$v", value)) for value in values))
    return Parameter(label, random.choice(KINDS))


def _label(random: Random) -> str:
    chance = random.random()
    if chance < 0.4:
        return payloads.coin_word(random)
    if chance < 0.7:
        return payloads.word(random)
    return (
        f"{random.choice([payloads.word(random), random.choice(words.ADJECTIVES)])}_{payloads.word(random)}"
    )


def _parameters(random: Random, most: int, used_keys: set[str]) -> dict[str, Parameter]:
    parameters: dict[str, Parameter] = {}
    for index in range(random.randint(0, most)):
        one = parameter(random)
        if one.keys not in used_keys:
            used_keys.add(one.keys)
            parameters["abcdefgh"[index] + "more"] = one
    return parameters


FIELDS = [
    ("status", "one:ready|open|closed|broken|busy|idle|waiting|full|empty|new|done|late"),
    ("state", "word"),
    ("owner", "person"),
    ("price", "num:1:900"),
    ("weight", "num:1:900"),
    ("length", "int:1:500"),
    ("colour", "colour"),
    ("created", "date"),
    ("due", "date"),
    ("version", "version"),
    ("size", "int:1:9000"),
    ("count", "int:0:900"),
    ("speed", "int:0:300"),
    ("temperature", "num:-20:90"),
    ("level", "int:0:100"),
    ("location", "place"),
    ("phone", "phone"),
    ("email", "mail"),
    ("code", "code"),
    ("capacity", "int:1:5000"),
    ("battery", "int:0:100"),
    ("opening_time", "time"),
    ("file", "path"),
    ("score", "int:0:100"),
    ("name", "title"),
]


def fields(random: Random, least: int = 1) -> dict[str, str]:
    """Fields of a thing."""
    parameters: dict[str, str] = {}
    while len(parameters) < least or (len(parameters) < 6 and random.random() < 0.6):
        if random.random() < 0.75:
            label, kind = random.choice(FIELDS)
        else:
            label, kind = _label(random), random.choice(["word", "int:0:999", "code", "num:0:90", "person"])
        parameters[label] = kind
    return parameters


def identity(random: Random, thing: Noun) -> Parameter:
    """The parameter that identifies a thing: its id or its name."""
    name = thing.name.replace(" ", "_")
    if random.random() < 0.65:
        keys = random.choice([f"{name}_id", "id", f"{name}_id", "number", "key", f"{name}", "ref"])
        return Parameter(keys, "id", "{Id of the thing|The id|Which one}", " $v", "Which one?")
    keys = random.choice(["name", f"{name}_name", "title", name])
    return Parameter(
        keys, "token", "{The name|Its name|Name}", " {called|named} $v", "{Which one|What is its name}?"
    )


_ASKS = {
    ONE: "$Verb {the |my |our |}$Noun $id|$Verb {the |my |}$Noun $id|$Verb the $Noun {called|named} $id|$Verb {a|the} $Noun",
    NEW: "$Verb {a|a new} $Noun {called|named} $title|$Verb {a|the} $Noun $title|$Verb {a|a new} $Noun",
    MANY: "$Verb {the|all|all the|my|our} $Nouns|{Which|What} $Nouns {are there|do we have|exist}?",
    SOME: "$Verb {the |}$Nouns {about|for|like|matching} $query|{Is there|Do we have} a $Noun {about|for|like} $query?|$Verb {a|any} $Noun"
    " {about|for|like} $query",
    "count": "How many $Nouns {are there|do we have|exist}?|{count} {the|all|our} $Nouns|What is the number of $Nouns?",
    SHOW: "$Verb {the |our |}$Noun $id|What {do we know about|about} $Noun $id?|$Verb {the |}details of {the |}$Noun $id",
}
_ASPECT = (
    "{What is|What's|Tell me|Give me|I need} the $Aspect of {the |}$Noun $id?|{Which|What} $Aspect does {the |}$Noun $id have?"
    "|{look up|get|check} the $Aspect of {the |}$Noun $id"
)
_DOES = {
    ONE: "$Verb {a|one} $Noun",
    NEW: "$Verb {a|a new} $Noun",
    MANY: "$Verb {all |the |}$Nouns",
    SOME: "$Verb {some |}$Nouns{| by text}",
    "count": "count {all |the |}$Nouns",
    SHOW: "$Verb {a $Noun|the details of a $Noun}",
}
_DONE = "{The |}$Noun $id {is|was|has been} $Past.|{Done|All right}: $Noun $id is $Past."
_ONE_FIELD = "{The $Aspect of|The $Aspect for} {the |}$Noun $id is $value.|{It is|It's} $value.|$value."
_DONE_NEW = "{The |}$Noun $title {is|was|has been} $Past.|{Done|All right}: $title is $Past."


def action(random: Random, thing: Noun | None = None, avoid: tuple[str, ...] = (), form: str = "") -> Action:
    """An invented tool; `avoid` names the families its siblings already use."""
    thing = thing or noun(random)
    fitting = [one for one in FAMILIES if one.names not in avoid and (not form or one.form == form)]
    family = _family(random, fitting or FAMILIES, form)
    says = random.choice(family.says.split("|"))
    phrases = {"Verb": says, "Nouns": thing.many, "Noun": thing.one, "Past": family.past}
    needs, takes = _inputs(random, family, thing)
    asks, outcome = _ASKS[family.form], _outcome(random, family, thing)
    if family.form == SHOW and random.random() < 0.6:
        aspect = random.choice(list(outcome.fields))
        phrases["Aspect"] = aspect.replace("_", " ")
        asks = _ASPECT
        outcome = ToolOutcome("facts", _ONE_FIELD, outcome.fields, focus=aspect)
    target = thing.name if family.form in (ONE, NEW, SHOW) else thing.many.lower()
    names = "|".join(f"{verb} {target}".replace("_", " ") for verb in family.names.split())
    return Action(
        thing.one.replace(" ", "_"), names, _DOES[family.form], asks, outcome, needs, takes, "", phrases
    )


def _family(random: Random, fitting: list[Family], form: str) -> Family:
    """An operation, now and then an invented verb."""
    if form in ("", ONE) and random.random() < 0.07:
        verb = payloads.coin_word(random)
        return Family(verb, verb, verb + ("d" if verb.endswith("e") else "ed"), ONE)
    if not form and random.random() < 0.35:
        return random.choice([one for one in fitting if one.form != ONE] or fitting)
    return random.choice(fitting)


def _inputs(
    random: Random, family: Family, thing: Noun
) -> tuple[Mapping[str, Parameter], Mapping[str, Parameter]]:
    needs: dict[str, Parameter] = {}
    if family.form in (ONE, SHOW):
        needs["id"] = identity(random, thing)
    elif family.form == NEW:
        needs["title"] = random.choice(
            [
                o.TITLE,
                Parameter(
                    "name title label",
                    "token",
                    "{Its name|The name}",
                    " called $v",
                    "What should it be called?",
                ),
            ]
        )
    elif family.form == SOME:
        needs["query"] = o.QUERY
    used_keys = {key for one in needs.values() for key in one.keys.split()}
    more = _parameters(random, 2 if family.form == SHOW else 4, used_keys)
    takes: dict[str, Parameter] = {}
    for slot, one in more.items():
        (needs if random.random() < (0.4 if family.form in (ONE, NEW) else 0.1) else takes)[slot] = one
    if family.form in (MANY, SOME) and random.random() < 0.5 and "limit" not in used_keys:
        takes["limit"] = o.LIMIT
    if family.form in (ONE, NEW) and random.random() < 0.15:
        takes["extra"] = random.choice([o.PRIORITY, o.NOTIFY, o.DATE, o.TAGS])
    return MappingProxyType(needs), MappingProxyType(takes)


def _outcome(random: Random, family: Family, thing: Noun) -> ToolOutcome:
    if family.form == ONE:
        return done(_DONE)
    if family.form == NEW:
        return done(_DONE_NEW)
    if family.form == "count":
        return facts("{There are|I see|I count|The tool counts} $count $Nouns.", count="int:0:999")
    if family.form == SHOW:
        return ToolOutcome("facts", "", fields(random, 2))
    return listing("$Nouns", random.choice(["title", "token", "code", "word", "person"]))
