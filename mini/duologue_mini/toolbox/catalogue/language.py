"""Tools for words and pictures: translators, dictionaries, codes, image generators."""

from duologue_mini.toolbox import shared_parameters as o
from duologue_mini.toolbox.actions import Action
from duologue_mini.toolbox.outcomes import done, facts, listing, reading
from duologue_mini.toolbox.parameters import Parameter

IMAGE = Parameter(
    "path image file image_path input", "path", "{The picture|Path of the image}", " $v", "Which picture?"
)

ACTIONS = [
    Action(
        "translate",
        "translate|translate text|translation|translator|deepl translate",
        "translate {text|a text}",
        "translate $text {to|into} $language|{How do you say|What is} $text in $language?|{put|turn} $text into $language|translate {something|a text}",
        facts("{That is|In $language:|It is} $translation{.|}", translation="text"),
        {
            "text": Parameter(
                "text q content source_text",
                "text",
                "{What to translate|The text}",
                ": $v",
                "What should I translate?",
            ),
            "language": o.LANGUAGE,
        },
        {
            "formal": Parameter(
                "formal polite formality",
                about="Use the polite form",
                choices=(
                    (True, "{, formally|in a formal tone}"),
                    (False, "{, informally|in an informal tone}"),
                ),
            )
        },
        also="beyond",
    ),
    Action(
        "dictionary",
        "define word|dictionary|definition|lookup word|define|word meaning",
        "{look up|get} {the meaning of a word|a definition}",
        "What does {the word |}$word mean?|What's the meaning of {the word |}$word?|{define|look up the word|explain the word} $word|{get|give me} {the definition|the meaning} of $word",
        reading("{It says|The dictionary says|$word means}: $text"),
        {"word": Parameter("word term q entry", "word", "The word", " $v", "Which word?")},
        also="beyond",
    ),
    Action(
        "text",
        "check spelling|spell check|proofread|grammar check|spelling",
        "{check|correct} {spelling|the spelling of a text}",
        "{check|correct} the spelling {of|in}{:|} $text|Are there mistakes in $text?|{check|correct} the spelling",
        reading("{Corrected|It should be|The tool suggests}: $text"),
        {
            "text": Parameter(
                "text content input", "text", "{What to check|The text}", " of $v", "Which text?"
            )
        },
        {"language": o.LANGUAGE},
        also="beyond",
    ),
    Action(
        "text",
        "text to speech|speak|say aloud|tts|read aloud|speak text",
        "{say a text aloud|turn text into speech}",
        "{say|speak|read} $text {aloud|out loud}|{read this aloud|say this}: $text|{say|speak} something aloud",
        done("{I said it|It was read aloud|Spoken}."),
        {"text": Parameter("text input content", "text", "What to say", ": $v", "What should I say aloud?")},
        {
            "voice": Parameter(
                "voice speaker voice_id", "word", "{The voice|Name of the voice}", " {with|in} the voice $v"
            ),
            "speed": Parameter("speed rate", "num:1:3", "How fast", " at speed $v"),
        },
    ),
    Action(
        "crypto",
        "hash text|hash|checksum|digest|compute hash",
        "{compute|get} {a hash|the checksum of a text}",
        "{hash|get the hash of|compute the checksum of} $word {with|using} $algorithm|What's the $algorithm {hash|checksum} of $word?|{hash|get the hash of} $word",
        facts("{The {hash|checksum} is|It is} $hash.", hash="code"),
        {
            "word": Parameter(
                "text input data value", "token", "What to hash", " of $v", "What should I hash?"
            ),
            "algorithm": Parameter(
                "algorithm algo method",
                about="Which algorithm",
                choices=(("md5", "md5"), ("sha1", "sha1"), ("sha256", "sha256"), ("crc32", "crc32")),
                question="With which algorithm?",
            ),
        },
    ),
    Action(
        "crypto",
        "generate password|make password|password|new password|random password",
        "{make|generate} a password",
        "{make|generate|create|give me} a {new |random |}password {with|of} $length {characters|letters}|I need a password {with|of} $length characters|{make|generate} a {new |}password",
        facts("{Your password is|Here it is:|The password is} $password", password="code"),
        {
            "length": Parameter(
                "length size characters chars",
                "int:6:64",
                "{How long|Number of characters}",
                " with $v characters",
                "How long should it be?",
            )
        },
        {
            "symbols": Parameter(
                "symbols use_symbols special",
                about="With special characters",
                choices=((True, "{with symbols|, symbols too}"), (False, "{without symbols|, no symbols}")),
            )
        },
    ),
    Action(
        "codes",
        "make qr code|qr code|create qr|qr|generate qr",
        "{make|create} a QR code",
        "{make|create|generate} a QR code {for|of|with} $url|{turn|put} $url into a QR code|{make|create} a QR code",
        done("{The QR code is ready|I made the QR code}."),
        {"url": Parameter("data content url text", "url", "What is in it", " for $v", "For which address?")},
        {"size": Parameter("size dimensions box", "size", "Width and height", " of $v pixels")},
    ),
    Action(
        "codes",
        "shorten url|short link|url shorten|make short link|shorten",
        "shorten a {link|web address}",
        "shorten {the link |}$url|{make|create} a short link for $url|The link $url is too long",
        facts("{The short link is|Here it is:} $short", short="url"),
        {"url": o.URL},
    ),
    Action(
        "codes",
        "generate uuid|uuid|new id|make id|unique id",
        "{make|generate} a {unique id|UUID}",
        "{make|generate|give me|create} a {new |}{UUID|unique id}|I need a {new |}{UUID|unique id}",
        facts("{Your id is|Here it is:|The id is} $uuid", uuid="code"),
    ),
    Action(
        "images",
        "generate image|create image|text to image|draw image|image create|paint picture",
        "{make|generate|draw} {an image|a picture}",
        "{draw|paint|generate|make} {me |}{an image|a picture} of $text|{I want|I need|show me} {a picture|an image} of $text|{draw|paint|make} {a picture|an image}",
        done("{The picture is ready|I made the picture|Here it is}."),
        {
            "text": Parameter(
                "prompt description text",
                "query",
                "{What to draw|The prompt}",
                " of $v",
                "{What should it show|Of what}?",
            )
        },
        {
            "size": Parameter(
                "size dimensions resolution", "size", "Width and height", " {in|of|with} $v pixels"
            ),
            "style": Parameter(
                "style look art_style",
                about="The style",
                choices=(
                    ("photo", "{as a photo|like a photo}"),
                    ("drawing", "as a drawing"),
                    ("watercolor", "{in watercolor|as a watercolor}"),
                ),
            ),
        },
        also="beyond",
    ),
    Action(
        "images",
        "resize image|image resize|scale image|change image size|resize",
        "{resize|scale} {an image|a picture}",
        "{resize|scale|shrink} {the picture |the image |}$path to $width by $height{| pixels}|{make|I want} $path $width {wide|pixels wide} and $height high|{resize|scale} {a picture|an image}",
        done("$path is $width by $height{ now| pixels}."),
        {
            "path": IMAGE,
            "width": Parameter(
                "width w target_width", "int:16:4000", "Width in pixels", " to a width of $v", "How wide?"
            ),
            "height": Parameter(
                "height h target_height", "int:16:4000", "Height in pixels", " to a height of $v", "How high?"
            ),
        },
    ),
    Action(
        "images",
        "read image|ocr|image to text|extract text|recognize text",
        "{read|extract} {the text|text} in {an image|a picture}",
        "{read|get|extract} the text {in|from} {the picture |}$path|What {does it say in|is written in} {the picture |}$path?|{read|extract} the text in a picture",
        reading("{It says|The picture says|I read}: $text"),
        {"path": IMAGE},
        {"language": o.LANGUAGE},
    ),
    Action(
        "names",
        "suggest names|name ideas|name generator|find names|baby names",
        "{suggest|find} names",
        "{suggest|find|give me} $count names {for a|for my} $thing|I need $count names for {a|my} $thing|{suggest|find} names",
        listing("names", "word"),
        {
            "thing": Parameter("for kind thing what", "thing", "What to name", " for a $v", "For what?"),
            "count": Parameter(
                "count n number how_many", "int:1:20", "How many", ", $v of them", "How many?"
            ),
        },
    ),
    Action(
        "quiz",
        "get question|quiz question|trivia|ask me|next question",
        "{get|draw} a quiz question",
        "{ask|give} me a {quiz |trivia |}question{ about $word|}|{Let's|I want to} play a quiz{ about $word|}",
        reading("{Here is one|Your question}: $text"),
        {},
        {"word": Parameter("topic category subject", "word", "The topic", " about $v")},
    ),
]
