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
