"""Tools for notes: notes, tasks, reminders, lists, keys and values."""

from duologue_mini.toolbox import shared_parameters as o
from duologue_mini.toolbox.actions import Action
from duologue_mini.toolbox.outcomes import done, facts, listing
from duologue_mini.toolbox.parameters import Parameter

LISTS = [
    Action(
        "notes",
        "add note|create note|save note|take note|new note|note|write note|jot down",
        "{save|add|take|create} a note",
        "{take|make|add|save|write|create} a note{:| saying| that says} $text|{note|note down|jot down|write down}{ that|:} $text|{save|keep} this {as a note|in my notes}: $text",
        done("{The note is saved|I saved the note|Noted}{.|: $text}"),
        {"text": o.TEXT},
        {"tags": o.TAGS},
    ),
    Action(
        "notes",
        "search notes|find note|find in notes|notes search|lookup notes",
        "{search|look through} {the|your|all} notes",
        "{search|look through|check} my notes {for|about} $query|What {did I write|do my notes say|did I note} about $query?|{find|get} my notes {on|about} $query",
        listing("notes", "title"),
        {"query": o.QUERY},
        {"limit": o.LIMIT},
    ),
    Action(
        "todo",
        "add task|create task|add todo|new todo|todo add|create todo|task create",
        "{add|create} a {task|to-do|todo item}",
        "{add|put} $title {to|on} my {to-do list|todo list|tasks|list of tasks}|{create|add|make} a {task|todo|to-do}{ called| named|:} $title|{create|add} a {new |}task",
        done("{The task|$title} is on your list."),
        {"title": o.TITLE},
        {
            "date": Parameter(
                "due_date due deadline due_on",
                "date",
                "{When it is due|Due date}",
                " {due on|due|until|by} $v",
            ),
            "priority": o.PRIORITY,
        },
    ),
    Action(
        "todo",
        "complete task|finish task|mark done|todo complete|close task|check off",
        "{mark a task as done|complete a task|check off a task}",
        "{mark|set} task $id as {done|finished|complete}|{complete|finish|tick off|check off|close} task $id|{I finished|I have done|I'm done with} task $id",
        done("{Task $id is done|I marked task $id as done}."),
        {"id": Parameter("task_id id task todo_id", "id", "Id of the task", " $v", "Which task?")},
    ),
    Action(
        "todo",
        "list tasks|get tasks|list todos|show todos|get todo list|open tasks",
        "{list|show|get} {open |all |}{tasks|to-dos}",
        "{show|list|read|give me} my {tasks|to-dos|todos|todo list|open tasks}|What {do I have to do|is left to do|is on my todo list|are my tasks}?",
        listing("tasks", "title"),
        {},
        {
            "status": Parameter(
                "status state filter show",
                about="Which tasks",
                choices=(
                    ("open", "{that are open|, only open ones}"),
                    ("done", "{that are done|, only finished ones}"),
                    ("all", "{, all of them|, open or not}"),
                ),
            ),
            "limit": o.LIMIT,
        },
    ),
    Action(
        "reminders",
        "set reminder|create reminder|remind|add reminder|remind me|schedule reminder",
        "{set|create} a reminder",
        "remind me at $time to $text|remind me to $text at $time|{set|create|make} a reminder for $time{:| saying} $text|At $time, remind me{:| of this:} $text",
        done("{I will remind you|The reminder is set for|You will be reminded} at $time."),
        {"text": o.TEXT, "time": o.TIME},
        {"day": o.DAY},
    ),
    Action(
        "shopping list",
        "add to list|shopping list add|add item|list add|append to list|add groceries",
        "{add|put} {things|items} {to|on} {a|the} {list|shopping list}",
        "{add|put} $items {to|on} {the|my} {shopping list|list|grocery list}|{We need|We are out of|I need to buy} $items{, put that on the list|, add it to the list}",
        done("{I added|The list now has|On the list:} $items."),
        {
            "items": Parameter(
                "items things products entries",
                "foods",
                "{What to add|Things to put on the list}",
                ": $v",
                "What should I add?",
            )
        },
    ),
    Action(
        "memory",
        "store memory|remember|save fact|memory store|set value|kv set|put value",
        "{store|save|keep} a value under a key",
        "{store|save|put|keep} $value {under|as|under the key} $key|set $key to $value|remember that $key is $value",
        done("{Stored|Saved}: $key is $value."),
        {
            "key": Parameter(
                "key name id", "key", "{The key|Where to keep it}", " under $v", "Under which key?"
            ),
            "value": Parameter(
                "value data content",
                "token",
                "{The value|What to keep}",
                " with the value $v",
                "Which value?",
            ),
        },
    ),
    Action(
        "memory",
        "recall memory|get value|kv get|fetch value|read key|memory recall|load value",
        "{get|read|load|recall} the value {of|stored under} a key",
        "{get|read|load|recall|fetch} {the value of|what is stored under|the key} $key|What is {stored|saved|kept} under $key?|{look up|show me} the key $key",
        facts("{Under $key there is $value|$key is $value|The value of $key is $value}.", value="token"),
        {"key": Parameter("key name id", "key", "The key", " $v", "Which key?")},
    ),
]
ACTIONS = LISTS
