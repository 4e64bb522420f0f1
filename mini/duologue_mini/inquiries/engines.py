"""Inquiries about models, upstream servers, workers and hardware."""

from duologue_mini.inquiries.inquiry import Inquiry

ENGINES: dict[str, Inquiry] = {
    "model": Inquiry(
        (
            "{use|add|load|run|bring|try|get|choose|set|install|switch to|connect} {another|a different|a bigger|a larger|a better|my own|a new|a smarter|some other|a real} {model|language model|LLM|one}",
            "{change|replace|swap|switch} {the model|models|the language model|you}",
            "{load|use|run|open|add} {a GGUF file|a GGUF|a gguf model|Llama|Qwen|Mistral|Gemma|a model file|my model|a model from a file}",
            "get {smarter|better|longer} answers{ here|}",
        ),
        ("other models", "a bigger model", "model files", "a larger model", "GGUF files"),
        (
            "I {downloaded|have|got} {a GGUF|a gguf file|a model file}",
            "{you are|this model is} {too small|not good enough|too dumb} for {me|my work}",
            "I {want|need|would like} {a bigger|a better|a larger|another|a smarter} model",
        ),
        (
            "{Are|Is} there {other models|a bigger model|a better model|something smarter}?",
            "{What|Which} {other models|models} {can I use|does it run|work here|are supported}?",
            "{What|Which} model {should I|can I} {use|run|take}?",
        ),
        6,
    ),
    "model given": Inquiry(
        (
            "{use|load|run|start it with|serve|open} [the ]{model |file |}$file",
            "{make|let} it {use|load} $file",
        ),
        ("the file $file", "$file"),
        (
            "I {downloaded|have|got|saved|put} {a model at |a file |}$file",
            "my model is {at |}$file",
            "the {model|GGUF} is $file",
        ),
        (
            "{Can|Could} {it|Duologue} {load|use|run|open} $file?",
            "{How do I|How can I|How does one} {start|serve} $file?",
        ),
        5,
    ),
    "setup": Inquiry(
        (
            "find {a|the right|a suitable} model {for|that fits} {my machine|this computer|my computer}",
            "let it choose a model for me",
        ),
        ("duologue setup", "the setup command", "`duologue setup`"),
        ("I don't know which model {fits|to take|I should use}",),
        (
            "What does {duologue setup|setup|`duologue setup`|the setup command} do?",
            "{Which|What} model {fits|is good for|suits} {my machine|this computer|my hardware}?",
            "{Is there|Do you have} {a wizard|an easy way to get a model|something that sets it up}?",
        ),
        3,
    ),
    "pull": Inquiry(
        (
            "{download|pull|fetch|get} {a model|models|a new model|more models}[ from {Hugging Face|the internet|the hub}]",
        ),
        ("downloading models", "duologue models pull", "models from Hugging Face"),
        ("I have no model file yet",),
        (
            "{Where|From where} {do I get|can I get|do I download|do I find} {a model|models|a GGUF file|GGUF files}?",
            "{Can|Could} {it|Duologue} download {models|a model}[ {by itself|for me}]?",
            "What does {models pull|duologue models pull} do?",
        ),
        3,
    ),
    "pull given": Inquiry(
        ("{download|pull|get|fetch|install} $model",),
        ("$model",),
        ("I {want|would like|need} $model", "I'd like to try $model"),
        (
            "{Can I|Could I} {have|use|try|get|download} $model{ here|}?",
            "{Is|Is there} $model {available|there to download}?",
        ),
        2,
    ),
    "pull broken": Inquiry(
        ("{resume|continue|go on with} {a|the|my} download",),
        (),
        (
            "{the|my} {download|model download|pull} {broke off|stopped|was interrupted|failed half way|got cut off}",
            "my {connection|network|internet} died {during the download|while it was downloading}",
        ),
        ("{Do I have to|Must I} download {everything|it all} again?",),
        1,
    ),
    "models list": Inquiry(
        (
            "{list|see|show} {the|my|all} {models|installed models|downloaded models}",
            "find out which models {I have|are here}",
        ),
        ("the list of models", "duologue models list"),
        (),
        (
            "{Which|What} models {do I have|are here|are installed|are there|have I got}?",
            "{Which|What} models {fit here|are available|can I download|would run here}?",
        ),
        2,
    ),
    "models rm": Inquiry(
        (
            "{remove|delete|throw away|get rid of|uninstall} {a|the|an old|one} {model|downloaded model}",
            "free the disk from {old|big} models",
        ),
        ("removing models", "duologue models rm"),
        ("the models take {too much|all my} disk space",),
        (),
        1,
    ),
    "models where": Inquiry(
        ("find {my models|the downloaded models}",),
        ("the models folder", "the folder of the models"),
        (),
        (
            "{Where|In which folder} {are {the models|my models|downloaded models}[ kept]|do {the models|models|downloaded models} {live|go}|does it keep {models|its models}}?",
            "Where {do I put|should I put|must I put} {a GGUF|my GGUF files|a model|model files|my models}?",
            "{Which|What} folder {is for|has} the models?",
        ),
        2,
    ),
    "model broken": Inquiry(
        ("repair {a|my} {broken |}model file",),
        (),
        (
            "{the|my} model file {is broken|is corrupt|does not load|won't load|is damaged|is cut short}",
            "it says {the file is truncated|the model is not a GGUF|the file is cut short|invalid model file}",
            "my {GGUF|model} does not {load|work|start}",
            "the {model|GGUF} cannot be {loaded|read|opened}",
        ),
        (
            "{Why|How come} {doesn't|won't|does} my model [not ]load?",
            "How do I {check|test} {a|my} model file?",
        ),
        2,
    ),
    "model split": Inquiry(
        ("load a model {in|of} {several|many|three|two|five} {parts|files}",),
        ("split models",),
        ("my model {comes in|is split into|has} {several|three|five|many} {parts|files}",),
        ("Which {part|file} of a split model do I {give|name|take}?",),
        1,
    ),
    "upstream": Inquiry(
        (
            "{connect|use|link|attach|plug in} {Ollama|vLLM|LM Studio|SGLang|an OpenAI-compatible server|a remote model|another server|an upstream|a hosted model|OpenRouter}",
            "let {Ollama|vLLM|LM Studio|another server|a remote server} {answer|do the work|be the model}",
            "put Duologue in front of {Ollama|vLLM|LM Studio|my server}",
        ),
        ("Ollama", "vLLM", "LM Studio", "the upstream", "--upstream", "SGLang"),
        ("I {have|run|already run} {Ollama|vLLM|LM Studio}[ here| on another machine]",),
        (
            "{Does|Can|Will} {it|Duologue|this} {work with|use|support|talk to} {Ollama|vLLM|LM Studio|SGLang|a remote server|an OpenAI server|another server}?",
            "What {is {--upstream|the upstream setting} for|does {--upstream|upstream} do}?",
        ),
        4,
    ),
    "upstream given": Inquiry(
        (
            "{use|connect to|take|talk to} [the ]{server |model |}{at |}$url",
            "{put it in front of|use as upstream|set the upstream to} $url",
            "let $url answer",
        ),
        ("$url as upstream", "an upstream at $url"),
        ("my {model|server|Ollama|vLLM} {runs|is} at $url", "{Ollama|vLLM|LM Studio} listens on $url"),
        ("{Can|Could} {it|Duologue} use $url?",),
        3,
    ),
    "upstream model": Inquiry(
        (
            "{choose|pick|set|say} {which|the} {model|model of the upstream|upstream model}{ to use there| of the upstream|}",
        ),
        ("the upstream's models",),
        (
            "my {upstream|Ollama|vLLM|server} has {several|many|three} models",
            "the wrong model of {Ollama|my upstream} answers",
        ),
        (),
        1,
    ),
    "upstream key": Inquiry(
        ("{give|set|pass} {the|a} key {for|of|to} the {upstream|other server|hosted model}",),
        ("the key of the upstream", "the upstream key"),
        ("{my upstream|the other server|the hosted server} {wants|needs|asks for} a key",),
        ("Where do I put {the|my} {upstream|OpenRouter|provider} key?",),
        1,
    ),
    "upstream down": Inquiry(
        (),
        (),
        (
            "{the upstream|Ollama|vLLM|the other server} does not answer",
            "it says {the upstream is unreachable|upstream unreachable|upstream_unreachable}",
            "Duologue can't reach {Ollama|vLLM|the upstream|LM Studio}",
        ),
        (),
        2,
    ),
    "workers": Inquiry(
        (
            "{run|serve|load|have|use} {two|several|three|more than one|many} models[ at once| at the same time]",
            "{set up|start|add} {several|two|more|another} {workers|worker}",
        ),
        ("several models", "workers", "two models at once"),
        (),
        (
            "{Can|Could} {it|Duologue|one server} {run|serve|load} {two|several|many} models[ at once]?",
            "What is a worker?",
        ),
        2,
    ),
    "aliases": Inquiry(
        (
            "{give|add} {a model|my model|the model} {another|a second|a further|a short} name",
            "{call my model|call a model} {something else|gpt-4o}",
            "set {an alias|aliases}",
        ),
        ("aliases", "model names"),
        ("my {program|app|client} insists on the model name gpt-4o",),
        ("What are aliases{ for|}?",),
        2,
    ),
    "slots": Inquiry(
        (
            "{set|raise|change} {the slots|the number of slots|how many replies run at once}",
            "answer more people {at once|at the same time|in parallel}",
        ),
        ("slots", "--slots", "parallel replies"),
        (),
        (
            "{What|Whats} {is|are} {a slot|slots}?",
            "How many {replies|people|chats} {can it|can Duologue} {write|answer|handle} at {once|the same time}?",
        ),
        2,
    ),
    "context": Inquiry(
        ("{set|change|raise|enlarge} the context[ {size|length|window}]", "give a chat more context"),
        ("the context", "--context", "the context length", "the context window"),
        (),
        (
            "How {long|big} {can a chat be|is the context|may a conversation get}?",
            "How many tokens {fit|can one chat have}?",
        ),
        2,
    ),
    "too long": Inquiry(
        (),
        (),
        (
            "it says {context_length_exceeded|the conversation is too long|the context is exceeded}",
            "{my|the} {chat|conversation} is too long[ for it]",
        ),
        ("What happens when {a chat|the chat|a conversation} {gets|is} too long?",),
        2,
    ),
    "threads": Inquiry(
        (
            "{set|change|limit} the {threads|number of threads}",
            "use {more|fewer|two|all} {cores|threads|processors}",
        ),
        ("threads", "--threads", "cores"),
        ("it {uses|takes} {all my|only one} {cores|core|cpu}",),
        ("How many {threads|cores} does it {use|take}?",),
        1,
    ),
    "gpu": Inquiry(
        (
            "{use|turn on|enable} {my|the|a} {GPU|graphics card|card|Nvidia card|CUDA card}",
            "{run|put} {the model|it} on {the GPU|my graphics card|CUDA}",
        ),
        ("the GPU", "CUDA", "my graphics card", "ROCm", "Vulkan"),
        ("{my|the} {GPU|graphics card|card} is not used", "it {doesn't|does not} {see|use} my {GPU|card}"),
        ("{Does|Can} it {use|run on} {a GPU|my GPU|CUDA|my graphics card}?",),
        3,
    ),
    "slow": Inquiry(
        ("make it {faster|quicker}", "speed {it|the model|the answers} up", "get faster {answers|replies}"),
        ("the speed",),
        (
            "{it is|the answers are|my model is|this is} {too slow|very slow|so slow|slow}",
            "it takes {ages|minutes|forever} to {answer|reply}",
        ),
        ("{Why|How come} is {it|my model|the reply} so slow?",),
        2,
    ),
    "memory": Inquiry(
        ("{use|need} less memory", "make {it|the model} fit[ into memory]"),
        ("memory", "RAM"),
        (
            "{it runs|I run|the model runs} out of memory",
            "{my machine|this computer} has {too little|not enough|only 4 GB of} memory",
            "the model {does not|doesn't} fit[ into memory]",
        ),
        ("How much {memory|RAM} does it {need|take}?",),
        2,
    ),
    "worker died": Inquiry(
        (),
        ("worker_lost",),
        (
            "{the|a} worker {died|crashed|ended|is gone|was killed}",
            "it says {worker_lost|the worker was lost}",
            "the {reply|answer} {broke off|stopped} in the middle",
            "the model {crashed|died}",
        ),
        ("What happens {when|if} {a worker|the model|the engine} {dies|crashes}?",),
        2,
    ),
    "model failed": Inquiry(
        (),
        ("model_failed",),
        ("it says {model_failed|the model failed|model failed}", "/ready says {503|model_failed}"),
        (),
        1,
    ),
    "mini": Inquiry(
        (),
        ("duologue-mini", "the bundled model", "the small model"),
        (),
        (
            "What is {duologue-mini|the bundled model|the model inside}?",
            "{Which|What} model {is inside|comes with it|is bundled|is included}?",
        ),
        2,
    ),
    "scripted": Inquiry(
        ("{try|test} {it|the server|my client} without a model",),
        ("the scripted engine", "--engine scripted"),
        (),
        (
            "What {is {--engine scripted|the scripted engine}[ for]|does {--engine scripted|the scripted engine} do}?",
        ),
        1,
    ),
}
