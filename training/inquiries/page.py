"""How people ask about what one does on the page, and whether it is private. Knows no answer."""

from training.inquiries.inquiry import Inquiry

PAGE: dict[str, Inquiry] = {
    "cancel": Inquiry(
        (
            "{stop|cancel|interrupt|abort|end} {a reply|the reply|an answer|the answer|your answer|it while it writes|a running reply}",
            "make you stop {talking|writing}",
        ),
        ("stopping a reply", "the stop button", "cancelling"),
        ("{you|it} {write|writes} too much and I want to stop it", "the answer is too long and won't end"),
        (
            "{Can|Could} I {interrupt|stop|cancel} {you|a reply|the answer}?",
            "{Which|What} key stops {a reply|you|the answer}?",
        ),
        3,
    ),
    "thinking": Inquiry(
        (
            "{turn on|switch on|enable|use|activate} {thinking|reasoning|thoughts}",
            "make you think[ first| before you answer]",
            "see {your|the} {thoughts|reasoning}",
        ),
        ("thinking", "reasoning", '"Think first"', "thoughts"),
        (),
        (
            "{Can|Do} you think {first|before you answer}?",
            "Where {are|do I see} your thoughts?",
            'What {is|does the button} "Think first"[ for]?',
        ),
        2,
    ),
    "thinking off": Inquiry(
        ("{turn off|switch off|disable|stop} {thinking|reasoning|the thoughts}",),
        ("turning thinking off",),
        ("it thinks too {long|much}", "I don't want {thoughts|the reasoning|thinking}"),
        (),
        2,
    ),
    "queue": Inquiry(
        ("see {my place in|the} {queue|the queue}", "let more people talk at once", "make the queue shorter"),
        ("the queue", "waiting", "my place in the queue"),
        (
            "it says I am {waiting|in a queue|third in the queue}",
            "I have to wait {for my answer|so long}",
            "{everybody|everyone} has to wait",
        ),
        (
            "{Why|What for} do I {have to |}wait?",
            "What is my {place|position} in the queue?",
            "How long do I have to wait?",
        ),
        2,
    ),
    "queue full": Inquiry(
        (),
        (),
        ("it says {queue_full|the queue is full|queue full}", "the queue is full"),
        ("How many requests may wait?",),
        1,
    ),
    "privacy": Inquiry(
        ("be sure that nothing leaves my machine",),
        ("privacy", "data protection"),
        (),
        (
            "{Is|Are} {this|my data|what I write|this chat|my messages|my chats} {private|safe|secret|confidential|sent anywhere|sent to the cloud}?",
            "{Does it|Do you|Does Duologue|Does the server} {send|log|share|upload|leak} {anything|my data|what I say|my messages}[ anywhere]?",
            "Who {reads|can read|sees} {this|what I write|my messages}?",
        ),
        3,
    ),
    "offline": Inquiry(
        ("{use|run} it {offline|without internet|without a network}",),
        ("offline use",),
        ("I have no internet{ here|}",),
        (
            "{Does|Will} it {work|run} {offline|without internet|without a network}?",
            "{Does|Do} {it|you|Duologue} need {the internet|internet|a network|the cloud}?",
        ),
        2,
    ),
    "keyboard": Inquiry(
        ("{write|make|type} {a new line|several lines|a line break}", "use the keyboard"),
        ("keyboard shortcuts", "shortcuts", "the keys"),
        (),
        ("{Which|What} {keys|shortcuts|keyboard shortcuts} {are there|does the page have|can I use}?",),
        1,
    ),
    "new chat": Inquiry(
        (
            "{start|begin|open} a {new|fresh} {chat|conversation}",
            "{clear|empty|wipe} {the chat|this chat|the conversation}",
        ),
        ("a new chat",),
        (),
        (),
        1,
    ),
    "theme": Inquiry(
        (
            "{turn on|use|switch to|change to} {dark mode|the dark theme|light mode|a dark page}",
            "change the {theme|colours}",
        ),
        ("dark mode", "the theme"),
        ("the page is too {bright|dark}",),
        ("{Is there|Does it have} a dark {mode|theme}?",),
        1,
    ),
    "edit": Inquiry(
        (
            "{edit|change|correct} {a message|my message|what I wrote|my last message}",
            "get another {answer|reply}",
            "regenerate {an answer|a reply|the answer}",
        ),
        ("editing a message", "another reply"),
        (),
        (),
        1,
    ),
    "docs": Inquiry(
        ("{find|read} {the docs|the documentation|the manual|more about it}",),
        ("the documentation", "the docs", "the manual"),
        (),
        (
            "{Where is|Where do I find|Is there} {the documentation|the manual|a manual}?",
            "{Where|What} can I {read|learn} more[ about {it|Duologue}]?",
        ),
        2,
    ),
    "code": Inquiry(
        (
            "{change|read|understand} {the code|the sources|Duologue's code}",
            "{contribute|contribute to Duologue|run the tests}",
        ),
        ("the source code", "contributing", "the tests"),
        (),
        ("Where {is|do I find} the {code|source|source code}?",),
        1,
    ),
    "examples": Inquiry(
        ("see {examples|an example|example programs}",),
        ("examples",),
        (),
        ("{Are there|Do you have} {examples|example programs} {for the API|of clients|for Duologue}?",),
        1,
    ),
}
