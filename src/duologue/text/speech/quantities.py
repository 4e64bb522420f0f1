"""Names of units, currencies, months and counted nouns in English and German.

Data for the rules in `english` and `german`.
"""

from __future__ import annotations

CURRENCIES: dict[str, dict[str, tuple[str, str, str, str]]] = {
    "en": {
        "$": ("dollar", "dollars", "cent", "cents"),
        "€": ("euro", "euros", "cent", "cents"),
        "£": ("pound", "pounds", "penny", "pence"),
        "¥": ("yen", "yen", "sen", "sen"),
        "CHF": ("Swiss franc", "Swiss francs", "centime", "centimes"),
    },
    "de": {
        "$": ("Dollar", "Dollar", "Cent", "Cent"),
        "€": ("Euro", "Euro", "Cent", "Cent"),
        "£": ("Pfund", "Pfund", "Pence", "Pence"),
        "¥": ("Yen", "Yen", "Sen", "Sen"),
        "CHF": ("Franken", "Franken", "Rappen", "Rappen"),
    },
}
"""Singular and plural of the currency, then of its hundredth."""
CODES = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "CHF": "CHF"}

UNITS: dict[str, dict[str, tuple[str, str]]] = {
    "en": {
        "km/h": ("kilometer per hour", "kilometers per hour"),
        "kph": ("kilometer per hour", "kilometers per hour"),
        "mph": ("mile per hour", "miles per hour"),
        "m/s": ("meter per second", "meters per second"),
        "MB/s": ("megabyte per second", "megabytes per second"),
        "GB/s": ("gigabyte per second", "gigabytes per second"),
        "Mbit/s": ("megabit per second", "megabits per second"),
        "km²": ("square kilometer", "square kilometers"),
        "m²": ("square meter", "square meters"),
        "cm²": ("square centimeter", "square centimeters"),
        "m³": ("cubic meter", "cubic meters"),
        "cm³": ("cubic centimeter", "cubic centimeters"),
        "km": ("kilometer", "kilometers"),
        "m": ("meter", "meters"),
        "cm": ("centimeter", "centimeters"),
        "mm": ("millimeter", "millimeters"),
        "µm": ("micrometer", "micrometers"),
        "nm": ("nanometer", "nanometers"),
        "kg": ("kilogram", "kilograms"),
        "g": ("gram", "grams"),
        "mg": ("milligram", "milligrams"),
        "lb": ("pound", "pounds"),
        "lbs": ("pound", "pounds"),
        "oz": ("ounce", "ounces"),
        "ft": ("foot", "feet"),
        "mi": ("mile", "miles"),
        "l": ("liter", "liters"),
        "L": ("liter", "liters"),
        "ml": ("milliliter", "milliliters"),
        "mL": ("milliliter", "milliliters"),
        "°C": ("degree Celsius", "degrees Celsius"),
        "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
        "°": ("degree", "degrees"),
        "KB": ("kilobyte", "kilobytes"),
        "kB": ("kilobyte", "kilobytes"),
        "MB": ("megabyte", "megabytes"),
        "GB": ("gigabyte", "gigabytes"),
        "TB": ("terabyte", "terabytes"),
        "GiB": ("gibibyte", "gibibytes"),
        "MiB": ("mebibyte", "mebibytes"),
        "GHz": ("gigahertz", "gigahertz"),
        "MHz": ("megahertz", "megahertz"),
        "kHz": ("kilohertz", "kilohertz"),
        "Hz": ("hertz", "hertz"),
        "kWh": ("kilowatt hour", "kilowatt hours"),
        "kW": ("kilowatt", "kilowatts"),
        "W": ("watt", "watts"),
        "V": ("volt", "volts"),
        "mAh": ("milliampere hour", "milliampere hours"),
        "ms": ("millisecond", "milliseconds"),
        "s": ("second", "seconds"),
        "sec": ("second", "seconds"),
        "min": ("minute", "minutes"),
        "h": ("hour", "hours"),
        "hrs": ("hour", "hours"),
        "%": ("percent", "percent"),
        "‰": ("per mille", "per mille"),
    },
    "de": {
        "km/h": ("Kilometer pro Stunde", "Kilometer pro Stunde"),
        "m/s": ("Meter pro Sekunde", "Meter pro Sekunde"),
        "MB/s": ("Megabyte pro Sekunde", "Megabyte pro Sekunde"),
        "km²": ("Quadratkilometer", "Quadratkilometer"),
        "m²": ("Quadratmeter", "Quadratmeter"),
        "cm²": ("Quadratzentimeter", "Quadratzentimeter"),
        "m³": ("Kubikmeter", "Kubikmeter"),
        "km": ("Kilometer", "Kilometer"),
        "m": ("Meter", "Meter"),
        "cm": ("Zentimeter", "Zentimeter"),
        "mm": ("Millimeter", "Millimeter"),
        "kg": ("Kilogramm", "Kilogramm"),
        "g": ("Gramm", "Gramm"),
        "mg": ("Milligramm", "Milligramm"),
        "l": ("Liter", "Liter"),
        "ml": ("Milliliter", "Milliliter"),
        "°C": ("Grad Celsius", "Grad Celsius"),
        "°F": ("Grad Fahrenheit", "Grad Fahrenheit"),
        "°": ("Grad", "Grad"),
        "KB": ("Kilobyte", "Kilobyte"),
        "kB": ("Kilobyte", "Kilobyte"),
        "MB": ("Megabyte", "Megabyte"),
        "GB": ("Gigabyte", "Gigabyte"),
        "TB": ("Terabyte", "Terabyte"),
        "GHz": ("Gigahertz", "Gigahertz"),
        "MHz": ("Megahertz", "Megahertz"),
        "kHz": ("Kilohertz", "Kilohertz"),
        "Hz": ("Hertz", "Hertz"),
        "kWh": ("Kilowattstunde", "Kilowattstunden"),
        "kW": ("Kilowatt", "Kilowatt"),
        "W": ("Watt", "Watt"),
        "V": ("Volt", "Volt"),
        "ms": ("Millisekunde", "Millisekunden"),
        "s": ("Sekunde", "Sekunden"),
        "Sek.": ("Sekunde", "Sekunden"),
        "min": ("Minute", "Minuten"),
        "Min.": ("Minute", "Minuten"),
        "h": ("Stunde", "Stunden"),
        "Std.": ("Stunde", "Stunden"),
        "Mio.": ("Million", "Millionen"),
        "Mrd.": ("Milliarde", "Milliarden"),
        "%": ("Prozent", "Prozent"),
        "‰": ("Promille", "Promille"),
    },
}
"""One and several of each."""
for _units in UNITS.values():
    # As typed without a superscript: m^2.
    _units.update({unit.replace("²", "^2").replace("³", "^3"): names for unit, names in _units.items()})
