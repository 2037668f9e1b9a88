"""Places with the prepositions that each of them takes, at rest and in motion."""

from examples.demo.language.features import Case
from examples.demo.language.words import Noun, Relation, noun

INSIDE = Relation("in", "into", "in", "in")
AT_IN = Relation("at", "to", "in", "in")  # im Kino, ins Kino
IN_TO = Relation("in", "to", "in", "in")  # in der Stadt, in die Stadt
AT_TO = Relation("at", "to", "an", "zu", Case.DAT)  # am Bahnhof, zum Bahnhof
IN_ZU = Relation("at", "to", "in", "zu", Case.DAT)  # in der Apotheke, zur Apotheke
AT_WATER = Relation("at", "to", "an", "an")  # am Meer, ans Meer
BY_WATER = Relation("by", "to", "an", "an")  # am Fluss, an den Fluss
ON_TO = Relation("on", "to", "auf", "auf")  # auf dem Platz
AT_AUF = Relation("at", "to", "auf", "auf")  # auf dem Markt, auf den Markt
ON = Relation("on", "onto", "auf", "auf")
ON_ZU = Relation("on", "to", "auf", "zu", Case.DAT)  # auf dem Turm, zum Turm
UP = Relation("on", "up", "auf", "auf")
ON_WALL = Relation("on", "on", "an", "an")
UNDER = Relation("under", "under", "unter", "unter")
BEHIND = Relation("behind", "behind", "hinter", "hinter")
BESIDE = Relation("next to", "next to", "neben", "neben")
BEFORE = Relation("in front of", "in front of", "vor", "vor")
ABOVE = Relation("above", "above", "über", "über")
TOWN = Relation("in", "to", "in", "nach", Case.DAT)
PERSON = Relation("with", "to", "bei", "zu", Case.DAT)

# Which relations make sense with nouns of a kind, for things that rest or are put somewhere.
SPOTS: list[tuple[str, Relation]] = [
    ("surface", ON),
    ("holder", INSIDE),
    ("furniture", BESIDE),
    ("furniture", UNDER),
    ("furniture", BEHIND),
    ("vehicle", BEHIND),
    ("vehicle", BESIDE),
    ("vehicle", UNDER),
    ("opener", BEFORE),
    ("outdoors", BEHIND),
    ("tall", UNDER),
    ("tall", BEHIND),
    ("hideout", UNDER),
    ("hideout", BEHIND),
    ("seat", ON),
    ("opener", BESIDE),
]
# Where pictures and coats hang.
WALL_SPOTS: list[tuple[str, Relation]] = [("indoors", ON_WALL), ("above", ABOVE)]

