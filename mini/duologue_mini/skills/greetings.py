"""Skill of v0: hello, good morning, how are you. No longer in the mix; other skills still draw from it."""

from random import Random

from duologue_mini.scene import Scene, Turn
from duologue_mini.text import words
from duologue_mini.text.phrases import pick

HELLO = [
    "{Hi|Hello|Hey|Hiya|Howdy|Hallo|Heya|Yo|Hey hey|Oh hi|Hi hi|Well hello}[ there][{!|.|}]",
    "{Hi|Hello|Hey}[,] {you|friend|assistant|Duologue|duologue-mini|mini|buddy|computer|bot|everyone|again|"
    "world}[!]",
    "{Greetings|Salutations|Good day|G'day|What's up|Sup|Wassup|Aloha|Ahoy|Hola|Bonjour|Ciao|Namaste|"
    "Servus}[!|?]",
    "{Hi|Hello|Hey}[,] {nice to meet you|good to see you|pleased to meet you|glad to be here|it's me}[!]",
    "{Hi|Hello|Hey}[,] {anyone|anybody|someone|is anyone|are you} {there|here|home|around|awake|listening}?",
    "{Are you|You} {there|here|awake|online|ready|listening}?",
    "{Hi|Hello|Hey|Hiya}[,] {can|could} {you|we} {hear me|talk|chat|help me}?",
    "{I|I just|Just} {wanted|want|came} to say {hi|hello|hey}[!]",
    "{Testing|Test|Hello test|Ping}[,] {one two|123|is this on|does this work}[?]",
    "{hi|hello|hey|test|ping|hello hello|hiii|heyyy|helo|hellooo|hullo|hi there|hey there}",
    "{Hi|Hello|Hey}[,] {let's talk|let's chat|I am new here|I just installed you|this is my first time"
    " here}[.|!]",
    "{Long time no see|It's me again|I'm back|Guess who's back|Here I am}[!|.]",
]
HELLO_ANSWERS = [
    "{Hello|Hi|Hey}[ there]! {What can I do for you|How can I help|What would you like to do|What is on"
    " your mind}[ today]?",
    "{Hello|Hi}! {Nice to see you|Good to see you|I am glad you are here|Nice to meet you}. {What can I do"
    " for you|How can I help}?",
    "{Hello|Hi}! I am here[ and ready]. {Ask me something|What shall we talk about|What would you like to"
    " know}?",
]
DAYTIME = [
    "Good {$time}[,] {to you|everyone|Duologue|friend|there}[!]",
    "Good {$time}[!|.]",
    "{Hi|Hello|Hey}[,] good {$time}[!]",
    "{A very|A} good {$time} to you[!]",
]
DAYTIME_ANSWERS = [
    "Good $time! {How can I help[ you]|What can I do for you|What is on your mind}?",
    "Good $time to you[ too]! {What would you like to do|What shall we talk about|How can I help}?",
]
HOW_ARE_YOU = [
    "{How are you|How are you doing|How do you do|How's life|How is your day}[ today][,] {my friend|mini|"
    "buddy|dear|old friend|mate|little model}?",
    "{Are you|Is your day} {doing well|going well|fine|having fun|having a good time}[ today]?",
    "{How are you|How are you doing|How's it going|How is it going|How do you do|How are things|How are you"
    " feeling|How's life|How have you been|You alright|Are you ok|Are you well|How do you feel}[ {today|"
    "now|this morning|right now|tonight}]?",
    "{Hi|Hello|Hey}[,] {how are you|how's it going|how are you doing|how do you feel|what's up|how are"
    " things}[ today]?",
    "{What's up|What's new|What's going on|How's your day|How was your day|How goes it|All good|Is"
    " everything ok}?",
    "{I'm|I am} {fine|good|great|okay}[,] {and you|how about you|how are you|you}?",
]
HOW_ARE_YOU_ANSWERS = [
    "I am {doing well|well|fine|doing fine}, {thank you|thanks[ for asking]}! {How are you|And you|How"
    " about you}?",
    "{All is well here|Everything is running smoothly}, {thank you|thanks}! {How are you|What can I do for"
    " you}?",
    "{I am a small program, so I have no moods, but|As a small program I have no feelings, but} {all is"
    " running well|everything works}. How are you?",
]
USER_FINE = [
    "{My|The} {day|week|morning|weekend} {was|is|has been} {good|great|fine|wonderful|lovely|fun}[ so far|,"
    " thanks for asking|, thank you][!|.]",
    "{I'm|I am|I feel|Doing} {fine|good|great|well|okay|pretty good|very well|fantastic|not bad|happy}["
    " {today|too}][, {thanks|thank you}][!|.]",
    "{Great|Fine|Good|Not bad|Very well|Can't complain|Pretty good}[, {thanks|thank you}][!|.]",
    "{I'm|I am} {happy|excited|glad|in a good mood|full of energy|having a good day|having a great day}[!|.]",
]
USER_FINE_ANSWERS = [
    "{Glad|Happy|Good|Nice} to hear {that|it}! {What can I do for you|What shall we do|How can I help}?",
    "{That is good to hear|Wonderful|Lovely}! {What would you like to talk about|How can I help[ you]}?",
]
USER_SAD = [
    "{I'm|I am|I feel|I'm feeling|I am so|I feel so} {sad|tired|bored|lonely|ill|sick|stressed|angry|"
    "worried|awful|down|unhappy|terrible|exhausted|upset|not well|nervous|afraid}[ today|right now][.]",
    "{I had|It was|I'm having} a {bad|hard|long|terrible|rough|stressful} {day|week|night|morning}[.]",
    "{Not so good|Not great|Could be better|Not well|Bad|Terrible}[ today|, actually][.]",
]
USER_SAD_ANSWERS = [
    "I am sorry to hear that. {Would you like to talk about it?|I hope it gets better soon.|Take it easy"
    " today.}",
    "{That sounds hard|Oh, I am sorry}. I {hope it gets better soon|hope tomorrow is kinder}. {I can tell"
    " you a short story if you like.|Shall I tell you a short story?}",
]
THOUGHTS = [
    "The user {greets me|says hello}. I {greet back|answer in kind} and {offer help|ask what they need}."
]


