"""Persons, animals and names. Rarer words stand further down: rank decides frequency."""

from examples.demo.language.features import Gender, Number, Sex
from examples.demo.language.words import Noun, ProperName, noun


def both_sexes(
    english: str, german: str, plural: str, kinds: str, *, weak: bool = False, female: str = ""
) -> list[Noun]:
    """A man and a woman for whom English has one word and German two."""
    woman = female or f"{german}in"
    return [
        noun(english, f"der {german}", plural, kinds, weak=weak, sex=Sex.MALE),
        noun(english, f"die {woman}", f"{woman}nen", kinds, sex=Sex.FEMALE),
    ]


def man(english: str, german: str, plural: str, kinds: str, *, weak: bool = False) -> Noun:
    return noun(english, f"der {german}", plural, kinds, weak=weak, sex=Sex.MALE)


def woman(english: str, german: str, plural: str, kinds: str) -> Noun:
    return noun(english, f"die {german}", plural, kinds, sex=Sex.FEMALE)


PERSONS: list[Noun] = [
    man("man", "Mann", "Männer", "folk"),
    woman("woman", "Frau", "Frauen", "folk"),
    noun("child", "das Kind", "Kinder", "folk young", sex=None),
    *both_sexes("friend", "Freund", "Freunde", "kin"),
    woman("mother", "Mutter", "Mütter", "kin unique"),
    man("father", "Vater", "Väter", "kin unique"),
    man("brother", "Bruder", "Brüder", "kin"),
    woman("sister", "Schwester", "Schwestern", "kin"),
    *both_sexes("teacher", "Lehrer", "Lehrer", "job"),
    *both_sexes("doctor", "Arzt", "Ärzte", "job helper", female="Ärztin"),
    man("boy", "Junge", "Jungen", "folk young", weak=True),
    *both_sexes("neighbor", "Nachbar", "Nachbarn", "kin", weak=True),
    *both_sexes("student", "Student", "Studenten", "job", weak=True),
    woman("daughter", "Tochter", "Töchter", "kin"),
    man("son", "Sohn", "Söhne", "kin"),
    woman("wife", "Frau", "Frauen", "kin unique spouse"),
    man("husband", "Mann", "Männer", "kin unique spouse"),
    noun("girl", "das Mädchen", "Mädchen", "folk young", sex=None),
    woman("grandmother", "Großmutter", "Großmütter", "kin unique"),
    man("grandfather", "Großvater", "Großväter", "kin unique"),
    *both_sexes("colleague", "Kollege", "Kollegen", "kin", weak=True, female="Kollegin"),
    *both_sexes("boss", "Chef", "Chefs", "kin unique"),
    woman("aunt", "Tante", "Tanten", "kin"),
    man("uncle", "Onkel", "Onkel", "kin"),
    *both_sexes("cook", "Koch", "Köche", "job", female="Köchin"),
    *both_sexes("police officer", "Polizist", "Polizisten", "job helper", weak=True),
    *both_sexes("lawyer", "Anwalt", "Anwälte", "job", female="Anwältin"),
    *both_sexes("student", "Schüler", "Schüler", "folk school"),
    *both_sexes("singer", "Sänger", "Sänger", "job"),
    *both_sexes("writer", "Schriftsteller", "Schriftsteller", "job"),
    man("guest", "Gast", "Gäste", "folk"),
    *both_sexes("baker", "Bäcker", "Bäcker", "job"),
    *both_sexes("farmer", "Bauer", "Bauern", "job", weak=True, female="Bäuerin"),
    *both_sexes("driver", "Fahrer", "Fahrer", "job"),
    *both_sexes("artist", "Künstler", "Künstler", "job"),
    *both_sexes("engineer", "Ingenieur", "Ingenieure", "job"),
    man("cousin", "Cousin", "Cousins", "kin"),
    woman("cousin", "Cousine", "Cousinen", "kin"),
    *both_sexes("customer", "Kunde", "Kunden", "folk", weak=True, female="Kundin"),
    *both_sexes("tourist", "Tourist", "Touristen", "folk", weak=True),
    woman("nurse", "Krankenschwester", "Krankenschwestern", "job"),
    man("nurse", "Krankenpfleger", "Krankenpfleger", "job"),
    man("waiter", "Kellner", "Kellner", "job helper"),
    woman("waitress", "Kellnerin", "Kellnerinnen", "job"),
    *both_sexes("journalist", "Journalist", "Journalisten", "job", weak=True),
    *both_sexes("musician", "Musiker", "Musiker", "job"),
    *both_sexes("judge", "Richter", "Richter", "job"),
    *both_sexes("mayor", "Bürgermeister", "Bürgermeister", "job"),
    *both_sexes("pilot", "Pilot", "Piloten", "job", weak=True),
    *both_sexes("thief", "Dieb", "Diebe", "folk"),
    *both_sexes("scientist", "Wissenschaftler", "Wissenschaftler", "job"),
    *both_sexes("gardener", "Gärtner", "Gärtner", "job"),
    *both_sexes("tailor", "Schneider", "Schneider", "job"),
    *both_sexes("ruler", "Herrscher", "Herrscher", "folk"),
    *both_sexes("grandchild", "Enkel", "Enkel", "kin"),
    man("nephew", "Neffe", "Neffen", "kin", weak=True),
    woman("niece", "Nichte", "Nichten", "kin"),
    man("prince", "Prinz", "Prinzen", "folk", weak=True),
    woman("princess", "Prinzessin", "Prinzessinnen", "folk"),
    *both_sexes("carpenter", "Tischler", "Tischler", "job"),
    *both_sexes("hairdresser", "Friseur", "Friseure", "job"),
    *both_sexes("beekeeper", "Imker", "Imker", "job"),
    *both_sexes("interpreter", "Dolmetscher", "Dolmetscher", "job"),
    *both_sexes("witness", "Zeuge", "Zeugen", "folk", weak=True, female="Zeugin"),
]

