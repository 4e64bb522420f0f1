"""Questions about one name of `glossary.py`: a setting, an address, an error code, a flag, a command."""

from random import Random

from duologue_mini.facts import glossary
from duologue_mini.scene import Turn
from duologue_mini.text.phrases import capital, pick


def turn(random: Random) -> Turn:
    """A question about one name of the glossary."""
    kind = random.choices(
        ["knob", "address", "code", "flag", "figure", "command", "frame"], [40, 16, 24, 5, 6, 14, 5]
    )[0]
    if kind == "knob":
        return _knob(random, random.choice(glossary.KNOBS))
    table, asks, answers = NAMED[kind]
    name = random.choice(list(table))
    user = pick(random, asks, name=name)
    user = user if user.startswith(name) else capital(user)
    answer = capital(pick(random, answers, name=name, means=table[name]))
    return Turn(user, answer, f"{name}: {table[name]}.", exact=True)


NAMED: dict[str, tuple[dict[str, str], list[str], list[str]]] = {
    "address": (
        glossary.ADDRESSES,
        [
            "{What is|What's|Explain|Tell me about|What about|What do I find at|What is at} {$name|the address $name|the endpoint $name}?",
            "$name?",
            "What {does|will} $name {tell|answer|return|give me}?",
            "{I need|Question about} $name[.]",
        ],
        ["`$name` $means."],
    ),
    "code": (
        glossary.CODES,
        [
            "{I get|It says|The server says|The answer is|I got|There is|I see} {$name|the error $name|the code $name}{.|, what now?|. What does that mean?|. What is that?|, why?|. Help!}",
            "What {does {the error |the code |error |}$name mean|is {the error |the code |error |}$name}?",
            "{Why|When} do I get $name?",
            "$name{?||: what is that?}",
            "{Explain|Tell me about} {the error |}$name[.]",
        ],
        ["`$name` means: $means.", "{That|`$name`} says that $means."],
    ),
    "flag": (
        glossary.FLAGS,
        [
            "What {does {the flag |the option |}$name do|is {the flag |the option |}$name for}?",
            "{Explain|Tell me about} $name[.]",
            "$name?",
        ],
        ["`$name` $means."],
    ),
    "figure": (
        glossary.FIGURES,
        [
            "What {does {the figure |the metric |}$name {count|mean|say}|is {the figure |the metric |}$name}?",
            "$name?",
            "{Explain|Tell me about} $name[.]",
        ],
        ["`$name` counts $means.", "That figure of `/metrics` counts $means."],
    ),
    "command": (
        glossary.COMMANDS,
        [
            "What {does {the command |}{$name|`$name`} do|is {the command |}{$name|`$name`}[ for]}?",
            "{Explain|Tell me about|What about|What happens with} {$name|`$name`}[.]",
            "{$name|`$name`}?",
            "{When|Why} do I {need|use|run} $name?",
        ],
        ["`$name` $means."],
    ),
    "frame": (
        glossary.FRAMES,
        [
            "What {does {the message |the frame |}$name {on|of|from} {the socket|/ws/chat} mean|is {the message |the frame |}$name {on|of|from} {the socket|/ws/chat}}?",
            "{The socket|/ws/chat} {sends|says|sent me} $name{.|, what is that?|. What does it mean?}",
        ],
        ["`$name` means: $means.", "`$name` says: $means."],
    ),
}
KNOB_ASKS = [
    "What {does {the setting |the option |}{$name|`$name`} do|is {the setting |the option |}{$name|`$name`}[ for]}?",
    "{Explain|Tell me about|What about|Something on} {the setting |}$name[.]",
    "What {does $variable do|is $variable[ for]}?",
    "{What|Which value} does {the setting |}$name have {by default|if I set nothing}?",
    "{What is|What's} the default of {the setting |}$name?",
    "{How do I|How can I|Where do I} set {the setting |}$name?",
    "{Which|What} environment variable {sets|is for} $name?",
]


FLAG_ASKS = [
    "What {does {the flag |the option |}$flag do|is {the flag |the option |}$flag[ for]}?",
    "{Explain|Tell me about|What about|When do I need} {the flag |}$flag[?]",
    "$flag?",
]


def _knob(random: Random, knob: glossary.Knob) -> Turn:
    """A question about a setting by its name, its variable or its flag."""
    if knob.flag and random.random() < 0.3:
        user = capital(pick(random, FLAG_ASKS, flag=knob.flag))
        default = f" The default is {knob.default}." if knob.default and random.random() < 0.5 else ""
        is_negated = knob.flag == "--no-ui"
        answer = f"`{knob.flag}` {'serves the APIs without the page' if is_negated else knob.does}.{'' if is_negated else default}"
        return Turn(user, answer, f"{knob.flag} is the flag of the setting {knob.name}.", exact=True)
    user = capital(pick(random, KNOB_ASKS, name=knob.name, variable=knob.variable))
    default = f" The default is {knob.default}." if knob.default else ""
    if "default" in user or "if I set nothing" in user:
        answer = (
            f"It {knob.does}.{default}" if default else f"`{knob.name}` is empty by default. It {knob.does}."
        )
    elif user.startswith(("How", "Where", "Which environment", "What environment")):
        flag = f", or the flag `{knob.flag}`" if knob.flag else ""
        answer = f"By `{knob.name}` in `duologue.yaml`, `{knob.variable}` in the environment{flag}."
    elif knob.variable in user and "$" not in user:
        answer = f"`{knob.variable}` sets `{knob.name}`: it {knob.does}.{default}"
    else:
        answer = f"`{knob.name}` {knob.does}." + (default if random.random() < 0.6 else "")
        if knob.flag and random.random() < 0.4:
            answer += f" The flag is `{knob.flag}`."
    return Turn(user, answer, f"{knob.name} {knob.does}.", exact=True)
