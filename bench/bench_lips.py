"""Measure the lip error: how far the mouth's shapes are from the sounds that they belong to, in samples of the reply's own sound.

    python bench/bench_lips.py [--languages en-us de fr es it] [--show]
    python bench/bench_lips.py --page [--seconds 50] [--throttle 1]

espeak speaks fifty sentences and says at which sample each sound begins; that is taken as the truth (of a "p" the silence before its burst,
in which the lips are closed). For each onset of a closure of the lips
(p, b, m), of an open vowel (a) and of a rounded one (u, w) the moment is sought at which the curve reaches 70 % of that shape. Reported: the
offset in ms (below 0: the mouth is early), its median, the median and the 95th percentile of its absolute value, and onsets whose shape
never comes within 250 ms. Once for curves of the exact phones, and once for phones guessed by the letters of the words, as for voices that
report words only. No time of this machine is in the figures; they are the same wherever they are taken. `--show` prints every onset beyond
40 ms.

`--page` measures the rest of the way instead, in a Chromium and by the clock: from the sample that is audible to the mouth that is drawn
(`page_lips.py`); `--throttle 4` slows the page's processor down.

Budget, of the exact phones and of the page: 95 % within 40 ms.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import anyio

from duologue.engines.contracts import SpeakerEngine
from duologue.engines.registry import load_speaker
from duologue.text.speech.letter_sounds import guessed_phones
from duologue.turns.mouth.curve import MS, PAUSE, MouthCurve
from duologue.turns.mouth.visemes import Viseme, visemes_of
from duologue.values.audio import samples
from duologue.values.mouth import Mouth, MouthKey, Phone, mouth_at

BUDGET = 40.0
"""Milliseconds."""
REACHED = 0.7
"""Share of a shape that counts as having it."""
SEARCHED = 250
"""Milliseconds around an onset in which its shape is sought."""
OPEN, ROUND = 70, -70
"""Weights from which a vowel counts as open, or rounded."""

SENTENCES: dict[str, tuple[str, ...]] = {
    "en-us": (
        "Please bring my blue umbrella back before Monday.",
        "Who knew that the moon could move you so?",
        "Bob and Pam made apple pie for the whole family.",
        "The father of my best friend is a farmer.",
        "I want to walk through the woods this afternoon.",
        "Stop, put the map on the table, and breathe.",
        "A small boat rocked on the calm water.",
        "Maybe people should speak about it more often.",
        "Five very brave firemen saved the village.",
        "What would you do with a million pounds?",
    ),
    "de": (
        "Bitte bringen Sie mir morgen ein halbes Brot mit.",
        "Mein Bruder und ich haben einen Apfelbaum gepflanzt.",
        "Du musst nur die Schuhe putzen, dann gehen wir los.",
        "Am Abend war das Wasser warm und ruhig.",
        "Für meine Mutter suche ich ein gutes Buch.",
        "Papa packt am Samstag die blauen Koffer.",
        "Wir haben über fünfzig Bilder aufgehängt.",
        "Das Pferd lief im Galopp über die Wiese.",
        "Warum bleibt ihr nicht noch ein paar Minuten?",
        "Zum Frühstück gab es Brombeeren und Sahne.",
    ),
    "fr": (
        "Bonjour, je voudrais une baguette et deux pommes.",
        "Ma mère habite près de la mer depuis longtemps.",
        "Vous pouvez ouvrir la porte, il fait beau.",
        "Le petit bateau bleu part demain matin.",
        "Nous avons beaucoup aimé ce film.",
        "Où est passé mon parapluie rouge?",
        "Il faut boire de l'eau tous les jours.",
        "Papa prépare un bon repas pour la famille.",
        "Elle a vu un loup dans la forêt.",
        "Combien de personnes viennent ce soir?",
    ),
    "es": (
        "Buenos días, me gustaría comprar un kilo de manzanas.",
        "Mi abuela preparaba la mejor sopa del pueblo.",
        "La luna se mueve despacio sobre el mar.",
        "Pablo bebe un vaso de agua cada mañana.",
        "Nunca había visto una puerta tan bonita.",
        "El gato blanco duerme en la ventana.",
        "Vamos a buscar un lugar tranquilo para comer.",
        "Mucha gente espera el autobús por la tarde.",
        "Me parece que mañana va a llover.",
        "Los niños juegan al fútbol en el parque.",
    ),
    "it": (
        "Buongiorno, vorrei prenotare un tavolo per due persone.",
        "La mamma prepara la pasta con il pomodoro.",
        "Il bambino mangia una mela rossa.",
        "Domani pomeriggio andiamo al museo.",
        "Mi piace molto la musica di questo gruppo.",
        "Il lupo abita nel bosco vicino al fiume.",
        "Abbiamo aspettato un'ora sotto la pioggia.",
        "Una barca bianca arriva nel porto.",
        "Puoi aprire la finestra, per favore?",
        "Mio padre lavora in una banca di Palermo.",
    ),
}


@dataclass(frozen=True)
class Onset:
    """The beginning of a shape: what it is, at which sample, of which sound."""

    kind: str
    sample: int
    symbol: str
    target: int


def _kind(viseme: Viseme) -> str:
    if viseme.press == 100:
        return "closure"
    if viseme.kind == "vowel" and viseme.open >= OPEN:
        return "open"
    return "rounded" if viseme.wide <= ROUND else ""


def onsets(phones: Sequence[Phone]) -> list[Onset]:
    """The onsets in these phones. A sound that begins in the shape of the one before has none."""
    found: list[Onset] = []
    before: tuple[str, int] = ("", 0)
    for phone in phones:
        shapes = visemes_of(phone.symbol)
        if not shapes:
            continue
        kind = _kind(shapes[0])
        if kind and not (before[0] == kind and phone.start - before[1] < PAUSE):
            target = {"closure": shapes[0].press, "open": shapes[0].open}.get(kind, shapes[0].wide)
            found.append(Onset(kind, phone.start, phone.symbol, target))
        before = (_kind(shapes[-1]), phone.end)
    return found


_SHARE: dict[str, Callable[[Mouth, int], float]] = {
    "closure": lambda mouth, target: mouth.press * 100 / target,
    "open": lambda mouth, target: mouth.open * 100 / target,
    "rounded": lambda mouth, target: mouth.wide * 100 / target,
}


def offset(keys: Sequence[MouthKey], onset: Onset) -> float | None:
    """Milliseconds from the onset to the moment at which the curve comes to REACHED of the shape, the nearest one within SEARCHED; None
    where there is none."""
    share = _SHARE[onset.kind]

    def reached(at: int) -> bool:
        return share(mouth_at(keys, at), onset.target) >= REACHED

    moments = [
        ms
        for ms in range(-SEARCHED, SEARCHED + 1)
        if reached(onset.sample + ms * MS) and not reached(onset.sample + (ms - 1) * MS)
    ]
    return float(min(moments, key=abs)) if moments else None


def curve_of(phones: Iterable[Phone]) -> list[MouthKey]:
    curve = MouthCurve()
    return curve.feed(phones, 0) + curve.finish()


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


async def spoken(engine: SpeakerEngine, sentence: str, voice: str) -> tuple[list[Phone], list[Phone], int]:
    """The phones of a sentence as the library says them, as its letters suggest them, and its samples."""
    exact: list[Phone] = []
    guessed: list[Phone] = []
    length = 0
    async with engine.speak(sentence, voice=voice) as chunks:
        async for chunk in chunks:
            exact += chunk.phones
            for word in chunk.words:
                guessed += guessed_phones(word.text, word.start, word.end, voice)
            length += samples(chunk.pcm)
    return exact, guessed, length


def report(name: str, offsets: Sequence[tuple[Onset, float | None]]) -> float:
    """Print the figures; gives the 95th percentile of all kinds."""
    worst = 0.0
    for kind in ("closure", "open", "rounded", "all"):
        chosen = [(onset, value) for onset, value in offsets if kind in (onset.kind, "all")]
        found = [value for _, value in chosen if value is not None]
        distances = [abs(value) for value in found]
        if not found:
            continue
        worst = percentile(distances, 0.95)
        print(
            f"{name:8} {kind:8} {len(chosen):4} onsets, offset {median(found):+6.1f} ms, "
            f"error {median(distances):5.1f} ms in the median, {worst:5.1f} p95, {len(chosen) - len(found)} not found"
        )
    return worst


def measure_in_page(seconds: float, throttle: float) -> float:
    """Measure and print the lip error of a page; gives its 95th percentile."""
    # It needs a browser, which the rest does not.
    from page_lips import measure_page

    kinds, figures = measure_page(seconds, throttle)
    everything = [value for values in kinds.values() for value in values]
    for kind, values in {**kinds, "all": everything}.items():
        found = [value for value in values if value is not None]
        if not found:
            raise SystemExit(f"no mouth that {kind} was seen")
        distances = [abs(value) for value in found]
        print(
            f"page {kind:8} {len(values):4} edges, offset {median(found):+6.1f} ms, error {median(distances):5.1f} ms in the median, "
            f"{percentile(distances, 0.95):5.1f} p95, {max(distances):5.1f} at most, {len(values) - len(found)} not found"
        )
    print(", ".join(f"{name} {value:.1f} ms" for name, value in figures.items()))
    # One that was not found is late by more than was searched.
    return percentile([abs(value) if value is not None else SEARCHED for value in everything], 0.95)


async def measure(languages: Sequence[str], *, show: bool = False) -> float:
    """Measure and print; gives the 95th percentile for exact phones."""
    engine = await load_speaker("espeak", {})
    exact: list[tuple[Onset, float | None]] = []
    guessed: list[tuple[Onset, float | None]] = []
    phones = keys = length = 0
    for language in languages:
        for sentence in SENTENCES[language]:
            truth, guess, made = await spoken(engine, sentence, language)
            curve, fallback = curve_of(truth), curve_of(guess)
            phones, keys, length = phones + len(truth), keys + len(curve), length + made
            for onset in onsets(truth):
                exact.append((onset, offset(curve, onset)))
                guessed.append((onset, offset(fallback, onset)))
                if show and ((found := exact[-1][1]) is None or abs(found) > BUDGET):
                    print(
                        f"{language} {onset.kind} {onset.symbol} at {onset.sample / MS:.0f} ms: {found}: {sentence}"
                    )
    await engine.close()
    p95 = report("exact", exact)
    report("letters", guessed)
    print(
        f"{keys} keys for {phones} phones ({keys / phones:.2f} each) in {length / MS / 1000:.1f} s of sound"
    )
    return p95


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--languages", nargs="+", default=list(SENTENCES), choices=list(SENTENCES))
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--seconds", type=float, default=50.0)
    parser.add_argument("--throttle", type=float, default=1.0)
    arguments = parser.parse_args()
    if arguments.page:
        p95 = measure_in_page(arguments.seconds, arguments.throttle)
    else:
        p95 = anyio.run(lambda: measure(arguments.languages, show=arguments.show))
    print(f"budget: {BUDGET:.0f} ms, {'kept' if p95 < BUDGET else 'MISSED'}")
    sys.exit(p95 >= BUDGET)


if __name__ == "__main__":
    main()
