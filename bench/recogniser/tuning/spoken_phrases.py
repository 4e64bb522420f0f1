"""What people say to a machine but would not type: short answers, commands to the voice, times, small talk.

Written by the author of the sentences in `bench/recogniser/`, after them. `sentences.py` drops every benchmark sentence, but
the benchmark still flatters a model that has read these; `--without-talk` builds one that has not.
"""
# ruff: noqa: SIM905 (word lists read better as running text)

from collections.abc import Callable
from random import Random

from duologue_mini.text.numerals import in_words, ordinal, time_in_words
from duologue_mini.text.phrases import say
from duologue_mini.text.words import (
    ADJECTIVES,
    ANIMALS,
    COLOURS,
    COUNTRIES,
    FOODS,
    HOBBIES,
    LANGUAGES,
    NAMES,
    PLACES,
    THINGS,
)

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()
RELATIONS = (
    "mother father sister brother wife husband son daughter uncle aunt cousin friend neighbour boss teacher"
    " grandmother grandfather doctor dog cat"
).split()
LETTERS = "abcdefghijklmnopqrstuvwxyz".upper()
FRUITS = "apple banana cherry grape lemon mango melon orange peach pear pineapple plum strawberry".split()

PATTERNS = [
    # answers and commands to the voice
    "{yes|no|yeah|yep|nope|okay|ok|sure|right|fine|maybe|perhaps|exactly|correct|of course|certainly|not really|not yet}",
    "{yes|yeah|okay|sure} {please|of course|I do|I am|I would|it is|that is right|go ahead|why not}",
    "no {thanks|thank you|I do not|I am not|it is not|that is not right|that is wrong|not now|wait}",
    "{stop|wait|pause|cancel|quiet|silence|enough|go on|continue|next|back|again|help|hello|hey|hi|bye|goodbye|thanks}",
    "{please |}{stop|stop it|stop that|be quiet|wait|hold on|shut up|slow down|go on|carry on|continue|start again}[ please]",
    "{can|could|would} you {please |}{stop|wait|continue|go on|repeat that|say that again|speak up|speak slower|speak faster|be quiet|slow down}",
    "{speak|talk} {louder|slower|faster|more slowly|more clearly|a little louder|a little faster|a bit slower|not so fast} please",
    "{wait|hold on|hang on|one moment|just a moment|just a second|give me a second|give me a minute|one second} please",
    "{never mind|forget it|forget about it|forget that|it does not matter|that does not matter|leave it}",
    "{I can not|I cannot|I can't} {hear|understand} you[ very well| at all| right now]",
    "{I did not|I didn't} {hear|get|catch|understand} {that|you|what you said|the last word|the answer}",
    "{what did you say|what was that|say that again|come again|pardon|sorry what was that|can you repeat the last sentence}",
    "{are you|you are} {there|still there|listening|ready|awake|asleep|finished|done}",
    "do you {hear|understand} me[ now]",
    "{let me|let us|let's} {think|see|talk|start|begin|stop here|go on|try again|try something else|change the topic|play a game|talk later}",
    "that {is|was} {enough|good|great|nice|funny|wrong|right|correct|fine|perfect|all|not right|not true|very helpful|not helpful|too long|too short|too fast}[ for {now|today}]",
    "{it is|that is|this is} {a|an} {good|great|nice|bad|strange|interesting|funny|wrong|stupid} {idea|answer|question|story|joke|poem|name|day|morning}",
    "make {it|that|the story|the answer|this} {shorter|longer|simpler|funnier|better|a bit shorter|a little shorter|much longer|more exciting}",
    "{I|we} {would like|want|need} {help|to talk|to ask you something|to ask a question|to hear a story|to hear a joke|to hear a poem|to know more|an answer|some help|to go on|to stop}",
    # over a reply
    "{excuse me|excuse me please|pardon me|hello|hey|listen|stop|wait|hold on|hang on|quiet|be quiet|enough|silence}",
    "{excuse me|sorry|hello|hey|wait|stop|no|listen} {stop|wait|listen|please|one moment|can you hear me|are you listening|I have a question|can I say something|may I ask something}",
    "{please |}{be quiet|shut up|stop talking|stop it|stop that|stop there|stop right there|just stop|hush}[ {now|please}]",
    "{okay|no|all right|please} {stop|enough|that is enough|that's enough|wait|be quiet|shut up|never mind}[ {now|please}]",
    "{excuse me|wait|no|sorry|stop|hold on} {that is|that's|it is|it's} {wrong|enough|not right|not what I meant|not what I asked|the wrong one|something else}",
    "{let me|may I|can I} {interrupt|interrupt you|ask something|ask you something|say something|stop you|stop you there}[ for a {moment|second}]",
    "I {meant|wanted|asked for|was asking about|was talking about} {something else|something different|the other one|another one|$thing|the $thing|a $animal|$place}",
    "{something|somebody|anything|nothing} else[ please]",
    "{skip|never mind|forget} {it|that|this|the rest|the story|the list}[ {please|now}]",
    "{next|the next one|another one|move on|let us move on|let's move on}[ please]",
    # while the other goes on
    "{uh huh|mm|oh|oh really|really|oh yeah|yeah|yeah yeah|yep|yes yes|right|okay|okay cool|alright|all right|sure|of course}",
    "{wow|oh wow|exactly|absolutely|definitely|indeed|true|totally|cool|nice|great|good|lovely|fine|perfect|fair enough|good point|no way}",
    "{I see|I know|I got it|got it|I understand|makes sense|that makes sense|interesting|that's interesting|very interesting|go on|I agree}",
    # feelings and the day
    "{I am|I'm} {tired|hungry|happy|sad|bored|fine|okay|busy|sick|alone|lonely|angry|excited|late|ready|back|here|home|cold|well|not well|in a hurry|so tired|very happy}[ today| now| right now]",
    "I {feel|am feeling} {good|great|fine|bad|sad|tired|lonely|sick|better|much better|a bit sad|a little better|not so good}[ today]",
    "{my day|today|my week|the day|work|school|the weekend} was {good|great|bad|long|hard|terrible|wonderful|not so good|okay|boring|nice|very long}",
    "it is {raining|snowing|sunny|cold|hot|warm|dark|late|early|windy|very hot|quite cold}[ outside| here| today]",
    "I {had|have} a {good|great|bad|long|hard|terrible|wonderful|nice|busy} {day|week|night|weekend|morning|time}[ today]",
    "I {am going|have to go|want to go} {home|to bed|to work|to school|to sleep|to the doctor|out|shopping|now}[ now]",
    "{have|I wish you} a {good|nice|great|lovely|wonderful} {day|evening|night|weekend|time|morning|week}[ too]",
    "I {got|bought|found|lost|have} {a|my|a new} {job|car|house|bike|phone|computer|key|dog|cat|book|camera|ticket} [today|yesterday]",
    # times and dates
    "{what time|what day|which day|which month|what month|what year|which year|what date} is it[ now| today| please]",
    "{what|which} {day|date|month|year} {is it|is today|was yesterday|is tomorrow|do we have|do we have today}",
    "{is it|is today|was it|was yesterday|will tomorrow be} {a |}$day",
    "{what time|how late} is it {in $place|in $country|now in $place|there|over there}",
    "{what is|tell me} the {time|date} {in $place|in $country|please|now|today|right now|tomorrow}",
    "{how many|how much} {days|weeks|hours|months|minutes} {are there until|until|till|to|are left until} {$day|$month|the $ordinal of $month|$ordinal $month|Christmas|the weekend|tomorrow|new year}",
    "how many {days|weeks|hours|minutes|months|seconds} {are in|are there in|has|does} {$month|a year|a week|a month|a day|an hour|February}[ have]",
    "{when is|what day is|which day is} {the next $day|next $day|$day|Easter|Christmas|the $ordinal of $month|my birthday|your birthday|the weekend}",
    "{set|start|make|stop|cancel} {a|the|my} {timer|alarm|clock|reminder|stopwatch} [for {$number minutes|$number seconds|one hour|half an hour|$time|$time in the morning|tomorrow|half past $hour|quarter past $hour|quarter to $hour}]",
    "{wake me|wake me up|remind me|call me|tell me} {at|before|around} {$time|$hour|half past $hour|noon|midnight|$hour in the {morning|evening|afternoon}}",
    "remind me to {call|visit|ask|write to|thank} {my $relation|$name} {at $time|on $day|tomorrow|tonight|in $number minutes|this evening}",
    "remind me to {buy $food|go home|drink water|take a break|feed the $relation|water the flowers|go to the doctor|clean the house} {at $time|on $day|tomorrow|tonight|in an hour|in $number minutes}",
    # about people
    "my {name is|name's|first name is} $name[ and {I live in $place|I am from $country|I like $hobby|I am $number years old}]",
    "{I am|I'm|this is|call me|you can call me|please call me|they call me|I am called} $name[ {from now on|please|by the way|nice to meet you}]",
    "my $relation {is called|is named|has the name} $name",
    "my {$relation's|best friend's|dog's|cat's} name is $name",
    "{what is|do you know|tell me|what was|do you remember} {my name|the name of my $relation|my $relation's name|my age|my favourite colour|my favourite food|my favourite animal|my birthday|my number|my job}[ again]",
    "{what|which} {colour|food|animal|number|city|country|language|hobby|book|game} do I like {best|most}",
    "my favourite {colour is $colour|food is $food|animal is {a|the} $animal|city is $place|country is $country|language is $language|number is $number|hobby is $hobby|day is $day|month is $month}",
    "I {live|work|was born|am|grew up} in $place[ {with my $relation|in $country|since $month}]",
    "I {work as|am|would like to be|want to be} a {teacher|doctor|nurse|cook|driver|student|painter|writer|baker|farmer|gardener|singer|musician|lawyer|pilot|programmer|builder|manager}[ in {a school|a hospital|an office|a shop|$place|a restaurant|a bank}]",
    "I am $number years old[ today| now]",
    "I have {a|one|two|three|four|no|many} {$relation|sisters|brothers|children|dogs|cats|sons|daughters|friends}[ and {a|one|two|three} {$relation|dogs|cats|sons|daughters|brothers|sisters}]",
    "my birthday is {on the|the} $ordinal of $month",
    "my birthday is {in $month|on $month $ordinal|today|tomorrow|next week|on $day}",
    "{where do I|what do I|when do I|how do I|where does my $relation|what does my $relation} {live|work|do|like|come from|have|want|do for a living|want to do}",
    "{remember|note|keep in mind|forget} {the number $digits|the code $digits|that I like $food|that my $relation likes $food|the word $thing|what I said|what I told you|my name}",
    "what {was|is} {the number|the code|the word|the name} {I told you|I said|I gave you|again|you should remember}",
    "what did I {tell you|say} {about|of} {my $relation|the number|my name|the $thing|my work|the weather}",
    "who is my {best friend|$relation|boss|teacher|neighbour}",
    "I {told|asked|gave} you {my name|my age|that before|a question|about my $relation|a number|that already|something} {before|a minute ago|yesterday|just now|already|earlier}",
    # words, letters, lists
    "{how do you|how do I|can you|please} spell {$thing|$animal|$colour|$food|$name|$place|the word $thing|my name|that|the name $name}[ for me| please]",
    "how many letters {are in|has|are there in|does} {$thing|$animal|the word $thing|the word $colour|my name|$name}[ have]",
    "{what is|tell me|which is} the {first|last|second|third|next} {letter|word} {of|in} {$thing|$animal|$colour|$name|the alphabet|the sentence|that|the word $thing}",
    "what {comes|letter comes|number comes|day comes|month comes} {after|before} {$letter|the letter $letter|$number|$day|$month}",
    "{does|has} {the word |}$thing {have|contain|start with|begin with|end with} {the letter|a|an} $letter",
    "my name is spelled $letter $letter $letter $letter[ $letter]",
    "{say|repeat|tell me} {the word $thing|the word $animal|good morning|good night|hello|my name|the numbers|the days of the week|the months|the alphabet|something} {twice|three times|backwards|again|slowly|for me|please}",
    "{repeat after me|say after me|say this|repeat this} {the $thing is $colour|the $animal is $adjective|I like $food|the $adjective $animal|my $thing is $adjective}",
    "{sort|order|put in order|read back} {these words|these|the words|the list|these names|this} {$thing $thing $thing|$animal $animal $animal|$name $name and $name|$fruit $fruit and $fruit}",
    "put {$thing $thing and $thing|$fruit $fruit and $fruit|$animal $animal and $animal|$name $name and $name|these words|these names} {in order|in a list|in alphabetical order|backwards}",
    "{tell me|name|give me|list|say} {two|three|four|five|six|some|a few} {animals|colours|fruits|names|cities|countries|words|numbers|foods|days|months|languages|flowers|birds|jokes}[ please]",
    "{give me|make|write|read me} a list of {two|three|four|five|ten|some} {animals|colours|fruits|names|cities|countries|words|numbers|foods|things}",
    "{what are|tell me|say|name|list} the {days of the week|months of the year|seasons|colours of the rainbow|letters of the alphabet|numbers from one to ten}",
    "count {from $small to $small|to $small|down from $small|backwards from $small|up to $small}[ please]",
    "which {word|name} is {longer|shorter}, {$thing or $thing|$animal or $animal|$name or $name}",
    "{write|say|read|put} {that|it|my name|the word $thing|this} in {capital letters|small letters|other words|one sentence|big letters|lower case}",
    # numbers
    "{what is|how much is|what's|tell me|calculate|can you work out} $small {plus|minus|times|and} $small[ {plus|minus|times} $small]",
    "{what is|how much is} {half|a third|a quarter|twice|double} of $number",
    "{double|halve|multiply|divide|add|subtract} $number {by|and|from|to} $number[ for me| please]",
    "{add|take|subtract} $small {to|from} {that|it|$number|the result|the last number}[ please]",
    "which {number |one |}is {bigger|smaller|larger|greater|higher|lower}, $number or $number",
    "{which is|what is|tell me} the {biggest|smallest|largest|lowest|highest} {of|number of} $number, $number and $number",
    "is {it true that |}$number {bigger than|smaller than|larger than|more than|less than|the same as} $number",
    "is it true that $small {plus|minus|times} $small is $number",
    "I {have|had|buy|bought|get|see} $small {apples|books|coins|eggs|euros|dollars|cards|balls|friends|cakes} and {eat|lose|lost|give away|sell|sold|buy|find|found|drop|break|need} $small[ more], how many {are left|do I have|do I have now|are there|remain}",
    "$small {friends|children|people|boxes|bags|tables|boys|girls} {have|hold|get|eat|read} $small {apples|books|coins|eggs|cards|cakes|chairs} each, how many {are there|is that|is that together|do they have}",
    # stories, jokes, games
    "{tell me|tell us|read me|I want|can you tell me|could you tell me|please tell me|do you know} {a|another|one more|a short|a long|a funny|a good|a new} {story|joke|tale|riddle}[ {about|with} {a $animal|a $adjective $animal|a king|a boy|a girl|a little boy|a little girl|a child|the sea|the moon|my $relation|a dragon|a robot|a $animal and a $animal|a boy and a $animal}]",
    "{do you know|tell me|read me|write|make|say} a {poem|rhyme|song|verse} {about|on|with the word|with} {$thing|the $thing|the sea|a $animal|love|winter|summer|spring|autumn|the moon|the rain}",
    "{sing|play|read|tell} {me |}{a song|something|some music|a game|a story|something nice|something funny|another song}[ for {me|us|my $relation}][ please]",
    "{what happens|what happened|and then what happened|what comes} {next|then|after that|in the end|at the end|in the story}",
    "{tell me|go on with|finish|continue|repeat|end} {the story|that story|the end of the story|the rest|the next part|the poem|the joke}",
    "{tell|say|show} me something {nice|funny|new|interesting|about yourself|about the $animal|about $place|good|else}",
    "{ask me|give me|let me ask you} {a question|a riddle|another question|something|one more question}",
    # itself and the server
    "{are|aren't} you {a|an|really a} {person|human|robot|machine|computer|program|man|woman|child|friend|model}",
    "{do|can} you {sleep|dream|eat|think|feel|learn|see|hear|laugh|cry|sing|dance|remember|forget|lie|love|like me|know me|see me|hear me}[ {sometimes|at all|anything|ever}]",
    "{do you have|have you got} {a name|any feelings|feelings|a body|eyes|ears|friends|a family|parents|a home|a brain|a memory|memories|dreams|a favourite colour|a favourite number|a job}",
    "{how|what} {can|do|should} I {ask you|call you|do with you|say to you|tell you|start|stop you|use you|do now|do next}",
    "how do I {start|stop|open|find|use|change|delete|rename|search|save|copy|share|move|export|import|download|update|install|remove|add|set|turn on|turn off|switch on|switch off} {the server|the page|a chat|my chats|a message|the model|a model|the settings|the port|the password|a key|the voice|the microphone|the camera|the log|a tool|a file|a picture|the history|the language|dark mode|the system prompt|thinking|the program|Duologue|everything}",
    "{where|when|why} {is|are|can I find|do I find|do I see} {the server|the page|my chats|my files|the settings|the model|the log|the password|the key|the voice|the microphone|the button|the list|the program|Duologue|the error message}",
    "{what is|what does|what are|explain} {a model|the queue|the server|a worker|a slot|a key|a tool|a token|the port|the context|a prompt|a system prompt|the settings|the licence|the error|this message|thinking|dark mode|Duologue}[ mean| good for| do]",
    "{is|are} {the server|the page|my data|my chats|the voice|the model|the program|the connection|it} {safe|free|slow|fast|running|ready|open|private|broken|big|new|busy|down|secure|easy}",
    "why {is|are} {it|you|the server|the page|the model|the answer|the voice} {so |}{slow|long|short|late|busy|bad|quiet|loud|wrong}",
    "{can|may|could} {I|we|several people|other people|my friends|my $relation|somebody else} {use|talk to|call|read|change|see|share} {it|you|this|the server|the same server|my chats|the page}[ {too|together|at the same time|at home|from another computer|on a phone|for free|now}]",
    "does {it|this|Duologue|the server|the program} {work|run|need} {on Windows|on Linux|on a Mac|on my phone|on my computer|without internet|without a network|offline|the internet|a graphics card|much memory|a password|in $language}",
    # out of its reach
    "{what is|how is|how will} the weather {like |}{today|tomorrow|in $place|now|outside|this week|on $day}",
    "{who is|who was|what is the name of} {the president|the king|the queen|the prime minister|the mayor|the chancellor} of {$country|$place|America|England}",
    "what is the {capital|language|money|flag|largest city|population} of $country",
    "{can you|could you|please} {translate|write|read|draw|play|open|send|call|find|cook|book|order|explain|help me with} {this|that|it|a letter|an email|a message|my homework|some music|a picture|the text|a pizza|a taxi|my $relation|the news|a flight|a table}[ {into|in} $language]",
    "{how do you say|what is} {$thing|$animal|hello|thank you|good morning|yes|I love you} in $language",
    "turn {on|off|up|down} the {light|lights|radio|music|heating|television|lamp|volume|computer|fan}[ in the {kitchen|bedroom|bathroom|garden|living room|hall}]",
    "{what is|tell me|explain} {love|time|the meaning of life|the news|the truth|your opinion|happiness|a black hole|the internet|money|music}",
]


