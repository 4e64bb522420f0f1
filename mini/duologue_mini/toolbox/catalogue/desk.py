"""Tools for office work: mail, messages, contacts, tickets, customers, documents."""

from duologue_mini.toolbox import shared_parameters as o
from duologue_mini.toolbox.actions import Action
from duologue_mini.toolbox.outcomes import done, facts, listing
from duologue_mini.toolbox.parameters import Parameter

SUBJECT = Parameter(
    "subject title heading",
    "title",
    "{Subject line|The subject}",
    " with the subject $v",
    "{What is the subject|Which subject}?",
)
BODY = Parameter(
    "body text content message",
    "text",
    "{Text of the mail|Body|The message itself}",
    " saying $v",
    "{What should it say|What is the text}?",
)
MAIL_ID = Parameter("message_id id mail_id email_id", "id", "Id of the mail", " $v", "Which mail?")
CHANNEL = Parameter(
    "channel room channel_id to",
    "channel",
    "{The channel|Where to post}",
    " {in|to} $v",
    "{In which channel|Which channel}?",
)
TICKET = Parameter("ticket_id id ticket number", "id", "Id of the ticket", " $v", "Which ticket?")
WHO = Parameter(
    "assignee person user owner",
    "person",
    "{Who takes it|The person}",
    " to $v",
    "{To whom|Who should take it}?",
)
CUSTOMER = Parameter(
    "customer_id id customer account_id",
    "id",
    "{Id of the customer|Customer number}",
    " $v",
    "Which customer?",
)

