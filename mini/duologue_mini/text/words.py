"""Words that fill slots: names, things, places, numbers, and invented words."""
# ruff: noqa: SIM905 (word lists read better as running text)

from random import Random

NAMES = """Ada Aisha Alan Alba Alex Ali Alice Amara Amir Ana Anders Andre Anita Anna Arjun Astrid Ben Bianca
Boris Carla Carlos Carmen Chen Chloe Chris Clara Cora Dana Daniel Daria David Diego Dina Edith Elena Eli Elif
Ella Emil Emma Eric Esther Eva Fatima Felix Finn Fiona Frank Freya George Gina Grace Hana Hannah Hans Harry
Hassan Helen Henry Hugo Ian Ida Ines Ingrid Iris Isaac Ivan Jack James Jan Jane Jasmine Jim Joe John Jonas
Jose Julia Kai Karen Karim Kate Kemal Ken Kira Lara Lars Laura Lea Lena Leo Lily Lin Linda Lisa Liu Louis
Lucas Lucia Luna Maja Marco Maria Mark Marta Mary Mateo Max Maya Mei Mia Michael Mila Mina Mira Mohamed Nadia
Nico Nina Noah Nora Oleg Olga Oliver Omar Oscar Otto Pablo Paul Paula Pedro Peter Petra Priya Rafael Rana Raj
Rita Robert Rosa Ruth Sam Samir Sara Sarah Sasha Selma Sergei Simon Sofia Sophie Stefan Steve Sven Tariq Tara
Theo Thomas Tim Tina Tom Uma Vera Victor Wei Will Yara Yuki Yusuf Zara Zoe""".split()

ANIMALS = """ant badger bear bee bird camel cat cow crab crow deer dog dolphin donkey duck eagle elephant fish
fox frog goat goose hare hedgehog horse lion lizard mole monkey moose mouse otter owl panda parrot penguin pig
rabbit rat seal shark sheep snail snake spider squirrel swan tiger turtle whale wolf zebra""".split()

COLOURS = """amber black blue bronze brown crimson cyan gold gray green indigo ivory lilac lime magenta navy
olive orange pink purple red rose silver teal turquoise violet white yellow""".split()

FOODS = """apples bananas bread cake carrots cheese cherries chocolate cookies couscous curry dumplings
falafel grapes honey hummus lasagna lentils mango noodles olives pancakes pasta peaches pears pie pizza plums
popcorn ramen rice salad sandwiches soup spinach strawberries sushi tacos toast tofu tomatoes
waffles""".split()

PLACES = """Accra Amsterdam Athens Austin Bangkok Barcelona Beijing Berlin Bogota Boston Brussels Budapest
Cairo Chicago Copenhagen Delhi Dublin Geneva Hamburg Hanoi Helsinki Istanbul Jakarta Kyoto Lagos Lima Lisbon
London Lyon Madrid Manila Melbourne Mexico Milan Mumbai Munich Nairobi Naples Oslo Paris Porto Prague Quito
Riga Rome Seattle Seoul Shanghai Singapore Sofia Stockholm Sydney Tallinn Tokyo Toronto Tunis Vienna Vilnius
Warsaw Zagreb Zurich""".split()

COUNTRIES = """Albania Argentina Australia Austria Bolivia Brazil Bulgaria Canada Chile China Croatia Cuba
Denmark Egypt Estonia Ethiopia Finland France Germany Ghana Greece Hungary Iceland India Indonesia Iran
Ireland Italy Japan Kenya Korea Latvia Mexico Mongolia Morocco Nepal Norway Pakistan Peru Poland Portugal
Romania Russia Serbia Spain Sweden Turkey Ukraine Vietnam Zambia""".split()

LANGUAGES = """Arabic Bengali Chinese Czech Danish Dutch Finnish French German Greek Hebrew Hindi Hungarian
Italian Japanese Korean Latin Norwegian Persian Polish Portuguese Russian Spanish Swahili Swedish Thai Turkish
Ukrainian Urdu""".split()

HOBBIES = """archery baking biking chess climbing cooking dancing drawing fencing fishing gardening hiking
judo juggling knitting music painting photography poetry pottery reading rowing running sailing singing
skating skiing surfing swimming tennis volleyball weaving writing yoga""".split()

THINGS = """anchor apple ball basket bell bike boat book bottle box bridge bus camera candle car card chair
clock cloud coat coin cup desk door drum egg engine fence flag flower fork garden gate glove guitar hammer hat
house key kite ladder lamp leaf letter map mirror moon mountain needle nest paper pen pencil piano pillow
plate radio rain ring river road rock rope rose sail ship shoe snow sock spoon star stone sun table tent
ticket train tree truck wall watch wheel window""".split()

ADJECTIVES = """big bold brave bright busy calm clever cold cozy curious dark dry early fast funny gentle glad
golden happy heavy hidden honest huge kind lazy light little lonely long lost loud lucky merry old patient
proud quick quiet round shy silent silly sleepy slow small soft strange strong sunny sweet tall thin tiny warm
wide wild wise young""".split()

NUMBERS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty""".split()

TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]

_ONSETS = "b br c ch d dr f fl g gr h j k kl l m n p pl qu r s sh sk st t th tr v w y z".split()
_VOWELS = "a e i o u ai ea ee ia io oo ou".split()
_CODAS = ["", "", "", "l", "m", "n", "r", "s", "t", "x", "nd", "rk", "ck", "th"]


def invent_word(random: Random) -> str:
    """An invented word."""
    syllables = random.choice([1, 2, 2, 3])
    return "".join(
        random.choice(_ONSETS) + random.choice(_VOWELS) + random.choice(_CODAS) for _ in range(syllables)
    )


def name(random: Random) -> str:
    """A person's name; now and then an invented one."""
    return invent_word(random).capitalize() if random.random() < 0.2 else random.choice(NAMES)


def number_in_words(number: int) -> str:
    """A number from 0 to 99 in words."""
    if number <= 20:
        return NUMBERS[number]
    tens, ones = divmod(number, 10)
    return TENS[tens] + (f"-{NUMBERS[ones]}" if ones else "")


def join_words(words: list[str], conjunction: str = "and") -> str:
    """The words as a list in running text."""
    if len(words) < 2:
        return "".join(words)
    return ", ".join(words[:-1]) + f" {conjunction} " + words[-1]


def article(word: str) -> str:
    """The word with "a" or "an" before it."""
    return f"{'an' if word[0].lower() in 'aeiou' else 'a'} {word}"
