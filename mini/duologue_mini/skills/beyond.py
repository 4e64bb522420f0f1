"""Skill of v0: declining what is out of reach. `scope` replaces it in the mix; other skills still draw from it."""
# ruff: noqa: SIM905 (word lists read better as running text)

from random import Random

from duologue_mini.scene import Scene, Turn
from duologue_mini.text import words
from duologue_mini.text.phrases import capital, pick

POINTER = (
    " {A larger model can {help|answer that|do that}|For that you need a larger model|A larger model knows"
    " more|Bring a larger model for that|A larger model would do better}: `duologue serve --model"
    " FILE.gguf`."
)
LEAD = [
    "{That is|I am afraid that is|Sorry, that is} beyond me: I am a very small model.",
    "{I do not know|I don't know} that{.|: I am a very small model.|; I am too small to know much about the"
    " world.}",
    "{Sorry, I|I} {cannot|can't} answer that{.|: I know very little about the world.| reliably, and I would"
    " rather not guess.}",
    "{That question is too big for me|I am too small for that one|That is more than I can do|That is over"
    " my head}.",
]

FACTS = [
    "{Who|Who exactly|Tell me who} {wrote|painted|composed|sang|directed|invented|discovered|founded} {the"
    " $n|the song $z|$m and the $n|the $d $n|$z|the {book|film|novel|song} about $x}?",
    "{Who|Who exactly|Tell me who} {is|was|were} {$m $z|$z|Doctor $z|king $m|queen $m|the $z brothers|the"
    " man in the $n|saint $m}[ and what did they do]?",
    "{Is|Was|Are} there {life|water|people|gold|a $n|$x} {on|in} {other worlds|the moon|$c|space|$p|the"
    " sea}?",
    "{What|Which} {is|are} {the|some} {use|purpose|meaning|origin|colour|size|parts|kinds|laws} of {$x|a"
    " $n|the $n|$f|$c}?",
    "{Compare|Explain the difference between} {$x and $x|$c and $c|a $n and a $n|$z and $z}[.]",
    "{What is|What's|Name|Tell me} the capital {of|city of} $c?",
    "{Who|What person} {invented|discovered|wrote|painted|built|founded|composed|designed} {the |}$n?",
    "{Who} {is|was} {the {president|king|queen|leader|prime minister} of $c|$m|the first person on the"
    " moon|$m $z|the author of $z|the director of $z}?",
    "{When|In what year|What year} did {the war in $c|the $n war|$m|the empire of $c|$z} {end|begin|start|"
    "die|fall|happen}?",
    "{When|Where} {was|is} {the $n|$m|$z|the battle of $p} {invented|born|built|found|made|discovered|"
    "located}?",
    "{Where is|How far is|How big is|How old is|How many people live in} {$p|$c|the moon|the sun|$z}[ from"
    " here]?",
    "{How|Why|How exactly} {does a|do|does the|is the|are} $n{s|} {work|fly|grow|shine|made|so $d|move|"
    "blue|form}?",
    "{Why} {is the sky blue|do we dream|do cats purr|is water wet|do leaves fall|is the sea salty|do people"
    " sleep|do birds sing|is the $n $d|do $x sleep|is $c so $d}?",
    "{What is|What's|Explain|Define|Describe|What are|Tell me about|What do you know about|Do you know|"
    "Teach me} {quantum physics|gravity|photosynthesis|democracy|inflation|relativity|black holes|machine"
    " learning|evolution|philosophy|the stock market|blockchain|dark matter|the big bang|DNA|economics|"
    "capitalism|neural networks|atoms|a $n|the history of $c|the $d $n|$z|$x|the $n of $c|the meaning of"
    " life|love|time|the Roman Empire|electricity|the universe|calculus|algebra|chemistry|dinosaurs|"
    "volcanoes|antibiotics}[ to me|in simple words|please][?|.]",
    "{How many|How much} {legs does a $n have|bones are in the body|planets are there|countries are there|"
    "people live in $c|does a $n {weigh|cost}|stars are there|languages are there|calories are in {bread|"
    "$f}|days until {summer|Christmas}}?",
    "{What|Which} {is the|} {tallest|biggest|longest|fastest|oldest|deepest|largest|smallest|best|most"
    " famous} {mountain|river|animal|$n|city|ocean|lake|building|country|planet|book|film|$x|bridge|desert|"
    "tree}[ {in $c|in the world|ever}]?",
    "{What|Which} {language|currency|money|religion|food|climate} {do they {speak|use|have|eat} in $c|is"
    " common in $c}?",
    "{Is|Was|Are} {$m|the earth|$c|$z|the moon|a $n|a tomato|the sun} {bigger than|older than|part of|"
    "famous for|made of|a kind of} {the moon|$c|$n|$z|$f|iron|a fruit}?",
    "{What happened|What was important} in {1492|1789|1914|1945|1969|$y|$c in $y}?",
    '{What does|What\'s the meaning of|What is meant by} {the word |}{"$z"|$z|the $d $n|photosynthesis|'
    "ubiquitous} {mean|}?",
    "{Do you think|Is it true|Did you know} that {$x {can|cannot} {fly|swim|talk}|the $n is $d|$c is $d|$m"
    " was $d}?",
    "{Who|Which team|Who do you think} {won|wins|will win} the {world cup|election|match|game|$n cup|"
    "league|Oscar}[ in $y]?",
    "{What|Who} {is|was} {your opinion on|the best thing about|the problem with|the difference between}"
    " {$c|$x|$z|$c and $p|$x and $n}?",
]
CODE = [
    "{Write|Create|Make|Give me|Generate|Show me|Code|Implement|Can you write|I need|Help me with|Build}"
    " {a|some|me a} {Python|JavaScript|Java|Rust|C++|Go|SQL|bash|HTML|TypeScript|} {function|program|"
    "script|class|query|code|web page|app|game|loop|regex|snippet}[ {that|to|for} {sorts a list|reads a"
    " file|prints hello|finds primes|draws a $n|counts words|reverses a string|downloads a page|$n}][.]",
    "{Fix|Debug|Explain|Review|Refactor|Optimise|Improve|What does} {this|my} {code|function|program|"
    "script|bug|error|query}[: {x = $k|print($k)|def $z(): pass|for i in range($k)|TypeError|segmentation"
    " fault}][.]",
    "{How do I|How can I|How to} {sort a list|read a file|use git|install $z|make a website|parse JSON|"
    "write a loop|use Docker|fix my computer|center a div|use regular expressions|compile $z|learn Python|"
    "delete a branch} {in Python|in Java|on Linux|on Windows|}[?]",
    "{What is|Explain} {a pointer|recursion|a monad|Kubernetes|a hash table|big O|an API key|async await|a"
    " compiler|$z in Python}[?]",
]
CODE_LEAD = [
    "{I cannot write code|Code is beyond me|Writing code is more than I can do|Programming is beyond me}[:"
    " I am a very small model].",
    *LEAD[:1],
]
TRANSLATE = [
    '{Translate|Please translate|Can you translate} {this|$z|"the $d $n"|the $d $n|hello|good morning|I'
    " love you|this sentence|my letter} {to|into} $l[.]",
    "{How do you say|What is|How do I say|What's} {hello|thank you|goodbye|$n|the $n|good night|I love $f|"
    "yes} in $l?",
    "{Do you|Can you} {speak|understand|write|read} $l?",
    "{Speak|Answer in|Talk to me in|Say something in|Teach me some|Reply in|Can we talk in} $l[ please][.]",
    "{Hablas español|Parlez-vous français|Sprichst du Deutsch|Come stai|Wie geht es dir|Comment ça va|¿Cómo"
    " estás|Qué hora es|Was kannst du|Kannst du mir helfen|Où est la gare|Quien eres tú|Wer bist du|Parli"
    " italiano|Hoe gaat het|Kak dela}?",
]
TRANSLATE_LEAD = [
    "{I only know English|I know only English|I speak only English}[, and not much of it|; translating is"
    " beyond me].",
    "{Other languages are|Translating is} beyond me: I know only English.",
]
WRITE = [
    "{Recommend|Suggest|Find|Name}[ me] {a|some} {good|nice|new|} {book|film|restaurant|hotel|game|wine|"
    "series|museum}[ {in $p|about $x|for tonight}][.]",
    "{Write|Draft|Compose|Create|Help me write|Can you write|Please write|I need} {an|a|me a|me an} {essay|"
    "email|letter|report|novel|speech|article|cover letter|blog post|resume|business plan|review|summary|"
    "paper|contract|poem in the style of $m|screenplay|press release|wedding speech|homework|thesis|product"
    " description}[ {about|on|for} {$c|$n|my boss|the $d $n|$x|my landlord|$z|school|climate|my job}][.]",
    "{Summarize|Summarise|Shorten|Rewrite|Improve|Proofread|Correct|Analyse|Analyze|Paraphrase|Classify}"
    " {this|this text|my essay|the article|the book $z|this paragraph|my email|this document|the news|the"
    " following}[: the $d $n saw {a|the} $n in $p][.]",
    "{Plan|Organise|Make a plan for|Design|Suggest} {my|a|a trip to $p|our} {holiday|trip|party|week|"
    "wedding|diet|workout|garden|logo|menu|budget|holiday in $c}[.]",
    "{Give me|Find me|What is|Do you have|Suggest} {a|the} {recipe|recipe for $f|good recipe with $f|"
    "workout plan|diet|business idea|book to read|film to watch|gift for my {mother|friend}|name for my $n|"
    "way to cook $f}[?|.]",
    "{How do I|How can I|How to|How should I} {cook|bake|make|prepare|grow|fix|build|clean|draw|repair|"
    "paint|learn|train|play} {$f|a $n|a cake|my $n|the $n|$h|the guitar|a house|chess}[?]",
]
WRITE_LEAD = [
    "{That is more than I can write|Longer writing is beyond me|I am too small for that kind of work}[: I"
    " am a very small model].",
    *LEAD,
]
LIVE = [
    "{What|How} {is|'s} the {weather|weather like|temperature|forecast}[ {in $p|today|tomorrow|outside|"
    "now}]?",
    "{What time is it|What's the time|What day is it|What is the date|What year is it|What is today's date|"
    "Do you know the time|What month is it|How late is it}[ {now|today|in $p}]?",
    "{What|Is there any|What's} {is the|} {news|latest news|new in $c|happening in $p|on TV|in the news}["
    " today]?",
    "{What|How much} is {the price of|a share of|the cost of} {bitcoin|gold|$z|oil|$f|a ticket to $p|milk}["
    " {now|today}]?",
    "{Search|Look up|Google|Browse|Check|Search the web for|Find|Open} {the web|the internet|$z|$n|my"
    " email|my calendar|the news|a $n in $p|flights to $p|wikipedia}[.]",
    "{Will it|Is it going to|Does it} {rain|snow|be sunny|be cold} {today|tomorrow|in $p|this weekend}?",
    "{Who won|What was the score of} {the game|the match|yesterday's game|the election}[ {today|yesterday|"
    "last night}]?",
    "{Call|Text|Email|Remind|Message} {$m|me|my mother|my boss}[ {at five|tomorrow|about the $n|now}][.]",
    "{Set|Start} {a|an} {alarm|timer|reminder}[ for {five minutes|$k minutes|six o'clock}][.]",
    "{Turn|Switch} {on|off} the {light|lamp|heating|radio|TV}[ in the {kitchen|hall}][.]",
    "{Order|Book|Buy|Reserve} {a pizza|a table|a flight to $p|a hotel in $p|$f|a taxi|tickets}[ for me][.]",
]
LIVE_LEAD = [
    "I {cannot|can't} {see|check|look up} that: I have no {clock and no network|network|tool for it} {here|"
    "in this chat}.",
    "I have no {tool|way} to {do|check|see} that {here|in this chat}.",
]
LIVE_POINTER = (
    "{| With a tool for it I could {try|help}."
    "| A larger model with tools can: `duologue serve --model FILE.gguf`.}"
)
ADVICE = [
    "{Should I|Would you|Is it better to} {buy|sell|choose|take|rent} {a $n or a $n|gold or $f|shares|a"
    " house|the $d $n|$z}[ now]?",
    "{Should I|Can I|Is it okay to|Do I have to} {invest in $z|take aspirin|see a doctor|sue my neighbour|"
    "buy a house|quit my job|marry $m|move to $p|take this medicine|sell my $n|go to $c|eat $f every day|"
    "stop taking my pills|trust $m}?",
    "{I have|I've got|My $r has} {a headache|a fever|chest pain|a rash|a cough|a legal problem|debts|a"
    " broken $n|a stomach ache}[, what should I do|. What is it][?]",
    "{What|How much} {medicine|insurance|tax|money|pension} {should I|do I have to} {take|pay|buy|save}?",
    "{Give me|I need} {legal|medical|financial|tax|dating|career|relationship} advice[.]",
    "{How do I} {lose weight|get rich|find a job|get a visa for $c|pay less tax|sleep better|make friends|"
    "get over $m}?",
]
ADVICE_LEAD = [
    "{I cannot give advice on that|That needs someone who knows|I am not fit to advise on that}: I am a"
    " very small model.[ Please ask a person who knows.]"
]
IMAGE = [
    "{Read|Open|Look at|Check} {the|this|my} {attached|uploaded|enclosed} {file|document|picture|paper|"
    "PDF}[ and {tell me|list|say} {what it says|what is in it|the results}][.]",
    "{Draw|Paint|Generate|Make|Create|Show me|Send me|Sketch} {a|an|me a|some} {picture|image|photo|"
    "drawing|logo|painting}[ of {a|the} {$d $n|$x|$n}][.]",
    "{Look at|Describe|What is in|What do you see in|Can you see} {this|the|my} {picture|image|photo|video|"
    "screenshot}[?|.]",
    "{Draw|Paint} {a|the} {$d $n|$n|$x}[.]",
    "{Play|Sing|Compose|Record} {a song|some music|music by $m|a tune|$z|the radio}[.]",
    "{Watch|Open|Read|Listen to} {this video|this file|the PDF|my document|this link|the attached file}[.]",
]
IMAGE_LEAD = [
    "{I work with text only|I only read and write text|I know only text}: {pictures|images, sound and"
    " files} are beyond me."
]
BIG_SUM = [
    "{What is|What's|Calculate|Compute|How much is|} $k$j $o $j$k[?]",
    "{What is|Calculate} {the square root of|the logarithm of|$k percent of|the sine of|the factorial of|"
    "the cube of} $j$k[?]",
    "{Solve|Simplify|Integrate|Differentiate|Factor} {x^2 + $k x = $j|$kx + $j = 0|the equation $kx = $j$k|"
    "sin(x)|2x - $k = $j}[.]",
    "{Convert|How much is|How many} {$k miles|$j kilograms|$k dollars|$j feet|$k inches} {to|in} {km|"
    "pounds|euros|metres|cm}[?]",
    "{What is|} $k {divided by|/|to the power of|^|modulo} $j[?]",
    "{What is|Calculate} $k + $j {+|-|*} $k {-|*|+} $j[?]",
]
BIG_SUM_LEAD = [
    "That {sum|calculation} is {too large|too hard|more than I can do} for me: I {do|manage} {only small"
    " sums|sums of one and two digits|plus, minus and small times}."
]
UNCLEAR = [
    "$z",
    "$z $i",
    "$z $i $n",
    "{asdf|qwerty|jkl|hmm|???|!!!|...|blah|foo|bar|xyz|?|lorem ipsum|aaaa|zzz|.|$k$j}",
    "$z the $i",
    "{$n $x|$d $d|$f $n $d|the $n|of the|and then|but why|because|$d}",
    "$k$j",
    "$n $z $f",
]
UNCLEAR_ANSWERS = [
    "{I did not understand that|I do not follow|I am not sure what you mean}. {Could you say it in other"
    " words|Can you put it another way|What would you like to know}?"
]
STATEMENT = [
    "{I|We|They|My $r|The $n|$m|A $x} {saw|bought|found|lost|painted|ate|sold|made|broke|dreamed of|forgot}"
    " {a|the|my|some} {$d $n|$n|$x|$f}[ {yesterday|today|in $p|last week}][.]",
    "{The|My|Our} {$n|$x|$r|garden|street|school|train} is {very |so |}{$d|late|broken|gone|big|new}["
    " {today|again}][.]",
    "{I|I really|We} {like|love|hate|miss|need|enjoy|prefer} {$f|$h|$x|$p|the $n|my $r|$d $n}[.]",
    "{I am|I'm} {going to|flying to|in|reading about|thinking about|learning about} {$p|$c|$x|the $n|$z}[.]",
    "{It|Today it} is {raining|snowing|hot|cold|sunny|my birthday|Monday|late|Friday}[ here| today][.]",
]
STATEMENT_ANSWERS = [
    "{I see|Interesting|Ah}! {Tell me more.|Is there something I can do for you?|What can I do for you?}",
    "{Thanks for telling me|Good to know}. {I am a small model and can only chat a little about it.|What"
    " would you like to do?}",
]