FEMININE = frozenset(
    ("Sekunde", "Minute", "Stunde", "Millisekunde", "Kilowattstunde", "Million", "Milliarde")
)

MONTHS: dict[str, tuple[str, ...]] = {
    "en": (
        *("January", "February", "March", "April", "May", "June"),
        *("July", "August", "September", "October", "November", "December"),
    ),
    "de": (
        *("Januar", "Februar", "März", "April", "Mai", "Juni"),
        *("Juli", "August", "September", "Oktober", "November", "Dezember"),
    ),
}
FRACTIONS = {
    "½": "1/2",
    "⅓": "1/3",
    "⅔": "2/3",
    "¼": "1/4",
    "¾": "3/4",
    "⅕": "1/5",
    "⅛": "1/8",
    "⅜": "3/8",
    "⅝": "5/8",
    "⅞": "7/8",
}
_QUALIFIERS = {
    "en": """
    active additional adult annual concurrent daily different existing extra global loyal male female monthly more new old older
    online other paid paying potential registered total unique weekly working yearly young younger US UK EU American British
    European German Chinese Indian
    """,
    "de": """
    aktive angemeldete bezahlte eindeutige jährliche junge ältere monatliche neue registrierte tägliche verkaufte weitere
    wöchentliche zahlende zusätzliche US
    """,
}
_COUNTED = {
    "en": """
    accounts adults animals answers articles babies barrels books buyers calls cars cases characters children citizens clicks
    clients comments commuters companies consumers conversations copies customers data deaths devices documents dollars doses
    downloads emails employees entries euros events examples families fans farmers files followers gamers guests hits homes
    households houses immigrants infections inhabitants installations installs items jobs kids likes lines listeners litres
    liters meals members men merchants messages migrants miles neurons nodes orders packages pages parameters participants
    passengers patients people permits persons photos images pictures pieces plays players points posts pounds prompts pupils
    queries questions readers records refugees requests residents reviews rows sales samples seats sentences sessions shares
    soldiers songs species steps streams students subscribers subscriptions tests tickets tokens tonnes tons tourists
    transactions travellers trees trips tweets units users vehicles videos viewers views visitors visits voters votes
    watchers weights women words workers years yen
    """,
    "de": """
    Abonnenten Abonnements Anfragen Angestellte Anrufe Arbeitsplätze Artikel Aufrufe Autos Bäume Beiträge Beispiele Beschäftigte
    Besuche Besucher Besucherinnen Bestellungen Betriebe Bilder Bücher Bürger Bürgerinnen Dateien Datensätze Deutsche Dokumente
    Dollar Downloads Einträge Einwohner Euro Exemplare Fälle Fahrgäste Fahrzeuge Familien Fans Flüchtlinge Follower Fotos Franken
    Fragen Gäste Geräte Haushalte Hörer Impfungen Installationen Kinder Klicks Konten Kopien Kunden Kundinnen Leser Leserinnen
    Leute Menschen Mitarbeiter Mitglieder Nachrichten Nutzer Nutzerinnen Parameter Passagiere Patienten Personen Pfund Reisende
    Sätze Schritte Schüler Seiten Seitenaufrufe Soldaten Spieler Stellen Stimmen Stück Studenten Studierende Tests Teilnehmer
    Tickets Tiere Tokens Token Tonnen Tote Touristen Transaktionen User Verträge Videos Wähler Wohnungen Wörter Zeichen Zeilen
    Zugriffe Zuschauer
    """,
}


