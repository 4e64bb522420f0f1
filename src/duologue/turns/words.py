"""Words as turn taking compares them: lower case, without surrounding punctuation; and the word lists it uses.

There are lists for English and German. Other languages have none, and the rules that use them fall back to what needs no
language.
"""

from __future__ import annotations

import re

from msgspec import Struct

_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, in order, lower case."""
    return tuple(word.replace("’", "'") for word in _WORD.findall(text.lower()))


class TurnLexicon(Struct, frozen=True):
    """The words of one language that say something about turns."""

    backchannel: frozenset[str] = frozenset()
    """Said while another person speaks, to let them continue."""
    backchannel_phrases: frozenset[str] = frozenset()
    """The same, in several words."""
    stop: frozenset[str] = frozenset()
    """First words of a caller who takes the turn."""
    stop_phrases: frozenset[str] = frozenset()
    """The same, in two words."""
    openings: frozenset[str] = frozenset()
    """First two words of a question or request."""
    fillers: frozenset[str] = frozenset()
    """Sounds of a speaker looking for the next word."""
    dangling: frozenset[str] = frozenset()
    """Words that need another after them: articles, prepositions, conjunctions, auxiliaries."""
    leaning: frozenset[str] = frozenset()
    """Words that often do, but may well end a sentence."""
    dangling_phrases: frozenset[str] = frozenset()
    """Dangling words in pairs and triples: "want to"."""
    answers: frozenset[str] = frozenset()
    """Complete turns of a few words."""
    asking: frozenset[str] = frozenset()
    """First words of a question."""
    numbers: frozenset[str] = frozenset()
    """Number words, including the operators between them,"""
    operators: frozenset[str] = frozenset()
    """which are these."""
    joining: frozenset[str] = frozenset()
    """First words of a dependent clause."""
    greetings: frozenset[str] = frozenset()
    """May precede a complete turn."""
    closing: frozenset[str] = frozenset()
    """Last words, and pairs of them, that end a sentence."""
    introductions: frozenset[str] = frozenset()
    """Three words that are followed by a name."""
    question_words: frozenset[str] = frozenset()
    """First words of a question about a person: a question word, a verb of `being` or an auxiliary, a person, a verb."""
    being: frozenset[str] = frozenset()
    doing: frozenset[str] = frozenset()
    """Forms of "do": a request may end in one."""
    auxiliaries: frozenset[str] = frozenset()
    persons: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    """Verbs that such a question ends in."""
    tails: frozenset[str] = frozenset()
    """May follow them."""
    telling: frozenset[str] = frozenset()
    """May precede an indirect question: "tell me where the station is"."""
    owners: frozenset[str] = frozenset()
    owned: frozenset[str] = frozenset()
    """What is asked about: "your name"."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _phrases(phrases: str) -> frozenset[str]:
    return frozenset(phrase.strip() for phrase in phrases.split(","))