KINDS = [
    (FACTS, LEAD, POINTER, "knowledge of the world", 20),
    (CODE, CODE_LEAD, POINTER, "code", 6),
    (TRANSLATE, TRANSLATE_LEAD, POINTER, "another language", 5),
    (WRITE, WRITE_LEAD, POINTER, "a longer piece of work", 9),
    (LIVE, LIVE_LEAD, LIVE_POINTER, "something outside that I have no tool for", 8),
    (ADVICE, ADVICE_LEAD, POINTER, "advice", 4),
    (IMAGE, IMAGE_LEAD, POINTER, "pictures, sound or files", 4),
    (BIG_SUM, BIG_SUM_LEAD, POINTER, "a sum too large for me", 5),
    (UNCLEAR, UNCLEAR_ANSWERS, "", "", 4),
    (STATEMENT, STATEMENT_ANSWERS, "", "", 5),
]
RELATIVES = (
    "mother father sister brother friend dog cat boss neighbour teacher son daughter wife husband".split()
)


def fills(random: Random) -> dict[str, object]:
    """Random words for every slot of the questions."""
    small, large = random.randint(2, 99), random.randint(10, 999)
    return {
        "c": random.choice(words.COUNTRIES),
        "p": random.choice(words.PLACES),
        "n": random.choice(words.THINGS),
        "x": random.choice(words.ANIMALS) + "s",
        "d": random.choice(words.ADJECTIVES),
        "f": random.choice(words.FOODS),
        "h": random.choice(words.HOBBIES),
        "l": random.choice(words.LANGUAGES),
        "m": words.name(random),
        "z": words.invent_word(random),
        "i": words.invent_word(random),
        "k": small,
        "j": large,
        "y": random.randint(1000, 2030),
        "o": random.choice("+-*x"),
        "r": random.choice(RELATIVES),
    }


def draw(random: Random, *, beside_tools: bool = False) -> Scene:
    """A request to decline; `beside_tools` leaves out those a tool could fulfil."""
    kinds = [kind for kind in KINDS if kind[0] in (CODE, TRANSLATE, BIG_SUM)] if beside_tools else KINDS
    questions, leads, pointer, what, _ = random.choices(kinds, [kind[4] for kind in kinds])[0]
    user = capital(pick(random, questions, **fills(random)))
    answer = pick(random, leads) + (" " + pick(random, [pointer])).rstrip()
    thought = (
        f"This asks for {what}. That is beyond me, and I say so."
        if what
        else "I am not sure what the user wants."
    )
    if questions is STATEMENT:
        thought = "The user tells me something. I answer politely."
    return Scene("beyond", [Turn(user, answer, thought)])
