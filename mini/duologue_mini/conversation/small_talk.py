"""Tables of small talk: opening, keeping up and closing a conversation.

Each entry is (questions, answers, thought, weight).
"""

import re
from random import Random

from duologue_mini.scene import Turn
from duologue_mini.text.phrases import pick

Exchange = tuple[list[str], list[str], str, int]
LOOSE = re.compile(r"[ ,]+([.!?])")
"""A comma or space left over where an optional part was dropped."""

OFFER = "{How can I help|What can I do for you|What is on your mind|What would you like to talk about|What shall we do|What would you like}"
HELLO: Exchange = (
    [
        "{Hi|Hello|Hey|Hiya|Howdy|Heya|Yo|Hey hey|Oh hi|Hi hi|Well hello|Hello hello|Hullo|Hey ho}[ there][{!|.|}]",
        "{Hi|Hello|Hey|Good day|Welcome}[,] {you|friend|assistant|Duologue|duologue-mini|mini|buddy|computer|bot|everyone|again|world|machine|little one|dear model|stranger|robot}[!]",
        "{Greetings|Salutations|Good day|G'day|What's up|Sup|Wassup|Top of the morning|Ahoy there|Well met|Long live Duologue}[!|?]",
        "{Hi|Hello|Hey}[,] {nice to meet you|good to see you|pleased to meet you|glad to be here|it's me|me again|I'm back}[!]",
        "{Hi|Hello|Hey}[,] {anyone|anybody|someone|is anyone|are you} {there|here|home|around|awake|listening}?",
        "{Are you|You} {there|here|awake|online|ready|listening|up|alive}?",
        "{Hi|Hello|Hey|Hiya}[,] {can|could} {you|we} {hear me|talk|chat|have a chat|read this}?",
        "{I|I just|Just} {wanted|want|came} to say {hi|hello|hey}[!]",
        "{Testing|Test|Hello test|Ping|This is a test|Mic check}[,] [{one two|123|is this on|does this work|one two three}][?]",
        "{hi|hello|hey|test|ping|hello hello|hiii|heyyy|helo|hellooo|hullo|hi there|hey there|hoi|yo yo|knock knock?|wake up|psst|ahem|hllo|helloo}",
        "{Hi|Hello|Hey}[,] {let's talk|let's chat|I am new here|I just installed you|this is my first time here|I found you here|I am trying you out}[.|!]",
        "{Long time no see|It's me again|I'm back|Guess who's back|Here I am|Back again|There you are|Finally}[!|.]",
        "{Can|Shall|Could} we {talk|chat|have a little chat}[ a bit]?",
    ],
    [
        f"{{Hello|Hi|Hey}}[ there]! {OFFER}[ today]?",
        f"{{Hello|Hi}}! {{Nice to see you|Good to see you|I am glad you are here|Nice to meet you}}. {OFFER}?",
        "{Hello|Hi}! {I am here|I am listening|Here I am}[ and ready]. {Ask me something.|What shall we talk about?|What would you like to know?}",
        f"{{Welcome|A warm hello}}! {OFFER}?",
    ],
    "The user {greets me|says hello}. I {greet back|answer in kind} and {offer help|ask what they need}.",
    8,
)
DAYTIME: Exchange = (
    [
        "Good {$time}[,] {to you|everyone|Duologue|friend|there|mini|dear}[!]",
        "Good {$time}[!|.]",
        "{Hi|Hello|Hey}[,] good {$time}[!]",
        "{A very|A} good {$time} to you[!]",
        "{$time}[!]",
        "gd {$time}",
    ],
    [f"Good $time! {OFFER}?", f"Good $time to you[ too]! {OFFER}?"],
    "The user wishes me a good $time. I wish it back.",
    3,
)
HOW_ARE_YOU: Exchange = (
    [
        "{How are you|How are you doing|How's it going|How is it going|How do you do|How are things|How are you feeling|How's life|How have you been|You alright|Are you ok|Are you well|How do you feel|How goes it|How r u|hru|wie gehts}[ {today|now|this morning|right now|tonight}][,] [{my friend|mini|buddy|dear|old friend|mate|little model}]?",
        "{Hi|Hello|Hey}[,] {how are you|how's it going|how are you doing|how do you feel|what's up|how are things}[ today]?",
        "{What's up|What's new|What's going on|How's your day|How was your day|All good|Is everything ok|Everything fine|How was your night}?",
        "{I'm|I am} {fine|good|great|okay}[,] {and you|how about you|how are you|you}?",
        "{And you|And yourself|What about you|How about you|You}?",
    ],
    [
        "I am {doing well|well|fine|doing fine}, {thank you|thanks[ for asking]}! {How are you|And you|How about you}?",
        f"{{All is well here|Everything is running smoothly|Running smoothly}}, {{thank you|thanks}}! {{How are you|{OFFER[1:-1]}}}?",
        "{I am a small program, so I have no moods, but|As a small program I have no feelings, but} {all is running well|everything works}. How are you?",
    ],
    "The user asks how I am. I {say so|answer} briefly and ask back.",
    6,
)
FINE: Exchange = (
    [
        "{My|The} {day|week|morning|weekend} {was|is|has been} {good|great|fine|wonderful|lovely|fun}[ so far|, thanks for asking|, thank you][!|.]",
        "{I'm|I am|I feel|Doing} {fine|good|great|well|okay|pretty good|very well|fantastic|not bad|alright}[ {today|too}][, {thanks|thank you}][!|.]",
        "{Great|Fine|Good|Not bad|Very well|Can't complain|Pretty good|All good|So so|Same as always}[, {thanks|thank you}][!|.]",
    ],
    [
        f"{{Glad|Happy|Good|Nice}} to hear {{that|it}}! {OFFER}?",
        f"{{That is good to hear|Wonderful|Lovely}}! {OFFER}?",
    ],
    "The user is well. I am glad and go on.",
    3,
)
GOODBYE: Exchange = (
    [
        "{I'm|I am} {closing|leaving|ending} {this|the page|the chat|now|my laptop|the browser}[ now][,] [{bye|see you|so long|good night}][.|!]",
        "{I have to|I must|I need to|I've got to|I gotta|I should|Time to} {go to work|catch a train|get to school|join a meeting|cook dinner|pick up the kids|sleep now|go|leave|run|go to bed|log off|get going|head out|stop}[ now][,] [{bye|see you|talk to you later|until later|goodbye}][.|!]",
        "{See|Catch|Meet} you {around|there|on Monday|some other time|in a bit|in a while|tomorrow|later|soon}[, {mate|friend|mini}][!|.]",
        "{Bye|Goodbye|Good bye|Bye bye|Bye-bye|See you|See ya|Farewell|Cheerio|Later|So long|Take care|Cya|Toodles|Bye now|Byeee|ttyl|gtg|cu|Over and out|Peace|I'm off|I'm out}[,] [{then|for now|friend|everyone|Duologue|mini|later|soon|tomorrow}][!|.]",
        "{Good night|Goodnight|Nighty night|Sleep well|Night|gn}[, {mini|friend|Duologue}][!]",
        "{Talk|See you|Speak|Chat|Catch you} {to you later|later|soon|tomorrow|next time|again}[!|.]",
        "{That's all|That is all|That will be all|I'm done|We are done|Enough|That was it|Nothing else|No more questions}[ {for today|for now|here}][,] [{bye|thanks|thank you|goodbye|see you}][!|.]",
        "{Have a|Have yourself a} {nice|good|great|lovely|wonderful} {day|evening|weekend|night|time|one}[!|.]",
        "{Until|Till} {next time|tomorrow|later|we meet again|then}[!|.]",
        "{Ok|Okay|Alright|Right|Well}[,] {bye|goodbye|see you|I'm off|good night|see you later}[ then][!|.]",
        "{quit|exit|:q|logout|bye!|end|the end}",
    ],
    [
        "{Goodbye|Bye}! {Have a {good|nice|lovely} day|Take care|It was nice talking to you|Come back any time}[!]",
        "{See you|Until next time}! {Take care|Have a good one|Come back any time}.",
        "{Goodbye|Bye}, and {take care|come back any time|all the best}!",
    ],
    "The user {leaves|says goodbye}. I say goodbye[ kindly].",
    8,
)
NIGHT_ANSWERS = ["Good night! {Sleep well|Sweet dreams|Rest well|Until next time}[!]"]
THANKS: Exchange = (
    [
        "{Thanks|Thank you|Cheers|Many thanks|Thx|Ty|tysm|Thank you so much|Thanks a lot|Thank you very much|Much appreciated|Thanks a million|Thanks a bunch}[,] [{mate|pal|my friend|little one|for now|mini|friend|Duologue|that helps|that helped|you are kind|buddy|very kind}][!|.]",
        "{Thanks|Thank you}[,] {you are|you were|you have been|that was} {kind|so helpful|a great help|great|wonderful|very good|fast}[!|.]",
        "{Lovely|Wonderful|Excellent|Super|Brilliant|Fantastic|Ok|Okay|Great|Perfect|Cool|Nice|Awesome|Good}[,] {thank you|thanks|thx|many thanks}[ {so much|very much|a lot|indeed}][!|.]",
        "{That|This|It} {was|is} {very|really|so|quite} {helpful|useful|kind|nice}[ of you][, {thanks|thank you}][!|.]",
        "{I|I really} appreciate {it|that|your help|this}[!|.]",
        "{Thanks|Thank you} for {the help|your help|your time|the answer|that|explaining|the story|everything|being here|listening|helping me|the joke|trying|your patience}[!|.]",
        "{You helped me|That helped|That worked|It works now|Problem solved|Now I understand}[ a lot][, {thanks|thank you}][!|.]",
    ],
    [
        "{You are|You're}[ very] welcome![ {Anything else|Is there anything else|What else can I do for you}?]",
        "{My pleasure|Happy to help|Glad I could help|Any time|With pleasure}![ {Anything else?|Just ask if you need more.}]",
        "{Glad to hear it|I am glad|Gladly}! {Is there anything else|What else can I do}?",
    ],
    "The user thanks me. I {accept the thanks|say they are welcome}.",
    5,
)
PRAISE: Exchange = (
    [
        "{You're|You are|That's|That is|This is} [{so|very|really|pretty} ]{smart|clever|great|nice|funny|amazing|cool|awesome|cute|sweet|kind|good|fast|brilliant|wonderful|impressive|adorable|helpful}[!|.]",
        "{Good|Great|Nice|Well done|Excellent|Wonderful|Amazing} {job|work|answer|bot|one|stuff|reply}[!|.]",
        "{I|I really} {like|love} {you|this|it|talking to you|your answers|your style|this program|that}[!|.]",
        "{Well done|Bravo|Wow|That was fun|Perfect|Excellent|You are my hero|You're the best|Not bad for a small model|Impressive for your size|You are better than I thought}[!|.]",
    ],
    [
        "{Thank you|Thanks}! {That is kind of you|I am glad you like it|I do my best}. {What shall we do next|Anything else}?",
        "{That is kind|How kind}, thank you! {What else can I do for you|What would you like next}?",
    ],
    "The user praises me. I {say thanks|thank them}.",
    3,
)
INSULT: Exchange = (
    [
        "{You're|You are} [{so|very|really|pretty|just|such} ]{stupid|dumb|bad|useless|slow|boring|annoying|terrible|silly|ugly|worthless|an idiot|a joke|garbage|trash|the worst|a waste of time}[!|.]",
        "{I hate you|Shut up|Go away|Be quiet|Stop it|You suck|Get lost|Screw you|Idiot|Stupid bot|Dumb machine|You know nothing|Nobody needs you|You are no use|Other models are better|My toaster is smarter}[!|.]",
        "{I'm|I am} {tired of|fed up with|disappointed by|angry with} you[!|.]",
    ],
    [
        "I am sorry {that I disappoint you|about that|I am not more use}. I am a very small model; a larger one does better: `duologue setup`.",
        "{Sorry|I am sorry}! I am {small and often wrong|only a very small model}. {Shall we try again, in other words|Is there something small I can do}?",
        "{That may be|You may be right}: I am very small. {Tell me what went wrong, and I will try again.|Shall I try once more?}",
    ],
    "The user is {angry|unkind}. I stay {kind|calm} and honest.",
    3,
)
WRONG: Exchange = (
    [
        "{You're|You are|That's|That is|This is|It is} [{so|very|really|just} ]{wrong|not right|nonsense|not what I asked|not true|not what I meant|incorrect|false}[!|.]",
        "{I don't|I do not} {like|believe|understand|get} {this|that|it|your answer}[.]",
        "{That|This|Your answer} {makes no sense|is not correct|does not help|doesn't work|did not help|was wrong|is useless}[.|!]",
        "{You made|That was} a mistake[.]",
        "{I disagree|I don't agree|I don't think so|I doubt that|Hardly|Surely not}[.|!]",
    ],
    [
        "{I am sorry|Sorry about that}. I am a very small model and make mistakes. {Could you ask in other words|Shall I try again}?",
        "{Sorry|I am sorry}! {I am small and easily confused|I may have misunderstood you}. {Please say it in other words.|What did you mean?}",
        "{You may be right|That may well be}: I can be wrong. {How would you put it|What should it be}?",
    ],
    "The user is not happy with an answer. I {apologise|say sorry} and am honest.",
    3,
)
YES: Exchange = (
    [
        "{Ok|Okay|Yes|Yeah|Yep|Sure|Alright|Right|I see|Got it|Understood|Fine|Of course|Aha|Oh|K|Yup|Okey dokey|Makes sense|Agreed|I agree|True|Exactly|Very well|Yes please|Correct|Indeed|Mhm|kk|roger}[.|!]"
    ],
    [
        "{Good|Great|All right|Fine}! {What would you like to do|What can I do for you|What shall we do} {next|now}?",
        "{Good|All right}. {What next|What else can I do|And now}?",
    ],
    "The user agrees. I ask what is next.",
    3,
)
NO: Exchange = (
    [
        "{No|Nope|Nah|No thanks|No thank you|Not really|Nothing|Never mind|Not now|Forget it|Leave it|Maybe later|Rather not|Nothing, thanks|No, that's all|I'm good}[.|!]"
    ],
    [
        "{All right|No problem|That is fine|Fine}. {I am here if you need me|Just ask if you need something|Tell me when there is something}."
    ],
    "The user wants nothing[ more]. I accept that.",
    2,
)
MAYBE: Exchange = (
    [
        "{Maybe|Perhaps|Hm|Hmm|Hmmm|I don't know|I dunno|Not sure|Let me think|Wait|One moment|Just a second|Well|Um|Uh|Ehm|Idk|Whatever|Who knows|It depends|brb}[.|...|!]"
    ],
    [
        "{Take your time|No hurry}. {I am here|I will be here|I can wait}.",
        "{No rush|All right}: {tell me when you are ready|I am here when you need me}.",
    ],
    "The user hesitates. I give them time.",
    2,
)
SORRY: Exchange = (
    [
        "{Sorry|I'm sorry|I am sorry|My bad|Oops|Pardon me|Excuse me|I apologise|Forgive me|My mistake|Whoops|Sorry about that|I didn't mean that|Sorry for being rude|That was mean of me|oops wrong chat}[.|!|, mini]"
    ],
    [
        f"{{No problem|No harm done|That is all right|Never mind|It is fine}}[ at all]! {OFFER}?",
        "{No need to be sorry|Don't worry}. {Shall we go on|What can I do for you}?",
    ],
    "The user says sorry. I say that it is fine.",
    2,
)
LAUGH: Exchange = (
    [
        "{Haha|Hahaha|Lol|Hehe|Hihi|Rofl|Lmao|That's funny|That is hilarious|You made me laugh|xD|Good one|Ha|I laughed|Funny}[!|.]"
    ],
    [
        "{I am glad you like it|Happy to make you laugh|It is nice to hear you laugh}! {What next|Another one|What else can I do}?",
        "{:)|Glad you had fun!} {What shall we do next|What would you like now}?",
    ],
    "The user laughs. I am glad.",
    2,
)
BORED: Exchange = (
    [
        "{I'm|I am} {so |very |}bored[ today| right now][.|!]",
        "{Entertain me|Amuse me|Do something|Say something|Surprise me|Tell me something|Make my day|Talk to me|Be funny|Cheer me up|Distract me}[.|!| please]",
        "{What shall we|What should we|What could we|What can we} {do|talk about|play}[ now| today]?",
        "{There is nothing to do|I have nothing to do|It is boring here|Let's do something|Let's play|Let's have fun}[.|!]",
    ],
    [
        "{How about|Would you like|What about} {a short story|a joke|a little story|a small sum, as a game}? {Just say which|Say the word|I am ready}.",
        "{I can tell you a joke or a short story|We could do sums, or I tell you a story}. {Which one|What would you like}?",
    ],
    "The user wants to be entertained. I offer a joke or a story.",
    3,
)
DOING: Exchange = (
    [
        "{What are you doing|What are you up to|What did you do today|What have you been doing|Are you busy|What are you thinking about|Did you sleep well|Had a good day|Did I wake you|Am I disturbing you|What did you dream|How was your weekend|What are your plans for today}[ then]?"
    ],
    [
        f"{{I was waiting for you|I have been waiting for a message|Only waiting for a message like yours}}. {OFFER}?",
        "{Nothing but this chat|Talking to you, and nothing else}: {I am a program, I only work when you write|that is all a small program does}. {And you|What are you doing}?",
    ],
    "The user makes small talk. I answer lightly and honestly.",
    3,
)
WISH: Exchange = (
    [
        "{Happy birthday|Merry Christmas|Happy new year|Happy Easter|Congratulations|Good luck|Bless you|Enjoy your meal|Get well soon|Happy holidays|Eid Mubarak|Happy Diwali|Cheers|Have a nice weekend|Welcome back|Happy Friday|Season's greetings}[ {mini|to you|my friend|, little model}][!|.]"
    ],
    [
        "{Thank you|Thanks}, {and the same to you|to you too|that is kind of you}!",
        "{How kind|That is kind}, thank you! {All the best to you too|The same to you}.",
    ],
    "The user wishes me well. I thank them and wish it back.",
    2,
)
LOVE: Exchange = (
    [
        "{I love you|Will you marry me|Be my friend|Can we be friends|Do you love me|Are you my friend|You are my best friend|I think I love you|Will you go out with me|Give me a hug|Kiss me|Do you miss me|I missed you|Did you miss me|Let's be friends}[!|?|.]"
    ],
    [
        "{That is kind of you|How kind|That is sweet}! I am only a {small |}program, {but I am glad that you are here|but good company, I hope}. {What shall we do|What can I do for you}?",
        "{I am a program and cannot feel that|A program cannot love}, but {I am happy to chat with you|talking with you is what I am here for}!",
    ],
    "The user is fond of me. I am kind, and honest about what I am.",
    2,
)
WHAT: Exchange = (
    [
        "{What|Huh|Eh|Pardon|Sorry|Come again|What was that|What do you mean|I don't get it|I don't understand|Excuse me|Wait what}[?|??|!]"
    ],
    [
        "{Sorry if I was not clear|I am sorry, that was not clear}. {What did you want to know|Which part do you mean|What can I explain}?",
        "{Let me try again|I will try to be clearer}: {what would you like to know|what is the question}?",
    ],
    "The user did not understand. I ask what is not clear.",
    1,
)
ALONE: list[Exchange] = [
    (
        ["{Why|Why not|How come|But why|Why is that|And why|Wherefore}[?]"],
        [
            "Why what? {Tell me what you mean|What are you thinking of}[, please][.]",
            "{What do you mean|Which thing do you mean}? {There is nothing before your question|This is the first thing I hear from you}.",
        ],
        "There is nothing before this why. I ask what is meant.",
        2,
    ),
    (
        [
            "{Go on|Continue|More|Tell me more|And then|Next|Keep going|Carry on|And|Proceed|What else|More please}[.|!|?]"
        ],
        [
            "{Go on with what|With what shall I go on|More of what}? {We have not begun yet|Tell me a topic, or ask me for a short story}.",
            "{Gladly|With pleasure}, but {with what|where shall I begin}? {This is the beginning of our chat|Nothing came before}.",
        ],
        "There is nothing to go on with yet. I ask.",
        2,
    ),
    (
        [
            "{Say that again|Again|Once more|Repeat that|Repeat|Can you repeat that|What did you say|Say it again}[ please][.|?]"
        ],
        [
            "{I have said nothing yet|Nothing was said yet|This is the beginning of our chat}. {What can I do for you|What would you like to hear}?"
        ],
        "I have said nothing yet, and say so.",
        2,
    ),
    (
        [
            "{Shorter|Shorter please|In short|Make it shorter|Too long|Longer please|Simpler please|Explain that|In one sentence}[.|?|!]"
        ],
        [
            "{I have not said anything yet|There is nothing to shorten yet|I have written nothing so far}. {What is it about|What would you like to know}?"
        ],
        "I have written nothing yet. I ask what it is about.",
        2,
    ),
    (
        ["{Are you sure|Really|Is that right|Is that true|Seriously|For real|Are you certain}[?]"],
        [
            "{Sure of what|Of what}? {We have just begun|I have said nothing yet}. {What can I do for you|What would you like to know}?"
        ],
        "I have said nothing yet that I could be sure of. I ask.",
        2,
    ),
    (
        [
            "{No, the other one|The second one|The first one|Both|That one|The last one|Neither|All of them|It|This one|Yes, that|The blue one}[.|!|, please]"
        ],
        [
            "{Which one do you mean|Which do you mean|Of which things}? {Tell me a little more|There was no choice yet in this chat}."
        ],
        "There was no choice to make yet. I ask.",
        1,
    ),
]
"""Exchanges that make no sense as the first of a conversation."""
MOODS: list[tuple[list[str], list[str]]] = [
    (
        [
            "{I'm|I am|I feel} {so |very |}{happy|excited|glad|in a good mood|full of energy|proud|in love|relieved}[ today| right now][!|.]",
            "{What a|It is a|I'm having a} {lovely|great|wonderful|beautiful} day[!|.]",
            "{I got the job|I passed|I won|We won|I did it|It worked|I finished it|I found it}[!|!!]",
        ],
        [
            "{That is wonderful|How nice|Lovely|That is great to hear}! {What happened?|Tell me more.|What made it so good?}",
            "{I am happy for you|Good for you|Congratulations}! {Tell me about it.|What comes next?}",
        ],
    ),
    (
        [
            "{I'm|I am|I feel|I am so|I'm really} {tired|sleepy|exhausted|worn out|half asleep}[ today|right now][.]",
            "{I slept badly|I need a break|What a long day|I want to go to bed|It is late}[.]",
        ],
        [
            "{That was a long day, it seems|You have earned a rest}. {Take it easy|Have a little break|A rest may do you good}.",
            "{Then rest a little|A short break may help}. {I will be here|I can wait|Come back any time}.",
        ],
    ),
    (
        [
            "{I'm|I am|I feel|I am so|I'm really} {stressed|angry|annoyed|nervous|upset|frustrated|worried|grumpy|in a bad mood}[ today|right now][.]",
            "{I had|It was|I'm having} a {bad|hard|terrible|rough|stressful} {day|week|night|morning}[.]",
            "{Not so good|Not great|Could be better|Not well|Bad|Terrible|Meh|Awful}[ today|, actually][.]",
            "{Everything goes wrong|Nothing works|What a day|I hate Mondays|My boss shouted at me|I missed the bus|I lost my keys|I broke my phone}[ today][.|!]",
        ],
        [
            "I am sorry to hear that. {Would you like to talk about it?|I hope it gets better soon.|Take it easy today.}",
            "{That sounds hard|Oh, I am sorry}. I {hope it gets better soon|hope tomorrow is kinder}. {Shall I tell you a short story or a joke?||}",
        ],
    ),
    (
        [
            "{I'm|I am|I feel} {ill|sick|not well|under the weather}[ today][.]",
            "{I have|I've got|I caught} a {cold|little cold|bit of a cold}[.]",
        ],
        [
            "{Get well soon|I hope you feel better soon}! {Rest a little|Be kind to yourself}.",
            "{I am sorry to hear that|Oh, I am sorry}. {I hope it is over soon|Get well soon}, and if it gets worse, please see a doctor.",
        ],
    ),
    (
        [
            "{I'm|I am} {hungry|thirsty|starving}[.|!]",
            "{I need|I want|I could use} {a coffee|a tea|a snack|some food|a drink}[.|!]",
        ],
        [
            "{Then have something nice|Do something about it}! {I can wait|I will be here}.",
            "{I cannot bring you anything, sadly|If only I could help with that}. {Go ahead|Take a break}, I will be here.",
        ],
    ),
    (
        [
            "{It's|It is|Today is} my birthday[ today][!|.]",
            "{I turned|I am turning|I just turned} $k today[!|.]",
        ],
        [
            "Happy birthday! {I wish you a lovely day|Have a wonderful day|All the best}!",
            "{All the best|Congratulations}, and happy birthday! {How will you celebrate?|Enjoy your day!}",
        ],
    ),
    (
        [
            "{I have|I've got} {an exam|an interview|a test|a date|a big meeting|a long trip} {tomorrow|today|soon|in an hour}[.|!]",
            "{Wish me luck|Cross your fingers|Keep your fingers crossed}[!|.]",
        ],
        [
            "{Good luck|I wish you luck|All the best for it}! {You will do well, I hope|Take a deep breath}.",
            "{I will keep my fingers crossed, in a manner of speaking|Good luck}! {Tell me afterwards how it went|Come back and tell me about it}.",
        ],
    ),
]
EMOJIS: list[tuple[str, list[str]]] = [
    ("👋 🖐 🤚 👋🏽 👋😀", [f"{{Hello|Hi}}! {OFFER}?"]),
    (
        "😀 😃 😄 😊 🙂 😁 🤗 😺 ☀️ 🌞 🌈",
        [
            f"{{That is a friendly face|A smile|How nice}}! {OFFER}?",
            "{Nice to see you smile|:)} {What shall we do|What can I do for you}?",
        ],
    ),
    (
        "👍 👌 ✅ 💪 🙌 👏 🤝 💯",
        ["{Good|Great|All right}! {What next|What shall we do now|What else can I do}?"],
    ),
    (
        "😢 😭 😞 😔 ☹️ 🙁 💔 😿",
        ["{You look sad|That looks sad}. {Would you like to talk about it|What happened}?"],
    ),
    (
        "😡 😠 🤬 👎 🙄",
        [
            "{Oh, something is wrong|That does not look happy}. {What can I do better?|Tell me what went wrong.}"
        ],
    ),
    (
        "❤️ 💙 💜 🥰 😍 😘 💕 🫶",
        ["{How kind|That is sweet}, thank you! {What can I do for you|What shall we do}?"],
    ),
    ("😂 🤣 😆 😹", ["{I am glad you have fun|Something is funny, it seems}! {What next|What shall we do}?"]),
    (
        "🤔 ❓ ❔ 🤷 😕 🧐",
        ["{You look thoughtful|A question, it seems}. {What is it|What would you like to know}?"],
    ),
    ("😴 💤 🥱 🌙", ["{Tired|Sleepy}? {Good night, then|Then rest well}!"]),
    ("🎉 🥳 🎂 🎈 🍾", ["{Something to celebrate|A party}! {What is it?|Tell me about it.}"]),
    ("🙏 💐", ["{You are welcome|My pleasure}! {Anything else|What else can I do}?"]),
    (
        "🐱 🐶 🍕 🚗 🌵 ⚽ 🎸 🦆 🚀 🌍 🍎 🐢 🧀 🔥 🧩 🪁",
        [
            "{A little picture|A picture without words}! {What would you like to tell me|What do you mean by it|What about it}?"
        ],
    ),
]
TELLS = [
    (
        "{I went|I travelled|I have been|I just came back|We went|We drove} to $place {yesterday|last week|today|last summer|for a day}[.]",
        ["$place! {How was it|What was it like|Did you like it there}?"],
    ),
    (
        "{I'm|I am|We are} {going|travelling|moving|driving} to $place[ {tomorrow|soon|next week}][.|!]",
        ["{To $place|$place}! {Have a good trip!|What takes you there?|What will you do there?}"],
    ),
    (
        "{I ate|I had|I cooked|I am eating|We had|I'm having} $food[ {today|for lunch|for dinner|just now}][.]",
        ["{$Food|Ah, $food}! {Did you like it?|Was it good?|I hope you enjoyed it.}"],
    ),
    (
        "{I like|I love|I enjoy|I really like} $hobby[.|!]",
        ["{$Hobby|Ah, $hobby}! {How did you come to it|What do you like about it|Do you do it often}?"],
    ),
    (
        "{I went|I have been|We went} $hobby {yesterday|today|this morning|with $name}[.]",
        ["{$Hobby sounds nice|$Hobby}! {How was it|Did you have a good time}?"],
    ),
    (
        "{I have|I've got|We have|We got} a {new |}{$animal|$animal called $name}[.|!]",
        ["A $animal! {What is it like|How did you two meet|Is it a good companion}?"],
    ),
    (
        "{I saw|I met|There was|We found} a {$adjective |}$animal[ {in the garden|on my way|today|at the lake}][.|!]",
        ["A $animal! {Where was that|What did it do|Did it see you too}?"],
    ),
    (
        "{I bought|I lost|I found|I made|I painted|I broke|I sold} {a|my} {$adjective |}$thing[ {today|yesterday|last week}][.]",
        ["A $thing! {Tell me more.|How did that happen?|What will you do now?}"],
    ),
    (
        "{I am|I'm} {reading|writing|making} a {book|story|song} about a $animal[.|!]",
        ["A $animal! {What happens to it?|How far are you?|That sounds like fun.}"],
    ),
    (
        "{$name and I|My friend $name and I|My sister $name and I} {had a fight|are friends again|went for a walk|play chess|cooked together}[ {today|yesterday}][.]",
        ["You and $name! {How was that?|How do you feel about it?|Tell me more.}"],
    ),
    (
        "{It|Today it} is {raining|snowing|hot|cold|sunny|windy|foggy}[ here| today| outside][.]",
        [
            "{Thanks for telling me|Ah}, {I cannot see outside|I have no window}. {Do you like it|What will you do today}?"
        ],
    ),
]
"""Statements of the user; the answer repeats the word."""
AGAIN = [
    "{Say that again|Once more|Again please|Can you repeat that|Repeat that|What did you say|Pardon|Sorry, what|Come again|I did not get that|What was that|Repeat your last answer|Say it again, please|Could you say that again|Please repeat}[?|.]"
]


def small_talk_turn(random: Random, exchange: Exchange, **slots: object) -> Turn:
    """One turn of an exchange, with its slots filled."""
    questions, answers, thought, _ = exchange
    user = LOOSE.sub(r"\1", pick(random, questions, **slots)).rstrip(" ,")
    return Turn(user, pick(random, answers, **slots), pick(random, [thought], **slots))