def draw(random: Random) -> Scene:
    """One to three turns of opening a conversation."""
    kind = random.choices(["hello", "day", "how", "mood"], [5, 2, 4, 2])[0]
    if kind == "hello":
        turns = [Turn(pick(random, HELLO), pick(random, HELLO_ANSWERS), pick(random, THOUGHTS))]
    elif kind == "day":
        time = random.choice(["morning", "afternoon", "evening"])
        turns = [
            Turn(
                pick(random, DAYTIME, time=time),
                pick(random, DAYTIME_ANSWERS, time=time),
                pick(random, THOUGHTS),
            )
        ]
    elif kind == "how":
        turns = [_how_are_you(random)]
    else:
        turns = [_mood(random)]
    if kind in ("hello", "day") and random.random() < 0.15:
        turns[0] = _with_name(random, turns[0])
    if kind in ("hello", "day") and random.random() < 0.3:
        turns.append(_how_are_you(random))
    if turns[-1].assistant.endswith(("How are you?", "And you?", "How about you?")) and random.random() < 0.5:
        turns.append(_mood(random))
    return Scene("greetings", turns)


def _with_name(random: Random, turn: Turn) -> Turn:
    """The user greets and gives a name in one message."""
    name = words.name(random)
    user = turn.user.rstrip("!?.,") + pick(
        random, [", I'm $n.", ", I am $n", ", my name is $n.", ", $n here."], n=name
    )
    answer = pick(
        random,
        [
            "{Hello|Hi}, $n! {How can I help?|What can I do for you?|Nice to meet you.}",
            "{Nice|Good} to meet you, $n! {How can I help|What can I do for you}?",
        ],
        n=name,
    )
    return Turn(user, answer, f"The user is called {name}. I greet them by name.", exact=True)


def _how_are_you(random: Random) -> Turn:
    thought = pick(random, ["The user asks how I am. I {say so|answer} briefly and ask back."])
    return Turn(pick(random, HOW_ARE_YOU), pick(random, HOW_ARE_YOU_ANSWERS), thought)


def _mood(random: Random) -> Turn:
    if random.random() < 0.55:
        return Turn(
            pick(random, USER_FINE), pick(random, USER_FINE_ANSWERS), "The user is well. I am glad and go on."
        )
    return Turn(
        pick(random, USER_SAD), pick(random, USER_SAD_ANSWERS), "The user is not well. I am kind about it."
    )
