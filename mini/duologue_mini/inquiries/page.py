"""Inquiries about using the page, and about privacy; its look is in `appearance.py`."""

from duologue_mini.inquiries.inquiry import Inquiry

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
        ),
        ("thinking", "reasoning", '"Thinking"', "thoughts"),
        (),
        (
            "{Can|Do} you think {first|before you answer}?",
            'What {is "Thinking"[ for]|does the button "Thinking" do}?',
        ),
        2,
    ),
    "thinking off": Inquiry(
        ("{turn off|switch off|disable|stop} {thinking|reasoning|the thoughts}",),
        ("turning thinking off",),
        ("I don't want {thoughts|the reasoning|thinking}", "it thinks before every answer"),
        (),
        2,
    ),
    "thinking first": Inquiry(
        ("{have|let} {every|each} new chat begin with thinking",),
        ('"Think first"', 'the setting "Think first"'),
        ("new chats {always|never} think first",),
        ('What is "Think first"[ for]?', "{Can|Could} thinking be on {by default|from the start}?"),
        1,
    ),
    "effort": Inquiry(
        (
            "{limit|set|choose} how long {you think|the model thinks|it thinks}",
            "make it think {longer|shorter|harder|less}",
            "{set|use|change} the {reasoning effort|effort}",
        ),
        ("reasoning effort", "the effort", "reasoning_effort", "low, medium and high"),
        ("it thinks too {long|much}", "the model {thinks for minutes|does not stop thinking}"),
        (
            "How {long|much} may {it|the model} think?",
            'What {is "No limit" under "Thinking"|do Low, Medium and High under "Thinking" mean}?',
        ),
        2,
    ),
    "thoughts open": Inquiry(
        (
            "{see|read|open|unfold} {your|the} {thoughts|reasoning}",
            "have the thoughts {open|shown} {at once|by themselves|always}",
        ),
        ("the folded thoughts",),
        ("I cannot see what {you think|the model thinks}",),
        ("Where {are|do I see} your thoughts?",),
        1,
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
        ("use the keyboard", "{see|list|learn} {the|all} {keys|shortcuts|keyboard shortcuts}"),
        ("keyboard shortcuts", "shortcuts", "the keys", "the list of shortcuts"),
        (),
        (
            "{Which|What} {keys|shortcuts|keyboard shortcuts} {are there|does the page have|can I use}?",
            "{Which|What} key {shows|lists} the shortcuts?",
        ),
        2,
    ),
    "palette": Inquiry(
        (
            "open the {command palette|palette}",
            "do {something|everything|all of it} without the mouse",
            "jump to {another chat|a chat} {quickly|by its name}",
        ),
        ("the command palette", "Ctrl+K", "the palette", "a command menu"),
        ("I {pressed|hit} Ctrl+K and a box {opened|came up}",),
        (
            "What {is Ctrl+K[ for]|does Ctrl+K do}?",
            "{Is there|Does it have} a {command palette|quick menu}?",
            "{Which|What} key opens the {command palette|palette}?",
        ),
        2,
    ),
    "shortcuts change": Inquiry(
        (
            "{change|rebind|set|choose} {a shortcut|the shortcuts|the keys|my own keys|other keys}",
            "{give|put} another key {to|on} {an action|a command|the search}",
            "{remove|reset} {a shortcut|the shortcuts}",
        ),
        ("changing the shortcuts", "my own shortcuts", "rebinding keys"),
        ("{a|one} shortcut {is taken by my browser|does not suit me|gets in my way}",),
        ("{Can|Could} {the keys be changed|shortcuts be changed|I have other keys}?",),
        2,
    ),
    "enter key": Inquiry(
        (
            "{write|make|type} {a new line|several lines|a line break}",
            "have Enter make a new line",
            "send with {Ctrl+Enter|another key than Enter}",
        ),
        ("the Enter key", "a line break", "Shift+Enter"),
        (
            "Enter sends {before I am done|too early|my half message}",
            "I want Enter {to begin a new line|not to send}",
        ),
        ("What does {Enter|Shift+Enter} do?", "{Can|Could} Enter make a new line instead?"),
        2,
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
    "sidebar": Inquiry(
        (
            "{hide|show|close|open} the {sidebar|list of chats|side of the page}",
            "get more room for the chat",
        ),
        ("the sidebar", "hiding the list of chats"),
        ("the list of chats {is gone|is not there|takes too much room}[ on my phone]",),
        ("Where is the list of chats{ on a phone|}?", "{Which|What} key hides the sidebar?"),
        1,
    ),
    "drafts": Inquiry(
        (
            "{keep|find again|get back} {what I typed|a draft|an unsent message}",
            "{begin|start} a message on {my phone|one device} and finish it on {my laptop|another}",
        ),
        ("drafts", "an unsent message", "what I typed and did not send"),
        (
            "I {reloaded|closed|left} the page {while typing|before I had sent my message}",
            "{my|the} draft {is gone|was overwritten|is another one than before}",
        ),
        (
            "{Is what I typed|Is my draft|Is an unsent message} {lost|gone|kept} {when I reload|after a reload|when the tab closes}?",
            "{Are|Where are} drafts {kept|saved|stored}?",
            "{Do|Will} I see my draft on {my phone|another device}?",
        ),
        2,
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
    "edit reply": Inquiry(
        ("{edit|change|correct} {your answer|a reply|what the model wrote|the answer itself}",),
        ("editing a reply", '"Edit reply"', '"Only save"'),
        ("there is a mistake in the reply and I want to correct it",),
        ("{Can|May|Could} I {edit|change} {your|a} {reply|answer}?",),
        1,
    ),
    "chat model": Inquiry(
        (
            "{choose|change|switch} the model {in|for|of} {a|this|one} chat",
            "{take|pick|use} another model in {a|this|one} chat",
            "{let|have} another model answer {this|here|this question}",
            "switch between {the loaded models|two models}",
        ),
        ("the model of a chat", "another model in this chat"),
        ("the wrong model answers in {this|my} chat",),
        (
            "{Can|Could} {each|every} chat have {its own|another} model?",
            "{Which|What} model answers {in this chat|here|me}, and can I change it?",
        ),
        2,
    ),
    "copying": Inquiry(
        ("copy {a reply|an answer|the answer|your answer}[ {with formatting|as plain text|into Word}]",),
        ("copying a reply",),
        ("{the|my} copied text {is full of stars|has lost its formatting}",),
        ("{Can|Could} I copy {a reply|the answer} {with bold and tables|as plain text}?",),
        1,
    ),
    "message link": Inquiry(
        ("{get|copy|send|keep} a link to {a message|this answer|one place in a chat}",),
        ("a link to a message", "the address of a message"),
        (),
        ("{Can|Could} I link to {a message|one place in a chat}?",),
        1,
    ),
    "hurry": Inquiry(
        (
            "{put|get|say} something into {a running reply|your running answer|the middle of a reply}",
            "{correct|steer} {you|the model} while {you write|a reply is running}",
        ),
        ('"Say it now"', "Ctrl+Enter", "steering a running reply"),
        ("my message waits and it is urgent",),
        (
            "What {is Ctrl+Enter for|does Ctrl+Enter do}[ while {you write|a reply is running}]?",
            "{Can|Could} I say something in the middle of a reply?",
        ),
        2,
    ),
    "sign out": Inquiry(
        ("{log out|sign out|leave}[ {of the page|on this computer}]",),
        ("signing out", "logging out"),
        ("somebody else {uses|wants to use} this browser",),
        ("Where {do I|can I} {log out|sign out}?",),
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