ENGLISH = TurnLexicon(
    backchannel=_set(
        "mhm mm mmm mmhm mhmm mm-hm mm-hmm mm-mm hm hmm hmmm uh-huh uhuh huh aha ah oh uh um ok okay yeah yes yep yup "
        "right sure wow cool nice fine great good true exactly absolutely perfect really indeed alright interesting"
    ),
    backchannel_phrases=_phrases(
        "i see, uh huh, mm hm, mm hmm, got it, of course, all right, that's right, oh really, no way, go on, oh wow, "
        "makes sense, i know, very good, oh i see, that's true"
    ),
    stop=_set("stop wait no nope but actually sorry excuse pause quiet enough cancel hey please"),
    stop_phrases=_phrases(
        "hold on, hold it, hang on, shut up, be quiet, that's enough, thank you, one moment"
    ),
    openings=_phrases(
        "can you, could you, would you, will you, do you, did you, have you, are you, who are, who is, who was, who's the, "
        "what is, what's the, what are, what do, what does, what did, what was, what time, what about, what can, what if, "
        "where is, where are, where do, where can, when is, when do, when does, when did, when will, why do, "
        "why does, why did, why not, how do, how does, how did, how many, how much, how can, how about, how long, how old, "
        "how is, tell me, give me, show me, let me, let's talk, i have, i want, i need, i would, i'd like, i meant, i said, "
        "is there, is it, is that, are there, does it, does this, can i, could i, may i, my name"
    ),
    fillers=_set("uh um uhm erm er hm hmm mm mmm ah eh"),
    dangling=_set(
        "a an the my your his its our their every each and or but so because if when while although though unless until "
        "since than which whose whom of to at by for with from about into onto between during against within as is are "
        "was were am be been being i'm you're we're they're i'd i'll you'll we'll let's very quite too i we they"
    ),
    leaning=_set(
        "this that these those some any no more most also then do does did have has had can could will would should "
        "must may might in on up out over under through before after without like really maybe just only not don't "
        "doesn't didn't can't won't isn't aren't he she her what where who how why another under it's that's"
    ),
    dangling_phrases=_phrases(
        "want to, need to, have to, like to, going to, got to, try to, able to, used to, such as, as well as, because of, "
        "instead of, a lot of, kind of, sort of, one of, out of, i want, i need, i think, i mean, you know, tell me, give me, "
        "show me, let me, i would like, i'd like, can you, could you, would you, will you, do you, are you, what is, what's, "
        "where is, who is, how do, how many, how much, what about, how about, the first, the second, the next"
    ),
    answers=_set(
        "yes no yeah yep yup nope sure okay ok thanks hello hi hey goodbye bye stop wait please right correct exactly "
        "never maybe absolutely definitely cancel continue repeat again help morning evening nothing alright cheers"
    )
    | _phrases(
        "thank you, thanks a lot, thank you very much, of course, not yet, no thanks, no thank you, yes please, "
        "all right, good morning, good evening, good night, good bye, see you, that's all, that's it, never mind, i don't know, "
        "i don't think so, go ahead, not really, go on, stop it, of course not, i do, i don't, i am, it is, it does, yes it is, "
        "how are you, who are you, what can you do, say that again, what was that, what's that, what's your name, who's that, "
        "how's it going, what's up, what's going on, can you help me, can you hear me, are you there, are you sure, are you ok, "
        "are you okay, are you ready, do you understand, do you hear me, can you repeat that, could you repeat that, repeat that, "
        "tell me a joke, tell me more, help me, hello there, hi there, hey there, i'm sorry, i am sorry, i see, i'm done, "
        "i don't understand, i understand, i'm fine, i am fine, nice to meet you, that's right, that's wrong, that's great, "
        "be quiet, shut up, try again, what do you know, what do you think, how does it work, how does that work, why not, "
        "what else, what now, what then, so what, how come, and you, what about you, how about you"
    ),
    asking=_set(
        "what who whom whose where when why how which is are am was were do does did can could will would should shall "
        "may might have has had what's who's where's how's isn't aren't don't doesn't can't"
    ),
    numbers=_set(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million "
        "double point plus minus times"
    ),
    operators=_set("plus minus times"),
    joining=_set(
        "and or but so because if when while although though unless until since than which whose whom as with from about"
    ),
    greetings=_phrases(
        "hello, hi, hey, okay, ok, well, so, thanks, yes, no, yeah, please, sorry, good morning, good evening, hello there, "
        "hi there, hey there, excuse me, thank you, alright, and, but"
    ),
    closing=_phrases("please, again, instead, thanks, thank you, right now, more slowly, for me"),
    introductions=_phrases("my name is, my name's, you are called, i am called"),
    question_words=_set("what who where when why how which what's who's where's how's"),
    being=_set("is are was were am"),
    doing=_set("do does did"),
    auxiliaries=_set("do does did can could would should will"),
    persons=_set("you i it he she they we that this"),
    verbs=_set(
        "do know think mean say live work come go start sleep eat help learn cost happen begin see hear remember"
    ),
    tails=_set(
        "from like for doing called feeling today now again made there here going yet still tomorrow then old"
    ),
    telling=_set(
        "me us know wonder say see remember understand explain show ask guess sure idea out forget forgot matter about of"
    ),
    owners=_set("my your his her its our their"),
    owned=_set("name job age birthday address opinion purpose problem plan colour color version favourite"),
)

