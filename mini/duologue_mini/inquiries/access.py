"""Inquiries about access: other machines, the login, the API, the socket, metrics."""

from duologue_mini.inquiries.inquiry import Inquiry

DOORS: dict[str, Inquiry] = {
    "expose": Inquiry(
        (
            "{reach|use|open} {it|Duologue|the page} from {another machine|my phone|other computers|outside|my laptop|the internet|my tablet}",
            "{open|share|expose|publish} {it|the server|Duologue} {to others|to the network|in my network|to my colleagues|to the world|on the LAN}",
            "{listen|bind it} {on all addresses|to 0.0.0.0|on my network address}",
            "make it {public|reachable from outside|visible on the network}",
        ),
        ("access from other machines", "--host", "access from my phone"),
        (
            "my {phone|tablet|laptop|colleague|wife|friend} cannot {reach|open} {it|the page}",
            "it is only reachable on {localhost|this machine|127.0.0.1}",
        ),
        (
            "{Can|Could} {others|my friends|somebody else|other people|my family|colleagues} {use it|reach it|connect}?",
            "{Who|Who all} can reach {the server|it|this}?",
            "Is it open to others?",
        ),
        4,
    ),
    "insecure": Inquiry(
        (),
        ("--insecure-http", "insecure http", "the flag --insecure-http"),
        ("it {wants|asks for|demands} --insecure-http",),
        (
            "What {is --insecure-http for|does --insecure-http {do|mean}}?",
            "{Why|What for} do I {need|have to say} --insecure-http?",
            "Is --insecure-http {dangerous|safe|bad}?",
        ),
    ),
    "proxy given": Inquiry(
        (
            "{reach|serve|open|publish} {it|Duologue} {as|under|at} {https://|}$domain",
            "put it behind a proxy {at|called|named} $domain",
        ),
        ("a proxy at $domain",),
        ("my proxy {is|answers at} {https://|}$domain", "I want {people to use|to call} it {as |}$domain"),
        (),
        2,
    ),
    "key sending": Inquiry(
        (
            "{send|pass|give} {the|my} key[ {with a request|from a script|in curl}]",
            "authenticate {a request|my script|from Python}",
        ),
        ("the header with the key", "sending the key"),
        (),
        ("{Which|What} header {is|takes|has|carries} the key?", "Where does the key go{ in a request|}?"),
        2,
    ),
    "login": Inquiry(
        ("{log in|sign in|get in|log into the page}[ on the page]",),
        ("the login", "logging in", "the login page"),
        ("the page {asks for|wants} a key", "I have to log in {again|once more}"),
        (
            "{Why|How come} do I have to log in[ again]?",
            "{What|Which} {do I type|key do I enter} {on|into} the {login|login page}?",
            "{How long|Do} {do I stay|I stay} logged in?",
            "{Do|Must} I log in again after a restart?",
        ),
        2,
    ),
    "host refused": Inquiry(
        ("add a host name", "reach it {by|under} {another|its} name"),
        ("host names", "--host-name"),
        (
            "it says {host_refused|host refused|the host is refused}",
            "I get {403|forbidden} when I {use|open it by} {its name|my domain|another host name}",
        ),
        ("What {is --host-name for|does --host-name do}?",),
        2,
    ),
    "origin": Inquiry(
        (
            "{let|allow} {my own|another|my} {web page|website|site|app} {use|call|reach} {it|the server|the API}",
            "set up CORS",
            "call {the API|it} from a web page",
        ),
        ("CORS", "origins", "--allow-origin"),
        (
            "it says {origin_refused|origin refused}",
            "my web page {gets 403|is refused|is not allowed}",
            "I get a CORS error",
        ),
        ("What {is --allow-origin for|does --allow-origin do}?",),
        2,
    ),
    "api": Inquiry(
        (
            "{call|use|reach|access|query} {the API|it from a program|you from code|it from my program|the server from a script|it from my app}",
        ),
        ("the API", "the OpenAI API", "the endpoint", "an API", "the REST API"),
        ("I want to {call|use} it from {a program|my own code|my app}",),
        (
            "{Is there|Does it have|Do you have|Does Duologue have|Has it} {an API|an HTTP API|an OpenAI-compatible API|a REST API|an endpoint}?",
            "{What's|What is|Which is} the {endpoint|base URL|API address|URL of the API|API path|chat endpoint}?",
            "{Can|Does} {OpenAI clients|the OpenAI client|my OpenAI program|the OpenAI SDK} {use it|work|connect}?",
            "{Which|What} {API|protocol|dialect} does it speak?",
        ),
        4,
    ),
    "curl": Inquiry(
        ("{call|use|ask|query} {it|you|the API|the server} with curl",),
        ("curl", "a curl example"),
        (),
        (
            "{Give me|Show me|I need|Do you have} {a|an example with|the} curl {command|example|request|call|line}[.]",
        ),
        2,
    ),
    "python": Inquiry(
        ("{call|use|ask|query} {it|you|the API|the server} {from|in|with} Python",),
        ("Python", "the Python client", "Python code for the API"),
        (),
        (
            "{Give me|Show me|I need} {a|some} Python {example|code|client|snippet} for {Duologue|the API|this server}[.]",
            "{Is there|Do you have} a Python client?",
        ),
        2,
    ),
    "javascript": Inquiry(
        (
            "{call|use|ask|query} {it|you|the API|the server} {from|in|with} {JavaScript|Node|a browser|TypeScript|fetch}",
        ),
        ("JavaScript", "Node"),
        (),
        (
            "{Give me|Show me|I need} {a|some} JavaScript {example|code|client|snippet} for {Duologue|the API|this server}[.]",
        ),
        1,
    ),
    "streaming": Inquiry(
        (
            "{stream|get} {a reply|replies|the answer}[ {piece by piece|token by token|as it is written}]",
            "{turn on|enable|use} streaming",
        ),
        ("streaming", "server-sent events"),
        ("the answer comes all at once",),
        ("{Does|Can} {it|the API|Duologue} stream?", "How does streaming work?"),
        2,
    ),
    "socket": Inquiry(
        ("{use|connect to|talk over|open} {the socket|the WebSocket|the chat socket|/ws/chat}",),
        ("/ws/chat", "the WebSocket", "the chat socket", "WebSockets"),
        (),
        (
            "{Is there|Does it have} a {WebSocket|socket}?",
            "What {is /ws/chat[ for]|does /ws/chat do}?",
            "{What|Which} messages come over the socket?",
        ),
        2,
    ),
    "health": Inquiry(
        (
            "{check|see|find out|monitor} {if|whether} {it|the server|the model} {is alive|is ready|runs|is up|works}",
            "see what {the server|it} is doing",
        ),
        ("/health", "/ready", "/status", "health checks", "monitoring"),
        (),
        (
            "{Is there|Does it have} a {health check|status page|readiness probe}?",
            "How do I know {it is ready|the server runs|that it is alive}?",
        ),
        2,
    ),
    "metrics": Inquiry(
        ("{get|see|collect} {figures|metrics|statistics|numbers}", "{use|connect} {Prometheus|Grafana}"),
        ("/metrics", "metrics", "Prometheus", "statistics"),
        (),
        ("{Does it have|Are there|Is there} {metrics|figures|statistics|a Prometheus endpoint}?",),
        2,
    ),
    "logs": Inquiry(
        ("{see|read|find|look at} {the log|the logs|its log|log files}",),
        ("the log", "logging", "logs"),
        (),
        ("Where {is|are|do I find|can I see} the {log|logs|log file}?", "What is {in|written into} the log?"),
        2,
    ),
    "verbose": Inquiry(
        ("{see|log} more", "{turn on|enable|get} {debug|verbose} {logging|output|logs}"),
        ("debug output", "a more detailed log"),
        ("the log {says|tells} too little",),
        (),
        1,
    ),
    "request id": Inquiry(
        ("find {one|my|a} request in the log",),
        ("X-Request-Id", "request ids"),
        (),
        ("What is {X-Request-Id|the request id|a request id}?",),
        1,
    ),
    "say": Inquiry(
        (
            "{ask|talk to} {it|you|the server} {from|in} {a terminal|the terminal|the command line|the shell|a console}",
        ),
        ("duologue say", "the terminal", "`duologue say`"),
        (),
        (
            "What does {duologue say|say|`duologue say`} do?",
            "{Is there|Do you have} a {command line client|terminal client}?",
        ),
        2,
    ),
    "say elsewhere": Inquiry(
        (
            "{ask|use|talk to} {a|another|my} server {on|at} {another machine|another address|a different host} {from the terminal|with duologue say}",
        ),
        (),
        (),
        ("{Can|Could} duologue say {ask|talk to} {another|a remote} server?",),
        1,
    ),
    "parse": Inquiry(
        ("{parse|split} {raw output|a model's output}", "add a tool-call format"),
        ("duologue parse", "the parse command"),
        (),
        ("What {does {duologue parse|`duologue parse`} do|is duologue parse[ for]}?",),
        1,
    ),
    "formats": Inquiry(
        (
            "get {JSON|an answer as JSON|structured output|JSON answers}[ {from|over} the API]",
            "use {a grammar|a JSON schema|response_format}",
        ),
        ("JSON mode", "structured output", "response_format"),
        (),
        (),
        1,
    ),
    "sampling": Inquiry(
        (
            "{set|change} the {temperature|sampling|seed|top_p}",
            "limit how long {an answer|a reply} {is|gets}",
        ),
        ("temperature", "sampling", "max_tokens", "the seed"),
        (),
        ("{Which|What} sampling {settings|parameters} {are there|does it take}?",),
        1,
    ),
    "api docs": Inquiry(
        ("find {the API docs|the fields of a request|all fields of the API}",),
        ("the API reference", "openapi.json", "the API documentation"),
        (),
        ("Where {is the API|are the endpoints} {documented|described}?",),
        1,
    ),
}
