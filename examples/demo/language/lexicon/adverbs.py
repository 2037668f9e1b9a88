"""Adverbs and set phrases for time, frequency, manner and place."""

from examples.demo.language.words import Adverb, AdverbRole


def _time(english: str, german: str, spheres: str) -> Adverb:
    return Adverb(english, german, AdverbRole.TIME, frozenset(spheres.split()))


WEEKDAYS = {
    "Monday": "Montag",
    "Tuesday": "Dienstag",
    "Wednesday": "Mittwoch",
    "Thursday": "Donnerstag",
    "Friday": "Freitag",
    "Saturday": "Samstag",
    "Sunday": "Sonntag",
}
MONTHS = {
    "January": "Januar",
    "March": "März",
    "April": "April",
    "May": "Mai",
    "June": "Juni",
    "July": "Juli",
    "August": "August",
    "October": "Oktober",
    "December": "Dezember",
}
SEASONS = {"summer": "Sommer", "winter": "Winter", "spring": "Frühling", "fall": "Herbst"}

BACK_THEN = _time("back then", "damals", "past")
TIMES: list[Adverb] = [
    _time("yesterday", "gestern", "past day"),
    _time("today", "heute", "past present future day"),
    _time("tomorrow", "morgen", "future day"),
    _time("now", "jetzt", "present"),
    _time("last week", "letzte Woche", "past"),
    _time("in the evening", "am Abend", "past habit future"),
    _time("in the morning", "am Morgen", "past habit future"),
    _time("every day", "jeden Tag", "habit"),
    _time("next week", "nächste Woche", "future"),
    _time("last year", "letztes Jahr", "past"),
    _time("this morning", "heute Morgen", "past"),
    _time("tonight", "heute Abend", "future"),
    _time("yesterday evening", "gestern Abend", "past"),
    _time("at night", "nachts", "habit"),
    _time("on the weekend", "am Wochenende", "past habit future"),
    _time("soon", "bald", "future"),
    _time("in the afternoon", "am Nachmittag", "past habit future"),
    _time("at the moment", "im Moment", "present"),
    _time("last month", "letzten Monat", "past"),
    _time("next year", "nächstes Jahr", "future"),
    _time("tomorrow morning", "morgen früh", "future"),
    _time("every morning", "jeden Morgen", "habit"),
    _time("every week", "jede Woche", "habit"),
    _time("at noon", "mittags", "habit past"),
    _time("the day before yesterday", "vorgestern", "past day"),
    _time("the day after tomorrow", "übermorgen", "future day"),
    BACK_THEN,
    _time("recently", "neulich", "past"),
    _time("at Christmas", "an Weihnachten", "past future habit"),
    _time("at dawn", "im Morgengrauen", "past habit"),
    *(_time(f"on {en}", f"am {de}", "past future day") for en, de in WEEKDAYS.items()),
    *(_time(f"every {en}", f"jeden {de}", "habit") for en, de in WEEKDAYS.items()),
    *(_time(f"on {en} evening", f"am {de}abend", "past future") for en, de in WEEKDAYS.items()),
    *(_time(f"last {en}", f"letzten {de}", "past day") for en, de in WEEKDAYS.items()),
    *(_time(f"next {en}", f"nächsten {de}", "future day") for en, de in WEEKDAYS.items()),
    *(_time(f"in {en}", f"im {de}", "past future habit") for en, de in MONTHS.items()),
    *(_time(f"in {en}", f"im {de}", "past future habit") for en, de in SEASONS.items()),
    *(_time(f"last {en}", f"letzten {de}", "past") for en, de in SEASONS.items()),
    *(_time(f"next {en}", f"nächsten {de}", "future") for en, de in SEASONS.items()),
]


def _middle(english: str, german: str) -> Adverb:
    return Adverb(english, german, AdverbRole.FREQUENCY)


HABITS: list[Adverb] = [
    _middle("often", "oft"),
    _middle("always", "immer"),
    _middle("sometimes", "manchmal"),
    _middle("usually", "meistens"),
    _middle("rarely", "selten"),
    _middle("hardly ever", "fast nie"),
]
JUDGEMENTS: list[Adverb] = [
    _middle("probably", "wahrscheinlich"),
    _middle("certainly", "sicher"),
]
STILL = _middle("still", "immer noch")
ALREADY = _middle("already", "schon")

MANNERS: list[Adverb] = [
    Adverb("quickly", "schnell", AdverbRole.MANNER),
    Adverb("slowly", "langsam", AdverbRole.MANNER),
    Adverb("carefully", "vorsichtig", AdverbRole.MANNER),
    Adverb("together", "zusammen", AdverbRole.MANNER, frozenset({"plural"})),
    Adverb("alone", "allein", AdverbRole.MANNER),
    Adverb("secretly", "heimlich", AdverbRole.MANNER),
    Adverb("without help", "ohne Hilfe", AdverbRole.MANNER),
    Adverb("patiently", "geduldig", AdverbRole.MANNER),
]
VEHICLES_TAKEN: list[Adverb] = [
    Adverb("by train", "mit dem Zug", AdverbRole.MANNER),
    Adverb("by car", "mit dem Auto", AdverbRole.MANNER),
    Adverb("by bus", "mit dem Bus", AdverbRole.MANNER),
    Adverb("by bike", "mit dem Fahrrad", AdverbRole.MANNER),
    Adverb("by ship", "mit dem Schiff", AdverbRole.MANNER),
]
WHEREABOUTS: list[Adverb] = [
    Adverb("at home", "zu Hause", AdverbRole.PLACE),
    Adverb("here", "hier", AdverbRole.PLACE),
    Adverb("there", "dort", AdverbRole.PLACE),
    Adverb("outside", "draußen", AdverbRole.PLACE),
    Adverb("upstairs", "oben", AdverbRole.PLACE),
]
