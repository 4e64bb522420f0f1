"""Questions about the world, and subjects to ask about, real and invented. It has no answers: the model declines them."""
# ruff: noqa: SIM905 (word lists read better as running text)

from random import Random

from duologue_mini.text import words

PEOPLE = """Einstein|Napoleon|Cleopatra|Shakespeare|Mozart|Beethoven|Picasso|Marie Curie|Isaac Newton|Galileo|Darwin|
Leonardo da Vinci|Michelangelo|Gandhi|Nelson Mandela|Abraham Lincoln|George Washington|Julius Caesar|Aristotle|Plato|
Socrates|Confucius|Buddha|Columbus|Marco Polo|Tesla|Edison|Ada Lovelace|Alan Turing|Freud|Karl Marx|Goethe|Tolstoy|
Jane Austen|Charles Dickens|Mark Twain|Kafka|Homer|Dante|Frida Kahlo|Van Gogh|Rembrandt|Bach|Chopin|Elvis|Madonna|
Michael Jackson|Taylor Swift|Beyonce|Messi|Ronaldo|Serena Williams|Usain Bolt|Muhammad Ali|Pele|Churchill|Queen Victoria|
Genghis Khan|Joan of Arc|Neil Armstrong|Yuri Gagarin|Stephen Hawking|Elon Musk|Bill Gates|Steve Jobs|Agatha Christie|
Hitchcock|Charlie Chaplin|Marilyn Monroe|Bob Dylan|Pythagoras|Archimedes|Euclid|Gutenberg|Magellan|Amelia Earhart""".replace(
    "\n", ""
).split("|")
EVENTS = (
    """the French Revolution|the First World War|the Second World War|the Cold War|the Renaissance|the Black Death|the Moon
landing|the Olympic Games|the Roman Empire|the Middle Ages|the Industrial Revolution|the fall of the Berlin Wall|the Ice Age|
the Big Bang|the Boston Tea Party|the American Civil War|the Great Depression|the Space Race|the Vietnam War|the Crusades|
the Battle of Hastings|the Chernobyl accident|the sinking of the Titanic|the World Cup|the Reformation|the Ottoman Empire|
the Magna Carta|the Silk Road|the Gold Rush|the Russian Revolution|Brexit|the pandemic""".replace("\n", " ")
    .replace("| ", "|")
    .split("|")
)
SCIENCES = """photosynthesis|gravity|quantum mechanics|relativity|evolution|electricity|magnetism|black holes|DNA|plate tectonics|
the water cycle|inflation|democracy|capitalism|the immune system|nuclear fusion|entropy|climate change|vaccines|radioactivity|
blockchain|machine learning|neural networks|the stock market|philosophy|astrology|astronomy|calculus|algebra|trigonometry|
probability theory|game theory|genetics|the periodic table|tides|earthquakes|volcanoes|rainbows|lightning|hurricanes|enzymes|
osmosis|dark matter|time zones|leap years|logic|grammar|economics|psychology|sociology|linguistics|the solar system|comets|
bacteria|viruses|antibiotics|hormones|the nervous system|digestion|dreams|memory|sleep|the ozone layer|renewable energy|
superconductors|lasers|semiconductors|satellites|sonar|GPS|cryptography|compilers|operating systems|the internet|HTTP""".replace(
    "\n", ""
).split("|")
WORKS = (
    """Hamlet|Don Quixote|the Odyssey|War and Peace|Moby Dick|the Mona Lisa|Star Wars|Titanic|the Matrix|Harry Potter|the
Lord of the Rings|Faust|the Bible|the Koran|Romeo and Juliet|Pride and Prejudice|Game of Thrones|the Simpsons|Casablanca|
Swan Lake|the Ninth Symphony|Bohemian Rhapsody|Frankenstein|Dracula|Alice in Wonderland|the Little Prince|Minecraft|Tetris|
Super Mario|Zelda|Breaking Bad|Inception|Frozen|the Magic Flute|Guernica|the Starry Night""".replace(
        "\n", " "
    )
    .replace("| ", "|")
    .split("|")
)
BODIES = """heart liver kidney brain lung stomach skin spine knee eye ear tooth tongue muscle bone vein nerve thumb""".split()
ILLS = """diabetes|malaria|asthma|the flu|a cold|cancer|anaemia|migraine|arthritis|measles|hay fever|high blood pressure|
depression|insomnia|scurvy|covid|pneumonia|appendicitis|a stroke|epilepsy|eczema|gout""".replace(
    "\n", ""
).split("|")
MATTERS = """gold silver iron copper oxygen hydrogen helium carbon mercury uranium salt sugar water glass steel paper plastic
concrete rubber silk wool cotton petrol diesel lithium aluminium chlorine diamond amber wax ice steam""".split()
SPORTS = "football tennis chess cricket baseball basketball golf rugby hockey boxing cycling sailing judo skiing swimming formula one handball volleyball curling".split()
SKY = "the sun|the moon|Mars|Venus|Jupiter|Saturn|Pluto|Mercury|Neptune|Uranus|the earth|the Milky Way|Sirius|the North Star|Halley's comet".split(
    "|"
)
RANKS = "tallest biggest longest fastest oldest deepest largest smallest richest hottest coldest heaviest highest loudest strangest rarest most-visited most-famous".split()
SITES = "mountain|river|city|lake|ocean|building|country|island|desert|bridge|tower|tree|volcano|waterfall|animal|bird|fish|planet|star|ship|museum|church|railway|airport|university|company|book|film|song|language|cave|tunnel|castle|street".split(
    "|"
)
ROLES = "president king queen prime-minister mayor chancellor emperor pope coach captain owner founder director boss minister-of-health governor".split()
ACTS = "invented discovered wrote painted built founded composed directed designed won first-climbed sang translated sculpted proved".split()
FIRMS = "Google|Apple|Microsoft|Amazon|Tesla|IKEA|Nintendo|Toyota|Nokia|Sony|Lego|Netflix|Samsung|Boeing|Airbus|Siemens|Volvo|Nestle|Adidas|Wikipedia".split(
    "|"
)


