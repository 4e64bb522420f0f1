"""Words as turn taking compares them: lower case, without the marks around them.

Owns the cutting and the little words of the languages it knows, German and English. Others have none, and every rule that asks for them
falls back to what needs no language.
"""

from __future__ import annotations

import re

from msgspec import Struct

_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, in order."""
    return tuple(word.replace("’", "'") for word in _WORD.findall(text.lower()))


class LittleWords(Struct, frozen=True):
    """What one language's words tell about turns."""

    backchannel: frozenset[str] = frozenset()
    """Said while somebody else speaks, and meant to let them go on."""
    backchannel_phrases: frozenset[str] = frozenset()
    """The same, of several words."""
    stop: frozenset[str] = frozenset()
    """First words of somebody who takes the turn."""
    fillers: frozenset[str] = frozenset()
    """Sounds of somebody who looks for the next word."""
    dangling: frozenset[str] = frozenset()
    """Words that want another one after them: articles, prepositions, conjunctions, auxiliaries."""
    leaning: frozenset[str] = frozenset()
    """Words that often do, and may well stand at an end."""
    dangling_phrases: frozenset[str] = frozenset()
    """The same, of two words: "want to"."""
    answers: frozenset[str] = frozenset()
    """Whole turns of a few words."""
    asking: frozenset[str] = frozenset()
    """First words of a question."""
    numbers: frozenset[str] = frozenset()


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _phrases(phrases: str) -> frozenset[str]:
    return frozenset(phrase.strip() for phrase in phrases.split(","))


ENGLISH = LittleWords(
    backchannel=_set(
        "mhm mm mmm mmhm mhmm mm-hm mm-hmm mm-mm hm hmm hmmm uh-huh uhuh huh aha ah oh uh um ok okay yeah yes yep yup "
        "right sure wow cool nice great good true exactly really indeed alright interesting"
    ),
    backchannel_phrases=_phrases(
        "i see, uh huh, mm hm, mm hmm, got it, of course, all right, that's right, oh really, no way, go on, oh wow, "
        "makes sense, i know, very good, oh i see, that's true"
    ),
    stop=_set("stop wait hold hang no nope but actually sorry excuse pause quiet enough cancel hey please"),
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
        "how are you, who are you, what can you do, say that again, what was that"
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
)

GERMAN = LittleWords(
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
        "was kannst du"
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
)

_LANGUAGES = {"en": ENGLISH, "de": GERMAN}
_NONE = LittleWords()


def little_words(language: str) -> LittleWords:
    """The little words of a language (BCP 47); none where it is not known."""
    return _LANGUAGES.get(language.lower().partition("-")[0], _NONE)
