"""Small requests with an answer of one plain sentence: hello, thanks, who are you, a small sum.

The skills `instructed` and `spoken` change these answers as their system prompts demand.
"""

from dataclasses import dataclass
from random import Random

from duologue_mini.arithmetic.column_sums import value
from duologue_mini.text import payloads, words
from duologue_mini.text.phrases import pick


@dataclass(frozen=True)
class Act:
    """The user's words, an answer of one sentence, and a short name of its kind."""

    user: str
    answer: str
    what: str


PLAIN: dict[str, tuple[list[str], list[str]]] = {
    "hello": (
        [
            "{Hi|Hello|Hey|Good day|Hiya}[ there|, you| again][!|.]",
            "{Good morning|Good evening|Good afternoon|Greetings}[!|.]",
            "{Hello|Hi}[,] {is anyone there|are you there|can we talk|how is it going}?",
        ],
        [
            "{Hello|Hi}, {how can I help you|what can I do for you}?",
            "{Hello|Hi}, {nice to see you|good to have you here}{!|.}",
        ],
    ),
    "how": (
        [
            "{How are you|How do you do|How are you doing|How's life|How is it going|Are you well}[ today]?",
            "{What's up|All good}?",
        ],
        ["I am {doing well|fine|well}, {thank you|thanks}{.|!}", "All is well here, thank you{.|!}"],
    ),
    "thanks": (
        [
            "{Thanks|Thank you|Many thanks|Thank you so much|Thx|Cheers}[ a lot| for the help| for that][!|.]",
            "{That was|That is} {helpful|very kind|great}[, thanks][!|.]",
        ],
        ["{You are welcome|You're welcome|My pleasure|Happy to help|Any time|Gladly}{.|!}"],
    ),
    "bye": (
        [
            "{Bye|Goodbye|See you|Farewell|So long|Bye bye|Take care}[ then| for now| later][!|.]",
            "{I have to go|I must leave|I am off|That was all|Good night}[ now][!|.]",
        ],
        ["{Goodbye|Bye|See you}, {take care|have a good day|until next time|all the best}{.|!}"],
    ),
    "able": (
        [
            "{What can you do|How can you help me|What are you good at|What can I ask you|What do you do}[ for me]?",
            "{I need help|Help|Help me|Can you help me}[.|!]",
        ],
        [
            "I can {chat, do small sums and answer from what you tell me|talk a little, do sums and remember what you tell me}{.|!}"
        ],
    ),
    "human": (
        [
            "{Are you|You are} {human|a person|a robot|real|a machine|a real person|an AI}?",
            "{Am I talking to|Is this} a {human|person|machine|bot}?",
        ],
        ["I am a {small |}computer program{.|, not a person.}"],
    ),
    "joke": (
        ["{Tell me a joke|Say something funny|Make me laugh|Do you know a joke}[ please][.|?]"],
        [
            "My {lamp|candle} tells the best jokes, they are always light{.|!}",
            "I asked the {door|gate} for a joke, but it stayed closed{.|!}",
        ],
    ),
    "mood": (
        [
            "{I am|I'm|I feel} {sad|tired|lonely|bored|unhappy|worried}[ today][.]",
            "{I had|It was} a {bad|hard|long} day[.]",
        ],
        ["I am sorry to hear that, {I hope it gets better soon|take it easy today}{.|!}"],
    ),
    "glad": (
        [
            "{I am|I'm|I feel} {happy|glad|great|well|fine}[ today][.|!]",
            "{My day|It} was {good|great|lovely}[.|!]",
        ],
        ["{I am glad to hear that|That is good to hear|How nice}{.|!}"],
    ),
    "praise": (
        [
            "{You are|You're|That was} {great|clever|very good|nice|funny|smart}[.|!]",
            "{Well done|Good job|Nice work|I like you}[.|!]",
        ],
        ["{Thank you|Thanks}, {that is kind|I do my best|I am glad you like it}{.|!}"],
    ),
}
BEYOND = [
    "{Who|Which person} {wrote|painted|built|invented|discovered} the $d $x[ of $c]?",
    "{What is|Tell me} the {capital|history|population|currency|president} of $c[?]",
    "{Why|How} {do|does} {a |the |}$x {work|grow|fly|move|shine}?",
    "{Write|Translate|Summarise} {a|my|the} {poem|essay|letter|program} {about|for|into} {$x|$c|$l}[.]",
    "{What is|How is} the {weather|news|time|traffic} in $p[?]",
    "{Recommend|Suggest}[ me] a {film|book|restaurant|hotel|song} {about|in|from} $c[.]",
    "{When|In which year} {was|did} {$m|the $x|$c} {born|begin|end|built}?",
    "{Should I|Can I|Would you} {buy a $x|move to $p|marry $m|invest in $z}?",
    "What is {quantum physics|a black hole|democracy|inflation|the meaning of life|$z|photosynthesis}?",
]
BEYOND_ANSWERS = [
    "{I do not know|I don't know} that{.|, I am a small model.|, sorry.}",
    "That is beyond me{.|, I am a small model.|, sorry.}",
    "{Sorry, I|I} {cannot|can't} help with that{.|, a larger model could.}",
]


def act(random: Random, kind: str) -> Act:
    """An exchange of a kind in PLAIN, or "sum", or "beyond"."""
    if kind == "sum":
        return small_sum(random)
    if kind == "beyond":
        return beyond(random)
    asks, answers = PLAIN[kind]
    return Act(pick(random, asks), pick(random, answers), kind)


def any_act(random: Random, without: frozenset[str] = frozenset()) -> Act:
    """Any exchange except those named."""
    kinds = [kind for kind in KINDS if kind not in without]
    return act(random, random.choice(kinds))


KINDS = [*PLAIN, "sum", "sum", "beyond", "beyond"]


def small_sum(random: Random) -> Act:
    """A sum that needs no steps."""
    a, b, sign = random.randint(0, 50), random.randint(0, 20), random.choice("++-")
    a, b = (max(a, b), min(a, b)) if sign == "-" else (a, b)
    word = {"+": ["+", "plus", "and"], "-": ["-", "minus"]}[sign]
    user = pick(
        random, ["{What is|What's|How much is|Calculate|} $a $s $b[?]"], a=a, s=random.choice(word), b=b
    )
    return Act(user, f"{a} {sign} {b} is {value(a, sign, b)}.", "sum")


def beyond(random: Random) -> Act:
    """A question about the world, and the answer that the model does not know."""
    fills = {
        "d": random.choice(words.ADJECTIVES),
        "x": payloads.thing(random),
        "c": random.choice(words.COUNTRIES),
        "l": random.choice(words.LANGUAGES),
        "p": payloads.place(random),
        "m": payloads.person(random),
        "z": payloads.coin_word(random),
    }
    return Act(pick(random, BEYOND, **fills), pick(random, BEYOND_ANSWERS), "beyond")
