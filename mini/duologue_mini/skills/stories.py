"""Skill: short stories, rhymes, jokes, riddles and lists, all from a grammar."""

from random import Random

from duologue_mini.scene import Scene, Turn
from duologue_mini.text import words
from duologue_mini.text.phrases import capital, pick

ASK_STORY = [
    "{Tell|Write|Make up|Invent|Give|Read|Tell me|Tell us} {me |}{a|a short|a little|a nice|a quick|a new|"
    "another|a bedtime} {story|tale|fairy tale}[ please][.]",
    "{I want|I would like|I'd like|Can I have|Can I hear|Can you tell me|Could you write|Do you know} {a|a"
    " short|a little|another} {story|tale}[ please][?|.]",
]
ABOUT = [
    "{Tell|Write}[ me] a[ short] {story|tale} about {a|an|one|the} $w[.]",
    "{Can you tell me a|A[ short]} story about a $w[?]",
    "{Make up|Invent} a[ short] story {with|about} a $w[.]",
]
PLOTS = [
    "Once there was $a $x who lived {by|near|under} a $p. One {morning|evening|day|night} it found $b $t."
    " {It took it home and looked at it all night.|It asked everyone whose it was, but nobody knew.} In the"
    " end it gave the $t to {a friend|$n}, and both were {happy|glad}.",
    "{A|One} $d $x wanted to see the {sea|moon|city|mountains}. It packed $b $t and walked for {three|"
    "seven|two} days. On the way it met $n, who {showed it the way|walked along}. They arrived {at sunset|"
    "at dawn}, tired and {happy|proud}.",
    "$n had $a $x {that could sing|that never slept|that told jokes|that was afraid of the dark}. One"
    " {night|day} the $x was gone. $n looked behind the $t and under the $p, and there it was, {fast"
    " asleep|smiling}. {From then on|After that} they were never apart.",
    "It was a $d {night|morning}. $n heard a sound behind the $t. It was only a $x, {cold and hungry|lost"
    " and tired}. $n {gave it some bread|made it a warm bed}, and {the next day|in the morning} they were"
    " friends.",
]
ASK_RHYME = [
    "{Tell|Write|Make|Give|Say|Sing}[ me] {a|a short|a little|another} {rhyme|poem|verse|song|lullaby}["
    " please|about anything][.]",
    "{Can you|Could you|Please} {write|make|say|sing} {a|a short|a little} {rhyme|poem|verse|song}[ for me]?",
    "{Do you know|Have you got} a {rhyme|poem|verse}?",
    "{I want|I'd like} a[ short|little] {poem|rhyme}[.]",
]
RHYMES = [
    ("cat", "hat"),
    ("mouse", "house"),
    ("bee", "tree"),
    ("fox", "box"),
    ("goat", "boat"),
    ("star", "car"),
    ("moon", "spoon"),
    ("bear", "chair"),
    ("frog", "log"),
    ("owl", "towel"),
    ("snail", "pail"),
    ("dog", "fog"),
    ("whale", "sail"),
    ("sheep", "jeep"),
    ("king", "ring"),
    ("hen", "pen"),
    ("snake", "lake"),
    ("crow", "snow"),
]
VERSES = [
    "A {little|$d} $x {sat by|slept under} a $y,\n{as happy as happy can be|and nobody else was"
    " about}.\n{It hummed a small tune|It looked at the sky} {to the wind and the $m|all the long"
    " afternoon},\n{and then it went home for its tea|and waited for the stars to come out}.",
    'I once knew a $x with a $y,\n{it said, "It is perfectly mine"|who danced every night in the'
    " rain}.\n{It {gave me a wink|took it for a walk},\nand {the weather was fine|everything seemed fine}|"
    "It {laughed|sang} and it {jumped},\nthen it did it again}.",
    "The $x has a $y,\nthe $y has a $x,\n{and if you don't like it|and when it is raining},\n{they sit in a"
    " box|they pull up their socks}.",
]
ASK_JOKE = [
    "{Tell|Give|Say}[ me] {a|another|one more|a good|a funny|some} {joke|joke please|jokes|something"
    " funny}[.|!]",
    "{Do you know|Can you tell me|Have you got|Know} {a|any|another|some} {joke|jokes|good joke}?",
    "{Make me laugh|Cheer me up|Say something funny|Be funny|I want to laugh|Joke please|Joke}[.|!]",
]
JOKES = [
    "Why did the computer go to bed early? It had too many tabs open.",
    "Why was the small model so calm? It had very few parameters to worry about.",
    "What does a cloud wear under its coat? Thunderwear.",
    "Why did the clock go to school? It wanted to learn to tell time.",
    "What do you call a sleeping server? A rest API.",
    "Why was the maths book sad? It had too many problems.",
]
ASK_LIST = [
    "{List|Name|Give me|Tell me|Write down|I need|Can you name|Can you list|Show me} $k $s[ please][.]",
    "{Give me|Write|Make} a list of $k $s[.]",
    "{What are|Do you know} $k $s?",
]
LISTS = {
    "animals": words.ANIMALS,
    "colours": words.COLOURS,
    "colors": words.COLOURS,
    "foods": words.FOODS,
    "cities": words.PLACES,
    "countries": words.COUNTRIES,
    "languages": words.LANGUAGES,
    "hobbies": words.HOBBIES,
    "names": words.NAMES,
    "things": words.THINGS,
}