PLACES: list[Noun] = [
    noun("city", "die Stadt", "Städte", "place area", relation=IN_TO),
    noun("house", "das Haus", "Häuser", "building home", relation=INSIDE),
    noun("garden", "der Garten", "Gärten", "place green", relation=INSIDE),
    noun("kitchen", "die Küche", "Küchen", "room", relation=INSIDE),
    noun("station", "der Bahnhof", "Bahnhöfe", "building", relation=AT_TO),
    noun("school", "die Schule", "Schulen", "building work", relation=AT_IN),
    noun("restaurant", "das Restaurant", "Restaurants", "building out work", relation=AT_IN),
    noun("park", "der Park", "Parks", "place green out", genitive="Parks", relation=IN_TO),
    noun("room", "das Zimmer", "Zimmer", "room", relation=INSIDE),
    noun("apartment", "die Wohnung", "Wohnungen", "room home", relation=INSIDE),
    noun("bank", "die Bank", "Banken", "building work money", relation=IN_ZU),
    noun("office", "das Büro", "Büros", "room work", relation=INSIDE),
    noun("hotel", "das Hotel", "Hotels", "building work", relation=AT_IN),
    noun("forest", "der Wald", "Wälder", "place green area", relation=INSIDE),
    noun("supermarket", "der Supermarkt", "Supermärkte", "building work shop", relation=AT_IN),
    noun("cinema", "das Kino", "Kinos", "building out", relation=AT_IN),
    noun("village", "das Dorf", "Dörfer", "place area", relation=IN_TO),
    noun("hospital", "das Krankenhaus", "Krankenhäuser", "building work", relation=AT_IN),
    noun("church", "die Kirche", "Kirchen", "building", relation=AT_IN),
    noun("river", "der Fluss", "Flüsse", "place water", relation=BY_WATER),
    noun("library", "die Bibliothek", "Bibliotheken", "building work", relation=AT_IN),
    noun("museum", "das Museum", "Museen", "building out work", genitive="Museums", relation=AT_IN),
    noun("lake", "der See", "Seen", "place water", relation=BY_WATER),
    noun("sea", "das Meer", "Meere", "place water", relation=BY_WATER),
    noun("beach", "der Strand", "Strände", "place out", relation=AT_WATER),
    noun("bathroom", "das Badezimmer", "Badezimmer", "room", relation=INSIDE),
    noun("living room", "das Wohnzimmer", "Wohnzimmer", "room", relation=INSIDE),
    noun("bakery", "die Bäckerei", "Bäckereien", "building work shop", relation=IN_ZU),
    noun("airport", "der Flughafen", "Flughäfen", "building work", relation=AT_TO),
    noun(
        "university",
        "die Universität",
        "Universitäten",
        "building work",
        relation=Relation("at", "to", "an", "an"),
    ),
    noun("theater", "das Theater", "Theater", "building out work", relation=AT_IN),
    noun("market", "der Markt", "Märkte", "place out shop", relation=AT_AUF),
    noun("cellar", "der Keller", "Keller", "room", relation=INSIDE),
    noun("bridge", "die Brücke", "Brücken", "place outdoors", relation=ON),
    noun("mountain", "der Berg", "Berge", "place slope", relation=UP),
    noun("square", "der Platz", "Plätze", "place", relation=ON_ZU),
    noun("bank", "das Ufer", "Ufer", "place water", relation=Relation("on", "to", "an", "an")),
    noun("garage", "die Garage", "Garagen", "room", relation=INSIDE),
    noun("bedroom", "das Schlafzimmer", "Schlafzimmer", "room", relation=INSIDE),
    noun("castle", "das Schloss", "Schlösser", "building home", relation=INSIDE),
    noun("factory", "die Fabrik", "Fabriken", "building work", relation=AT_IN),
    noun("pharmacy", "die Apotheke", "Apotheken", "building shop work", relation=IN_ZU),
    noun("post office", "das Postamt", "Postämter", "building work", relation=IN_ZU),
    noun("swimming pool", "das Schwimmbad", "Schwimmbäder", "building out", relation=AT_IN),
    noun("zoo", "der Zoo", "Zoos", "place out", relation=IN_TO),
    noun("island", "die Insel", "Inseln", "place area", relation=ON_TO),
    noun(
        "farm",
        "der Bauernhof",
        "Bauernhöfe",
        "building home work",
        relation=Relation("on", "to", "auf", "auf"),
    ),
    noun("tower", "der Turm", "Türme", "building", relation=ON_ZU),
    noun("meadow", "die Wiese", "Wiesen", "place green", relation=ON_TO),
    noun("field", "das Feld", "Felder", "place green", relation=ON_TO),
    noun(
        "attic", "der Dachboden", "Dachböden", "room", relation=Relation("in", "to", "auf", "auf")
    ),
    noun("valley", "das Tal", "Täler", "place area", relation=INSIDE),
    noun("stable", "der Stall", "Ställe", "building", relation=INSIDE),
    noun(
        "harbor", "der Hafen", "Häfen", "place", relation=Relation("in", "to", "in", "zu", Case.DAT)
    ),
    noun("cave", "die Höhle", "Höhlen", "place", relation=INSIDE),
    noun("desert", "die Wüste", "Wüsten", "place area", relation=IN_TO),
    noun("monastery", "das Kloster", "Klöster", "building home", relation=INSIDE),
    noun("lighthouse", "der Leuchtturm", "Leuchttürme", "building", relation=AT_TO),
    noun("town hall", "das Rathaus", "Rathäuser", "building work", relation=IN_ZU),
]
