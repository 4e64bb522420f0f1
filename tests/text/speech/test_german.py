import pytest

from duologue.text.speech.german import number
from duologue.text.speech.normalise import speakable


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("3,50 €", "drei Euro fünfzig"),
        ("1 €", "ein Euro"),
        ("0,99 EUR", "neunundneunzig Cent"),
        ("1.234,56 €", "eintausendzweihundertvierunddreißig Euro sechsundfünfzig"),
        ("$5", "fünf Dollar"),
        ("3,5 Mio. Euro", "drei Komma fünf Millionen Euro"),
        ("100 %", "einhundert Prozent"),
        ("20 °C", "zwanzig Grad Celsius"),
        ("5 km/h", "fünf Kilometer pro Stunde"),
        ("1 h", "eine Stunde"),
        ("2 h", "zwei Stunden"),
        ("12.345,67", "zwölftausenddreihundertfünfundvierzig Komma sechs sieben"),
        ("1.000.000", "eine Million"),
        ("-3", "minus drei"),
        ("14:30 Uhr", "vierzehn Uhr dreißig"),
        ("1:00", "ein Uhr"),
        ("14 Uhr", "vierzehn Uhr"),
        ("am 3. Mai 2024", "am dritten Mai zweitausendvierundzwanzig"),
        ("der 3. Mai", "der dritte Mai"),
        ("vom 03.05.2024", "vom dritten Mai zweitausendvierundzwanzig"),
        ("die 2. Auflage", "die zweite Auflage"),
        ("am 21. Tag", "am einundzwanzigsten Tag"),
        ("1984", "neunzehnhundertvierundachtzig"),
        ("die 90er Jahre", "die neunziger Jahre"),
        ("1/2", "ein halb"),
        ("3/4", "drei Viertel"),
        ("2½", "zweieinhalb"),
        ("030 1234567", "null drei null, eins zwei drei vier fünf sechs sieben"),
        ("192.168.1.1", "einhundertzweiundneunzig Punkt einhundertachtundsechzig Punkt eins Punkt eins"),
        ("v1.2", "Version eins Punkt zwei"),
        ("Ludwig XIV. kam", "Ludwig der Vierzehnte kam"),
        ("Kapitel IV", "Kapitel vier"),
        ("2 + 3 = 5", "zwei plus drei gleich fünf"),
        ("3 x 4", "drei mal vier"),
        ("3 : 2", "drei zu zwei"),
        ("10-12 Seiten", "zehn bis zwölf Seiten"),
        ("z. B. Tee", "zum Beispiel Tee"),
        ("Nr. 5", "Nummer fünf"),
        ("A4 und 3D", "A vier und drei D"),
        ("anna@web.de", "anna ät web Punkt de"),
    ],
)
def test_how_it_is_said(written, said):
    assert speakable(f"also {written} ja", "de").text == f"also {said} ja"


def test_a_number_with_a_zero_before_it_is_digits():
    assert number("0815") == "null acht eins fünf"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("x^2", "x Quadrat"),
        ("x^3", "x hoch drei"),
        ("x^n", "x hoch n"),
        ("10^6", "zehn hoch sechs"),
        ("10^-3", "zehn hoch minus drei"),
        ("2^64-1", "zwei hoch vierundsechzig minus eins"),
        ("2^n", "zwei hoch n"),
        ("x^{10}", "x hoch zehn"),
        ("x² + y²", "x Quadrat plus y Quadrat"),
        ("E = mc^2", "E gleich mc Quadrat"),
        ("5 m^2", "fünf Quadratmeter"),
    ],
)
def test_powers(written, said):
    assert speakable(f"also {written} ja", "de").text == f"also {said} ja"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("50%-60%", "fünfzig bis sechzig Prozent"),
        ("50 % – 60 %", "fünfzig bis sechzig Prozent"),
        ("20-30 %", "zwanzig bis dreißig Prozent"),
        ("2,5%-3%", "zwei Komma fünf bis drei Prozent"),
        ("-5%-10%", "minus fünf bis zehn Prozent"),
        ("3–5 km", "drei bis fünf Kilometer"),
        ("3 km-5 km", "drei bis fünf Kilometer"),
        ("500m-1km", "fünfhundert Meter bis ein Kilometer"),
        ("10 €-20 €", "zehn bis zwanzig Euro"),
        ("5-6 Mio. Nutzer", "fünf bis sechs Millionen Nutzer"),
        ("5 Mio.-6 Mio. Nutzer", "fünf bis sechs Millionen Nutzer"),
        ("-5 °C", "minus fünf Grad Celsius"),
    ],
)
def test_ranges_of_what_is_measured(written, said):
    assert speakable(f"also {written} ja", "de").text == f"also {said} ja"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("5m Nutzer", "fünf Millionen Nutzer"),
        ("1m Nutzer", "eine Million Nutzer"),
        ("1,5M neue Nutzer", "eins Komma fünf Millionen neue Nutzer"),
        ("20k Anfragen", "zwanzigtausend Anfragen"),
        ("1k Nutzer", "eintausend Nutzer"),
        ("10-15k Nutzer", "zehn bis fünfzehntausend Nutzer"),
        ("5 Mio. Nutzer", "fünf Millionen Nutzer"),
        ("5m", "fünf Meter"),
        ("5 m hoch", "fünf Meter hoch"),
        ("5m Seil", "fünf Meter Seil"),
        ("5m Bäume", "fünf Meter Bäume"),
        ("4K Videos", "vier K Videos"),
    ],
)
def test_thousands_and_millions_of_what_is_counted(written, said):
    assert speakable(f"also {written} ja", "de").text == f"also {said} ja"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Am 1. Mai und 21. Juni", "Am ersten Mai und einundzwanzigsten Juni"),
        ("am 1. Mai, 3. Juni und 21. Juli", "am ersten Mai, dritten Juni und einundzwanzigsten Juli"),
        ("am 1. und 2. Mai", "am ersten und zweiten Mai"),
        ("am 1. oder 2. Mai 2024", "am ersten oder zweiten Mai zweitausendvierundzwanzig"),
        ("am Montag, den 1. und 2. Mai", "am Montag, den ersten und zweiten Mai"),
        ("zwischen dem 1. Mai und 21. Juni", "zwischen dem ersten Mai und einundzwanzigsten Juni"),
        ("vom 1. bis 21. Juni", "vom ersten bis einundzwanzigsten Juni"),
        ("vom 1.–3. Mai", "vom ersten bis dritten Mai"),
        ("am 1./2. Mai", "am ersten und zweiten Mai"),
        ("am 1.5. und 21.6.", "am ersten Mai und einundzwanzigsten Juni"),
        ("der 1. Mai und 21. Juni", "der erste Mai und einundzwanzigste Juni"),
        ("der 1. Mai und der 21. Juni", "der erste Mai und der einundzwanzigste Juni"),
        ("war 1. Mai und 21. Juni", "war erster Mai und einundzwanzigster Juni"),
        ("am 1. Mai war Fest, 21. Juni nicht", "am ersten Mai war Fest, einundzwanzigster Juni nicht"),
        ("im 19. und 20. Jahrhundert", "im neunzehnten und zwanzigsten Jahrhundert"),
        ("das 2. und 3. Kapitel", "das zweite und dritte Kapitel"),
        ("am 3. Tag und 4. Tag", "am dritten Tag und vierten Tag"),
        ("in der 3. Woche", "in der dritten Woche"),
        ("die 3. Woche", "die dritte Woche"),
    ],
)
def test_ordinals_that_are_joined_have_the_case_of_the_first(written, said):
    assert speakable(f"{written} ja", "de").text == f"{said} ja"