ANIMALS: list[Noun] = [
    noun("dog", "der Hund", "Hunde", "animal pet barker biter"),
    noun("cat", "die Katze", "Katzen", "animal pet biter"),
    noun("horse", "das Pferd", "Pferde", "animal"),
    noun("bird", "der Vogel", "Vögel", "animal flyer"),
    noun("mouse", "die Maus", "Mäuse", "animal"),
    noun("cow", "die Kuh", "Kühe", "animal"),
    noun("rabbit", "das Kaninchen", "Kaninchen", "animal pet"),
    noun("chicken", "das Huhn", "Hühner", "animal flyer"),
    noun("fox", "der Fuchs", "Füchse", "animal"),
    noun("pig", "das Schwein", "Schweine", "animal"),
    noun("sheep", "das Schaf", "Schafe", "animal"),
    noun("bear", "der Bär", "Bären", "animal biter", weak=True),
    noun("goat", "die Ziege", "Ziegen", "animal"),
    noun("duck", "die Ente", "Enten", "animal flyer"),
    noun("snake", "die Schlange", "Schlangen", "animal biter"),
    noun("lion", "der Löwe", "Löwen", "animal biter", weak=True),
    noun("monkey", "der Affe", "Affen", "animal biter", weak=True),
    noun("wolf", "der Wolf", "Wölfe", "animal"),
    noun("goose", "die Gans", "Gänse", "animal flyer"),
    noun("bat", "die Fledermaus", "Fledermäuse", "animal flyer"),
    noun("seal", "der Seehund", "Seehunde", "animal"),
    noun("turtle", "die Schildkröte", "Schildkröten", "animal pet"),
    noun("hedgehog", "der Igel", "Igel", "animal thorny"),
    noun("squirrel", "das Eichhörnchen", "Eichhörnchen", "animal"),
    noun("mole", "der Maulwurf", "Maulwürfe", "animal"),
    noun("owl", "die Eule", "Eulen", "animal flyer"),
    noun("crane", "der Kranich", "Kraniche", "animal flyer"),
]


def _first_names(names: str, sex: Sex) -> list[ProperName]:
    return [ProperName(name, name, frozenset({"first"}), sex) for name in names.split()]


MEN = _first_names("Peter Paul Max Thomas Jonas Felix Hans Karl Lukas Emil Moritz Oskar", Sex.MALE)
WOMEN = _first_names(
    "Anna Maria Laura Julia Lena Sophie Clara Eva Greta Ida Johanna Frieda", Sex.FEMALE
)
SURNAMES = [
    "Müller",
    "Schmidt",
    "Weber",
    "Fischer",
    "Wagner",
    "Becker",
    "Hoffmann",
    "Koch",
    "Richter",
    "Vogel",
    "Lehmann",
]
TITLED: list[ProperName] = [
    entry
    for surname in SURNAMES
    for entry in (
        ProperName(f"Mrs. {surname}", f"Frau {surname}", frozenset({"titled"}), Sex.FEMALE),
        ProperName(f"Mr. {surname}", f"Herr {surname}", frozenset({"titled"}), Sex.MALE),
    )
]


def _town(english: str, german: str = "") -> ProperName:
    return ProperName(english, german or english, frozenset({"town"}))


def _country(
    english: str, german: str, gender: Gender | None = None, number: Number = Number.SINGULAR
) -> ProperName:
    return ProperName(english, german, frozenset({"country"}), gender=gender, number=number)


TOWNS: list[ProperName] = [
    _town("Berlin"),
    _town("Munich", "München"),
    _town("Hamburg"),
    _town("Vienna", "Wien"),
    _town("Cologne", "Köln"),
    _town("Paris"),
    _town("London"),
    _town("Zurich", "Zürich"),
    _town("Rome", "Rom"),
    _town("Leipzig"),
    _town("Prague", "Prag"),
    _town("Geneva", "Genf"),
    _town("Warsaw", "Warschau"),
    _town("Venice", "Venedig"),
    _town("Nuremberg", "Nürnberg"),
    _town("Lisbon", "Lissabon"),
]
COUNTRIES: list[ProperName] = [
    _country("Germany", "Deutschland"),
    _country("Italy", "Italien"),
    _country("Switzerland", "Schweiz", Gender.FEM),
    _country("France", "Frankreich"),
    _country("Austria", "Österreich"),
    _country("Spain", "Spanien"),
    _country("Turkey", "Türkei", Gender.FEM),
    _country("the United States", "USA", Gender.FEM, Number.PLURAL),
    _country("Poland", "Polen"),
    _country("the Netherlands", "Niederlande", Gender.FEM, Number.PLURAL),
    _country("Sweden", "Schweden"),
    _country("Greece", "Griechenland"),
]
