import pytest

from duologue.text.speech.english import number
from duologue.text.speech.normalise import speakable


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("$3.50", "three dollars and fifty cents"),
        ("$1", "one dollar"),
        ("$1.00", "one dollar"),
        ("$0.99", "ninety-nine cents"),
        ("$1,234.05", "one thousand two hundred thirty-four dollars and five cents"),
        ("-$5", "minus five dollars"),
        ("£20", "twenty pounds"),
        ("20 EUR", "twenty euros"),
        ("3,50 EUR", "three euros and fifty cents"),
        ("$3.5 million", "three point five million dollars"),
        ("$5k", "five thousand dollars"),
        ("100%", "one hundred percent"),
        ("3.5 %", "three point five percent"),
        ("1 km", "one kilometer"),
        ("5 km/h", "five kilometers per hour"),
        ("20°C", "twenty degrees Celsius"),
        ("90°", "ninety degrees"),
        ("16 GB", "sixteen gigabytes"),
        ("3-5 km", "three to five kilometers"),
        ("-3", "minus three"),
        ("1,000,000", "one million"),
        ("12 000", "twelve thousand"),
        ("3.14", "three point one four"),
        ("007", "zero zero seven"),
        ("1st, 22nd", "first, twenty-second"),
        ("14:30", "fourteen thirty"),
        ("9:05 am", "nine oh five a m"),
        ("at 5 p.m. sharp", "at five p m sharp"),
        ("9:00", "nine o'clock"),
        ("0:00:01", "zero zero and one second"),
        ("99:99", "ninety-nine to ninety-nine"),
        ("3:2", "three to two"),
        ("May 3, 2024", "May third, twenty twenty-four"),
        ("Dec. 24", "December twenty-fourth"),
        ("3 May 2024", "the third of May twenty twenty-four"),
        ("2024-05-03", "May third, twenty twenty-four"),
        ("5/3/2024", "May third, twenty twenty-four"),
        ("25/12/2024", "December twenty-fifth, twenty twenty-four"),
        ("3.5.2024", "May third, twenty twenty-four"),
        ("in 1984", "in nineteen eighty-four"),
        ("1500 people", "one thousand five hundred people"),
        ("the 1990s", "the nineteen nineties"),
        ("1990–1995", "nineteen ninety to nineteen ninety-five"),
        ("1/2", "one half"),
        ("3/4", "three quarters"),
        ("2 1/2", "two and a half"),
        ("2½", "two and a half"),
        ("7/3", "seven over three"),
        ("24/7", "twenty-four seven"),
        ("555-123-4567", "five five five, one two three, four five six seven"),
        ("v1.2.3", "version one point two point three"),
        ("192.168.1.1", "one hundred ninety-two dot one hundred sixty-eight dot one dot one"),
        ("Henry VIII", "Henry the eighth"),
        ("World War II", "World War two"),
        ("As I said", "As I said"),
        ("2 + 3 = 5", "two plus three equals five"),
        ("5 - 3", "five minus three"),
        ("3 x 4", "three times four"),
        ("3 < 4", "three less than four"),
        ("x >= 4", "x at least four"),
        ("5²", "five squared"),
        ("GPT-4 and H2O, 4K", "GPT four and H two O, four K"),
        ("C++ and C#", "C plus plus and C sharp"),
        ("#1", "number one"),
        ("AT&T", "AT and T"),
        ("e.g. tea", "for example tea"),
        ("10-12 pages", "ten to twelve pages"),
    ],
)
def test_how_it_is_said(written, said):
    assert speakable(f"so {written} yes").text == f"so {said} yes"


def test_a_number_too_long_to_count_is_digits():
    assert (
        number("1234567890123456")
        == "one two three four five six seven eight nine zero one two three four five six"
    )


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("x^2", "x squared"),
        ("x^3", "x cubed"),
        ("x^n", "x to the power of n"),
        ("x^10", "x to the power of ten"),
        ("10^6", "ten to the power of six"),
        ("10^-3", "ten to the power of minus three"),
        ("2^64-1", "two to the power of sixty-four minus one"),
        ("2^n", "two to the power of n"),
        ("x^{2}", "x squared"),
        ("x^(n+1)", "x to the power of n plus one"),
        ("2x^2y", "two x squared y"),
        ("x² + y³", "x squared plus y cubed"),
        ("x^2 + y^2 = z^2", "x squared plus y squared equals z squared"),
        ("E = mc^2", "E equals mc squared"),
        ("n^2 steps", "n squared steps"),
        ("5 m^2", "five square meters"),
        ("a ^ b", "a b"),
    ],
)
def test_powers(written, said):
    assert speakable(f"so {written} yes").text == f"so {said} yes"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("50%-60%", "fifty to sixty percent"),
        ("50%–60%", "fifty to sixty percent"),
        ("50 % - 60 %", "fifty to sixty percent"),
        ("50-60%", "fifty to sixty percent"),
        ("20-30 %", "twenty to thirty percent"),
        ("-5%-10%", "minus five to ten percent"),
        ("-5 %", "minus five percent"),
        ("2.5%-3%", "two point five to three percent"),
        ("3–5 km", "three to five kilometers"),
        ("3 km–5 km", "three to five kilometers"),
        ("500m-1km", "five hundred meters to one kilometer"),
        ("-5–10 °C", "minus five to ten degrees Celsius"),
        ("$3-$5", "three to five dollars"),
        ("$3-5 million", "three to five million dollars"),
        ("$3m-$5m", "three to five million dollars"),
        ("$900k-$2m", "nine hundred thousand dollars to two million dollars"),
        ("10 €-20 €", "ten to twenty euros"),
        ("$5 - $3", "five dollars, three dollars"),
        ("a 50%-off sale", "a fifty percent-off sale"),
    ],
)
def test_ranges_of_what_is_measured(written, said):
    assert speakable(f"so {written} yes").text == f"so {said} yes"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("5m users", "five million users"),
        ("5 m users", "five million users"),
        ("1m users", "one million users"),
        ("1.5m new users", "one point five million new users"),
        ("5m monthly active users", "five million monthly active users"),
        ("5m US dollars", "five million US dollars"),
        ("$5m", "five million dollars"),
        ("3M users", "three million users"),
        ("2bn people", "two billion people"),
        ("2bn", "two billion"),
        ("5k requests", "five thousand requests"),
        ("10-15k users", "ten to fifteen thousand users"),
        ("5m-6m users", "five to six million users"),
        ("7B parameters", "seven billion parameters"),
        ("3M lines", "three million lines"),
        ("5m", "five meters"),
        ("5 m", "five meters"),
        ("5m.", "five meters."),
        ("5m tall", "five meters tall"),
        ("5m of rope", "five meters of rope"),
        ("5m away from users", "five meters away from users"),
        ("5m trees", "five meters trees"),
        ("a 100m women's final", "a one hundred meters women's final"),
        ("5-6 m", "five to six meters"),
        ("5m/s", "five meters per second"),
        ("a 5k run", "a five k run"),
        ("4k videos", "four k videos"),
        ("a 7B model", "a seven B model"),
    ],
)
def test_thousands_and_millions_of_what_is_counted(written, said):
    assert speakable(f"so {written} yes").text == f"so {said} yes"
