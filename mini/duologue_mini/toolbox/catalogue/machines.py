"""Tools for machines: services, shells, networks, the web, browsers."""

from duologue_mini.toolbox import shared_parameters as o
from duologue_mini.toolbox.actions import Action
from duologue_mini.toolbox.outcomes import done, facts, listing, reading
from duologue_mini.toolbox.parameters import Parameter

SERVICE = Parameter(
    "service name service_name app unit",
    "service",
    "{The service|Name of the service}",
    " $v",
    "Which service?",
)
SELECTOR = Parameter(
    "selector element ref target", "selector", "{CSS selector|The element}", " $v", "Which element?"
)
ENVIRONMENT = Parameter(
    "environment env stage target",
    about="{Where to|Environment}",
    choices=(("staging", "{to|in} staging"), ("production", "{to|in} production"), ("test", "{to|in} test")),
    question="To staging, test or production?",
)

SERVERS = [
    Action(
        "shell",
        "run command|execute command|shell|bash|terminal|exec|run shell",
        "{run|execute} a {command|shell command}",
        "{run|execute}{:|} $command|{run|execute} {the command|this}: $command|{In the shell|In a terminal}, run $command|{run|execute} a command",
        reading("{It printed|The output is|Here is the output|It says}:\n$text"),
        {
            "command": Parameter(
                "command cmd script line", "command", "{The command|What to run}", ": $v", "Which command?"
            )
        },
        {
            "timeout": Parameter(
                "timeout timeout_seconds max_seconds",
                "int:1:600",
                "Seconds to wait",
                " with a timeout of $v seconds",
            ),
            "folder": Parameter("cwd directory workdir", "folder", "Where to run it", " in $v"),
        },
    ),
    Action(
        "services",
        "restart service|service restart|restart|reboot service|bounce service",
        "restart a service",
        "restart {the service |}$service|The service $service {hangs|is stuck|is slow}, restart it|give $service a restart|restart a service",
        done("$service {is restarting|was restarted|is back}."),
        {"service": SERVICE},
        {
            "wait": Parameter(
                "wait wait_for_ready block",
                about="Wait until it is up",
                choices=(
                    (True, "{and wait until it is up|and wait}"),
                    (False, "{, don't wait|without waiting}"),
                ),
            )
        },
    ),
    Action(
        "services",
        "service status|get status|health check|check health|is it up|service health",
        "{check|get} the {status|health} of a service",
        "Is {the service |}$service {up|running|down|healthy|alive|ok}?|{check|get} the {status|health} of {the service |}$service|How is $service doing?",
        facts(
            "$service is $status{ and has been for $uptime hours|, up for $uptime hours}.",
            status="one:running|healthy|degraded|starting|up|ready",
            uptime="int:1:900",
            version="version",
        ),
        {"service": SERVICE},
    ),
    Action(
        "services",
        "get logs|read logs|tail logs|logs|service logs|show log",
        "{read|show|get} the {logs|log} of a service",
        "{show|get|read|give me} the {last $lines lines of the |}{log|logs} {of|for} $service|What does the log of $service say?",
        reading("{The log says|Here is the log|This is in the log}:\n$text"),
        {"service": SERVICE},
        {
            "lines": Parameter(
                "lines tail limit last",
                "int:1:500",
                "{Number of lines|How many lines}",
                ", {the last |only }$v lines",
            ),
            "level": Parameter(
                "level severity min_level",
                about="Least severe level",
                choices=(
                    ("info", ", level info"),
                    ("warning", ", {only |}warnings"),
                    ("error", ", {only |}errors"),
                ),
            ),
        },
    ),
    Action(
        "deploy",
        "deploy|deploy service|release|roll out|ship version|deploy app",
        "{deploy|release|roll out} {a version|a service}",
        "{deploy|roll out|release|ship} $service {in |}version $version|{bring|put} version $version of $service $environment|{deploy|roll out} $service",
        done("$service $version is {out|deployed|live}."),
        {
            "service": SERVICE,
            "version": Parameter(
                "version tag release image_tag",
                "version",
                "{The version|Tag}",
                " {in|at} version $v",
                "Which version?",
            ),
            "environment": ENVIRONMENT,
        },
    ),
    Action(
        "deploy",
        "scale service|scale|set replicas|resize deployment|scale app",
        "{scale a service|set the number of copies of a service}",
        "scale $service to $count {replicas|copies|instances}|{run|I need} $count {copies|replicas|instances} of $service|{set|change} $service to $count {replicas|instances}",
        done("$service {runs|now has} $count replicas."),
        {
            "service": SERVICE,
            "count": Parameter(
                "replicas count instances size",
                "int:0:40",
                "{How many|Number of copies}",
                " to $v",
                "How many?",
            ),
        },
    ),
    Action(
        "network",
        "ping|ping host|reachable|check host|latency",
        "{ping|check} a {host|machine}",
        "ping {the host |}$host|Is {the host |}$host {up|reachable|online|there}?|{check|test} {whether|if} $host {is reachable|answers}",
        facts("$host answers in $ms milliseconds.", ms="int:1:400", loss_percent="int:0:9"),
        {
            "host": Parameter(
                "host hostname address target", "host", "{Name or address|The host}", " $v", "Which host?"
            )
        },
        {"count": Parameter("count times n", "int:1:20", "How often", " $v times")},
    ),
    Action(
        "containers",
        "list containers|docker ps|get pods|list pods|containers|running containers",
        "{list|show} {containers|running containers|pods}",
        "{list|show} {me |}{all |the |}{running |}{containers|pods}|{Which|What} {containers|pods} are running?|What {runs|is running} on the server?",
        listing("containers", "service"),
        {},
        {"space": Parameter("namespace project host", "word", "Where to look", " in {the namespace |}$v")},
    ),
]
WEB = [
    Action(
        "web",
        "web search|search web|search|internet search|brave search|search internet|google",
        "{search|look something up on} {the web|the internet}",
        "{search|look} {the web|the internet|online} for $query|{search for|look up|google|find out about} $query|{search|look up} {something |}{online|on the web|on the internet}",
        listing("results", "title"),
        {"query": o.QUERY},
        {"limit": o.LIMIT},
        also="anything",
    ),
    Action(
        "web",
        "fetch|fetch url|get page|open url|download page|read page|fetch webpage",
        "{fetch|read|get} a {web page|page|URL}",
        "{fetch|read|get} {the page |}$url|What {is on|does it say at} {the page |}$url?|{read|show} me {what is at|the page} $url|{fetch|read} a {web |}page",
        reading("{The page says|It says|This is on the page|Here is the text}:\n$text"),
        {"url": o.URL},
        {
            "length": Parameter(
                "max_length limit max_chars",
                "int:100:9000",
                "Most characters to return",
                ", at most $v characters",
            ),
            "raw": Parameter(
                "raw html as_html",
                about="Return HTML instead of text",
                choices=((True, "{, as raw HTML|, raw}"), (False, "{, as text|, not raw}")),
            ),
        },
    ),
    Action(
        "browser",
        "browser navigate|navigate|goto|open page|browse to|go to page",
        "{go to|navigate to} a {page|web page}{ in the browser|}",
        "{go|navigate|browse} to $url|{open|bring up|show} $url in the browser|{go|navigate} to a page",
        done("{The browser is at|I am at|Opened} $url{ now|}."),
        {"url": o.URL},
        also="web fetch",
    ),
    Action(
        "browser",
        "browser click|click|click element|press button|tap",
        "click {something|an element}{ on the page|}",
        "click {on |}{the element |}$selector|press {the button |}$selector|click {something|an element}",
        done("{I clicked|Clicked} $selector."),
        {"selector": SELECTOR},
        {
            "double": Parameter(
                "double double_click",
                about="Click twice",
                choices=((True, "{twice|, double click}"), (False, "once")),
            )
        },
    ),
    Action(
        "browser",
        "browser type|type text|fill field|fill|enter text|input text",
        "{type|enter} text into {a field|an element}",
        "{type|enter|write|fill in} $text {in|into} {the field |}$selector|{fill|fill in} {the field |}$selector with $text",
        done("{The text is in|I filled in} $selector."),
        {"selector": SELECTOR, "text": o.TEXT},
        {
            "submit": Parameter(
                "submit press_enter",
                about="Press Enter after",
                choices=(
                    (True, "{and press enter|and submit}"),
                    (False, "{without submitting|but don't submit}"),
                ),
            )
        },
    ),
    Action(
        "browser",
        "take screenshot|screenshot|browser screenshot|capture page|capture screen",
        "take a screenshot",
        "{take|make} a {screenshot|picture} of $url|{capture|screenshot} $url|{take|make} a screenshot",
        done("{The screenshot is {ready|saved}|I took the screenshot}."),
        {"url": o.URL},
        {
            "full": Parameter(
                "full_page whole_page entire",
                about="The whole page, not only what is seen",
                choices=(
                    (True, "{, the whole page|, full page}"),
                    (False, "{, only what is visible|, only the visible part}"),
                ),
            ),
            "size": Parameter("size viewport dimensions", "size", "Width and height", " {at|in} $v"),
        },
    ),
    Action(
        "docs",
        "search docs|docs lookup|get library docs|documentation search|find in docs|query docs",
        "{search|look up} {the documentation|documentation of a library}",
        "{search|look through} the {docs|documentation} of $library for $query|What do the docs of $library say about $query?|{look up|find} $query in the {docs|documentation} {of|for} $library",
        listing("pages", "title"),
        {
            "library": Parameter(
                "library package library_name project",
                "word",
                "{The library|Name of the library}",
                " {of|for} $v",
                "Which library?",
            ),
            "query": o.QUERY,
        },
        {"version": Parameter("version", "version", "Which version", ", version $v")},
    ),
]
ACTIONS = [*SERVERS, *WEB]
