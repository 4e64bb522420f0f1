"""Inquiries about voice: calls, dictation, reading aloud, better engines, the speech APIs."""

from duologue_mini.inquiries.inquiry import Inquiry

ALOUD = "{aloud|out loud|with a voice}"
RECORDING = "{a recording|an audio file|a voice memo|a wav file|an mp3}"

VOICE: dict[str, Inquiry] = {
    "voice": Inquiry(
        ("{talk|speak} to {you|it|the server}[ by voice]", "use {voice|my voice|speech}"),
        ("{voice|the voice}", "speech", "voice input", "talking aloud", "the voice mode"),
        (),
        (
            "{Is there|Does it have|Does Duologue have|Do you have} {a voice|voice|voice input|speech|a voice mode}?",
            "{Can|Could} {I|one} {talk|speak} {to you|to it|to Duologue|with you} {by voice|aloud|out loud}?",
            "{Can|Does} {it|Duologue|this server} {hear|speak|listen|talk}?",
            "{Is|Does} this {text only|only do text}?",
        ),
        5,
    ),
    "call": Inquiry(
        (
            "{start|make|begin} a call",
            "call you",
            "{phone|ring} you[ up]",
            "have a {spoken|voice} conversation",
        ),
        ("calls", "a call", "calling you", "the telephone in the page", "a voice call"),
        ("I {want|would like} to {call|phone} you",),
        (
            "{Can|May|Could} I {call|phone} you?",
            "{Where|How} {do I start|is} {a|the} call?",
            "{Which|What} key {calls|starts a call}?",
            "Is {a call|what we say in a call} {kept|saved|written down}?",
        ),
        4,
    ),
    "interrupt": Inquiry(
        ("{interrupt|stop|cut off} {you|a reply|it} {in a call|while it speaks|by voice}", "talk over you"),
        ("barge-in", "interrupting you", "talking over a reply", "interruptions in a call"),
        ("it {stops|is silent} when I cough", "it talks and talks[ in a call]", "it does not let me finish"),
        (
            "{What happens|What} {if|when} I {speak|talk|say something} while {you|it} {talk|speak|are talking}?",
            "{Can|May} I interrupt {you|it}[ in a call]?",
            "{Does|Will} a cough {stop|end} {it|the reply}?",
        ),
        3,
    ),
    "call typing": Inquiry(
        ("{write|type} something {in a call|while we talk|during a call}",),
        ("typing in a call",),
        ("I have to spell a name {in a call|to you on the phone}",),
        ("{Can|May} I {type|write} {in|during} a call?",),
        1,
    ),
    "hold": Inquiry(
        ("{hold|press} a {button|key} {to talk|while I talk}", "use push to talk"),
        ("push to talk", "holding a button to talk", "hold to talk"),
        ("it answers before I am done{| speaking}", "it thinks I am finished when I {think|pause}"),
        ("{Is there|Does it have} {push to talk|a button to hold while I talk}?",),
        2,
    ),
    "mute": Inquiry(
        ("{mute|turn off|switch off} {myself|my microphone|the microphone}[ in a call]", "mute a call"),
        ("muting the microphone", "the mute button"),
        (),
        ("{Where|How} do I mute myself[ in a call]?",),
        1,
    ),
    "microphone": Inquiry(
        ("{use|get} {my|the} microphone {to work|on my phone|from another computer}",),
        ("the microphone", "a microphone that is not there"),
        (
            "{the page|my browser|it} says there is no microphone[ here]",
            "{my|the} microphone does not work",
            "{on my phone|from my tablet} there is no microphone",
            "the page {cannot|can't|does not} hear me",
        ),
        (
            "{Why|How come} {is there no microphone|does it not hear me}[ on my phone]?",
            "{Can|Could} I use {a|my} microphone?",
        ),
        3,
    ),
    "dictation": Inquiry(
        ("dictate[ a message| something]", "{speak|say} a message instead of {typing|writing} it"),
        ("dictation", "dictating", "speech to text in the page"),
        ("I don't {like|want} to type",),
        (
            "{Can|Could} I dictate[ a message]?",
            "{Is there|Does the page have} dictation?",
            "{Can|Will} it write {down |}what I say?",
        ),
        3,
    ),
    "read out": Inquiry(
        (
            f"have {{replies|your answers|the answer|it}} read {ALOUD}",
            f"{{hear|listen to}} {{a reply|your answer|the answers}}[ {ALOUD}]",
        ),
        (
            "reading replies out",
            "replies that are read aloud",
            "text to speech in the page",
            "Voice response",
        ),
        ("I cannot read the screen[ and want to hear it]",),
        (
            f"{{Can|Could|Will}} {{you|it|the page}} read {{the reply|your answers|that|this}} {ALOUD}?",
            "{Are there|Do you have} spoken replies?",
            "{How|Where} do I stop the reading?",
        ),
        3,
    ),
    "voices": Inquiry(
        (
            "{choose|change|set|pick} {the|another|a different} voice",
            "{make it speak|have it talk} {slower|faster}",
        ),
        ("the voices", "another voice", "the speed of the voice", "which voices there are"),
        ("I don't like {the|this|your} voice", "the voice sounds {like a robot|ugly|tinny|bad}"),
        (
            "{Which|What|How many} voices {are there|does it have|can I choose}?",
            "{Can|Could} it {speak|talk} {slower|faster|with another voice}?",
            "Is there a {female|male|nicer|better|deeper} voice?",
        ),
        3,
    ),
    "voice missing": Inquiry(
        ("{install|add|get|set up|turn on|enable} {the voice|voice|speech}",),
        ("installing the voice", "a server without voice"),
        (
            "it says {this server has no voice|the voice is not installed|it has no voice yet}",
            "there is no {call button|telephone|button to call}[ on the page]",
        ),
        ("{Why|How come} {is there|do I have} no voice[ here]?", "What does {the voice|voice} need?"),
        3,
    ),
    "voice off": Inquiry(
        ("{switch|turn} {the voice|voice|speech} off", "run it without {a|the} voice", "disable voice"),
        ("a server without the voice worker", "turning voice off"),
        (),
        ("{Can|May} I {turn off|disable|leave out} {the voice|voice}?",),
        1,
    ),
    "not heard": Inquiry(
        ("{be understood better|make it understand me} in a call",),
        ("bad recognition", "wrong words in the transcript"),
        (
            "it does not understand {me|what I say|a word|my accent}",
            "it {hears|writes down} {nonsense|the wrong words|something else}",
            "it {always |}says it did not catch that",
        ),
        (
            "{Why|How come} does it not understand {me|what I say}?",
            "{Why|How come} is {the recognition|it} so bad?",
        ),
        3,
    ),
    "recogniser": Inquiry(
        (
            "{use|install|set up|take} {whisper|faster-whisper|sherpa|Qwen3-ASR|a better recogniser|another speech recognition}",
        ),
        ("speech recognition", "a better recogniser", "whisper", "sherpa-onnx", "Parakeet"),
        (),
        (
            "{Can|Does|Will} it {use|work with|support} {whisper|faster-whisper|sherpa|Qwen3-ASR|another recogniser}?",
            "{Which|What} {recogniser|speech recognition} {is there|does it use|can I take}?",
        ),
        3,
    ),
    "speaker": Inquiry(
        ("{use|install|set up|take} {Kokoro|kokoro|a better voice|natural voices|another text to speech}",),
        ("text to speech", "Kokoro", "natural voices", "a better sounding voice"),
        (),
        (
            "{Can|Does|Will} it {use|work with|support} {Kokoro|natural voices|another text to speech}?",
            "{Which|What} text to speech {is there|does it use|can I take}?",
        ),
        2,
    ),
    "voice remote": Inquiry(
        (
            "let another server {hear|speak|do the speech|do the transcription}",
            "use {OpenAI's|a paid|another} {speech|transcription|whisper} {server|service|API}",
        ),
        ("a speech server of my own", "speaches", "Kokoro-FastAPI", "a remote voice"),
        (),
        ("{Can|Could} {another server|a remote server|OpenAI} do the {speech|transcription|voice}?",),
        1,
    ),
    "voice languages": Inquiry(
        ("{talk|speak} {German|French|Spanish|my language|another language} {to it|to you|in a call}",),
        ("languages of the voice", "other languages in a call"),
        ("it hears only English",),
        (
            "{Which|What} languages does {it|the voice|the recogniser} {hear|understand|speak}?",
            "{Can|Does} {it|the voice} {speak|hear|understand} {German|French|Spanish|Chinese|my language}?",
        ),
        2,
    ),
    "voice private": Inquiry(
        (),
        ("privacy of calls", "where my voice goes"),
        (),
        (
            "{Is|Are} {my voice|what I say|calls} {recorded|stored|sent somewhere|kept}?",
            "Where {does|is} {my voice|what I say|the sound} {go|sent}?",
            "{Does|Will} {anything|my voice} leave {this|my} machine {in a call|when I talk}?",
        ),
        2,
    ),
    "voice full": Inquiry(
        ("let {several|many|more} people call at the same time",),
        ("many calls at once", "seats", "the number of calls"),
        ("a call has to wait[ in line]",),
        ("How many {calls|people can call|people can talk} at {once|the same time}?",),
        1,
    ),
    "call ended": Inquiry(
        ("{keep|have} a call {open|go on} longer",),
        ("calls that end by themselves",),
        ("the call {ended|was cut|hung up} by itself", "I get call_idle"),
        ("How long {can|may} a call {last|be}?", "{Why|When} does a call end by itself?"),
        1,
    ),
    "listen": Inquiry(
        (f"{{transcribe|write down}} {RECORDING}", f"get the text of {RECORDING}"),
        (f"transcribing {RECORDING}", "transcription", "duologue listen"),
        ("I have a recording and {want|need} its text",),
        (f"{{Can|Could}} {{it|Duologue}} {{transcribe|write down}} {RECORDING}?",),
        2,
    ),
    "subtitles": Inquiry(
        ("make subtitles[ of a recording]", "get an srt file[ of a recording]"),
        ("subtitles", "srt files", "speaker labels in a transcript"),
        (),
        ("{Can|Could} it make {subtitles|an srt file}?", "{Can|Does} it tell speakers apart?"),
        1,
    ),
    "say aloud": Inquiry(
        (
            f"hear the {{reply|answer}} {ALOUD} in {{a|the}} terminal",
            "save the {spoken reply|sound} as a file",
        ),
        ("duologue say with a voice", "spoken replies in a terminal"),
        (),
        (f"{{Can|Could}} duologue say {{speak|answer}} {ALOUD}?",),
        1,
    ),
    "call terminal": Inquiry(
        ("call {you|the server} from {a|the} terminal", "talk to it {without the page|in a terminal}"),
        ("duologue call", "a call in a terminal"),
        ("duologue call finds no sound card",),
        ("{Can|Could} I call from {a|the} terminal?",),
        1,
    ),
    "speech api": Inquiry(
        ("{turn text into speech|make sound|speak a text} {over the API|from my program|in Python}",),
        ("text to speech over the API", "the speech API", "audio/speech"),
        (),
        ("{Is there|Does it have} {an API for speech|a speech API|a text to speech API}?",),
        1,
    ),
    "transcription api": Inquiry(
        ("{transcribe|write down} a file {over the API|from my program|in Python}",),
        ("the transcription API", "audio/transcriptions", "whisper's API here"),
        (),
        ("{Is there|Does it have} {an API for transcriptions|a transcription API|a whisper API}?",),
        1,
    ),
    "voice socket": Inquiry(
        ("{call|talk to it} {from my program|from an app of mine|over a WebSocket}",),
        ("the voice socket", "the protocol of calls", "full duplex", "the duplex socket"),
        (),
        ("{Is there|Does it have} {a socket for calls|a voice socket|a full duplex socket}?",),
        1,
    ),
    "imitate": Inquiry(
        ("{clone|imitate|copy} {a|my|somebody's} voice",),
        ("voice cloning", "imitating a voice", "ref_audio_data"),
        (),
        ("{Can|Could|Does} it {clone|imitate|copy} {a|my} voice?",),
        1,
    ),
}
