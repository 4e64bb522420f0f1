"""Skill of v0: help about Duologue. `guide` replaces it in the mix; `unseen_tools` still draws from it."""

from random import Random

from duologue_mini.scene import Scene, Turn
from duologue_mini.text.phrases import pick

WHAT = [
    "{In one line|Briefly|In a few words|So|Please tell me}[,] {what is|what's} {Duologue|duologue|this"
    " server|this program}?",
    "{What is|What's|Explain|Tell me about|What does|Describe|What exactly is} {Duologue|duologue|this"
    " server|this program|this software|the Duologue project}[ do|about]?",
    "{What} {can I do|do I do|is it good for|can one do} {with Duologue|here|with this server|with this"
    " program}?",
    "{Why|What for} {should I|would I|do people} use Duologue?",
]
WHAT_ANSWERS = [
    "Duologue is {a server|one self-hosted server} you can talk to: in a page, or through an API."
    " You bring any model; it brings {the rest|everything around it}.",
    "It is a self-hosted server you talk to, in a page or by an API. {It runs on your own machine, and keeps"
    " your chats there|Any model can be brought}.",
]
START = [
    "{Which|What} command {starts|runs|launches|brings up} {Duologue|duologue|the server|it}[ {here|on my"
    " machine|on Linux|on my PC}]?",
    "{How do I|How can I|How to|How does one|What command do I use to} {start|run|launch|boot|begin with|"
    "get started with|open up} {Duologue|the server|it|this|the program|duologue}?",
    "{What|Which} {is the|} command {starts|runs|to start|to run|launches} {Duologue|the server|it}?",
    "{How do I|How can I|How to} {install|set up|restart|get} {Duologue|the server|this}?",
    "{Start|Run|Launch|Starting|Installing} {Duologue|the server}[: how]?",
]
START_ANSWERS = [
    "{In the project's folder, run|Run this in its folder}:\n\n```\nmake serve\n```\n\n{Then open|After"
    " that, open} http://127.0.0.1:8006 in a browser.",
    "Run `make serve`, then open http://127.0.0.1:8006[ in your browser].",
]
OPEN = [
    "{Where|At what address|On which page|On which address|At which URL} {do I find|is|can I open|do I"
    " open|can I see|can I reach} {the page|the web page|Duologue|the UI|the server|the interface|the chat"
    " page}?",
    "{What is|What's} the {address|URL|link|web address|page}[ of {Duologue|the server|the page}]?",
    "{How do I|How can I} {open|reach|see|visit|get to} {the page|the web page|the UI|the chat|the"
    " website}[ in my browser]?",
    "{What|Which} {port|address} {does it use|is used|does Duologue use|does the server listen on|is it on}?",
]
OPEN_ANSWERS = [
    "{Open|It is at} http://127.0.0.1:8006[ in your browser].",
    "The page is at http://127.0.0.1:8006.[ Start the server with `make serve` first.]",
]
MODEL = [
    "I {downloaded|have|found|got} {a GGUF|a gguf file|a model file|a model|a bigger model}[,] {and now|"
    "what now|how do I load it|how can I run it|how do I start it|how does Duologue use it}?",
    "{How do I|How can I|How to|Can I|How would I|Could I|Is it possible to} {use|add|load|bring|run|switch"
    " to|install|start|get|set|choose|change to|try} {another|a different|a bigger|a larger|a better|my"
    " own|a new|a smarter|some other|a GGUF|a real} {model|language model|LLM|one}[ {here|with Duologue|in"
    " Duologue|instead}]?",
    "{How do I|How can I|How to|Can I} {change|replace|swap|switch} {the model|models|the language model|"
    "you}?",
    "{How do I|Can I|How can I|How to} {load|use|run|open|add} {a GGUF file|a GGUF|a gguf model|Llama|Qwen|"
    "Mistral|a model from a file|a model file|my model}[ {here|in Duologue|with Duologue}]?",
    "{Are|Is} there {other models|a bigger model|a better model|a larger model|something smarter}?",
    "{I want|I need|I would like|I'd like|Give me|Get me} {another|a bigger|a better|a larger|a smarter|a"
    " different} {model|one|language model}[.]",
    "{What|Which} {other models|models} can {I|it|Duologue|you} {use|run|load}?",
]
MODEL_ANSWERS = [
    "{Start the server with a model file|Give it a GGUF file}:\n\n```\nduologue serve --model"
    " FILE.gguf\n```\n\n{Any GGUF works|FILE.gguf is the path of your file}.",
    "With `duologue serve --model FILE.gguf`, or `--upstream URL` for a model {behind an OpenAI-compatible"
    " server|that runs in another server}.",
]
UPSTREAM = [
    "{How do I|How can I|Can I|How to|Could I} {connect|use|link|attach|talk to|plug in} [{Duologue to|it"
    " with|it to|}] {Ollama|vLLM|LM Studio|SGLang|OpenRouter|an OpenAI server|a remote model|another"
    " server|an upstream|a model on another machine|an OpenAI-compatible server}[ {here|with Duologue}]?",
    "{Does|Can} {Duologue|it|this} {work with|use|support|talk to} {Ollama|vLLM|LM Studio|SGLang|a remote"
    " server|OpenAI|an upstream}?",
    "{What is|What does} {--upstream|the upstream option|upstream}[ do|for]?",
]
UPSTREAM_ANSWERS = [
    "{Yes|Sure}, {give Duologue the server's address|point it at that server}: `duologue serve --upstream"
    " URL`.",
    "Start it with `duologue serve --upstream URL`, where URL is {any OpenAI-compatible server|that"
    " server's address}.",
]
API = [
    "{Under|On} {which|what} {path|URL|address|route} {is|do I find} the {API|OpenAI API|HTTP API|chat API}?",
    "{Is there|Do you have|Does it have|Does Duologue have|Where is} {an API|the API|an HTTP API|an"
    " OpenAI-compatible API|the OpenAI API|a REST API|an endpoint|the endpoint}?",
    "{How do I|How can I|How to|Can I} {call|use|reach|access|query} {the API|you from Python|you from"
    " code|it from code|this from my program|the server from a script|it with the OpenAI client|Duologue"
    " from my app|you with curl}?",
    "{What is|What's|Which is} the {API|endpoint|base URL|API address|chat endpoint|URL of the API|OpenAI"
    " endpoint}?",
    "{Can I|Does it} {work|be used} with the OpenAI {client|SDK|library|Python package}?",
]
API_ANSWERS = [
    "The API {speaks OpenAI's dialect|is OpenAI-compatible} and is at `/v1/chat/completions`[ on"
    " http://127.0.0.1:8006].",
    "{Send your requests|Post} to http://127.0.0.1:8006/v1/chat/completions; any OpenAI client works[ with"
    " the base URL `http://127.0.0.1:8006/v1`].",
]
DATA = [
    "{Where|In which place|On which disk} {do|are} my {chats|messages|conversations|files} {kept|saved|"
    "live|stored|go}[ {on disk|on this machine}]?",
    "{Where|In which folder|In what folder} {is|are|does it keep|does Duologue store|do you keep|is stored|"
    "do you save} {my data|the data|my chats|the database|my conversations|its files|my files|everything|"
    "the chat history}[ {stored|saved|kept}]?",
    "{How do I|How can I|How to|Can I} {change|set|move|choose|pick} the {data folder|data directory|folder"
    " for data|place of the data|storage folder}?",
    "{What is|What does} DUOLOGUE_DATA[ do|for]?",
    "{Which|What} {setting|variable|environment variable} {sets|changes|controls} the {data folder|data"
    " directory}?",
]
DATA_ANSWERS = [
    "{All it writes, chats too,|Everything it writes, chats and files,} goes into one data folder. The setting `DUOLOGUE_DATA` {chooses|"
    "changes} it.",
    "In the data folder. Set `DUOLOGUE_DATA` to {move it|choose another folder}[, for example"
    " `DUOLOGUE_DATA=~/talk make serve`].",
]
PORT = [
    "{Can I|How do I|Can it|I want to} {run|use|start|serve}[ it| Duologue] on {port |}{8080|9000|3000|"
    "5000|1234|80|7777}[ {instead|of 8006}][?|.]",
    "{Something else|Another program} {uses|has|sits on} {port 8006|8006|the port}[, what now|, can I"
    " change it][?|.]",
    "{How do I|How can I|How to|Can I} {change|set|choose|pick|use} {the port|another port|a different"
    " port|port 9000|the port number|some other port}[ {of the server|for Duologue|here}]?",
    "{Port|The port} {8006|is} {is already in use|is taken|is busy|already used|in use}[, what now|, what"
    " can I do][.|?]",
    "{Which|What} {setting|variable|option} {sets|changes} the port?",
]
PORT_ANSWERS = [
    "Set `PORT`: for example `PORT=9000 make serve`.",
    "{The setting is `PORT`|With the `PORT` setting}, like this:\n\n```\nPORT=9000 make serve\n```",
]
STOP = [
    "{How do I|How can I|How to} {stop|quit|end|close|shut down|kill|exit} {Duologue|the server|it|this|the"
    " program}?",
]
STOP_ANSWERS = ["Press Ctrl-C in the terminal where {the server|it} runs."]

KINDS = [
    (WHAT, WHAT_ANSWERS, "what Duologue is", 3),
    (START, START_ANSWERS, "how to start Duologue. It is `make serve`", 3),
    (OPEN, OPEN_ANSWERS, "the address of the page", 2),
    (MODEL, MODEL_ANSWERS, "another model. It is `--model`", 5),
    (UPSTREAM, UPSTREAM_ANSWERS, "a remote model. It is `--upstream`", 2),
    (API, API_ANSWERS, "the API. It is at `/v1/chat/completions`", 3),
    (DATA, DATA_ANSWERS, "the data folder. It is `DUOLOGUE_DATA`", 3),
    (PORT, PORT_ANSWERS, "the port. It is `PORT`", 3),
    (STOP, STOP_ANSWERS, "how to stop the server", 1),
]


def draw(random: Random) -> Scene:
    """One question about the server."""
    questions, answers, topic, _ = random.choices(KINDS, [kind[3] for kind in KINDS])[0]
    thought = pick(random, ["The user asks about $topic."], topic=topic)
    return Scene("duologue", [Turn(pick(random, questions), pick(random, answers), thought)])
