"""Inquiries about keys, users, HTTPS and certificates."""

from duologue_mini.inquiries.inquiry import Inquiry

KEYS: dict[str, Inquiry] = {
    "people": Inquiry(
        (
            "{use it|share it} with {several people|my family|my team|others}",
            "{have|give|set up} {several users|accounts|an account for everyone|accounts for my family}",
        ),
        ("several users", "accounts", "user accounts", "users"),
        ("my family wants to use it, too", "{we are|there are} {several|four|six} of us"),
        (
            "{Can|Could} {several|two|many|more} people {use it|talk to it|chat} at {once|the same time}?",
            "{Does it|Does Duologue} have {users|accounts|user accounts}?",
            "{Does everybody have|Has everybody got} {chats|conversations|a history} of their own?",
        ),
        4,
    ),
    "key": Inquiry(
        (
            "{set|make|create|add|get|generate} {a key|a first key|an API key}",
            "{protect|lock|secure} {it|the server|Duologue|the page}[ {with a key|with a password}]",
            "{set|add} a password",
            "keep {others|strangers} out",
            "{add|make|create} {a user|an account|another user|a new user}",
        ),
        ("keys", "the key", "a password", "authentication", "API keys", "security", "duologue key add"),
        ("it says that it needs a key", "I want a password on it"),
        ("{Which|What} command {makes a key|adds a user|creates a key}?",),
        6,
    ),
    "key needed": Inquiry(
        (),
        (),
        (),
        (
            "{Do I need|Is there|Does it need|Must I have} {a key|a password|an API key}?",
            "{Can|Will} {this machine|my own computer} do without a key?",
            "{Can|May} I use it without a key?",
        ),
        3,
    ),
    "key default": Inquiry(
        (),
        ("the default key", "the default password"),
        (),
        (
            "{What|Which} {is the|is my} {default key|default password|API key|password}?",
            "Is there a default {key|password}?",
        ),
        1,
    ),
    "own chats": Inquiry(
        (),
        (),
        (),
        (
            "{Can|Do} {others|other users|my colleagues|the others} {see|read} my {chats|conversations|files}?",
            "{Can|May} {an admin|the admin} read my {chats|messages|conversations}?",
            "{Do|Will} I see the chats of {others|other users|my family}?",
        ),
        3,
    ),
    "key given": Inquiry(
        (
            "{add|create|make} {a user|an account|a user called|the user|an account for} $user",
            "{make|create} a key for $user",
            "{let|give} $user {in|use it|a key|an account|access}",
        ),
        ("a key for $user", "an account for $user"),
        (
            "{my friend|my colleague|my sister} $user {wants|would like} {to use it|a key|an account}, too",
            "{my friend|my colleague|a user called} $user needs {a key|access}",
        ),
        ("{Can|Could} $user {have|get} {a key|an account}?",),
        4,
    ),
    "key own": Inquiry(
        (
            "{use|set|choose} {my own key|a key of my own|a fixed key}",
            "give the key {by the environment|in a file|as a variable}",
        ),
        ("a key file", "--key-file", "DUOLOGUE_KEY"),
        ("I want to choose the key myself",),
        (
            "{Can|May} I choose the key[ myself]?",
            "What {is {DUOLOGUE_KEY|--key-file} for|does {DUOLOGUE_KEY|--key-file} do}?",
        ),
        2,
    ),
    "key first": Inquiry(
        (),
        ("the first key",),
        ("I {made|added} a key and now {everything asks for one|every request needs one}",),
        (
            "{Who|Which user} gets {my old chats|what was written before|the earlier chats} {when I make a key|after the first key}?",
            "What {happens|changes} with the first key?",
            "{Do|Will} I lose my chats when I {make|add} a key?",
        ),
        2,
    ),
    "key list": Inquiry(
        ("{see|list|show} {all |the |}{keys|users|accounts}",),
        ("the list of keys", "duologue key list", "the list of users"),
        (),
        ("{Which|What} {keys|users|accounts} are there?", "Who has a key?"),
        2,
    ),
    "key revoke": Inquiry(
        (
            "{revoke|delete|remove|cancel|take away|invalidate} {a key|an old key|somebody's key|an account|a user}",
            "{lock|throw|keep} {somebody|a user} out[ again]",
        ),
        ("revoking a key", "duologue key revoke", "removing a user"),
        (
            "{a|my} key {was stolen|leaked|got into the wrong hands|is known to others}",
            "somebody left our team and still has a key",
        ),
        (
            "{Can|Could} {I take a key back|a key be revoked|I revoke a key}?",
            "{Which|What} command {revokes|deletes|removes} a key?",
        ),
        4,
    ),
    "key revoke given": Inquiry(
        (
            "{remove|lock out|throw out|delete} {the user |}$user",
            "{revoke|take away|delete} the {key|keys} of $user",
        ),
        ("the keys of $user",),
        (
            "{our|my} {user|colleague|friend} $user {has left|should not come in any more|must not use it any more|lost the key}",
        ),
        (),
        3,
    ),
    "key all": Inquiry(
        (
            "{get rid of|remove|forget|delete} all keys",
            "use it without a key again",
            "{turn off|switch off|disable} {the keys|the login}",
        ),
        ("duologue key revoke --all", "no key at all"),
        ("I don't want keys any more",),
        ("{Can|Could} I go back to {no key|working without a key}?",),
        1,
    ),
    "key lost": Inquiry(
        ("{see|show|find} {my|a|the} key {again|once more}", "get {a new|another} key[ for myself]"),
        ("a lost key", "a forgotten key"),
        (
            "I {lost|forgot|did not write down|closed the window with} {the|my} key",
            "{the|my} key {is gone|was not saved}",
        ),
        ("{Can|Could} {it|you|the server} show {my|a} key again?", "Where {is my key|are the keys} stored?"),
        3,
    ),
    "admin": Inquiry(
        ("make {somebody|a user|me} an admin", "{add|create} an admin"),
        ("admins", "the admin", "--admin"),
        (),
        ("{Who is {the|an} admin|What {may|can} an admin do}?",),
        2,
    ),
    "role": Inquiry(
        (
            "change {the role of a user|what a user may do|a user's role}",
            "{take|revoke} {admin rights|the role of admin} {from|of} {somebody|a user}",
        ),
        ("roles", "the role of a user", "duologue key user", "`duologue key user`"),
        ("{a|one} user should {be|become} an admin, too", "somebody should no longer be an admin"),
        ("{Which|What} roles are there?", "{Can|Could} I change the role of a user?"),
        2,
    ),
    "role given": Inquiry(
        ("make $user an admin", "{change|set} the role of $user[ to admin]", "give $user admin rights"),
        ("the role of $user",),
        ("$user should {be|become} an admin",),
        ("{Can|Could} $user {be|become} an admin?",),
        2,
    ),
    "disable": Inquiry(
        (
            "{disable|suspend|block} {a user|an account|somebody}[ for a while]",
            "keep {a user|somebody} out {for a while|without deleting anything}",
            "let a {disabled|blocked} user in again",
        ),
        ("disabling a user", "blocking a user", "suspended accounts", '"Shut out"'),
        ("somebody {is away for a year|must not come in for now} and should keep {the chats|everything}",),
        (
            "{Can|Could} I {disable|block|suspend} a user {without deleting anything|for a while}?",
            "What {is lost|happens to the chats} when {I disable a user|a user is disabled}?",
        ),
        2,
    ),
    "disable given": Inquiry(
        (
            "{disable|suspend|block} $user",
            "keep $user out {for a while|until I say otherwise}",
        ),
        ("blocking $user",),
        ("$user {must|should} not come in for a while",),
        ("{Can|Could} I {disable|suspend|block} $user?",),
        2,
    ),
    "enable given": Inquiry(
        ("let $user in again", "{enable|unblock} $user[ again]"),
        ("$user, who was shut out",),
        ("$user is {disabled|shut out|blocked} and {should come in again|may come back}",),
        ("{Can|May} $user come back?",),
        1,
    ),
    "last admin": Inquiry(
        (),
        (),
        ("it says last_admin", "I {cannot|can't} {disable|demote} {the|my|our} {only|last} admin"),
        ("{Why|How come} can't I {disable|demote} the last admin?",),
        1,
    ),
    "keys page": Inquiry(
        (
            "{make|revoke|see} {keys|a key} {on|in} the page",
            "{manage|see|change} {users|keys and users} {on the page|without a terminal|in the browser}",
        ),
        ("keys on the page", "users on the page", '"Make a key"'),
        ("the button for a new key {is grey|cannot be pressed}",),
        ("{Can|Could} I {make keys|manage users} {on the page|without a terminal}?",),
        2,
    ),
    "admin needed": Inquiry(
        (),
        (),
        ("it says {admin_needed|key_needed|only an admin may do that|that I am no admin}",),
        (),
        1,
    ),
    "key wrong": Inquiry(
        (),
        (),
        (
            "my key {does not work|is refused|is wrong|is not accepted|doesn't work}",
            "{I get|it says|curl says} {401|unauthorized|the key is wrong|401 unauthorized}",
            "I typed the {key|password} wrong too often",
        ),
        ("{Why|How come} is my key {wrong|refused|not accepted}?",),
        3,
    ),
    "https": Inquiry(
        (
            "{use|turn on|set up|enable|get} {HTTPS|TLS|SSL|https}[ {here|for Duologue}]",
            "{encrypt|secure} the connection",
        ),
        ("HTTPS", "TLS", "--tls", "encryption", "SSL"),
        ("I want {https|HTTPS|it encrypted}",),
        (),
        4,
    ),
    "https there": Inquiry(
        (),
        (),
        (),
        (
            "{Does|Can} {it|Duologue|the server} {do|speak|support|have} {HTTPS|TLS|SSL}[ by itself]?",
            "Is {the connection|it|what I write} encrypted?",
            "{Is|So is} {TLS|SSL|encryption} {included|part of it|there}?",
            "{Do|Must} I {need|have} a {proxy|certificate} for {HTTPS|https}?",
        ),
        3,
    ),
    "proxy": Inquiry(
        (
            "put {it|Duologue} behind {nginx|Caddy|a proxy|a reverse proxy|Traefik}",
            "use a {proxy|reverse proxy}",
        ),
        ("a proxy", "a reverse proxy", "nginx in front of it", "a configuration for {nginx|Caddy}"),
        ("I have {nginx|Caddy|a reverse proxy|Traefik} in front of it",),
        (
            "{Does|Will} it work behind {a proxy|nginx|Caddy}?",
            "{Is there|Do you have} an example for {nginx|Caddy|a reverse proxy}?",
        ),
        3,
    ),
    "proxies": Inquiry(
        (
            "{believe|trust} {my proxy|the headers of my proxy|X-Forwarded-For}",
            "see the {real address|address of the client} {in the log|behind a proxy}",
        ),
        ("--proxy", "the setting proxies", "X-Forwarded-For", "forwarded headers"),
        ("all requests seem to come from {my proxy|127.0.0.1}",),
        (
            "What {is --proxy for|does --proxy do}?",
            "{Does it believe X-Forwarded-For|Whose headers does it believe|Which proxies does it trust}?",
        ),
        2,
    ),
    "base path": Inquiry(
        (
            "{serve|run|put} {it|Duologue|the page} under {a path|/talk|a subpath|a folder of my domain}",
            "{set|use} a base path",
        ),
        ("the base path", "--base-path", "a subpath", "a path before the address"),
        (
            "my proxy serves {it|Duologue} at {/chat|/talk|a path}",
            "the page {finds nothing|stays empty} under a path",
        ),
        ("{Can|Could} it {run|be} under a path?", "What {is --base-path for|does --base-path do}?"),
        2,
    ),
    "trust": Inquiry(
        (
            "{get rid of|remove|stop} the {certificate warning|warning of the browser|warning}",
            "trust the certificate",
        ),
        ("the certificate warning", "/ca.crt", "the certificate authority", "ca.crt"),
        (
            "{my|the} browser {warns|says not secure|says the connection is not private|does not trust the certificate}",
            "the certificate is {not trusted|unknown|self-signed}",
        ),
        (
            "{Why|How come} does {my|the} browser warn[ about the certificate]?",
            "What is {/ca.crt|ca.crt}[ for]?",
        ),
        3,
    ),
    "trust iphone": Inquiry(
        (
            "{trust|install} the certificate on {my|an} {iPhone|iPad}",
            "{use|open} it {by|with|over} HTTPS on {my|an} {iPhone|iPad}",
        ),
        ("HTTPS on an iPhone", "the certificate on my iPad"),
        ("my {iPhone|iPad} {warns|does not trust it|says not private}",),
        (),
        2,
    ),
    "trust android": Inquiry(
        (
            "{trust|install} the certificate on {Android|my Android phone|an Android phone}",
            "{use|open} it {by|with|over} HTTPS on {Android|my Android phone}",
        ),
        ("HTTPS on Android", "the certificate on Android"),
        ("my Android phone {warns|does not trust it}",),
        (),
        2,
    ),
    "trust computer": Inquiry(
        ("{trust|install|import} the certificate on {Windows|a Mac|macOS|Linux|my computer|my laptop}",),
        ("the certificate on {macOS|Windows|Linux}", "the certificate in curl"),
        ("{curl|Python} {does not trust|refuses} the certificate",),
        ("How does {curl|Python|Firefox|Chrome} trust the certificate?",),
        1,
    ),
    "certificate": Inquiry(
        (
            "use {my own certificate|a certificate of my own|a certificate from Let's Encrypt}",
            "renew the certificate",
        ),
        ("my own certificate", "certificates", "tls.certificate"),
        ("I have a certificate[ already]",),
        ("Where do I put my certificate?", "{Which|What} setting takes {my|the} certificate?"),
        2,
    ),
}
