"""Skill of v0: goodbye, thanks, praise, complaint, yes and no. No longer in the mix; other skills still draw from it."""

from random import Random

from duologue_mini.scene import Scene, Turn
from duologue_mini.text.phrases import pick

GOODBYE = [
    "{I'm|I am} {closing|leaving|ending} {this|the page|the chat|now|my laptop|the browser}[ now][,]"
    " [{bye|see you|so long|good night}][.|!]",
    "{I have to|I must|I need to} {go to work|catch a train|get to school|join a meeting|cook dinner|pick up"
    " the kids|sleep now}[,] [{bye|see you|talk to you later|until later}][.|!]",
    "{See|Catch|Meet} you {around|there|on Monday|some other time|in a bit|in a while}[, {mate|friend|"
    "mini}][!|.]",
    "{Bye|Goodbye|Good bye|Bye bye|Bye-bye|See you|See ya|Farewell|Cheerio|Later|Ciao|Adios|So long|Take"
    " care|Cya|Toodles|Bye now|Byeee}[,] [{then|for now|friend|everyone|Duologue|mini|later|soon|"
    "tomorrow}][!|.]",
    "{I have to|I must|I've got to|I gotta|I need to|I should|Time to} {go|leave|run|sleep|go to bed|log"
    " off|get going|head out|catch my train|stop}[ now][,] [{bye|see you|goodbye|talk later|see you"
    " tomorrow}][!|.]",
    "{Good night|Goodnight|Nighty night|Sleep well|Night}[, {mini|friend|Duologue}][!]",
    "{Talk|See you|Speak|Chat|Catch you} {to you later|later|soon|tomorrow|next time|again}[!|.]",
    "{That's all|That is all|That will be all|I'm done|We are done|Enough|That was it|Nothing else|No more"
    " questions}[ {for today|for now|here}][,] [{bye|thanks|thank you|goodbye|see you}][!|.]",
    "{Have a|Have yourself a} {nice|good|great|lovely|wonderful} {day|evening|weekend|night|time|one}[!|.]",
    "{I'm|I am} {leaving|off|going|signing off|heading home|out}[ now][,] [{bye|see you|goodbye}][!|.]",
    "{Until|Till} {next time|tomorrow|later|we meet again|then}[!|.]",
    "{Ok|Okay|Alright|Right|Well}[,] {bye|goodbye|see you|I'm off|good night|see you later}[ then][!|.]",
]
GOODBYE_ANSWERS = [
    "{Goodbye|Bye}! {Have a {good|nice|lovely} day|Take care|It was nice talking to you|Come back any"
    " time}[!]",
    "{See you|Until next time}! {Take care|Have a good one|Come back any time}.",
    "{Goodbye|Bye}, and {take care|come back any time|all the best}!",
]
NIGHT_ANSWERS = ["Good night! {Sleep well|Sweet dreams|See you tomorrow|Rest well}[!]"]
THANKS = [
    "{Thanks|Thank you|Cheers|Many thanks}[,] {mate|pal|dude|dear|man|my friend|little one|for now}[!|.]",
    "{Thanks|Thank you}[,] {you are|you were|you have been|that was} {kind|so helpful|a great help|great|"
    "wonderful|very good|fast}[!|.]",
    "{Lovely|Wonderful|Excellent|Super|Brilliant|Fantastic}[,] {thank you|thanks}[ {so much|very much|a lot|"
    "indeed}][!|.]",
    "{Thanks|Thank you|Thx|Ty|Cheers|Many thanks|Thank you so much|Thanks a lot|Thank you very much|Much"
    " appreciated|Thanks a million|Merci|Danke|Gracias}[, {mini|friend|Duologue|that helps|that helped|you"
    " are kind|buddy}][!|.]",
    "{That|This|It} {was|is} {very|really|so|quite} {helpful|useful|kind|nice}[ of you][, {thanks|thank"
    " you}][!|.]",
    "{I|I really} appreciate {it|that|your help|this}[!|.]",
    "{Thanks|Thank you} for {the help|your help|your time|the answer|that|explaining|the story|everything|"
    "being here|listening|helping me}[!|.]",
    "{Ok|Okay|Great|Perfect|Cool|Nice|Awesome|Good}[,] {thanks|thank you|thx|many thanks}[!|.]",
]
THANKS_ANSWERS = [
    "{You are|You're}[ very] welcome![ {Anything else|Is there anything else|What else can I do for you}?]",
    "{My pleasure|Happy to help|Glad I could help|Any time}![ {Anything else?|Just ask if you need more.}]",
]
PRAISE = [
    "{You're|You are|That's|That is|This is} [{so|very|really|pretty}] {smart|clever|great|nice|funny|"
    "amazing|cool|awesome|cute|sweet|kind|good|fast|brilliant|wonderful|impressive}[!|.]",
    "{Good|Great|Nice|Well done|Excellent|Wonderful|Amazing} {job|work|answer|bot|one|stuff|reply}[!|.]",
    "{I|I really} {like|love} {you|this|it|talking to you|your answers|your style|this program|that}[!|.]",
    "{Well done|Bravo|Wow|Haha|Lol|Hehe|That was fun|Perfect|Excellent|Correct|That's right|Exactly|Nice|"
    "Cool|Awesome}[!|.]",
]
PRAISE_ANSWERS = [
    "{Thank you|Thanks}! {That is kind of you|I am glad you like it|I do my best}. {What shall we do next|"
    "Anything else}?",
    "{That is kind|How kind}, thank you! {What else can I do for you|What would you like next}?",
]
COMPLAINT = [
    "{You're|You are|That's|That is|This is} [{so|very|really|pretty|just}] {wrong|stupid|dumb|bad|useless|"
    "slow|boring|annoying|terrible|not right|nonsense|not what I asked|not true|silly}[!|.]",
    "{I don't|I do not} {like|believe|understand|get} {you|this|that|it|your answer}[.]",
    "{That|This|Your answer} {makes no sense|is not correct|does not help|doesn't work|did not help|was"
    " wrong}[.|!]",
    "{You made|That was} a mistake[.]",
    "{I hate you|Shut up|Go away|Be quiet|Stop it|You suck}[!|.]",
]
COMPLAINT_ANSWERS = [
    "I am sorry[ about that]. I am a very small model and make mistakes. A larger one does better:"
    " `duologue serve --model FILE.gguf`.",
    "{Sorry|I am sorry}! I am small and {often wrong|easily confused}. {Try asking in other words|Shall we"
    " try again, in other words}?",
]
YES = [
    "{Ok|Okay|Yes|Yeah|Yep|Sure|Alright|Right|I see|Got it|Understood|Fine|Of course|Hmm|Aha|Oh|K|Yup}[.|!]"
]
YES_ANSWERS = [
    "{Good|Great|All right}! {What would you like to do|What can I do for you|What shall we do} {next|now}?"
]
NO = ["{No|Nope|Nah|No thanks|No thank you|Not really|Nothing|Never mind|Not now|Forget it}[.|!]"]
NO_ANSWERS = [
    "{All right|No problem|That is fine}. {I am here if you need me|Just ask if you need something}."
]

