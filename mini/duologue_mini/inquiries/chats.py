"""Inquiries about stored conversations: finding, leaving, moving, exporting, deleting."""

from duologue_mini.inquiries.inquiry import Inquiry

CHAT = "{chat|conversation}"
CHATS_OF_MINE = "{my|all my|my old|the} {chats|conversations|messages}"

CHATS: dict[str, Inquiry] = {
    "chats": Inquiry(
        (
            "{find|see|keep|get to} my {old |earlier |}{chats|conversations|messages|history}",
            "go back to an {old|earlier} chat",
        ),
        ("my chats", "the chat history", "old conversations", "the history", "stored conversations"),
        ("I want {my|the} chats to be kept",),
        (
            "{Where are|Are} my {chats|conversations|messages|old chats} {stored|saved|kept}?",
            "{Does it|Do you|Does the server|Does the page} {store|save|keep|remember} {my chats|conversations|what I say|the history}?",
            "{Where|In which file|In which database} {are|does it keep} {the conversations|my conversations|the chats|my history}?",
            "{Is there|Does it have} a {chat |}history{ of chats|}?",
            "{Are my chats|Is the history} {on the server|in the browser|in the page|on the disk}?",
        ),
        5,
    ),
    "chats lost": Inquiry(
        (),
        ("a lost conversation",),
        (
            "my {chat|conversation|chat of yesterday|history} is {gone|lost|away|not there}",
            "{all my chats|my conversations} {are gone|disappeared|vanished}",
            "I {lost|cannot find|can't find} {my|a|an old} {chat|conversation}",
            "the list of chats is empty",
        ),
        ("{Why|How come} {are my chats gone|is the list empty}?",),
        2,
    ),
    "tab closed": Inquiry(
        ("{close|leave} the {page|tab|browser} {while you write|before the answer is there}",),
        ("closing the tab", "leaving the page"),
        (
            "I closed the {tab|page|browser}[ by mistake]",
            "my {laptop went to sleep|phone went dark|browser crashed|connection broke} in the middle of {an answer|a reply}",
            "I reloaded the page while {you were writing|it was answering}",
        ),
        (
            "{What happens|What becomes of the reply} {when|if} I close the {tab|page|browser}[ while you write]?",
            "{Does|Will} {a|the} reply go on {without the page|when I close the tab|in the background}?",
            "{Can|May} I close the {tab|page|browser}[ now| while it answers]?",
            "{Do|Must} I {have to |}{stay on|keep} the page {open |}until {it is done|the answer is there}?",
            "{Can|Do} you {keep writing|work on} when I {leave|am away}?",
        ),
        4,
    ),
    "devices": Inquiry(
        (
            "{see|open|continue|go on with} {a|my|this} {chat|conversation|chats} on {my phone|another device|another computer|my tablet|two devices}",
            "{sync|share} my chats between {devices|my phone and my laptop|computers}",
        ),
        ("several devices", "syncing my chats", "a second device"),
        ("I {began|started} {this|a chat} on my phone and want {to go on here|it here}",),
        (
            "{Are|Will} my chats {there|be there} on {my phone|another device|my other computer}, too?",
            "{Can|Could} I {watch|follow} a reply on {two devices|another device}?",
        ),
        3,
    ),
    "after restart": Inquiry(
        (),
        ("chats after a restart",),
        (
            "the {server|computer|machine} {was restarted|crashed|went down|rebooted} {while you were writing|in the middle of an answer}",
            "it says {interrupted|the reply was interrupted}",
        ),
        (
            "{What|What happens to my chats|What is lost} {when|if} {the server|it} {is restarted|goes down|is killed|crashes}?",
            "{Are|Will} my {chats|conversations} {still there|lost|kept|gone} after a {restart|reboot|crash|power cut}?",
            "{Does|Do} {a restart|restarting} {lose|delete} {my chats|anything|my conversations}?",
        ),
        3,
    ),
    "continue": Inquiry(
        (
            "{continue|go on with|finish|resume} {a|the|an interrupted|a stopped} {reply|answer}",
            "make you go on where you stopped",
        ),
        ("the button Continue", "an unfinished reply", "a reply that stops in the middle"),
        (
            "the {reply|answer} {is cut off|ends in the middle|is not finished|was interrupted}",
            "you stopped in the middle of {a sentence|your answer}",
        ),
        ("{Can|Could} {you|it} {continue|go on with} {the|a stopped|a broken} {reply|answer}?",),
        2,
    ),
    "meanwhile": Inquiry(
        (
            "{write|send|say} {something|another message|more} while {you are writing|a reply is running|it answers}",
        ),
        ("a message that waits", "waiting messages", "queued messages"),
        ("I {thought of something|want to add something} while {you were|it was} writing",),
        (
            "{Can|May} I {write|send} {something|a message} {while you are still writing|before you have finished|during a reply}?",
            "Must I wait until the reply is {done|finished}?",
        ),
        2,
    ),
    "search": Inquiry(
        (
            f"{{search|look through|search in|find something in}} {CHATS_OF_MINE}",
            "find {a word|something|what I said} in {an old chat|my chats|the history}",
        ),
        ("the search", "searching my chats", "finding an old message"),
        (
            "I don't remember in which chat I said {it|that}",
            "I am looking for something I said {once|last week|long ago}",
        ),
        (
            "{Is there|Does it have|Has the page} a search[ {for chats|in the history|function}]?",
            "{Can|Could} I search {my chats|conversations|the history|for a word}?",
            "{Which|What} key {opens the search|searches}?",
        ),
        4,
    ),
    "export": Inquiry(
        (
            f"{{export|download|save|get out}} {CHATS_OF_MINE}",
            "{save|download|export} {a|this|one} {chat|conversation}[ {as a file|as text|as Markdown|as JSON}]",
            "take my chats {with me|elsewhere|to another server}",
        ),
        ("exporting chats", "an export", "the export"),
        ("I want {my chats|this chat} as a {file|text file|Markdown file|zip}",),
        (
            "{Can|Could} I {export|download} {my chats|a conversation|everything|this chat}?",
            "{Is there|Do you have} an export[ of conversations]?",
            "{In|To} which format {does it export|can I save a chat}?",
        ),
        4,
    ),
    "import": Inquiry(
        (
            "{import|load|bring in|take over} my {chats|conversations|history}[ from {ChatGPT|Open WebUI|llama.cpp|another program|another server}]",
            "move {from ChatGPT|from Open WebUI|my history} {to Duologue|here|over}",
            "import {conversations.json|a ChatGPT export|an export|a zip of chats}",
        ),
        ("importing chats", "an import from ChatGPT", "the import"),
        ("I have an export of {ChatGPT|Open WebUI|my other chat program}",),
        (
            "{Can|Could} {I|it|Duologue} import {my ChatGPT chats|conversations from Open WebUI|chats|old conversations}?",
            "{Which|What} {exports|formats|files} can {it|Duologue|I} import?",
        ),
        4,
    ),
    "import broken": Inquiry(
        (),
        (),
        (
            "{my|the} import {fails|does not work|doesn't work|was refused}",
            "it says {import_unknown|import_unreadable}",
            "my {export|zip|file of chats} cannot be imported",
        ),
        ("Why {is my import refused|can't it read my export}?",),
        1,
    ),
    "backup": Inquiry(
        (
            "{make|do|create|get|take} a {backup|copy of everything|safety copy}",
            f"{{back up|save a copy of|secure}} {{everything|Duologue|the database|{CHATS_OF_MINE}}}",
        ),
        ("backups", "a backup", "duologue backup", "`duologue backup`"),
        ("I {am afraid to lose|don't want to lose} my chats", "I want a copy of everything"),
        (
            "{Is there|Does it have} a backup{ command|}?",
            "{Can|Could} I make a backup while {the server|it} runs?",
            "What {does {duologue backup|`duologue backup`} {do|copy}|is in a backup}?",
            "{Which|What} command {makes a backup|backs everything up}?",
        ),
        4,
    ),
    "backup given": Inquiry(
        (
            "{make|write|save|put} {a|the} backup {to|into|in} $folder",
            "{back everything up|back up my chats|copy everything} {to|into} $folder",
        ),
        ("a backup in $folder",),
        ("the backup should {go|be} {to|in} $folder",),
        ("{Can|Could} the backup {go to|be in} $folder?",),
        2,
    ),
    "restore": Inquiry(
        (
            "{restore|put back|load|bring back} {a|my|the} backup",
            "get {everything|my chats} back from {a|the} backup",
        ),
        ("restoring a backup", "a restore"),
        ("my disk {died|broke} and I have {a backup|the backup}",),
        ("{Can|Must} the server run {while I restore|during a restore}?",),
        2,
    ),
    "temporary": Inquiry(
        (
            "{have|start|begin|make|open} a {temporary|private|secret|incognito} {chat|conversation}[ on the page]",
            "{chat|talk} {without being stored|without leaving traces|without a history}",
            "{stop|keep} {it|the server} from {storing|saving|keeping} {this|a} chat",
        ),
        ("temporary chats", "a temporary chat", "incognito", "a chat that is not stored"),
        ("I don't want {this chat|it|what I say} to be {stored|saved|kept}",),
        (
            "{Is there|Does it have} {an incognito mode|a temporary chat|a private mode|a chat that is not stored}?",
            "{Can|Could} I {chat|talk} without {it being stored|being remembered|a trace}?",
            "{What is|What happens to} a temporary chat?",
        ),
        3,
    ),
    "folders": Inquiry(
        (
            "{sort|order|group|organise|organize|tidy} my {chats|conversations}[ {into folders|by topic}]",
            "{put|move} a {chat|conversation} into a folder",
            "{make|rename|delete} a folder[ for chats]",
        ),
        ("folders", "folders for chats", "a folder in a folder"),
        ("I have too many chats in the list",),
        (
            "{Are there|Does it have} {folders|projects}[ for chats]?",
            "{What becomes of|What happens to} the chats {when I delete a folder|of a deleted folder}?",
        ),
        2,
    ),
    "archive": Inquiry(
        (
            f"{{archive|put away|hide}} a {CHAT}",
            f"{{bring|get}} a {CHAT} back from the archive",
            "{see|open|find} {the archive|archived chats}",
        ),
        ("the archive", "archived chats", "archiving a chat"),
        ("I want a chat out of {the list|my sight} and not deleted", "I archived {a|the wrong} chat"),
        ("{Is there|Does it have} an archive[ for chats]?", "Where {is the archive|are archived chats}?"),
        2,
    ),
    "pins": Inquiry(
        (f"{{pin|unpin}} a {CHAT}", f"keep a {CHAT} {{at the top|on top}} of the list"),
        ("pinned chats", "pins", "pinning a chat"),
        ("I always have to look for the same chat",),
        ("{Can|Could} I {pin a chat|keep a chat at the top}?",),
        1,
    ),
    "tags": Inquiry(
        (f"{{tag|label|mark}} a {CHAT}", "see all chats with {a|one} tag", "{add|remove} a tag"),
        ("tags", "labels for chats", "the tags of a chat"),
        (),
        ("{Are there|Does it have} {tags|labels}[ for chats]?",),
        1,
    ),
    "many chats": Inquiry(
        (
            "{select|choose|mark} {several|many} {chats|conversations}",
            "{delete|move|archive|pin} {several|many|twenty|a lot of} chats {at once|in one go|together}",
        ),
        ("selecting several chats", "many chats at once"),
        ("I have to {delete|archive|move} every chat one by one",),
        ("{Can|Could} I {delete|move|archive} {several|many} chats at once?",),
        1,
    ),
    "list": Inquiry(
        ("{sort|order} the list of chats {by date|by name|otherwise}",),
        ("the order of the list", "the list of chats"),
        (),
        ("In which order {are my chats listed|do the chats stand|are the chats}?",),
        1,
    ),
    "branches": Inquiry(
        (
            "{see|get back to|go back to|find} {the|an} {old|earlier|other|first} {version|answer|reply|branch}",
            "{switch|go} between {versions|branches|answers}",
        ),
        ("branches", "versions of a message", "the arrows under a message"),
        ("I edited {my|a} message and {the old answer is gone|want the old one back}",),
        (
            "{Is the old answer|Is the old version|Are the old replies} {lost|gone|kept} {when I edit|when I ask again|after an edit}?",
            "What is a branch?",
        ),
        2,
    ),
    "fork": Inquiry(
        (
            f"{{fork|copy|duplicate|clone}} a {CHAT}",
            f"go on from {{here|a message|this point}} in a new {CHAT}",
        ),
        ("forks", "a copy of a chat", '"New chat from here"'),
        (),
        (f"{{Can|Could}} I {{fork|copy|duplicate}} a {CHAT}?",),
        1,
    ),
    "delete chat": Inquiry(
        ("{delete|remove|throw away|erase} {a|this|my|an old} {chat|conversation|message}",),
        ("deleting a chat", "deleting a message"),
        ("I want {this chat|it|the chat} {gone|deleted|away}",),
        (
            "{Can|Could} I delete {a chat|a message|my chats}?",
            "{Is|Are} deleted {chats|messages} really gone?",
        ),
        2,
    ),
    "delete all": Inquiry(
        (
            "{delete|clear|erase|wipe} {all my chats|everything|my whole history|the whole history|all conversations}",
        ),
        ("deleting all chats", "a clean start without old chats"),
        ("I want all my chats gone", "I deleted all {my |}chats by {mistake|accident}"),
        ("{Can|Could} I delete {all chats|everything|the whole history} at once?",),
        1,
    ),
    "undelete": Inquiry(
        (
            "{bring|get} back a {chat|conversation} {I deleted|that was deleted}",
            "undo {deleting|the deletion of} a chat",
        ),
        ("a deleted chat",),
        ("I deleted {a|the wrong|my} {chat|conversation} by {mistake|accident}",),
        ("{Can|Could} a deleted {chat|conversation} be {restored|brought back}?",),
        2,
    ),
    "title": Inquiry(
        ("{rename|name} a {chat|conversation}", "{change|set} the {title|name} of a {chat|conversation}"),
        ("titles", "the title of a chat"),
        ("the title of {my|this} chat is {wrong|silly|too long}",),
        ("{Who|What} {makes|writes|chooses} the titles?", "Can {the model|you} write the titles?"),
        1,
    ),
    "system prompt": Inquiry(
        (
            "{set|give you|change|use|edit} a system {prompt|message}[ {for a chat|for all new chats}]",
            "{tell you how to behave|give you instructions} for {a whole chat|all answers|every new chat}",
        ),
        ("system prompts", "the system message", "the instructions to the model"),
        ("I want {the model|you} to always answer {briefly|politely|in rhymes}",),
        (
            "{Is there|Can I set} a system {prompt|message}?",
            "Where {is|do I find} the system {prompt|message}[ on the page]?",
        ),
        2,
    ),
    "compact": Inquiry(
        (
            "{shorten|compact|summarise|summarize|fold} a long {chat|conversation}",
            "make room in {the context|a long chat}",
            "undo {a summary|the compaction}",
        ),
        ("compaction", "the summary of old turns", "/compact"),
        ("my chat gets longer and longer", "the oldest messages became a summary"),
        ("What is the summary in {my|this} chat?", "{Can|Does} it sum up {old messages|long chats}?"),
        2,
    ),
    "gauge": Inquiry(
        (
            "see how full the context is",
            "{find out|see} {how much room is left|what fills the context}",
        ),
        ("the ring at the top", "the context gauge", "the little circle at the top of the chat"),
        ("it says that the context is nearly full", "the ring at the top warns me"),
        (
            "{How full is|How much is left of} {the|my} context?",
            "What {is the ring|is the circle|does the ring mean} at the top?",
        ),
        2,
    ),
    "conversation api": Inquiry(
        (
            "{create|begin|read|list|use} conversations {from|in} {a program|a script|my code}",
            "follow a running reply {from|in} a program",
        ),
        ("/api/conversations", "the conversations API", "runs", "/api/runs"),
        (),
        ("{Is there|Where is} an API for {conversations|the chats|runs}?",),
        2,
    ),
    "postgres": Inquiry(
        (
            "use {PostgreSQL|Postgres|a PostgreSQL database|my own database|another database}",
            "{keep|store|put} {the conversations|my chats|the data} in {PostgreSQL|Postgres|a real database}",
            "connect {it|Duologue} to {Postgres|PostgreSQL|a database}",
        ),
        ("PostgreSQL", "Postgres", "SQLite", "the database", "the setting database"),
        ("I have a {Postgres|PostgreSQL}{ server|} already",),
        (
            "{Does it|Can it|Can Duologue|Does Duologue} {support|use|work with|run on} {PostgreSQL|Postgres|SQLite|a database server}?",
            "{Which|What} {database|databases} does {it|Duologue} {use|support}?",
        ),
        3,
    ),
    "storage": Inquiry(
        (),
        (),
        (
            "it says {storage_unavailable|the database cannot be written}",
            "{my|the} disk is full",
            "the database is {locked|read-only|broken}",
        ),
        ("What {happens|does it do} when the disk is full?",),
        1,
    ),
}