def countable_pattern(language: str) -> str:
    """A pattern for nouns that are counted in thousands and millions rather than measured in meters, with their adjectives:
    users, new users, people. The group `noun` is the noun."""
    qualifiers, nouns = ("|".join(table[language].split()) for table in (_QUALIFIERS, _COUNTED))
    return rf"(?:(?:{qualifiers})[ -]){{0,3}}(?P<noun>{nouns})\b(?!['’])"


PICTURES = frozenset(("images", "photos", "pictures", "videos", "Bilder", "Fotos", "Videos"))
"""Before these nouns, 4K is a resolution, not a number."""
MEASURABLE = frozenset(
    ("cars", "houses", "lines", "men", "nodes", "pieces", "points", "seats", "steps", "trees", "women")
)
MEASURABLE |= frozenset(
    ("Autos", "Bäume", "Fahrzeuge", "Schritte", "Stellen", "Stück", "Wohnungen", "Zeilen")
)
"""Before these nouns, 5m may be a length."""
_ROMAN = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX"
ROMAN = {numeral: number for number, numeral in enumerate(_ROMAN.split(), 1)}
RULERS = frozenset(
    (
        *(
            "Henry",
            "Charles",
            "Louis",
            "George",
            "Elizabeth",
            "William",
            "Edward",
            "James",
            "Richard",
            "Philip",
        ),
        *(
            "Napoleon",
            "Catherine",
            "Alexander",
            "Pius",
            "Paul",
            "John",
            "Gregory",
            "Leo",
            "Benedict",
            "Ramses",
        ),
        *(
            "Ludwig",
            "Friedrich",
            "Wilhelm",
            "Karl",
            "Heinrich",
            "Otto",
            "Katharina",
            "Georg",
            "Benedikt",
            "Johannes",
        ),
    )
)
"""First names after which a Roman numeral is an ordinal: Henry the eighth."""