MAIL = [
    Action(
        "mail",
        "send email|send mail|email|mail send|compose and send|send message by mail|gmail send",
        "send {an email|a mail}",
        "{send|write} {an email|a mail} to $to{, subject| with the subject} $subject, saying $body|{email|mail} $to that $body, subject $subject|{send|write} {an email|a mail}{| to $to}",
        done("{The mail to $to is sent|I sent the mail to $to|Sent to $to}."),
        {"to": o.TO_MAIL, "subject": SUBJECT, "body": BODY},
        {"copy": Parameter("cc copy_to", "mails", "{Who gets a copy|Copies}", ", {with a copy to|cc} $v")},
    ),
    Action(
        "mail",
        "list emails|read inbox|get mails|inbox|list messages|fetch mail|unread mail",
        "{list|read|fetch} {mails|new mail|the inbox}",
        "{show|read|list|check|fetch} my {inbox|mail|emails|mails|new mail}|Do I have {any |}{new |}{mail|emails|messages in my inbox}?|{Any new mail|What's in my inbox}?",
        listing("mails", "title"),
        {},
        {
            "limit": o.LIMIT,
            "unread": Parameter(
                "unread_only unread only_new",
                about="Only mails not yet read",
                choices=(
                    (True, "{, only unread ones|, just the new ones}"),
                    (False, "{, including the old ones|, read or not}"),
                ),
            ),
        },
    ),
    Action(
        "mail",
        "search email|find mails|search mail|mail search|query inbox",
        "{search|look through} {mails|the mailbox}",
        "{search|look through} my {mail|emails|inbox} for $query|{find|get} {mails|emails} about $query|Did anybody {write|mail} me about $query?",
        listing("mails", "title"),
        {"query": o.QUERY},
        {"limit": o.LIMIT},
        also="mail list",
    ),
    Action(
        "mail",
        "reply email|reply to mail|answer mail|mail reply|respond email",
        "{reply to|answer} {a mail|an email}",
        "{reply to|answer} {mail|email|the mail} $id{:| saying| with} $body|{reply to|answer} {mail|email} $id",
        done("{I answered mail $id|The answer to $id is sent}."),
        {"id": MAIL_ID, "body": BODY},
    ),
    Action(
        "mail",
        "delete email|trash mail|mail delete|remove mail|move to trash",
        "{delete|throw away} {a mail|an email}",
        "{delete|trash|throw away|remove} {mail|email|the mail} $id|{I don't need mail|Mail} $id {any more, delete it|can go, delete it}",
        done("{Mail $id is deleted|Deleted: mail $id}."),
        {"id": MAIL_ID},
    ),
]
MESSAGES = [
    Action(
        "chat",
        "post message|send message|chat post|channel message|slack post|send to channel|post to channel",
        "{post|send} a message {in|to} a channel",
        "{post|write|send|say} $text {in|to} $channel|tell the channel $channel{:| that} $text|{post|send} a message to $channel",
        done("{Posted in|The message is in|I wrote that in} $channel."),
        {"channel": CHANNEL, "text": o.TEXT},
        {"notify": o.NOTIFY},
    ),
    Action(
        "sms",
        "send sms|text message|send text|sms|whatsapp send|text person|dm",
        "{send a text message|text somebody|send an SMS}",
        "text $person{:| that| saying} $text|{send|write} {a text|an SMS|a text message} to $person{:| saying} $text|{send|write} {a text message|an SMS}",
        done("{The text to $person is sent|I texted $person|Sent to $person}."),
        {
            "person": Parameter(
                "to recipient person contact",
                "person",
                "{Who gets it|Name of the recipient}",
                " to $v",
                "{To whom|Who gets it}?",
            ),
            "text": o.TEXT,
        },
    ),
    Action(
        "phone",
        "call|make call|phone call|dial|start call|call contact",
        "{call somebody|make a phone call|dial a number}",
        "{call|ring|phone|dial} $phone|{make|start} a call to $phone|{I want to|I need to} {speak to|call} the number $phone",
        done("{Calling|I am calling|Dialling} $phone{ now|}."),
        {
            "phone": Parameter(
                "number phone phone_number to", "phone", "Telephone number", " to $v", "Which number?"
            )
        },
        {
            "video": Parameter(
                "video with_video camera",
                about="Whether with video",
                choices=((True, "with video"), (False, "without video")),
            )
        },
    ),
    Action(
        "chat",
        "set status|update status|presence|set presence|status set",
        "{set|change} {the|your} status",
        "{set|change|update} my status to $text|My status {should be|is now}{:|} $text",
        done("{Your status is {set|changed}|Status changed}."),
        {"text": Parameter("status text message", "text", "The new status", " to $v", "What should it be?")},
        {"until": Parameter("until expires clear_at", "time", "When it ends", " until $v")},
    ),
    Action(
        "chat",
        "list channels|get channels|channels|channel list|show channels",
        "{list|show} {all |}channels",
        "{list|show|get} {me |}{all|the} channels|{Which|What} channels {are there|exist|do we have}?",
        listing("channels", "channel"),
        {},
        {"limit": o.LIMIT},
    ),
]
PEOPLE = [
    Action(
        "contacts",
        "find contact|get contact|contact lookup|search contacts|lookup person|address book",
        "{find|look up} {a contact|the contact details of a person}",
        "{find|look up|get} the {contact|contact details} {of|for} $name|{What's|What is} the {phone number|number|telephone number} {of|for} $name?|How can I reach $name?",
        facts(
            "{The number of $name is|$name has the number|You reach $name at} $phone.",
            name="person",
            phone="phone",
            email="mail",
        ),
        {"name": o.PERSON},
    ),
    Action(
        "contacts",
        "add contact|create contact|new contact|save contact|contact add",
        "{add|save|create} a contact",
        "{add|save|create} {a|the} contact {for |called |named |}$name{,| with} {number|phone|phone number} $phone|{save|keep} the number $phone {for|of} $name|{add|create} a {new |}contact",
        done("{$name is in your contacts|The contact $name is saved}."),
        {
            "name": o.PERSON,
            "phone": Parameter(
                "phone number phone_number tel",
                "phone",
                "Telephone number",
                " with the number $v",
                "{Which number|What is the number}?",
            ),
        },
        {"mail": Parameter("email mail", "mail", "Mail address", " and the mail {address |}$v")},
    ),
    Action(
        "crm",
        "get customer|customer lookup|find customer|fetch customer|customer details",
        "{get|look up} {a customer|the details of a customer}",
        "{look up|get|show|find|open} customer $id|{Who is|What do we know about} customer $id?|{show|give} me the {details|record} of customer $id",
        facts(
            "{Customer $id is $name|$name is customer $id} {from|in} $city.",
            name="person",
            city="place",
            email="mail",
            orders="int:0:90",
            since="date",
        ),
        {"id": CUSTOMER},
    ),
    Action(
        "crm",
        "create lead|add customer|new customer|register customer|customer create",
        "{add|create|register} a {new |}customer",
        "{add|create|register} {a|the} {new |}customer $name {with|,} {mail|email|address} $mail|{register|sign up} $name as a customer{ with|,} {mail|email} $mail|{add|create} a {new |}customer",
        done("{$name is now a customer|Customer $name is registered}."),
        {
            "name": o.PERSON,
            "mail": Parameter(
                "email mail contact_email",
                "mail",
                "Mail address",
                " with the mail {address |}$v",
                "{Which mail address|What is the mail address}?",
            ),
        },
        {"tags": o.TAGS},
    ),
    Action(
        "staff",
        "who is on duty|get on call|on call|duty roster|current shift",
        "{tell|find out} who is on {duty|call}",
        "Who {is|'s} {on call|on duty|working}{| $day}?|{get|show|check} {who is on duty|the person on call}",
        facts("{$person is on {duty|call}|It is $person}{, until $until|}.", person="person", until="time"),
        {},
        {"day": o.DAY},
    ),
]
TICKETS = [
    Action(
        "tickets",
        "create ticket|open ticket|new ticket|raise ticket|ticket create|report problem",
        "{create|open} a {support |}ticket",
        "{open|create|raise|file} a {ticket|support ticket} {called|titled|about|:} $title|report {the|a} problem {called|titled} $title{ in a ticket|}|{create|open} a {new |}ticket",
        done("{The ticket is open|I opened the ticket|Ticket created}."),
        {"title": o.TITLE},
        {
            "priority": o.PRIORITY,
            "text": Parameter(
                "description details body", "text", "What is wrong", " with the description $v"
            ),
            "tags": o.TAGS,
        },
    ),
    Action(
        "tickets",
        "assign ticket|ticket assign|give ticket|set assignee|hand over ticket",
        "{assign|give} a ticket to {somebody|a person}",
        "{assign|give|hand} ticket $id to $who|Let's have $who {take|handle} ticket $id",
        done("Ticket $id {is with|now belongs to|goes to} $who."),
        {"id": TICKET, "who": WHO},
    ),
    Action(
        "tickets",
        "get ticket|ticket status|show ticket|ticket details|fetch ticket",
        "{get|show} {a ticket|the state of a ticket}",
        "{show|get|open|check} ticket $id|{What's|What is} the {status|state} of ticket $id?|{How is|What about} ticket $id?",
        facts(
            "Ticket $id is $status{ and with $owner|, {owner|assigned to} $owner}.",
            status="one:open|closed|waiting|in progress|blocked|new|resolved",
            owner="person",
            priority="one:low|medium|high",
        ),
        {"id": TICKET},
    ),
    Action(
        "tickets",
        "close ticket|resolve ticket|ticket close|finish ticket",
        "{close|resolve} a ticket",
        "{close|resolve} {ticket|the ticket} $id|Ticket $id is {solved|fixed}, {close it|please close it}",
        done("Ticket $id is closed."),
        {"id": TICKET},
        {"text": Parameter("comment note reason", "text", "A last comment", " with the comment $v")},
    ),
]
PAPERS = [
    Action(
        "documents",
        "create document|new doc|write document|doc create|create page|new page",
        "{create|write} a {document|page}",
        "{create|start|make} a {new |}{document|doc|page} {called|titled|named} $title|{create|make} a {new |}document",
        done("{The document|$title} {exists now|is ready|is created}."),
        {"title": o.TITLE},
        {
            "folder": o.FOLDER,
            "text": Parameter("content text body", "text", "First text", " with the text $v"),
        },
    ),
    Action(
        "documents",
        "share document|share file|give access|doc share|invite to document",
        "{share|give access to} a document",
        "{share|open up} document $id {with|for} $mail|give $mail access to document $id",
        done("{Document $id is shared with $mail|$mail can open document $id now}."),
        {
            "id": Parameter(
                "document_id doc_id id document", "id", "Id of the document", " $v", "Which document?"
            ),
            "mail": Parameter("email user with mail", "mail", "Who gets access", " with $v", "With whom?"),
        },
        {
            "role": Parameter(
                "role permission access",
                about="What they may do",
                choices=(("reader", "as a reader"), ("editor", "as an editor"), ("owner", "as an owner")),
            )
        },
    ),
    Action(
        "invoices",
        "create invoice|new invoice|invoice|bill customer|write invoice",
        "{create|write} an invoice",
        "{create|write|make} an invoice {for|over} $amount {for|to} customer $id|{bill|charge} customer $id $amount|{create|write} an invoice",
        done(
            "{The invoice {for|over} $amount is {ready|written}|Invoice written: $amount for customer $id}."
        ),
        {"id": CUSTOMER, "amount": o.AMOUNT},
        {
            "currency": o.CURRENCY,
            "date": Parameter("due_date due pay_by", "date", "Due date", " due {on |}$v"),
        },
    ),
    Action(
        "forms",
        "submit form|fill form|form submit|send form|register person",
        "{submit|send} {the|a} form {with a contact|for a person}",
        "{submit|fill in|send} the form for $contact|{register|sign up} $contact",
        done("{The form is {sent|in}|Submitted}."),
        {
            "contact": Parameter(
                "contact person participant applicant",
                "contact",
                "{Name and mail address|The person}",
                " for $v",
                "For whom? I need the name and the mail address.",
            )
        },
    ),
]
ACTIONS = [*MAIL, *MESSAGES, *PEOPLE, *TICKETS, *PAPERS]