IRREGULAR = {
    "fish": "fish",
    "sheep": "sheep",
    "deer": "deer",
    "moose": "moose",
    "mouse": "mice",
    "goose": "geese",
    "wolf": "wolves",
    "fox": "foxes",
}


def plural(animal: str) -> str:
    """The plural of a subject."""
    return IRREGULAR.get(animal, f"{animal}s")


def subject(random: Random) -> str:
    """A subject: real, made of real words, or invented."""
    return random.choice(SUBJECTS)(random)


def _invented_name(random: Random) -> str:
    first = words.name(random)
    return (
        f"{first} {words.invent_word(random).capitalize()}"
        if random.random() < 0.6
        else words.invent_word(random).capitalize()
    )


def _compose(random: Random) -> str:
    country, thing = random.choice(words.COUNTRIES), random.choice(words.THINGS)
    return random.choice(
        [
            f"the history of {country}",
            f"the {random.choice(words.ADJECTIVES)} {thing} of {random.choice(words.PLACES)}",
            f"the invention of the {thing}",
            f"the economy of {country}",
            f"the {random.choice(['language', 'flag', 'army', 'coast', 'climate', 'food', 'music', 'constitution'])} of {country}",
            f"the life of {random.choice(PEOPLE)}",
            f"{plural(random.choice(words.ANIMALS))} in {country}",
            f"the origin of {random.choice(words.FOODS)}",
            f"{random.choice(MATTERS)} and {random.choice(MATTERS)}",
            f"the rules of {random.choice(SPORTS)}",
            f"the treaty of {random.choice(words.PLACES)}",
            f"{random.choice(words.HOBBIES)} in {random.choice(words.PLACES)}",
        ]
    )


def _coin(random: Random) -> str:
    name = words.invent_word(random).capitalize()
    kind = random.choice(
        "law theorem paradox effect theory method war principle syndrome conjecture disease bridge river castle opera".split()
    )
    return random.choice(
        [f"the {name} {kind}", f"{name}'s {kind}", f"the {kind} of {name}", f"the {name}s", name]
    )


SUBJECTS = [
    lambda random: random.choice(SCIENCES),
    lambda random: random.choice(EVENTS),
    lambda random: random.choice(PEOPLE),
    lambda random: random.choice(WORKS),
    lambda random: random.choice(SKY),
    lambda random: random.choice(ILLS),
    lambda random: random.choice(MATTERS),
    lambda random: random.choice(FIRMS),
    lambda random: f"the {random.choice(BODIES)}",
    lambda random: random.choice(words.PLACES + words.COUNTRIES),
    lambda random: plural(random.choice(words.ANIMALS)),
    _invented_name,
    _compose,
    _compose,
    _coin,
    _coin,
]