ASK_CHAT = [
    "{Let's|Can we|Shall we|I want to|I'd like to|Could we|Will you|Can you} {talk|chat|have a chat|talk to"
    " me|chat a bit|talk a little|chat with me}[ {please|a bit|for a while}][.|?]",
    "{Tell me|Say} something[ {nice|interesting|new|cool|random|good|fun|to me}][.]",
    "{Surprise|Entertain|Amuse} me[.|!]",
    "{I am|I'm}[ {so|really|very}] {bored|boring myself|alone|waiting for the bus}[.]",
    "{What|So what} {shall|should|can} we {do|talk about|chat about}[ {now|today}]?",
    "{What do you want to|What would you like to} {talk about|do|chat about}[ today]?",
    "{Ask me|Give me} {something|a question|anything}[.]",
]
OFFERS = [
    "{Sure|Gladly|With pleasure|Of course}! {Shall I tell you|Would you like|How about} a {joke, a rhyme or"
    " a short story|short story or a joke|joke or a rhyme}?"
]
ANOTHER = [
    "{Another|Another one|One more|Again|More|Next|Next one|Do it again|Tell me another|Now another one|And"
    " another|Give me another}[ please][.|!]"
]


def draw(random: Random) -> Scene:
    """A story, a rhyme, a joke or a list; now and then after an offer, or twice."""
    kind = random.choices([_story, _rhyme, _joke, _list], [4, 2, 3, 3])[0]
    scene = kind(random)
    if random.random() < 0.22:
        return _choice_scene(random)
    if kind is not _list and random.random() < 0.2:
        again = kind(random).turns[0]
        return Scene(
            "stories", [*scene.turns, Turn(pick(random, ANOTHER), again.assistant, "One more, then.")]
        )
    return scene


def _choice_scene(random: Random) -> Scene:
    turns = [
        Turn(
            pick(random, ASK_CHAT),
            pick(random, OFFERS),
            "The user wants to pass the time. I offer something.",
        )
    ]
    if random.random() < 0.6:
        word, kind = random.choice([("joke", _joke), ("story", _story), ("rhyme", _rhyme), ("poem", _rhyme)])
        wish = pick(random, ["[{A|The|Tell me a|I'd like a|Yes, a|Ok, a}] $w[ please][.|!]"], w=word).strip()
        turns.append(Turn(capital(wish), kind(random).turns[0].assistant, f"The user chose a {word}."))
    return Scene("stories", turns)


def _fills(random: Random) -> dict[str, str]:
    animal, thing = random.choice(words.ANIMALS), random.choice(words.THINGS)
    adjective, other = random.sample(words.ADJECTIVES, 2)
    return {
        "x": animal,
        "t": thing,
        "d": adjective,
        "a": words.article(adjective),
        "b": words.article(other),
        "p": random.choice(words.THINGS),
        "n": random.choice(words.NAMES),
    }


def _story(random: Random) -> Scene:
    fills = _fills(random)
    user = pick(random, ASK_STORY)
    thought = "A short story, then. I make one up."
    if random.random() < 0.4:
        user = pick(random, ABOUT, w=fills["x"])
        thought = f"A short story about the {fills['x']}."
    return Scene("stories", [Turn(user, capital(pick(random, PLOTS, **fills)), thought)])


def _rhyme(random: Random) -> Scene:
    pair = random.choice(RHYMES)
    x, y = pair if random.random() < 0.5 else pair[::-1]
    verse = pick(
        random,
        VERSES,
        x=x,
        y=y,
        d=random.choice(words.ADJECTIVES),
        m=random.choice(["moon", "sun", "sea", "sky"]),
    )
    return Scene("stories", [Turn(pick(random, ASK_RHYME), capital(verse), f"A rhyme: {x}, {y}.")])


def _joke(random: Random) -> Scene:
    return Scene(
        "stories", [Turn(pick(random, ASK_JOKE), random.choice(JOKES), "The user wants a joke. I tell one.")]
    )


def _list(random: Random) -> Scene:
    kind = random.choice(list(LISTS))
    count = random.choices([2, 3, 4, 5, 6], [1, 5, 2, 4, 1])[0]
    chosen = random.sample(LISTS[kind], count)
    with_numbers = random.random() < 0.4
    lines = [
        f"{index}. {capital(word)}" if with_numbers else f"- {capital(word)}"
        for index, word in enumerate(chosen, 1)
    ]
    how_many = words.number_in_words(count) if random.random() < 0.4 else str(count)
    user = pick(random, ASK_LIST, k=how_many, s=kind)
    return Scene("stories", [Turn(user, "\n".join(lines), f"The user wants {count} {kind}. I list {count}.")])