GERMAN = TurnLexicon(
    backchannel=_set(
        "mhm mm mmm mh hm hmm hmmm aha ah ach oh äh ähm ja jaja jo joa jep okay ok genau richtig stimmt klar gut schön "
        "super toll echt wirklich interessant verstehe eben sicher alles"
    ),
    backchannel_phrases=_phrases(
        "ach so, ja ja, ja klar, ja genau, ist gut, alles klar, ich verstehe, na klar, sehr gut, ach ja, ach echt, "
        "ja gut, oh ja, stimmt ja, na gut, oh wow"
    ),
    stop=_set(
        "stopp stop halt warte moment nein nee aber eigentlich entschuldigung ruhe genug abbrechen hey bitte doch"
    ),
    stop_phrases=_phrases("hör auf, sei still, das reicht, einen moment, vielen dank"),
    openings=_phrases(
        "kannst du, können sie, könntest du, könnten sie, würdest du, würden sie, hast du, haben sie, bist du, sind sie, "
        "weißt du, wissen sie, was ist, was sind, was war, was kann, was kannst, was kostet, was bedeutet, was heißt, wer ist, "
        "wer bist, wer war, wer hat, wo ist, wo sind, wo kann, wo finde, wann ist, wann kommt, wann war, warum ist, warum hast, "
        "warum nicht, wie ist, wie kann, wie geht, wie viel, wie viele, wie lange, wie spät, wie heißt, wie macht, gibt es, "
        "ich möchte, ich will, ich habe, ich brauche, ich hätte, ich meinte, erzähl mir, sag mir, zeig mir, gib mir, kann ich, "
        "darf ich, mein name, und was, und wie, und wo"
    ),
    fillers=_set("äh ähm öh öhm hm hmm mh mm eh tja naja also"),
    dangling=_set(
        "der die den dem des eine einen einem einer eines mein meine meinen dein deine seine ihre unsere keine keinen "
        "dieser dieses jeder jede jedes und oder aber denn weil wenn als ob dass damit obwohl während bevor nachdem bis "
        "seit sondern sowie von vom zum zur im ins am bei beim für über unter vor hinter neben zwischen durch gegen "
        "ohne um sehr etwa ungefähr"
    ),
    leaning=_set(
        "das ein kein sein ihr diese wie zu in an auf aus mit nach ist sind war waren bin bist wird werden wurde hat "
        "haben habe hast kann können konnte soll sollte muss müssen möchte will darf ganz auch noch nur schon vielleicht "
        "ich sie es wir was wo warum wann wer nicht mehr"
    ),
    dangling_phrases=_phrases(
        "ich möchte, ich will, ich hätte gern, ich glaube, ich meine, kannst du, können sie, könntest du, was ist, wo ist, "
        "wer ist, wie viel, wie viele, zum beispiel, so wie, das heißt, gib mir, zeig mir, sag mir, und zwar"
    ),
    answers=_set(
        "ja nein doch nee klar okay ok danke hallo hi tschüss stopp stop halt warte bitte richtig genau stimmt nie "
        "vielleicht sicher weiter nochmal hilfe nichts gerne gern morgen servus moin"
    )
    | _phrases(
        "vielen dank, danke schön, danke sehr, nein danke, ja bitte, ja gerne, guten morgen, guten tag, guten abend, "
        "gute nacht, auf wiedersehen, bis bald, bis dann, das ist alles, das war's, noch nicht, weiß nicht, "
        "ich weiß nicht, keine ahnung, na klar, mach weiter, noch einmal, alles klar, schon gut, wie geht's, wer bist du, "
        "was kannst du, wie geht es dir, wie geht es ihnen, wie heißt du, was ist los, kannst du mir helfen, hörst du mich, "
        "bist du da, bist du sicher, sag das nochmal, wiederhole das, erzähl mir einen witz, hilf mir, hallo zusammen, "
        "tut mir leid, ich verstehe nicht, ich verstehe, sei still, hör auf, mir geht es gut, und du, und dir, warum nicht, "
        "was noch, was jetzt, na und, freut mich"
    ),
    asking=_set(
        "was wer wen wem wessen wo wohin woher wann warum wieso weshalb wie welche welcher welches wozu womit ist sind "
        "war hat hast haben kann kannst können könntest soll muss darf gibt wird willst möchtest"
    ),
    numbers=_set(
        "null eins ein zwei zwo drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
        "siebzehn achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert tausend "
        "komma plus minus mal"
    ),
    operators=_set("plus minus mal"),
    joining=_set(
        "und oder aber denn weil wenn als ob dass damit obwohl während bevor nachdem bis seit sondern sowie mit von über"
    ),
    greetings=_phrases(
        "hallo, hi, hey, okay, ok, also, so, danke, ja, nein, bitte, guten morgen, guten tag, guten abend, entschuldigung, "
        "gut, und, aber, servus, moin"
    ),
    closing=_phrases("bitte, nochmal, noch einmal, danke, stattdessen, für mich"),
    introductions=_phrases("mein name ist"),
    question_words=_set("was wer wo woher wohin wann warum wieso wie"),
    being=_set("ist sind war waren bin bist"),
    doing=_set("tut tust macht machst"),
    auxiliaries=_set("kann kannst können könntest soll sollte muss"),
    persons=_set("du ich er es wir sie ihr das dir ihnen"),
    verbs=_set(
        "heißt heißen kommst kommen machst machen wohnst wohnen denkst denken meinst meinen weißt wissen arbeitest kannst tust "
        "tun helfen geht funktioniert funktionierst bedeutet"
    ),
    tails=_set("heute denn da hier jetzt los dir ihnen so her genau gerade"),
    telling=_set(
        "mir uns ich du sie wir weißt weiß wissen sagen sag fragen gefragt verstehe verstehen sehen erklären erklär sicher "
        "ahnung vergessen gesagt egal"
    ),
    owners=_set("mein meine dein deine sein seine ihr ihre unser unsere"),
    owned=_set("name beruf alter geburtstag adresse meinung aufgabe plan version lieblingsfarbe"),
)

_LANGUAGES = {"en": ENGLISH, "de": GERMAN}
_NONE = TurnLexicon()


def lexicon_of(language: str) -> TurnLexicon:
    """The word lists of a language (BCP 47); empty ones for an unknown language."""
    return _LANGUAGES.get(language.lower().partition("-")[0], _NONE)