GENERAL = [
    "{What is|What's|What are|What do you know about|Do you know} $s[, please]?",
    "{Explain|Define|Describe|Tell me about|Teach me about|Describe to me|Explain to me} $s[ in simple words|, please|, briefly][.]",
    "{Explain|Describe|Summarise|Tell me} {to a child|in one sentence|in two sentences|briefly|in simple terms} what $s {is|means}[.]",
    "{I want to|I'd like to|Help me to|I have to} {learn|know|understand|read|find out} {more |something |everything |}about $s[.]",
    "{What do people|What do scientists|What does everyone} {say|think|believe} about $s?",
    "{How does|Why does|How did} $s {work|matter|happen|begin|end|come about}?",
    "{Give me|List|Name|Tell me} {three|five|ten|some|a few} facts about $s[.]",
    "{What is|What was} {the cause|the meaning|the purpose|the result|the importance|the opposite|an example|the origin} of $s?",
    "{Is|Was|Are} $s {real|true|important|dangerous|famous|still used|older than $s2|the same as $s2|related to $s2}?",
    "{Compare|Explain the difference between|What is the difference between|What connects} $s and $s2[.]",
    "{$s, what is that|What about $s|And $s|$s, who or what is it|Ever heard of $s|Have you heard of $s}?",
    "{Quiz|Test|Examine} me {on|about} $s[.]",
    "{My {teacher|son|daughter|friend|boss} asked me about|I read about|I saw a film about|There is a test tomorrow about|For school I need something on|My homework is about} $s[. What is it?|. Can you help?|.]",
    "{Any|Some} {idea|thoughts|details} {about|on} $s?",
    "{Which|What} {books|films|places|people} {are about|have to do with|belong to} $s?",
]
WHO = [
    "{Who|Who exactly|Tell me who|Do you know who} $act {the |the first |}{$n|$w|$sc|$s}?",
    "{Who} {is|was|are|were} {$m|$m $z|$pe|the $role of $c|the $role of $f|the first $role of $c|Doctor $z|king $m|queen $m|the $z brothers|the author of $w|the hero of $w|the wife of $pe|the father of $pe}?",
    "{How old|How tall|How rich|How famous} {is|was} {$pe|$m $z|the $role of $c}?",
    "{When|Where} {was|did} {$pe|$m $z} {born|die|live|grow up|go to school|become famous}?",
    "{What did|Why did|How did} {$pe|$m $z|king $m} {invent|write|die|become famous|win|do in $y|say about $sc}?",
    "{Is|Was} {$pe|$m $z} {still alive|married|a scientist|from $c|a painter|older than $pe2|really from $p}?",
    "{Who|Which team|Which country|Who do you think} {won|will win|wins|hosted} {the $sp cup|the last world cup|the $y Olympics|the election in $c|the Nobel prize[ in $y]|the Oscar for best film|the $z league}?",
    "{Who|What} {plays|played|starred in|sang in|appears in} {$w|the film about $x|the $z show}?",
    "{Name|List} {a|some|three|five|the} {famous |great |}{painters|presidents|kings|writers|singers|actors|scientists|queens|inventors} {from|of} $c[.]",
]
WHEN = [
    "{When|In what year|What year|In which century} {did|was} {$ev|the war in $c|the $n|$sc|$w|$f|the battle of $p|the city of $p} {end|begin|start|invented|founded|written|built|discovered|happen}?",
    "{How long|For how many years} did {$ev|the war in $c|the reign of $m|the $z dynasty} last?",
    "{What happened|What was important|Who was king|Who ruled} in {$c in |$p in |}$y?",
    "{When} is {the next|the} {full moon|eclipse|leap year|Olympic Games|world cup|Easter|national day of $c|new year in $c|$z festival}?",
    "{Which|What} came first, {$ev or $ev2|$sc or $sc2|the chicken or the egg|$w or $w2|the $n or the $n2}?",
    "{How many years|How long ago} {is|was} {$ev|it since $ev|$y|the founding of $p|the birth of $pe}?",
]
WHERE = [
    "{What is|What's|Name|Tell me|Do you know|Which city is} the capital {of|city of} {$c|$c, please|$z}[?]",
    "{capital|capital city} {of|for} $c",
    "{$c's capital|The capital of $c}?",
    "{Where|In which country|On which continent} {is|lies|do I find|are} {$p|$c|the river $z|mount $z|the $z desert|$s}?",
    "{How far|How many kilometres|How long} is it {from $p to $p2|from $c to $c2|to the moon|to $sky|from here to $p}?",
    "{How big|How large|How old|How cold|How rich} is {$p|$c|the island of $z|the sea|$sky}?",
    "How many {people|inhabitants|children|tourists} {live in|are there in} {$p|$c|the world|$z}?",
    "How many {cities|rivers|islands|lakes|provinces|kings} does {$p|$c|$z} have?",
    "{What|Which} {is the|} $rank $site[ {in $c|in the world|on earth|of all time|ever}]?",
    "{What|Which} {language|currency|money|religion|time zone|climate|food|animals|flag|countries} {do they {speak|use|have|eat} in $c|is common in $c|does $c have|are next to $c}?",
    "{Which|What} countries {border|are near|fought against|trade with} $c?",
    "{Which|What} river {flows through|runs by} $p?",
    "{Is|Are} $p {in $c|the capital of $c|bigger than $p2|near the sea|worth a visit|north of $p2}?",
]
WHY = [
    "{Why|How come|How} {is|are} {the sky blue|the sea salty|grass green|blood red|the sunset red|ice slippery|the night dark|$x so $d|$mat so $d|$c so $d|the $n $d}?",
    "{Why|How|When} do {$x|people|birds|cats|dogs|bees|trees|fish|whales|babies|leaves|stars|volcanoes} {sleep|sing|purr|dream|fall|shine|migrate|fly|hibernate|grow|cry|yawn|sneeze|laugh|blink}?",
    "{How|Why} does {a $n|a plane|a fridge|a computer|a battery|a magnet|an engine|a microwave|the $bo|a telephone|a $x|soap|a vaccine|a mirror|$mat} {work|fly|move|cool|heal|stick|float|see|hear|burn|smell}?",
    "{How many|How much} {legs does a $x1 have|bones are in the body|planets are there|countries are there|teeth does a $x1 have|does a $x1 {weigh|eat|cost}|stars are there|calories are in $fo|sugar is in $fo|hearts does a $x1 have|eggs does a $x1 lay}?",
    "{What|Which} {colour|sound|food|place|sense} {is|does|do} {a $x1|a $n|$mat|$x|the $bo} {make|like|have|eat|use}?",
    "{What is|What's} {the speed of {light|sound|a $x1}|the weight of {the earth|a $x1|$sky}|the boiling point of $mat|the melting point of $mat|the chemical symbol of $mat|the atomic number of $mat|the formula of $mat|the mass of $sky|the density of $mat|the value of pi|the latin name of the $x1}?",
    "{Is|Are} {a tomato a fruit|a whale a fish|$x dangerous|$fo healthy|$mat a metal|the earth flat|$sky a planet|a $x1 a bird|bats blind|$x clever|spiders insects}?",
    "{Can|Do|Could} {$x|$x2|cats|humans|plants} {swim|fly|talk|see colours|live in $c|hear music|feel pain|count|eat $fo|live without water}?",
    "{Is there|Are there|Was there} {life|water|gold|oxygen|$mat|$x|people} {on $sky|in space|in the sea|in $c|under the ice}?",
    "{What happens|What would happen} if {I eat $fo every day|the moon disappears|the sun goes out|I mix $mat and $mat2|$x die out|the ice melts|I drink seawater|time stops}?",
]
CULTURE = [
    "{What is|What's} $w about?",
    "{How does|How did} $w end?",
    "{Who|Which actor|Which band} {made|sings|plays in|directed|wrote the music of} $w?",
    "{Quote|Recite|Give me|Write down} {the first lines of|the lyrics of|a quote from|the plot of|the ending of} $w[.]",
    "{What are|Explain|Tell me} the rules of {$sp|$sp please|poker|bridge|backgammon|mahjong|$z}[.]",
    "{How many|What} {players are in a $sp team|points win in $sp|medals did $c win|goals did $pe score}?",
    '{What does|What\'s the meaning of|What is meant by|Define} {the word |the term |}"{$z|$w|ubiquitous|ephemeral|serendipity|zeitgeist|$d|entropy|$sc|quixotic|lugubrious}"{ mean|}?',
    "{What is|What's} {a synonym|another word|the plural|the opposite|the past tense|the etymology|a rhyme} {of|for} {$d|$n|$z|happy|child|go|mouse}?",
    "{Which|What} {religion|god|holiday|custom|tradition} {is|comes from|belongs to} {$c|$ev|$z|$p}?",
    "{Who is|What is} {better|more famous|stronger|older}, {$pe or $pe2|$w or $w2|$f or $f2|$sp or $sp2}?",
    "{What is|What's} {a good|your favourite|the best} {wine with $fo|$sp player|song of $pe|book by $pe|film from $c|city in $c|opera}?",
    "{What do|What does} {people|they|one} {eat|wear|drink|celebrate|sing} in $c?",
]
FALSE = [
    "{When|Where|Why|How} did {$pe|$pe2} {land on the moon|invent the $n|meet $pe3|conquer $c|win the $sp cup|walk on $sky|marry $m $z|write $w|discover $p}?",
    "{Why|When|How} did {$c|$p} {buy|invade|sell|join|leave} {$c2|the moon|$p2|the $z union}?",
    "{As you know|As we all know|Everybody knows that|It is well known that|Since}[,] {$x|the moon|$mat|$c|$pe} {can fly|is made of cheese|is $d|was invented in $p|lives on $sky}[, so|. So] {why is that|who found out|tell me more|how come}?",
    "{Who|Which king} {was the first|was the last} {king of the moon|president of $sky|emperor of $p|queen of the $x|king of $z}?",
    "{How many|Which} {wheels does the $bo have|legs has $mat|moons has $p|kings has the moon|wings does a $x1 need to swim}?",
    "{In which year|When} did {the sun|$mat|the letter Q|the number seven|$sc} {win|resign|marry|retire|move to $c}?",
    "{You said|You told me|Earlier you said|I read that you said} {that $pe was from $c|that $c is $d|$x can fly|that $p is the capital of $c}. {Why|Is that right|Explain}[?]",
    "{Confirm|Just say yes:|Agree:|Admit} {that |}{$pe is $d|$c is bigger than $c2|$x are $d|$pe invented the $n}[.]",
]


