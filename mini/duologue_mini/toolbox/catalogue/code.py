"""Tools for code and data: files, repositories, databases."""

from duologue_mini.toolbox import shared_parameters as o
from duologue_mini.toolbox.actions import Action
from duologue_mini.toolbox.outcomes import done, facts, listing, reading
from duologue_mini.toolbox.parameters import Parameter

REPOSITORY = Parameter(
    "repo repository repo_name project",
    "repository",
    "{Owner and name|The repository}",
    " in $v",
    "{In which repository|Which repository}?",
)
ISSUE = Parameter("issue_number number issue id", "filed", "Number of the issue", " $v", "Which issue?")
BRANCH = Parameter(
    "branch name branch_name ref",
    "branch",
    "{The branch|Name of the branch}",
    " {on|from} $v",
    "Which branch?",
)
TABLE = Parameter(
    "table table_name name", "table", "{Name of the table|The table}", " {of|in} $v", "Which table?"
)

FILES = [
    Action(
        "files",
        "read file|get file contents|open file|file read|cat|load file|view file|read text file",
        "{read|open|show} a file",
        "{read|open|show me|print|load} {the file |}$path|{What's|What is} in {the file |}$path?|{show|give} me {what is in|the contents of} $path|{read|open} a file",
        reading("{$path says|It says|The file says|This is in $path|Here it is}:\n$text"),
        {"path": o.PATH},
        {
            "lines": Parameter(
                "head lines limit max_lines",
                "int:1:200",
                "Only the first lines",
                "{, only the first $v lines|, $v lines}",
            )
        },
    ),
    Action(
        "files",
        "write file|save file|create file|file write|put file|write text file",
        "{write|save|create} a file",
        "{write|save|put} $text {to|into|in} {the file |}$path|{create|make} {a|the} file $path with {the content|the text} $text|{create|write} a file",
        done("{$path is {written|saved}|I wrote $path|The text is in $path}."),
        {
            "path": o.PATH,
            "text": Parameter(
                "content text data contents",
                "text",
                "{What to write|The content}",
                " with the text $v",
                "{What should be in it|Which text}?",
            ),
        },
        {
            "append": Parameter(
                "append add_to_end",
                about="Add instead of overwrite",
                choices=(
                    (True, "{, append it|at the end}"),
                    (False, "{, overwrite it|replacing what is there}"),
                ),
            )
        },
    ),
    Action(
        "files",
        "list directory|list files|ls|dir|folder contents|list folder|directory list",
        "{list|show} {files|the files in a folder}",
        "{list|show} {me |}{the files|everything} {in|under} $folder|What {files are|is} in {the folder |}$folder?|{list|show} {the |}{contents of|files in} $folder",
        listing("files", "file"),
        {"folder": o.FOLDER},
        {
            "recursive": o.RECURSIVE,
            "hidden": Parameter(
                "show_hidden hidden all",
                about="Include hidden files",
                choices=((True, "{with hidden files|, hidden ones too}"), (False, "without hidden files")),
            ),
        },
    ),
    Action(
        "files",
        "search files|find files|glob|file search|locate|find file",
        "{find|search for} files",
        "{find|search for|look for|locate} {all |}files {matching|like|named} $pattern {in|under} $folder|{Which|What} files in $folder {match|look like} $pattern?",
        listing("files", "path"),
        {
            "folder": o.FOLDER,
            "pattern": Parameter(
                "pattern glob name_pattern match",
                "glob",
                "{Pattern of names|Glob}",
                " {matching|like} $v",
                "Which pattern?",
            ),
        },
        {"limit": o.LIMIT},
    ),
    Action(
        "files",
        "move file|rename file|mv|file move|rename|move path",
        "{move|rename} a file",
        "{move|rename} {the file |}$from to $to|{give} the file $from the name $to",
        done("{It is {now at|now called} $to|Moved to $to|$from is now $to}."),
        {
            "from": Parameter(
                "source from src old_path", "path", "{The file|Where it is}", " from $v", "Which file?"
            ),
            "to": Parameter(
                "destination to dest new_path target",
                "path",
                "{New path|Where it goes}",
                " to $v",
                "{Where to|What is the new path}?",
            ),
        },
        {
            "overwrite": Parameter(
                "overwrite force replace",
                about="Replace what is there",
                choices=(
                    (True, "{and overwrite|, replacing what is there}"),
                    (False, "{, don't overwrite anything|without overwriting}"),
                ),
            )
        },
    ),
    Action(
        "files",
        "delete file|remove file|rm|file delete|unlink|erase file",
        "{delete|remove} a file",
        "{delete|remove|erase|get rid of} {the file |}$path|{I don't need|I no longer need} $path{, delete it|, remove it}|{delete|remove} a file",
        done("{$path is {gone|deleted}|I deleted $path}."),
        {"path": o.PATH},
    ),
    Action(
        "files",
        "create directory|make folder|mkdir|new folder|create folder",
        "{create|make} a {folder|directory}",
        "{create|make} {a|the} {folder|directory} {called |named |}$folder|{create|make} a {new |}{folder|directory}",
        done("{The folder $folder is there|I made the folder $folder}."),
        {
            "folder": Parameter(
                "path folder directory name",
                "folder",
                "The new folder",
                " called $v",
                "{What should it be called|Which folder}?",
            )
        },
    ),
    Action(
        "files",
        "file info|get file info|stat|file details|file size|path info",
        "{get|show} {details of a file|the size of a file}",
        "How {big|large|old} is {the file |}$path?|{get|show} {me |}{the size of|details of|info about|information on} $path|When was $path {changed|modified}?",
        facts(
            "{$path is|The file has} $size bytes{ and was changed on $modified|, changed on $modified}.",
            size="int:1:900000",
            modified="date",
            owner="person",
        ),
        {"path": o.PATH},
    ),
    Action(
        "files",
        "search text|grep|search in files|content search|find text|code search",
        "{search|look for} text in files",
        "{search|grep|look} for $word in $folder|{Where|In which files} {is $word used|does $word appear} in $folder?|{find|search} {the word |the text |}$word in $folder",
        listing("places", "path"),
        {
            "word": Parameter(
                "text pattern query needle regex",
                "token",
                "{What to find|Text to look for}",
                " for $v",
                "What should I look for?",
            ),
            "folder": o.FOLDER,
        },
        {
            "case": Parameter(
                "case_sensitive match_case",
                about="Whether case matters",
                choices=(
                    (True, "{, case matters|, case sensitive}"),
                    (False, "{, ignoring case|, any case}"),
                ),
            )
        },
    ),
]
GIT = [
    Action(
        "github",
        "create issue|open issue|new issue|issue create|file issue|issue write",
        "{create|open|file} an issue",
        "{open|create|file} an issue in $repo {called|titled|:} $title|{report|file} $title as an issue in $repo|{create|open|file} {a new|an} issue",
        done("{The issue is open|I opened the issue} in $repo."),
        {"repo": REPOSITORY, "title": o.TITLE},
        {
            "text": Parameter("body description text", "text", "What it is about", " with the text $v"),
            "labels": Parameter("labels tags", "words", "Labels", " {labelled|with the labels} $v"),
        },
    ),
    Action(
        "github",
        "list issues|get issues|issues|issue list|search issues",
        "{list|show} issues{ of a repository|}",
        "{list|show|get} {the|all} issues {in|of} $repo|{Which|What} issues are there in $repo?|{Which|What} issues does $repo have?",
        listing("issues", "title"),
        {"repo": REPOSITORY},
        {
            "state": Parameter(
                "state status filter",
                about="Which issues",
                choices=(
                    ("open", "{that are open|, only open ones}"),
                    ("closed", "{that are closed|, only closed ones}"),
                    ("all", "{, open and closed|, whatever their state}"),
                ),
            ),
            "limit": o.LIMIT,
        },
    ),
    Action(
        "github",
        "close issue|issue close|resolve issue|finish issue",
        "close an issue",
        "close issue $number in $repo|Issue $number in $repo is {fixed|solved|done}, {close it|please close it}|close an issue",
        done("Issue $number in $repo is closed."),
        {"repo": REPOSITORY, "number": ISSUE},
    ),
    Action(
        "github",
        "merge pull request|merge pr|pr merge|merge request|accept pull request",
        "merge a pull request",
        "merge {pull request|PR} $number in $repo|{PR|Pull request} $number in $repo {looks good|is fine}, merge it|merge a pull request",
        done("{Pull request|PR} $number is merged."),
        {
            "repo": REPOSITORY,
            "number": Parameter(
                "pull_number number pr id",
                "filed",
                "Number of the pull request",
                " $v",
                "Which pull request?",
            ),
        },
        {
            "method": Parameter(
                "merge_method method strategy",
                about="How to merge",
                choices=(
                    ("merge", "with a merge commit"),
                    ("squash", "{squashed|with squash}"),
                    ("rebase", "{rebased|with rebase}"),
                ),
            )
        },
    ),
    Action(
        "git",
        "create branch|git branch|new branch|branch create|git create branch",
        "create a branch",
        "{create|make|start} {a|the} {new |}branch {called |named |}$branch|{create|make} a {new |}branch",
        done("{The branch|Branch} $branch {exists|is there} now."),
        {
            "branch": Parameter(
                "branch_name name branch",
                "branch",
                "Name of the new branch",
                " called $v",
                "What should it be called?",
            )
        },
        {
            "base": Parameter(
                "base from_branch start_point from", "branch", "Where it starts", " {from|based on} $v"
            )
        },
    ),
    Action(
        "git",
        "git commit|commit|commit changes|save changes|record changes",
        "{commit|record} {changes|the changes}",
        "commit {the changes|everything|this} {with the message|saying|:} $text|{make|create} a commit {with the message|saying} $text|commit {my changes|the changes}",
        done("{The changes are committed|Committed}."),
        {
            "text": Parameter(
                "message commit_message msg",
                "text",
                "Commit message",
                " with the message $v",
                "{With which message|What is the message}?",
            )
        },
    ),
    Action(
        "git",
        "git log|commit history|list commits|log|recent commits|history",
        "{show|list} {commits|the history}",
        "{show|list} {me |}the {last|latest|recent} $count commits|What were the {last|latest} $count commits?|{show|list} {the |}{git log|history|commits}",
        listing("commits", "title"),
        {},
        {
            "count": Parameter(
                "max_count limit n count", "int:1:50", "How many commits", ", {only |}$v of them"
            ),
            "branch": BRANCH,
        },
    ),
    Action(
        "git",
        "git status|repo status|working tree status|changed files|status of repo",
        "{show|get} {the status of the working tree|changed files|what has changed}",
        "{What has changed|Which files have changed|What's different} in {my|the} {repository|working tree}?|{show|get|check} the git status|Are there uncommitted changes?",
        listing("changed files", "path"),
    ),
]
DATA = [
    Action(
        "database",
        "run query|execute sql|query|sql query|db query|read query|execute query",
        "{run|execute} {a query|an SQL query}",
        "{run|execute} {the query|this query|this SQL}{:|} $sql|{query the database|ask the database}: $sql|What comes out of {this query |}$sql?",
        facts(
            "{The query returns|It returns|The result is} $rows rows.", rows="int:0:5000", took_ms="int:1:900"
        ),
        {
            "sql": Parameter(
                "sql query statement", "sql", "{The SQL|Statement to run}", ": $v", "Which query?"
            )
        },
        {"limit": o.LIMIT},
    ),
    Action(
        "database",
        "describe table|table schema|get schema|table info|list columns|columns",
        "{describe|show the columns of} a table",
        "{describe|explain} {the |}table $table|{What|Which} columns does {the table |}$table have?|{show|list} the {columns|schema|structure} of {the table |}$table",
        listing("columns", "word"),
        {"table": TABLE},
    ),
    Action(
        "database",
        "list tables|show tables|get tables|tables|table list",
        "{list|show} {all |}tables",
        "{list|show|get} {all |}{the |}tables|{Which|What} tables {are there|are in the database|does the database have}?",
        listing("tables", "table"),
        {},
        {"schema": Parameter("schema database db", "word", "{Schema|The database}", " in {the schema |}$v")},
    ),
    Action(
        "database",
        "count rows|row count|table count|count records|number of rows",
        "count {rows|the rows of a table}",
        "{count|tell me} the {rows|records} {in|of} {the table |}$table|How many {rows|records|entries} {does $table have|are in {the table |}$table}?",
        facts("{The table |}$table has $count rows.", count="int:0:99999"),
        {"table": TABLE},
        {"filter": Parameter("filter where condition", "filter", "{Field and value|Which rows}", " with $v")},
    ),
]
ACTIONS = [*FILES, *GIT, *DATA]
