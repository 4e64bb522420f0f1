"""Inquiries about the look of the page, what replies show, its settings, and the browser."""

from duologue_mini.inquiries.inquiry import Inquiry

LOOKS: dict[str, Inquiry] = {
    "page settings": Inquiry(
        (
            "{open|find|get to} the settings {of the page|on the page}",
            "change {how the page looks|something on the page|my preferences}",
        ),
        ("the settings of the page", "my preferences", "the settings page"),
        ("I don't find the settings[ on the page]",),
        (
            "Where {are|do I find} {my|the page's} {settings|preferences}?",
            "{What|Which} settings does the page have?",
            "{Which|What} key opens the settings?",
        ),
        2,
    ),
    "page settings kept": Inquiry(
        ("have my {settings|preferences} on {another device|my phone, too|every device}",),
        ("my settings on another device", "where my preferences are"),
        ("my settings are {gone|not there} on {my phone|the other computer}",),
        (
            "Are my {settings|preferences} {the same|there} on {every device|my phone|another computer}?",
            "Where {are|does it keep} {my settings|my preferences}?",
        ),
        1,
    ),
    "ui defaults": Inquiry(
        (
            "{set|choose|give} {the first values|defaults|the preferences} for {everybody|all users|new users}",
            "{make|have} the page dark for {everybody|all users}",
            "give {all users|everybody} {the same|a} system prompt",
        ),
        ("ui.defaults", "defaults for all users", "first values of the page"),
        (
            "I {want|would like} {every user|all my users} to begin with {the same settings|German|the dark theme}",
        ),
        (
            "What {is ui.defaults[ for]|goes into ui.defaults}?",
            "{Can|Could} an operator set the page's defaults?",
        ),
        2,
    ),
    "theme": Inquiry(
        (
            "{turn on|use|switch to|change to} {dark mode|the dark theme|light mode|a dark page}",
            "change the {theme|colours}",
        ),
        ("dark mode", "the theme", "the dark theme"),
        ("the page is too {bright|dark}",),
        ("{Is there|Does it have} a dark {mode|theme}?",),
        1,
    ),
    "text size": Inquiry(
        (
            "make the {text|letters|font} {larger|smaller|bigger}",
            "{change|set} the {text size|font size|size of the letters|width of the text}",
        ),
        ("the text size", "the font size", "larger letters"),
        ("the {text|font} is too {small|large|narrow}", "I cannot read such small letters"),
        ("{Can|Could} {the text|the letters} be {larger|bigger|smaller}?",),
        1,
    ),
    "page language": Inquiry(
        (
            "{change|set|choose} the language[ of the page]",
            "{have|get|use} the page in {German|English|another language|my language}",
        ),
        ("the language of the page", "German", "other languages of the page", "translations of the page"),
        ("the page is in {German|English|the wrong language}",),
        (
            "{Can the page be in|Does the page speak|Is the page in} {German|English|French|other languages}?",
            "{Which|What} languages {does the page speak|is the page in|are there}?",
            "{Is there|Does it have} a German {page|version|translation}?",
        ),
        2,
    ),
    "streaming page": Inquiry(
        (
            "{see|have|get} {a|the} reply {in one piece|all at once|only when it is done}[ on the page]",
            "{see|have} the words {as they come|while they are written}",
            "{turn off|turn on|switch off} {the streaming|streaming} on the page",
        ),
        ("streaming on the page", "replies in one piece", "the streaming switch"),
        ("the {text|reply} {jumps|moves} while it is written", "the answer comes all at once"),
        (
            "{Can|Could} I {see replies only when they are done|turn the streaming off on the page}?",
            "Why {does the reply|do replies} come in one piece?",
        ),
        2,
    ),
    "code blocks": Inquiry(
        (
            "{copy|save|download} {code|a code block|the code} {from|of|in} {a reply|an answer}",
            "wrap long lines of code",
        ),
        ("code in replies", "code blocks", "coloured code"),
        ("{the|a} code {is cut off|runs out of the page|is folded}",),
        (
            "{Is code coloured|Does it show code in colour|Does the page colour code}?",
            "{Can|Could} I {save|download} {the|a} code {as a file|from a reply}?",
        ),
        1,
    ),
    "maths": Inquiry(
        ("{see|write|show} {formulas|maths|equations|LaTeX|TeX}",),
        ("formulas", "maths in replies", "LaTeX", "equations"),
        ("I {see|get} dollar signs {instead of|and no} formulas",),
        ("{Does it|Can the page|Does the page} {show|draw|render} {formulas|LaTeX|maths|equations}?",),
        1,
    ),
    "diagrams": Inquiry(
        (
            "{see|draw|show} {a diagram|diagrams|Mermaid|a Mermaid diagram|a flow chart}",
            "save a diagram[ as SVG]",
        ),
        ("diagrams", "Mermaid", "flow charts", '"Show diagram"'),
        ("I see only the {code|text} of {a|the} diagram",),
        ("{Does it|Can the page|Does the page} {draw|show|render} {diagrams|Mermaid|flow charts}?",),
        1,
    ),
    "preview": Inquiry(
        (
            "{see|preview|try|run} {HTML|a page|an SVG|a drawing} that {the model|a model} wrote",
            "{preview|show} {HTML|SVG|a code block}",
        ),
        ("the preview", "previews of HTML", "a preview of SVG", '"Preview" at a block of code'),
        (),
        (
            "{Can|Does} the page {show|preview|run} {HTML|SVG|web pages that a model wrote}?",
            "Is {the preview|a preview of HTML} {safe|dangerous}?",
        ),
        1,
    ),
    "figures page": Inquiry(
        (
            "{hide|show|see} {the figures|the tokens|the speed} under {a reply|replies}",
            "see how {fast|many tokens} {a reply|an answer} was",
        ),
        ("the figures under a reply", "tokens per second"),
        ("I don't {need|want} the numbers under {each|every} reply",),
        ("What {are|is meant by} the {figures|numbers} under {a|the} reply?",),
        1,
    ),
    "screen reader": Inquiry(
        (
            "use {it|the page} {with a screen reader|blind|without seeing}",
            "have {every sentence|replies} read {out|aloud} by my screen reader",
        ),
        ("screen readers", "accessibility", '"Reading aloud"'),
        ("my screen reader {reads too much|says nothing|talks all the time}",),
        (
            "{Does|Will} it work with {a screen reader|NVDA|VoiceOver|a keyboard alone}?",
            "Is the page accessible?",
        ),
        1,
    ),
    "app": Inquiry(
        (
            "{install|use|have} {the page|it|Duologue} as an app",
            "put {the page|it|Duologue} on {my|the} home screen",
            "get an icon for {the page|it|Duologue}[ on my phone]",
        ),
        ("installing the page", "an app", "the app for my phone", "a home screen icon"),
        ("I want it like an app", "my browser does not offer to install it"),
        (
            "{Is there|Do you have|Does it have} an app[ {for the phone|for Android|for the iPhone|for the desktop}]?",
            "{Can|Could} the page be {installed|an app}?",
        ),
        2,
    ),
    "server away": Inquiry(
        ("open the page {while|when} the server is {away|off|down|not running}",),
        ("the page without its server", "the page offline"),
        (
            "{the page|it} says that the server does not answer",
            "the server {went|is} {away|down|off} {and the page is still open|while I am typing}",
        ),
        (
            "{Does|Will} the page open {when the server is off|without the server}?",
            "What does the page do {while|when} the server is {away|down|off}?",
        ),
        2,
    ),
    "page outdated": Inquiry(
        (),
        ("a newer page",),
        (
            "it says that the server runs a newer page",
            "the page {is too old|is older than the server|wants to be reloaded}",
        ),
        ("{Why|What for} {should I reload|does it offer to reload} the page?",),
        1,
    ),
    "browser traces": Inquiry(
        (
            "{clear|delete|remove} what {the|my} browser keeps[ of the page]",
            "leave nothing behind {in this browser|on a shared computer}",
        ),
        ("what the browser keeps", "the local storage", '"Clear this browser"'),
        ("I used it on {a computer that is not mine|a shared computer}",),
        (
            "{What is kept|What does the page keep|Does the page keep anything} in {the|my} browser?",
            "{Are my chats|Is anything} {stored|kept} in {the|my} browser?",
        ),
        1,
    ),
}
