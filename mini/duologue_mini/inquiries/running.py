"""Inquiries about starting and stopping, ports, settings, data, and problems with them."""

from duologue_mini.inquiries.inquiry import Inquiry

IT = "{Duologue|Duologue|duologue|the server|this server|it|this|this thing|this program}"
RUNNING: dict[str, Inquiry] = {
    "what": Inquiry(
        (f"describe {IT} to a friend",),
        (f"{IT}", "the Duologue project", "the idea behind Duologue"),
        (),
        (
            "{What is|What's|What exactly is|Whats} {Duologue|duologue|this server|this program|this software|Duologue exactly}?",
            "{What|What all} {can I do with|is the point of|is the purpose of|do people use} {Duologue|this server}{?| for?}",
            "{Why|What for} {should I|would I|would anyone|do people} use {Duologue|this|this server}?",
            "{In one line|Briefly|In short|In a few words}, what {is Duologue|does this server do|is this server|does Duologue do}?",
            "{I just|I've just|I only} {found|installed|downloaded|heard of} {Duologue|this}. What {is it|does it do}?",
            "{Is|So is} Duologue {a model|a server|an app|a website|a chatbot|a service}?",
        ),
        4,
    ),
    "start": Inquiry(
        (f"{{start|run|launch|boot|fire up|get going|bring up|begin with|get started with}} {IT}",),
        ("the start command", "starting Duologue", "starting the server"),
        ("I just downloaded Duologue", "I have the sources here and do not know where to begin"),
        (
            "{What|Which} command {starts|runs|launches|brings up} {Duologue|the server|it}?",
            "{What's|What is} the {command to start|start command of|first step with} {it|Duologue|the server}?",
            "{Where do I begin|How does it start|How do I begin|First steps|Getting started}[?]",
        ),
        5,
    ),
    "first": Inquiry(
        (),
        ("the first start", "the first make serve"),
        (
            "the first start takes {very|so|too} long",
            "make serve {is installing|downloads} a lot of things",
            "it is building something for a minute",
        ),
        (
            "{Why|How come} does the first start take so long?",
            "{How long does|How much time does} {the first start|installing|the first make serve|starting} take?",
            "{What happens|What does make serve do} {at|on} the first start?",
            "Is {the second start|a later start|starting it again} {faster|quicker}?",
        ),
    ),
    "needs": Inquiry(
        ("install {Duologue|it}", "prepare my machine for Duologue"),
        ("the requirements", "the system requirements", "the dependencies"),
        (),
        (
            f"{{What does|What do I need for|What is needed for}} {IT} {{need|require|}}?",
            "{Which|What} {Python|Python version|version of Python} {do I need|does it need|is required}?",
            "{Do I need|Does it need|Must I have} {a graphics card|a GPU|an account|Docker|a strong computer|Python}[ for {it|Duologue}]?",
        ),
    ),
    "systems": Inquiry(
        ("run {Duologue|it} on {Windows|macOS|a Mac|Linux|my Mac}",),
        ("Windows", "macOS", "operating systems"),
        (),
        (
            "{Does|Will} {it|Duologue} {run|work} on {Windows|macOS|Linux|a Mac|Mac|Ubuntu}?",
            "{Which|What} {systems|operating systems|platforms} {does it support|are supported|can run it}?",
        ),
    ),
    "page": Inquiry(
        (
            "{open|see|reach|find|visit|get to} {the page|the chat page|the web page|the interface|the UI|the website}",
        ),
        ("the address of the page", "the web page", "the URL of the page"),
        (),
        (
            "{Where|At what address|Under which address|At which URL} {is|do I find|can I find|can I see|do I open} {the page|the chat|the UI|the web interface}?",
            "{What's|What is} the {address|URL|link|web address}[ of {the page|the server|Duologue}]?",
            "{Which|What} {port|address} {does {it|Duologue|the server} {use|listen on|run on}|is it on}?",
        ),
        3,
    ),
    "port": Inquiry(
        (
            "{change|set|choose|pick} the port[ number]",
            "{use|take|run it on|listen on} {another|a different|some other} port",
            "move it away from {port |}8006",
        ),
        ("the port", "another port", "the port number"),
        ("{I don't want|I do not like} port 8006", "8006 is not {free here|a good port for me}"),
        (
            "{Which|What} {setting|flag|variable|option} {sets|changes|is for} the port?",
            "{Can|Could} it {use|run on|listen on} {another|a different} port?",
            "Other port, {how|possible}?",
        ),
        4,
    ),
    "port given": Inquiry(
        (
            "{run it|start it|serve|start Duologue|run Duologue|listen|have it} on port $port",
            "use port $port[ {instead|instead of 8006}]",
            "{change|set|move} {the port|it} to $port",
            "put the page on port $port",
        ),
        ("port $port", "port $port instead"),
        (
            "I want it on $port",
            "it should {be|run|listen} on port $port",
            "{please |}make it listen on $port",
        ),
        (
            "{Can|Could|Will} {it|Duologue|the server} {use|run on|listen on} port $port?",
            "{Is|Would} port $port {possible|okay|fine}?",
            "{What if I want|I'd prefer|Rather} port $port?",
        ),
        5,
    ),
    "port taken": Inquiry(
        (),
        (),
        (
            "it says {address already in use|the port is in use|port 8006 is in use|the address is in use}",
            "{port 8006|the port|8006} is {already |}{taken|in use|busy|occupied|used by something else}",
            "{another program|something|some other server|another process} {uses|has|sits on|holds} {port 8006|my port|the port}",
            'I get {the error |}{"address in use"|EADDRINUSE|address already in use}',
            "it {cannot|won't} start because the port is {taken|in use}",
        ),
        ("{Why|What does it mean that} {is the port|the port is} in use?",),
        3,
    ),
    "port zero": Inquiry(
        ("{take|use|get|let it choose} {any|a random|some} free port",),
        (),
        (),
        (
            "What does {--port 0|port 0} do?",
            "{Can|Could} it {pick|find|choose} a free port {by itself|itself|on its own}?",
        ),
        1,
    ),
    "stop": Inquiry(
        (f"{{stop|quit|end|close|shut down|kill|exit|turn off|switch off}} {IT}",),
        ("stopping the server", "the shutdown"),
        ("I want it to stop running",),
        ("{How does it end|How do I get out|What ends the server|How is it stopped}[?]",),
        3,
    ),
    "restart": Inquiry(
        (f"{{restart|start again|reboot|reload}} {IT}",),
        (),
        ("I changed {a setting|the settings|the model} and nothing happened",),
        (
            "{Do I have to|Must I} restart {it|the server} {after|when I} {changing|change} {a setting|the model}?",
        ),
        1,
    ),
    "config": Inquiry(
        (
            "{save|keep|write down} {my|the} settings[ for good]",
            "use a {settings|configuration|config} file",
            "set {it|something|an option} {permanently|for good}",
        ),
        ("the settings file", "duologue.yaml", "the configuration file", "the config"),
        ("I don't want to type {the flags|everything} {every time|each time}",),
        (
            "{Where|What} is the {config|settings file|configuration}?",
            "{Is there|Does it have} a {config|configuration|settings} file?",
            "What {is|goes into} duologue.yaml?",
        ),
        2,
    ),
    "precedence": Inquiry(
        (),
        ("the order of settings",),
        ("{the file|my duologue.yaml|the variable} {is ignored|says something else than the flag}",),
        (
            "{Which|What} wins, {the flag or the file|the file or the environment|flag or variable|the environment or the flag}?",
            "{Does|Do} {a flag|flags} {override|win over} {the file|the environment}?",
        ),
        1,
    ),
    "environment": Inquiry(
        (
            "{set|give} {a setting|settings|options} {by|with|through} {environment variables|the environment|a variable}",
        ),
        ("environment variables", "the environment"),
        (),
        ("{What|Which} environment variables {are there|does it know|can I set|does it read}?",),
        1,
    ),
    "settings": Inquiry(
        ("{see|list|find} {all settings|the settings|all options|every option|the flags}",),
        ("the settings[ of the server]", "the options", "the flags"),
        (),
        ("{What|Which} {settings|options|flags} {are there|does it have|can I set|do I have}?",),
        2,
    ),
    "data": Inquiry(
        (
            "{change|set|move|choose} the data {folder|directory}",
            "{store|keep} {its|the} {files|data} {elsewhere|somewhere else|on another disk}",
        ),
        ("the data folder", "my data", "the data directory", "DUOLOGUE_DATA"),
        (),
        (
            "{Where|In which folder|In what folder} {does it|does Duologue|do you} {store|keep|put|save|write} {its files|data|everything|its data|my data}?",
            "{Where|In which place} is {the data|the data folder|my data|everything it writes}?",
            "What {is DUOLOGUE_DATA[ for]|does DUOLOGUE_DATA do}?",
        ),
        3,
    ),
    "data given": Inquiry(
        (
            "{keep|store|put|save|write} {its data|everything|the data|all files} {in|under|into} $folder",
            "{use|set} $folder as {the |}data folder",
        ),
        ("$folder as data folder",),
        (
            "{the data|its data|everything} should {go|be} {to|in} $folder",
            "I want {the data|everything|it all} in $folder",
        ),
        ("{Can|Could} {the data|its files} {be|live} in $folder?",),
        3,
    ),
    "data taken": Inquiry(
        ("run two servers[ {at once|side by side|on one machine}]", "start a second {server|Duologue}"),
        ("a second server",),
        (
            "it says the data folder is in use",
            "the data folder is {held|locked|taken|in use} by {another|a} {server|process}",
        ),
        (),
        2,
    ),
    "doctor": Inquiry(
        ("check {my machine|my setup|if it can run here|whether everything is fine}",),
        ("duologue doctor", "the doctor command", "`duologue doctor`"),
        (),
        (
            "What {does {duologue doctor|the doctor|`duologue doctor`} do|is {duologue doctor|the doctor}[ for]}?",
        ),
        2,
    ),
    "trouble": Inquiry(
        ("find out what is wrong", "get it {running|to work}"),
        ("troubleshooting",),
        (
            "{it|Duologue|the server} {does not|doesn't|won't|will not} {start|run|work|come up}",
            "{it|the server} {crashes|ends|stops} {at once|at the start|right away}",
            "{something is wrong|it is broken|nothing works|I get an error}{ here|}",
        ),
        ("{Why|How come} does it not {start|work|run}?",),
        3,
    ),
    "not found": Inquiry(
        (),
        (),
        (
            "{it says|I get|the shell says} {duologue: command not found|command not found|no such command}",
            "there is no {duologue command|command called duologue}",
        ),
        ("Where is the duologue {command|program}?",),
        2,
    ),
    "unreachable": Inquiry(
        (),
        (),
        (
            "{the page|the site|127.0.0.1:8006|localhost:8006} {does not|doesn't|won't} {open|load|answer}",
            "my browser {says connection refused|cannot connect|shows nothing}",
            "I cannot {open|reach|see} the page",
        ),
        ("Why {doesn't the page load|can't I open the page|is the page empty}?",),
        2,
    ),
    "page missing": Inquiry(
        ("build the page",),
        ("make web",),
        (
            "it says {the page is not built yet|the page is not built}",
            "the page is {missing|not built|not there}",
            "I only see {a note|a sentence} that the page is not built",
        ),
        (),
        2,
    ),
    "no page": Inquiry(
        (
            "{serve|run} {only the API|just the API|it without the page}",
            "{turn off|switch off|disable} {the page|the UI}",
        ),
        ("--no-ui",),
        ("I {don't need|do not want} the {page|UI}",),
        (),
        1,
    ),
    "update": Inquiry(
        (f"{{update|upgrade}} {IT}", "get {the newest|the latest|a newer} version"),
        ("updates", "a new version"),
        (),
        ("{How does it update|Does it update itself|What is new|Where is the changelog}[?]",),
        2,
    ),
    "version": Inquiry(
        ("see {the|its|which} version{ it is|}",),
        ("the version",),
        (),
        (
            "{Which|What} version {is this|of Duologue is this|do I have|am I running|of Duologue do I have}?",
            "{What's|What is} the {version|version number}[ of {Duologue|this server}]?",
        ),
        1,
    ),
    "licence": Inquiry(
        (),
        ("the licence", "the license", "licensing"),
        (),
        (
            "{What|Which} {licence|license} {does Duologue have|is it under|is this under|does it use}?",
            "{Is|So is} {it|Duologue|this} {free|open source|free software|for free}?",
            "{Can|May} I {use it|use Duologue} {commercially|at work|in my company|in my product}?",
            "What does it cost?",
        ),
        2,
    ),
    "remove": Inquiry(
        (f"{{uninstall|remove|delete|get rid of}} {IT}",),
        ("uninstalling",),
        (),
        (),
        1,
    ),
    "not yet": Inquiry(
        ("use $small", "{turn on|set up|enable|get} $small"),
        ("$small",),
        ("$small {does not|doesn't} work{ here|}",),
        (
            "{Is there|Does it have|Does Duologue have|Do you have} $small?",
            "{Does|Can|Will} {it|Duologue|this server} {do|support|have} $small?",
            "When {will there be|do we get|will it have} $small?",
        ),
        5,
    ),
}