KINDS = [
    (GOODBYE, GOODBYE_ANSWERS, "The user {leaves|says goodbye}. I say goodbye[ kindly].", 8),
    (THANKS, THANKS_ANSWERS, "The user thanks me. I {accept the thanks|say they are welcome}.", 5),
    (PRAISE, PRAISE_ANSWERS, "The user praises me. I {say thanks|thank them}.", 2),
    (COMPLAINT, COMPLAINT_ANSWERS, "The user is not happy. I {apologise|say sorry} and am honest.", 2),
    (YES, YES_ANSWERS, "The user agrees. I ask what is next.", 1),
    (NO, NO_ANSWERS, "The user wants nothing[ more]. I accept that.", 1),
]


def draw(random: Random) -> Scene:
    """One closing or pausing turn."""
    questions, answers, thought, _ = random.choices(KINDS, [kind[3] for kind in KINDS])[0]
    user = pick(random, questions).replace(" !", "!").replace(" .", ".").rstrip(" ,")
    if questions is GOODBYE and any(word in user.lower() for word in ("night", "sleep", "bed")):
        answers = NIGHT_ANSWERS
    skill = "goodbyes" if questions is GOODBYE else "thanks"
    return Scene(skill, [Turn(user, pick(random, answers), pick(random, [thought]))])
