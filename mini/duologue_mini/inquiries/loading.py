"""Inquiries about loading and unloading models, the models page and the admin page."""

from duologue_mini.inquiries.inquiry import Inquiry

LOADING: dict[str, Inquiry] = {
    "models page": Inquiry(
        (
            "{open|find|see} the {models page|page with the models}",
            "{manage|see} {models|the models} {on the page|in the browser|without a terminal}",
        ),
        ("the models page", '"Models" below the list', "models on the page"),
        ("I {don't|do not} see {the models page|the models}[ in the list]",),
        (
            "Where {is the models page|are the models on the page}?",
            "{Who sees|Who may use|Which users see} the models page?",
        ),
        2,
    ),
    "load": Inquiry(
        (
            "load {a|another} model {while the server runs|without a restart|on the page|at run time}",
            "{change|switch} {the model|models} without {a restart|stopping the server}",
        ),
        ("loading a model", "loading models at run time", "another model without a restart"),
        ("I {downloaded|have} a model and it does not answer yet",),
        (
            "{Can|Could} {I|it} load {a|another} model {without a restart|while it runs|on the page}?",
            "{Must I|Do I have to} restart {it|the server} for {a new|another} model?",
        ),
        3,
    ),
    "unload": Inquiry(
        (
            "unload {a|one|the old} model",
            "{take|get} a model out of memory",
            "free the memory of a model",
        ),
        ("unloading a model", '"Unload"'),
        ("a model that nobody uses {takes|eats} all the memory",),
        (
            "{Can|Could} I unload a model?",
            "{Is the file deleted|Is the file gone|Does the file stay} when I unload a model?",
        ),
        2,
    ),
    "load sizes": Inquiry(
        (
            "load a model with {another|a larger|a smaller} context",
            "{set|choose} the {context|slots} {of a model on the page|when I load a model}",
        ),
        ('"Load with other sizes"', "the sizes a model is loaded with"),
        ("the model I loaded has too small a context",),
        ("{Can|Could} I choose the context {when I load|while loading} a model?",),
        1,
    ),
    "load refused": Inquiry(
        ("load a model {although|even if} memory is short",),
        ("not_enough_memory on the models page", '"Load anyway"'),
        (
            "it says that {there is not enough memory for the model|the model does not fit beside what is loaded}",
            "my second model cannot be loaded[ for lack of memory]",
        ),
        ("{Can|Could} I load it although it {does not|doesn't} fit?",),
        1,
    ),
    "load forgotten": Inquiry(
        (
            "have a model loaded {at every start|after a restart, too}",
            "keep what I loaded {for good|over a restart}",
        ),
        ("loaded models after a restart",),
        ("the model I loaded {is gone|was not there} after {a|the} restart",),
        ("Is a model that I loaded {still there|remembered|loaded again} after a restart?",),
        2,
    ),
    "load busy": Inquiry(
        ("load two models {at the same moment|at a time}",),
        (),
        ("it says load_running", "it will not load a second model {now|while the first is loading}"),
        (),
        1,
    ),
    "download page": Inquiry(
        (
            "download {a|another} model {on the page|in the browser|without a terminal|while the server runs}",
            "{stop|pause|resume} {a|the} download {on the page|of a model in the browser}",
        ),
        ("downloads on the page", "downloading in the browser", '"Worth downloading"'),
        ("I {stopped|paused} a download on the page",),
        (
            "{Can|Could} I download {models|a model} {on the page|in the browser}?",
            "How many {models|downloads} {can it fetch|run} at a time?",
        ),
        3,
    ),
    "no model": Inquiry(
        (),
        ("a server without a model",),
        ("it says {model_empty|that no model is loaded}", "I unloaded {all models|the last model}"),
        ("What {happens|does it do} {when|if} no model is loaded?",),
        1,
    ),
    "load api": Inquiry(
        ("{load|unload} {a model|models} {from a program|over the API|by a script}",),
        ("loading over the API", "the API for loading models"),
        (),
        (
            "{Is there|Does it have} an API {to load|for loading} models?",
            "{Which|What} {address|endpoint} loads a model?",
        ),
        1,
    ),
    "models api": Inquiry(
        ("{download|remove} {a model|models} {from a program|over the API|by a script}",),
        ("the API for downloads", "downloads over the API"),
        (),
        ("{Is there|Does it have} an API for {downloads|downloading models}?",),
        1,
    ),
    "admin page": Inquiry(
        (
            "{open|find|see} the admin page",
            "see {how busy the server is|who waits|the last minutes in figures} {on the page|in the browser}",
        ),
        ("the admin page", '"Admin" below the list', "the figures on the page", "charts"),
        ("I {don't|do not} see the admin page",),
        (
            "{Is there|Does it have} {an admin page|a dashboard|charts}?",
            "What {is on the admin page|does the admin page show}?",
            "{Who sees|Who may open|Which users see} the admin page?",
        ),
        2,
    ),
    "worker restart": Inquiry(
        (
            "restart {a worker|the worker|the model|one model}[ without stopping the server]",
            "start a worker {anew|again}",
        ),
        ("restarting a worker", "a worker that hangs"),
        ("{a worker|the model} {hangs|is stuck|behaves strangely}", "it says worker_restarted"),
        ("{Can|Could} I restart {a|one} worker {alone|without the server}?",),
        2,
    ),
}
