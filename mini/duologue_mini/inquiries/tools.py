"""Inquiries about tools, tool servers, approvals and files."""

from duologue_mini.inquiries.inquiry import Inquiry

MCP = "{an MCP server|a tool server|MCP servers|MCP|my MCP server|an MCP tool}"

TOOLS: dict[str, Inquiry] = {
    "tools": Inquiry(
        (
            "{use|have|add|get} {tools|more tools}[ {here|in the page|with Duologue}]",
            "{let|make} {you|the model} {use tools|do things|act|call tools}",
        ),
        ("tools", "the tools", "agents"),
        ("I want {you|the model} to {do something|use a tool|act}",),
        (
            "{Does|Can} {it|Duologue|this server} {do|support|have|use} {tools|agents|actions|plugins}?",
            "{Which|What} tools {are there|does it have|do you have|can I use}?",
            "{Are there|Does it have} {plugins|extensions|tools|agents}?",
        ),
        3,
    ),
    "tools api": Inquiry(
        (
            "{use|send|pass|define} {tools|functions} {over|with|in} the API",
            "{do|use} {tool calls|function calling|tool calling}[ {in my program|over the API}]",
        ),
        ("function calling", "tool calls", "tools over the API"),
        (),
        (
            "{Does|Can} {this model|the API|the endpoint} {do|support|handle} {function calling|tool calls}?",
            "Does it know function calling?",
            "{Who|What} runs the {calls|tools} over the API?",
        ),
        2,
    ),
    "built in": Inquiry(
        ("{see|list} the built-in tools", "{let|have} you {look at the clock|read a web page|calculate}"),
        ("the built-in tools", "the clock and the calculator", "the page reader", "the fetch tool"),
        (),
        (
            "{Which|What} tools are {built in|there from the start|included|bundled}?",
            "{Is there|Does it have} a {clock|calculator|page reader|web tool}{ built in|}?",
            "{Can|Could} the model {read web pages|tell the time|search my chats} with a tool?",
        ),
        3,
    ),
    "built in off": Inquiry(
        (
            "{turn off|switch off|disable|remove} {the built-in tools|a built-in tool|the page reader|the clock|fetch}",
            "offer {fewer|only some} {tools|built-in tools}",
        ),
        ("tools.builtin",),
        ("I don't want {the model|it} to {read web pages|fetch pages|search my chats}",),
        (),
        1,
    ),
    "mcp": Inquiry(
        (
            f"{{add|use|connect|configure|set up|attach|install|plug in}} {MCP}",
            "connect {it|Duologue} to {an MCP server|my tools}",
        ),
        ("MCP", "MCP servers", "tool servers", "the Model Context Protocol", "mcp.servers"),
        (
            "I have {an MCP server|some MCP servers|two tool servers}[ already]",
            "I want to use {an MCP server|MCP}",
        ),
        (
            "{Does|Can} {it|Duologue|this server} {do|support|speak|use|handle} {MCP|MCP servers|the Model Context Protocol}?",
            "{Where|In which file} do I {put|list|configure|write} {my|the} MCP servers?",
        ),
        6,
    ),
    "mcp given": Inquiry(
        (
            "{add|use|connect} the {MCP|tool} server at {https://|}$domain{/mcp|}",
            "{add|use|connect to} {https://|}$domain as {an MCP|a tool} server",
        ),
        ("the MCP server at $domain",),
        ("my MCP server {is|runs|answers} at {https://|}$domain{/mcp|}",),
        ("{Can|Could} {it|Duologue} use the MCP server at $domain?",),
        3,
    ),
    "mcp command": Inquiry(
        (
            "{add|use|start|run} {an MCP server|a tool server} {that is a program|with a command|over stdio|from PyPI|from npm}",
            "give an MCP server {arguments|environment variables}",
        ),
        ("MCP over stdio", "a local MCP server"),
        ("my MCP server is a {program|command|Python program|script}",),
        ("{Who|What} starts {a stdio server|the MCP server}?",),
        2,
    ),
    "mcp file": Inquiry(
        (
            "{use|import|take over|reuse} my {mcpServers|mcp.json|MCP JSON|mcpServers file}",
            "use the MCP {file|settings} of {another program|my editor}",
        ),
        ("mcpServers", "mcp.json", "an mcpServers file", "mcp.file"),
        ("I have {an mcpServers file|an mcp.json|a JSON with mcpServers}",),
        ("{Can|Could} {it|Duologue} read {an mcpServers file|my mcp.json}?",),
        2,
    ),
    "mcp broken": Inquiry(
        ("see {what an MCP server says|why a tool server fails}",),
        ("a broken tool server",),
        (
            "my {MCP|tool} server {does not|doesn't|won't} {start|connect|work|answer}",
            "it says {tool_server_unreachable|tool_server_command|tool_server_unavailable}",
            "the tools of my {MCP|tool} server are {missing|not there}",
        ),
        ("{Why|How come} {is my MCP server not connected|are my tools missing}?",),
        2,
    ),
    "mcp login": Inquiry(
        ("{log in|sign in} {at|to} {an MCP server|a tool server}", "give an MCP server {a key|a token}"),
        ("OAuth of an MCP server",),
        (
            "my {MCP|tool} server wants {me to sign in|a login|a token}",
            "it says {tool_server_login|tool_server_refused}",
        ),
        (),
        1,
    ),
    "approvals": Inquiry(
        ("{answer|allow|confirm|approve|deny} {a tool call|a tool|what a tool does}",),
        ("approvals", "permissions of tools", "the question before a tool"),
        (
            "it {asks|asked} me whether a tool may run",
            "the reply {waits|is waiting} for my {answer|approval}",
            "it says {waits for your answer|asks first}",
        ),
        (
            "{Why|What for} {does it ask|am I asked|do you ask} {before|whether} {a tool runs|a tool may run}?",
            "{Does|Will} {it|a tool|the model} {ask|run} {me first|without asking|before it does something}?",
            "{Can|Could} a tool {do harm|delete something|do anything} without {asking|me knowing}?",
            "{What|Which} tools {run without asking|ask first}?",
        ),
        4,
    ),
    "approvals fewer": Inquiry(
        (
            "{let|have} a tool run without {asking|questions}",
            "{stop|keep} it {from |}asking {each time|every time|for every call}",
            "{take back|undo|revoke} {a permission|what I allowed}",
        ),
        ("tools without asking", "/api/permissions"),
        ("it asks me {every time|each time|too often|again and again}[ before a tool runs]",),
        ("{Can|Could} I allow a tool {for good|once and for all|always}?",),
        2,
    ),
    "approvals late": Inquiry(
        (),
        ("runs.approval_s",),
        (
            "I did not answer {the question|the approval} in time",
            "nobody {answered|was there to answer} the question of a tool",
        ),
        (
            "{How long|Until when} does {a tool|an approval|the question} wait?",
            "What happens {when|if} nobody {answers|approves}[ a tool call]?",
        ),
        1,
    ),
    "private addresses": Inquiry(
        (
            "let {a tool|the page reader|fetch} reach {my own network|a private address|my router|the intranet}",
        ),
        ("tools.private_addresses",),
        (
            "it says private_address",
            "{fetch|the page reader} {refuses|cannot reach} {my intranet|a local address|192.168.0.1}",
        ),
        (),
        1,
    ),
    "many turns": Inquiry(
        ("{let|have} it {make|call} more {tool calls|tools} in one reply",),
        ("runs.max_turns",),
        ("the reply stopped after {ten|10|many} {tool calls|turns}",),
        ("How many {tool calls|turns|tools} may one reply {take|make|call}?",),
        1,
    ),
    "tool slow": Inquiry(
        ("give a tool more time",),
        ("runs.tool_s",),
        ("a tool {takes for ever|hangs|takes too long|is slow}",),
        ("How long may a tool {run|take}?",),
        1,
    ),
    "files": Inquiry(
        (
            "{attach|send|upload|add|give you} {a file|files|a document|a text file}",
            "{put|drop} a file into {a message|the chat}",
        ),
        ("files", "attachments", "uploading files", "attached files", "the plus below the message"),
        ("I want to {show you|send you|attach} a {file|document|text file}",),
        (
            "{Can|Could|May} I {attach|send|upload|drop} {files|a file|documents|something}[ here]?",
            "{Which|What} {files|kinds of files|file types} {can I send|does it take|can be attached}?",
            "{Does|Can} {it|Duologue|the page} {take|read|handle} {files|attachments|uploads}?",
        ),
        4,
    ),
    "paste": Inquiry(
        (
            "paste {a picture|a screenshot|a file|a long text}[ into the message]",
            "{keep|stop} a long text from becoming a file",
        ),
        ("pasting", "pasted pictures", "pasting a long text"),
        ("my {long|pasted} text {became|was turned into} a file", "I pasted something and it is a file now"),
        (
            "{Can|Could} I paste {a picture|a screenshot|an image} {here|into the page}?",
            "Why {is my pasted text a file|does a long text become a file}?",
        ),
        2,
    ),
    "files large": Inquiry(
        ("{attach|send} {a larger|a very large|a huge|more} {file|files}",),
        ("the size of files", "limits.blob_mb"),
        ("my file is {too large|too big}", "it says {too_large|the file is too large}"),
        (
            "How {large|big} may {a file|an attachment} be?",
            "How many files may {a message|one message} {have|carry}?",
        ),
        1,
    ),
    "documents": Inquiry(
        ("{send|attach|read|ask about} a PDF", "{let|have} {you|the model} read {a PDF|a document}"),
        ("PDFs", "documents", "a scanned PDF"),
        (
            "my PDF {is refused|cannot be read|has no text}",
            "it says {document_without_text|document_locked|document_unreadable}",
        ),
        ("{Can|Does} {it|Duologue|the server|the model} read {PDFs|documents|a PDF}?",),
        2,
    ),
    "images": Inquiry(
        ("{send|show you|upload|attach} {a picture|an image|images|a photo}",),
        ("pictures", "images in a chat"),
        ("my picture {was|is} refused", "it says modality_unsupported"),
        ("{Can|Does} {it|Duologue|the server} {take|read|handle} {pictures|images}?",),
        2,
    ),
    "files kept": Inquiry(
        (),
        ("where files are kept",),
        (),
        (
            "{Where|In which folder} {are|does it keep} {the files I attached|attached files|my uploads|the uploads}?",
        ),
        1,
    ),
    "tools in chat": Inquiry(
        (
            "{turn|switch} {tools|the tools|one tool server} {on|off} {in|for} {a|this|one} chat",
            "have {a chat|an answer} without tools",
        ),
        ("the button with the tool", "tools in one chat", '"Tools" below the message'),
        (
            "I don't want tools in {this|one} chat",
            "the model {always uses|never uses} a tool {here|in this chat}",
        ),
        ("{Can|Could} I {choose|switch} tools for {each|a single} chat?",),
        2,
    ),
    "prompts": Inquiry(
        (
            "{use|insert|see} {a prompt|the prompts}[ of a tool server]",
            "use {slash commands|commands in the message}",
        ),
        ("prompts of tool servers", "slash commands", "the / in the message", "stored prompts"),
        ("I typed a / and a list {came|opened}",),
        (
            "What {is a slash command|are the slash commands}?",
            "{Are there|Does it have} {slash commands|prompts|prompt templates}?",
            "What happens when I type a /?",
        ),
        2,
    ),
    "resources": Inquiry(
        (
            "{attach|use|read} {a resource|something from a tool server|a resource of an MCP server}",
            "mention {a file|a resource} with @",
        ),
        ("resources of tool servers", "MCP resources", "the @ in the message"),
        ("I typed an @ and nothing {came|happened}",),
        ("What happens when I type an @?", "{Can|Could} I attach {MCP resources|what a tool server has}?"),
        1,
    ),
    "server off": Inquiry(
        (
            "{switch off|turn off|disable|remove} {a tool server|an MCP server|one of the tool servers}[ {for everybody|for myself}]",
        ),
        ("switching a tool server off",),
        ("I don't {need|want} a tool server any more",),
        ("{Can|Could} {I|a user} leave {one|a} tool server out?",),
        1,
    ),
}