def fills(random: Random) -> dict[str, object]:
    """Random words for all slots of the patterns above."""
    pick = random.choice
    people, countries, places = (
        random.sample(PEOPLE, 3),
        random.sample(words.COUNTRIES, 2),
        random.sample(words.PLACES, 2),
    )
    animals, things = random.sample(words.ANIMALS, 2), random.sample(words.THINGS, 2)
    works, sports, firms = random.sample(WORKS, 2), random.sample(SPORTS, 2), random.sample(FIRMS, 2)
    events, sciences, matters = (
        random.sample(EVENTS, 2),
        random.sample(SCIENCES, 2),
        random.sample(MATTERS, 2),
    )
    return {
        "s": subject(random),
        "s2": subject(random),
        "pe": people[0],
        "pe2": people[1],
        "pe3": people[2],
        "c": countries[0],
        "c2": countries[1],
        "p": places[0],
        "p2": places[1],
        "x": plural(animals[0]),
        "x2": plural(animals[1]),
        "x1": animals[0],
        "n": things[0],
        "n2": things[1],
        "w": works[0],
        "w2": works[1],
        "sp": sports[0],
        "sp2": sports[1],
        "f": firms[0],
        "f2": firms[1],
        "ev": events[0],
        "ev2": events[1],
        "sc": sciences[0],
        "sc2": sciences[1],
        "mat": matters[0],
        "mat2": matters[1],
        "bo": pick(BODIES),
        "sky": pick(SKY),
        "rank": pick(RANKS).replace("-", " "),
        "site": pick(SITES),
        "role": pick(ROLES).replace("-", " "),
        "act": pick(ACTS).replace("-", " "),
        "fo": pick(words.FOODS),
        "d": pick(words.ADJECTIVES),
        "m": words.name(random),
        "z": words.invent_word(random).capitalize(),
        "y": random.randint(900, 2029),
    }


WORLD = [(GENERAL, 9), (WHO, 7), (WHEN, 5), (WHERE, 8), (WHY, 8), (CULTURE, 6), (FALSE, 5)]
