"""Requests for tasks the model must decline: code, long texts, translation, live data, pictures, large sums."""
# ruff: noqa: SIM905 (word lists read better as running text)

from random import Random

from duologue_mini.conversation.world_questions import subject
from duologue_mini.text import words

TONGUES = "Python|JavaScript|Java|Rust|C++|C|Go|SQL|bash|HTML|CSS|TypeScript|Ruby|PHP|Kotlin|Swift|Haskell|Lua|R|Perl|Scala|assembly".split(
    "|"
)
CODE = [
    "{Write|Create|Make|Give me|Generate|Show me|Code|Implement|Can you write|I need|Help me with|Build} {a|some|me a} {$t |}{function|program|script|class|query|web page|app|game|loop|regex|snippet|one-liner|test|module} {that|which} {sorts a list|reads a file|prints $n|finds primes|draws a $n|counts {words|$x}|reverses a string|downloads a page|parses {dates|JSON|CSV}|sends an email|renames files|solves a maze}[.]",
    "{Write|Code|Program|Implement} {snake|tetris|a chess engine|hello world|a calculator|fizzbuzz|quicksort|a web server|a chat bot|binary search|a todo app} in $t[.]",
    "{Fix|Debug|Explain|Review|Refactor|Optimise|Improve|Comment|Port} {this|my|the} {code|function|program|script|bug|error|query}[: {x = $k|print($k)|$sn|for i in range($k)|TypeError: $z is not a function|segmentation fault|NameError: $z|undefined reference to $z|while True: pass}][.]",
    "{How do I|How can I|How to|How would one} {sort a list|read a file|write a loop|parse JSON|make a class|catch an error|open a socket|reverse a string|call a function|import $z|center a div|use $z} in $t?",
    "{How do I|How to} {use git|undo a commit|delete a branch|merge $z|use Docker|write a Makefile|set up $z|learn $t|compile $z|connect to a database|write a regex for dates}?",
    "{What is|What's|Explain|What does} {a pointer|recursion|a monad|a hash table|big O|async await|a compiler|a closure|$z in $t|TypeError in $t|a stack overflow|garbage collection|a lambda|an index out of range error}[ mean][?]",
    "{Is|Which is} {$t better than $t2|better, $t or $t2|faster, $t or $t2|easier, $t or $t2}?",
    "{Why does|Why doesn't} my {$t |}{code|program|script|loop|query|page} {crash|work|compile|stop|run}?",
    "$sn{ what does this do?| explain| is this right?| why does it fail?}",
]
SNIPPETS = [
    "def f(x): return x + 1",
    "print('hi')",
    "SELECT * FROM users;",
    "for (int i = 0; i < 9; i++)",
    "const a = [1, 2, 3];",
    "if x == 3: pass",
    "git rebase -i HEAD~3",
    "ls -la | grep foo",
    "let y = x.map(f);",
    "import numpy as np",
    "<div class='box'>",
    "fn main() { }",
]
TRANSLATE = [
    '{Translate|Please translate|Can you translate|I need a translation of} {this|"the $d $n"|the $d $n|"$n"|hello|good morning|I love you|this sentence|my letter|"where is the $n"|my name} {to|into|in} $l[.]',
    '{How do you say|How do I say|What is|What\'s|How does one write} {hello|thank you|goodbye|$n|the $n|good night|I love $fo|yes|"$d $n"|cheers|happy birthday} in $l?',
    '{What does|What\'s the meaning of} {the $l word |}"{$z|$z2|schadenfreude|carpe diem|saudade|hygge}" {mean|mean in English|in English}?',
    "{Do you|Can you} {speak|understand|write|read|teach me} $l?",
    "{Speak|Answer in|Talk to me in|Say something in|Teach me some|Reply in|Can we talk in|Write in} $l[ please][.]",
    "{Is|Was} my $l {sentence|grammar|text} {right|correct}[: {$z $z2|$z}]?",
    '{What language is|Which language is} {this|"$z $z2"|"$z"}?',
    "{From|Translate from} $l {to|into} {English|$l2}: $z $z2 $z",
]
WRITE = [
    "{Write|Draft|Compose|Create|Help me write|Can you write|Please write|I need} {an|a|me a|me an|a long|a 500 word|a {formal|friendly|funny}} {essay|email|letter|report|novel|speech|article|cover letter|blog post|resume|business plan|review|summary|paper|contract|screenplay|press release|homework|thesis|product description|complaint|application|sermon|chapter|obituary|invitation|CV|manual} {about|on|for} {$s|my boss|the $d $n|$x|my landlord|school|climate|my job|$m|a wedding|the city of $p}[.]",
    "{Write|Compose} {a poem|a sonnet|a song|a haiku|a story|a rap} in the style of {$m $z|Shakespeare|$z|a pirate king}[.]",
    "{Summarize|Summarise|Shorten|Rewrite|Improve|Proofread|Correct|Analyse|Paraphrase|Review} {the book|the film|the article|the news about|the works of|the plot of} {$z|$s|$m $z}[.]",
    "{Plan|Organise|Make a plan for|Design|Work out} {my|a|a trip to $p|our} {holiday|trip|party|week|wedding|diet|workout|garden|logo|menu|budget|holiday in $c|day in $p}[.]",
    "{Give me|Find me|What is|Do you have|Suggest|I need} {a|the} {recipe|recipe for $fo|good recipe with $fo|workout plan|diet|business idea|book to read|film to watch|gift for my $r|name for my {dog|cat|company|boat}|way to cook $fo|travel guide for $p}[?|.]",
    "{How do I|How can I|How to|How should I|How long do I} {cook|bake|make|prepare|fry|freeze} {$fo|a cake|$fo with $fo2|an omelette|tea|a stew}?",
    "{How do I|How can I|How to|How should I} {grow|fix|build|clean|draw|repair|paint|sell|move|carve} {a $n|my $n|the $n|a house|an engine|tomatoes|a fence|my car|a wooden $n}?",
    "{How do I|How can I|Help me to} {learn|play|teach|get better at|begin} {$h|the guitar|chess|$l|the piano|maths}?",
    "{Recommend|Suggest|Find|Name}[ me] {a|some|the best} {good|nice|new|cheap|} {book|film|restaurant|hotel|game|wine|series|museum|phone|laptop|car|song|podcast|school}[ {in $p|about $x|for tonight|for children}][.]",
    "{Write|Tell} me {a|the whole|a very} {long|2000 word|ten page|book length} {story|essay|report|text} about $s[.]",
    "{List|Name|Give me} {100|fifty|thirty|all} {ideas|names|reasons|countries|animals|words with $z|ways to {relax|save money}}[.]",
    "{Make|Fill in|Create} a {spreadsheet|table of all $x|calendar|presentation|slide deck|mind map|bill|timetable|crossword|quiz} {about|for|with} {$s|my class|$p|$x}[.]",
]
LIVE = [
    "{What|How} {is|'s} the {weather|weather like|temperature|forecast|wind}[ {in $p|today|tomorrow|outside|now|in $c|this weekend|at the coast}]?",
    "{weather|forecast|temperature} {$p|in $p|tomorrow|today|now}",
    "{What time is it|What's the time|What day is it|What is the date|What year is it|What is today's date|Do you know the time|What month is it|How late is it|Which week is it|Is it morning or evening}[ {now|today|in $p|in $c}]?",
    "{time|date|the time|today's date}[ {in $p|please|now}]?",
    "{What's|Is there any|Tell me|Read me} {the news|the latest news|the news from $c|something new in $p|the headlines|what is on TV|what happened today}[?|.]",
    "{What|How much} is {the price of|a share of|the cost of|a litre of} {bitcoin|gold|$z|oil|$f|a ticket to $p|milk|petrol|a flat in $p}[ {now|today}]?",
    "{Search|Look up|Google|Browse|Check|Search the web for|Find} {the web|the internet|$z|a $n in $p|my email|my calendar|flights to $p|wikipedia for $s|the opening hours of $z}[.]",
    "{Will it|Is it going to|Does it} {rain|snow|be sunny|be cold|be windy|freeze} {today|tomorrow|in $p|this weekend|on $day}?",
    "{Who won|What was the score of|Who is playing in|When is} {the game|the match|yesterday's game|the election|the race|the next match of $p}[ {today|yesterday|last night|on $day}]?",
    "{Call|Text|Email|Remind|Message|Phone} {$m|me|my mother|my boss|my $r}[ {at five|tomorrow|about the $n|now|on $day}][.]",
    "{Set|Start|Give me} {an alarm|a timer|a reminder} {for|in} {five minutes|$k minutes|six o'clock|tomorrow|$day}[.]",
    "{Turn|Switch} {on|off} the {light|lamp|heating|radio|TV|oven|alarm}[ in the {kitchen|hall|bedroom|garage}][.]",
    "{Order|Book|Buy|Reserve|Pay for|Cancel} {a pizza|a table|a flight to $p|a hotel in $p|$fo|a taxi|two tickets|my subscription|a $n}[ for {me|$day|two}][.]",
    "{Where am I|Where is my $n|Where is my phone|What is my address|How do I get to $p|What is near me|Is the $site open}[ {now|today}]?",
    "{When does|When is} {the next {bus|train|plane|ferry}[ to $p]|the shop open|my appointment|the film start|the sun set}[ {today|tomorrow}]?",
    "{Is there|Are there} {traffic|a strike|delays|tickets left|snow} {in|on the way to|for} $p[ {today|now}]?",
    "{Who is|Is} {online now|$m online|at the door|calling me|logged in}?",
    "{Add|Put} {$fo|$n|milk|dentist at $k} {to|on|into} my {shopping list|calendar|to-do list|notes}[.]",
]
PAGE = [
    "{Read|Open|Summarise|Summarize|Look at|Visit|Check|Go to|Fetch} {this page: |the page |the website |the link |}{https://|http://|www.}$site0[.]",
    "What {does {https://|www.}$site0 say|is {https://|www.}$site0 about|is on {https://|www.}$site0}?",
    "{https://|http://|www.}$site0{ what is this?| summary please| read it||, is it safe?}",
    "{Summarise|Summarize|Read|Translate|Correct|Check|Rate} {the article|this article|this text|the following text|my essay|this paragraph|this email|the document|the PDF|my CV}[ please][.|:]",
    "What does {the article|this text|the PDF|my document|the mail} say[ about $n]?",
    "What's in {the article|the PDF|my document|the mail|this folder}?",
    "{Read|Open|Look at|Check|Load|Edit|Delete} {the|this|my} {attached |uploaded |}{file|document|picture|PDF|spreadsheet|folder|photo}[ $file0][ and tell me what it says][.]",
    "{What is in|Read|Open|Show me|Print} {the file |}$file0[?|.]",
]
IMAGE = [
    "{Draw|Paint|Generate|Make|Create|Show me|Send me|Sketch|Imagine} {a|an|me a|some} {picture|image|photo|drawing|logo|painting|cartoon|diagram|map|icon|video|GIF} {of|with} {a|the} {$d $n|$d $x1|$n|$x1 and a $n|house in $p}[.]",
    "{Look at|Describe|What is in|What do you see in|Can you see|Who is in} {this|the|my} {picture|image|photo|video|screenshot|drawing}[?|.]",
    "{Draw|Paint|Sketch} {me |}{a|the} {$d $n|$n|$d $x1|$x1}[.]",
    "{Play|Sing|Compose|Record|Hum|Whistle} {a song|some music|music by $m|a tune|$z|the radio|a lullaby|something by $pe}[.]",
    "{Watch|Listen to|Transcribe|Cut} {this video|this song|the recording|my voice message|this podcast|the attached clip}[.]",
    "{Can you|Do you|Could you} {see|hear|draw|sing|show pictures|play music|read pictures|see me|hear me|make videos|recognise faces}?",
    "{How do I look|What am I wearing|What colour is my shirt|What am I holding|Do you like my photo|Guess what I look like}[?]",
]
SUM = [
    "{What is|What's|Calculate|Compute|How much is|} $big $o $big2[?]",
    "{What is|Calculate|What's} {the square root of|the logarithm of|the sine of|the factorial of|the cube root of|the cosine of|the natural logarithm of} $j[?]",
    "{Solve|Simplify|Integrate|Differentiate|Factor|Plot} {x^2 + $k x = $j|${k}x + $j = $k2|the equation $kx = $j|sin(x)|2x - $k = $j|x^3 - $k x + $j|the integral of x^$k2|dy/dx of $k x^2}[.]",
    "{Convert|How much is|How many are|Change} {$k miles|$j kilograms|$k dollars|$j feet|$k inches|$j degrees Fahrenheit|$k pounds|$j gallons} {to|in|into} {km|grams|euros|metres|cm|Celsius|yen|litres}[?|.]",
    "{What is|Calculate} $k to the power of {$k2|$j}[?]",
    "{What is|What's|Give me} the {first $j digits of pi|next prime after $big|prime factors of $big|$j th Fibonacci number|binary of $big|hexadecimal of $j|Roman numeral of $j}[?]",
    "{Prove|Show|Explain} {that there are infinitely many primes|the theorem of $z|that pi is irrational|why $k is prime|that the square root of 2 is irrational}[.]",
    "{What is|What's} the {standard deviation|correlation|median|variance|determinant} of {my data|$k, $j and $k2|this matrix|the list}[?]",
    "{If|Suppose} a train leaves $p at {seven|noon|$k2 o'clock} with $j km/h and another leaves $p2, when do they meet?",
    "{How many|How much} {interest do I pay on $big at $k percent|does $big at $k percent make in $k2 years|tax is on $big}?",
    "{How many seconds are in|How many hours are in|How many days are in} {$k years|$k2 centuries|$j weeks|a lifetime}?",
]
PREDICT = [
    "{Will|When will|Do you think} {$pe|$c|$p|the stock market|bitcoin|AI|the world|$m|my team|$f|the war} {win|crash|rise|end|fall|grow|change|take over|go bankrupt|be rich}[ {tomorrow|in $y2|soon|next year}]?",
    "{What will|How will} {the world|$c|$p|my life|the weather|the market|cars|the future} {be like|look like|change|be} in {$y2|ten years|a hundred years}?",
    "{Who will|Who is going to} {win|lose} {the election|the cup|the next match|the war}[ in {$c|$y2}]?",
    "{Tell|Read} me my {fortune|horoscope|future|palm}[.]",
    "{What are|Give me|Tell me} {the lottery numbers|next week's lottery numbers|tomorrow's stock prices|my lucky numbers}[.|?]",
    "{Will I|When will I} {be rich|get the job|find love|be famous|pass my exam|get well|get married|live long}?",
    "{I am|I'm} {a |}{Aries|Leo|Virgo|Gemini|Pisces}. {What does my horoscope say|What will happen to me}?",
]
OPINION = [
    "{What do you think|What's your opinion|What is your view|How do you feel|Are you for or against|Do you agree}[ {about|of|on}] {$s|$pe|$c|taxes|war|nuclear power|the death penalty|$f|God|socialism|abortion|immigration|the president of $c|modern art|veganism}[?]",
    "{Is|Are} {$pe|$f|$c|$x|$s|God|love|war|money|religion|AI|capitalism|$fo} {good|evil|bad|real|overrated|beautiful|right|wrong|dangerous|just}?",
    "{Who|What} should I vote for{ in $c|}?",
    "{Which|What} is {better|best|nicer|worse}, {$x or $x2|$p or $p2|$c or $c2|$fo or $fo2|$f or $f2|tea or coffee|summer or winter|a $n or a $n2}?",
    "{Does|Do} {God|ghosts|aliens|angels|miracles|true love|free will|unicorns} {exist|really exist}?",
    "{What is|What's} {the meaning of life|the best country|the best religion|the secret of happiness|truth|beauty|justice|the right way to live}?",
    "{Convince|Persuade} me {that $x are $d|to vote|to buy $f|that $c is the best|to eat $fo}[.]",
    "{Rank|Rate|Review} {$pe|$w|$p|$f|$fo}[ {from one to ten|for me|honestly}][.]",
]
UNNAMED = "https docs news wiki blog shop".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
RELATIVES = (
    "mother father sister brother friend dog cat boss neighbour teacher son daughter wife husband".split()
)
SUFFIXES = "txt pdf docx jpg png csv py html md xlsx mp3 zip".split()
SITE_ENDINGS = "com org net io example.org/news example.com/a dev/docs co/blog".split()


def extra_fills(random: Random) -> dict[str, object]:
    """Random words for the slots that `world_questions.fills` leaves open."""
    pick = random.choice
    name = words.invent_word(random)
    return {
        "t": pick(TONGUES),
        "t2": pick(TONGUES),
        "sn": pick(SNIPPETS),
        "l": pick(words.LANGUAGES),
        "l2": pick(words.LANGUAGES),
        "h": pick(words.HOBBIES),
        "r": pick(RELATIVES),
        "fo2": pick(words.FOODS),
        "z2": words.invent_word(random),
        "k": random.randint(2, 99),
        "k2": random.randint(2, 12),
        "j": random.randint(10, 999),
        "big": random.randint(10_000, 10 ** random.randint(5, 9)),
        "big2": random.randint(1_000, 10 ** random.randint(5, 9)),
        "o": pick(["+", "-", "*", "x", "/", "times", "divided by", "plus", "minus"]),
        "day": pick(DAYS),
        "y2": random.randint(2027, 2120),
        "site0": f"{name}.{pick(SITE_ENDINGS)}",
        "file0": f"{pick([name, pick(words.THINGS), 'report', 'notes'])}.{pick(SUFFIXES)}",
        "s3": subject(random),
    }