def draw_phrase(random: Random) -> str:
    """Draws one phrase with its slots filled."""
    pattern = random.choice(PATTERNS)
    text = say(random, pattern)
    while "$" in text:
        head, _, rest = text.partition("$")
        slot = next(name for name in SLOTS if rest.startswith(name))
        text = f"{head}{SLOTS[slot](random)}{rest[len(slot) :]}"
    return text


def _clock(random: Random) -> str:
    return time_in_words(random.randint(1, 12), random.choice([0, 0, 0, 5, 10, 15, 20, 30, 30, 40, 45, 50]))


def _digits(random: Random) -> str:
    return " ".join(in_words(random.randint(0, 9)) for _ in range(random.choice([2, 3, 3, 4, 4, 5, 6])))


def _number(random: Random) -> str:
    high = random.choice([20, 60, 100, 100, 1000])
    number = in_words(random.randint(1, high)).replace("-", " ")
    return number.replace("hundred ", "hundred and ") if random.random() < 0.5 else number


SLOTS: dict[str, Callable[[Random], str]] = {
    "relation": lambda random: random.choice(RELATIONS),
    "adjective": lambda random: random.choice(ADJECTIVES),
    "animal": lambda random: random.choice(ANIMALS),
    "colour": lambda random: random.choice(COLOURS),
    "country": lambda random: random.choice(COUNTRIES),
    "digits": _digits,
    "day": lambda random: random.choice(DAYS),
    "food": lambda random: random.choice(FOODS),
    "fruit": lambda random: random.choice(FRUITS),
    "hobby": lambda random: random.choice(HOBBIES),
    "hour": lambda random: in_words(random.randint(1, 12)),
    "language": lambda random: random.choice(LANGUAGES),
    "letter": lambda random: random.choice(LETTERS),
    "month": lambda random: random.choice(MONTHS),
    "name": lambda random: random.choice(NAMES),
    "number": _number,
    "ordinal": lambda random: ordinal(random.randint(1, 31)).replace("-", " "),
    "place": lambda random: random.choice(PLACES),
    "small": lambda random: in_words(random.randint(1, 20)),
    "thing": lambda random: random.choice(THINGS),
    "time": _clock,
}
