"""Compounds: two or three words in English, one in German that inherits from its last part."""

from dataclasses import replace

from examples.demo.language.lexicon.places import PLACES
from examples.demo.language.lexicon.things import DRINKS, FIXTURES, FOOD, PLANTS, THINGS
from examples.demo.language.words import Noun

# German head: the modifiers it takes, each as English words = German form with its link.
MODIFIERS: dict[str, str] = {
    "Tisch": "kitchen=Küchen garden=Garten",
    "Stuhl": "kitchen=Küchen garden=Garten",
    "Lampe": "kitchen=Küchen table=Tisch desk=Schreibtisch",
    "Schrank": "kitchen=Küchen",
    "Schlüssel": "car=Auto house=Haus room=Zimmer cellar=Keller garage=Garagen",
    "Tür": "kitchen=Küchen cellar=Keller car=Auto front=Haus garden=Garten garage=Garagen "
    "bathroom=Badezimmer refrigerator=Kühlschrank",
    "Fenster": "kitchen=Küchen bedroom=Schlafzimmer cellar=Keller",
    "Tasse": "coffee=Kaffee tea=Tee",
    "Glas": "wine=Wein water=Wasser beer=Bier",
    "Flasche": "water=Wasser wine=Wein beer=Bier milk=Milch apple+juice=Apfelsaft",
    "Suppe": "vegetable=Gemüse potato=Kartoffel tomato=Tomaten chicken=Hühner onion=Zwiebel "
    "noodle=Nudel pumpkin=Kürbis",
    "Kuchen": "apple=Apfel chocolate=Schokoladen cherry=Kirsch plum=Pflaumen birthday=Geburtstags",
    "Salat": "potato=Kartoffel tomato=Tomaten fruit=Obst",
    "Saft": "apple=Apfel orange=Orangen cherry=Kirsch tomato=Tomaten carrot=Karotten",
    "Baum": "apple=Apfel cherry=Kirsch Christmas=Weihnachts pear=Birn",
    "Mantel": "winter=Winter fur=Pelz",
    "Jacke": "winter=Winter leather=Leder",
    "Kleid": "wedding=Hochzeits summer=Sommer",
    "Buch": "school=Schul children's=Kinder history=Geschichts",
    "Messer": "bread=Brot kitchen=Küchen pocket=Taschen",
    "Tasche": "school=Schul sports=Sport travel=Reise",
    "Uhr": "pocket=Taschen",
    "Karte": "hiking=Wander treasure=Schatz",
    "Geschenk": "birthday=Geburtstags Christmas=Weihnachts wedding=Hochzeits",
    "Boot": "sailing=Segel fishing=Fischer rubber=Gummi",
    "Ball": "tennis=Tennis beach=Strand",
    "Zaun": "garden=Garten",
    "Tor": "garden=Garten school=Schul",
    "Garten": "school=Schul vegetable=Gemüse rose=Rosen",
    "Wohnung": "city=Stadt vacation=Ferien",
    "Haus": "country=Land vacation=Ferien ",
    "Zimmer": "hotel=Hotel waiting=Warte children's=Kinder",
    "Bahnhof": "main+train=Haupt",
    "Museum": "city=Stadt art=Kunst",
    "Park": "city=Stadt",
    "Schule": "language=Sprach music=Musik primary=Grund",
    "Brücke": "railway=Eisenbahn stone=Stein",
    "Zeitung": "daily=Tages sports=Sport",
    "Roman": "crime=Kriminal adventure=Abenteuer",
    "Regal": "book=Bücher kitchen=Küchen",
    "Teppich": "living+room=Wohnzimmer",
    "Topf": "flower=Blumen soup=Suppen",
    "Restaurant": "train+station=Bahnhofs fish=Fisch",
    "Turm": "church=Kirch town+hall=Rathaus",
}


def _compounds(nouns: list[Noun]) -> list[Noun]:
    made: list[Noun] = []
    for head in nouns:
        for entry in MODIFIERS.get(head.german, "").split():
            english, german = entry.split("=")
            made.append(compound(head, english.replace("+", " "), german))
    return made


def compound(head: Noun, english: str, german: str) -> Noun:
    """The compound of a modifier and a head noun."""
    tail = head.german[0].lower() + head.german[1:]
    plural_tail = head.german_plural[:1].lower() + head.german_plural[1:]
    genitive_tail = head.genitive[:1].lower() + head.genitive[1:]
    return replace(
        head,
        english=f"{english} {head.english}",
        english_plural=f"{english} {head.english_plural}" if head.english_plural else "",
        german=german + tail,
        german_plural=german + plural_tail if plural_tail else "",
        genitive=german + genitive_tail if genitive_tail else "",
    )


COMPOUNDS: list[Noun] = _compounds([*THINGS, *FIXTURES, *PLANTS, *FOOD, *DRINKS, *PLACES])
