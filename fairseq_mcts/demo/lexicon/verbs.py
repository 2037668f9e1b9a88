"""Verbs in single senses: the English and the German verb, and what both ask for.

An English verb with several German ones has one entry for each, told apart by the kinds of its
subject and complements (essen/fressen, kennen/wissen), or not at all where German has synonyms.
"""

from fairseq_mcts.demo.features import Case
from fairseq_mcts.demo.german_verbs import HABEN, WISSEN, GermanVerb, strong, weak
from fairseq_mcts.demo.words import Slot, SlotRole, Verb, expand_kinds

ACC, DAT = Case.ACC, Case.DAT


def obj(kinds: str) -> Slot:
    """A direct object."""
    return Slot(SlotRole.OBJECT, expand_kinds(kinds), ACC)


def dative(kinds: str, english: str = "") -> Slot:
    """A dative; "(to)" marks an English receiver that may stand before the thing."""
    return Slot(SlotRole.OBJECT, expand_kinds(kinds), DAT, english)


def prep(english: str, german: str, case: Case, kinds: str) -> Slot:
    return Slot(SlotRole.PREPOSITIONAL, expand_kinds(kinds), case, english, german)


def rest(kinds: str = "spot") -> Slot:
    """Where something is; "spot" is any place that fits the subject."""
    return Slot(SlotRole.REST, expand_kinds(kinds), DAT)


def motion(kinds: str = "spot") -> Slot:
    return Slot(SlotRole.MOTION, expand_kinds(kinds), ACC)


def direction(kinds: str) -> Slot:
    return Slot(SlotRole.DIRECTION, expand_kinds(kinds), ACC)


def verb(
    english: str,
    german: GermanVerb,
    subject: str,
    *slots: Slot,
    stative: bool = False,
    inverted: bool = False,
) -> Verb:
    passive = bool(slots) and slots[0].role is SlotRole.OBJECT and slots[0].case is ACC
    return Verb(
        english,
        german,
        expand_kinds(subject),
        slots,
        stative=stative,
        inverted=inverted,
        passive=passive and not stative and german.reflexive is None,
    )


SEHEN = ("sieht", "sah", "gesehen")
GEHEN = ("geht", "ging", "gegangen")
KOMMEN = ("kommt", "kam", "gekommen")
FAHREN = ("fährt", "fuhr", "gefahren")
GEBEN = ("gibt", "gab", "gegeben")
NEHMEN = ("nimmt", "nahm", "genommen")
STEHEN = ("steht", "stand", "gestanden")
SCHREIBEN = ("schreibt", "schrieb", "geschrieben")
HALTEN = ("hält", "hielt", "gehalten")
LADEN = ("lädt", "lud", "geladen")
RUFEN = ("ruft", "rief", "gerufen")
FANGEN = ("fängt", "fing", "gefangen")
ZIEHEN = ("zieht", "zog", "gezogen")
STEIGEN = ("steigt", "stieg", "gestiegen")
WERFEN = ("wirft", "warf", "geworfen")
SCHLAFEN = ("schläft", "schlief", "geschlafen")
BRINGEN = ("bringt", "brachte", "gebracht")
SPRECHEN = ("spricht", "sprach", "gesprochen")

INTRANSITIVE: list[Verb] = [
    verb("sleep", strong("schlafen", *SCHLAFEN), "being"),
    verb("work", weak("arbeiten"), "person"),
    verb("come", strong("kommen", *KOMMEN, sein=True), "person"),
    verb("laugh", weak("lachen"), "person"),
    verb("cook", weak("kochen"), "person"),
    verb("play", weak("spielen"), "folk animal"),
    verb("arrive", strong("an|kommen", *KOMMEN, sein=True), "person"),
    verb("sing", strong("singen", "singt", "sang", "gesungen"), "person"),
    verb("wake up", weak("auf|wachen", sein=True), "person"),
    verb("get up", strong("auf|stehen", *STEHEN, sein=True), "person"),
    verb("dance", weak("tanzen"), "person"),
    verb("cry", weak("weinen"), "person"),
    verb("swim", strong("schwimmen", "schwimmt", "schwamm", "geschwommen", sein=True), "person"),
    verb("leave", strong("ab|fahren", *FAHREN, sein=True), "vehicle"),
    verb("leave", strong("weg|gehen", *GEHEN, sein=True), "person"),
    verb("fall asleep", strong("ein|schlafen", *SCHLAFEN, sein=True), "being"),
    verb("hurry", weak("beeilen", reflexive=ACC), "person"),
    verb("rest", weak("aus|ruhen", reflexive=ACC), "person"),
    verb("sit down", weak("hin|setzen", reflexive=ACC), "person"),
    verb("run away", strong("weg|laufen", "läuft", "lief", "gelaufen", sein=True), "animal"),
    verb("fly away", strong("weg|fliegen", "fliegt", "flog", "geflogen", sein=True), "flyer"),
    verb("stop", strong("an|halten", *HALTEN, second="hältst"), "wheeled"),
    verb("smile", weak("lächeln"), "person"),
    verb("come back", strong("zurück|kommen", *KOMMEN, sein=True), "person"),
    verb("move", strong("um|ziehen", *ZIEHEN, sein=True), "person"),
    verb("be mistaken", weak("irren", reflexive=ACC), "person", stative=True),
    verb("bloom", weak("blühen"), "plant"),
    verb("grow", strong("wachsen", "wächst", "wuchs", "gewachsen", sein=True), "plant"),
    verb("begin", strong("beginnen", "beginnt", "begann", "begonnen"), "event"),
    verb("begin", strong("an|fangen", *FANGEN), "event"),
    verb("take place", strong("statt|finden", "findet", "fand", "gefunden"), "event"),
    verb("work", weak("funktionieren"), "device switch"),
    verb("snore", weak("schnarchen"), "person"),
    verb(
        "get lost", strong("verlaufen", "verläuft", "verlief", "verlaufen", reflexive=ACC), "person"
    ),
    verb("hibernate", weak("überwintern"), "animal"),
]

TRANSITIVE: list[Verb] = [
    verb("see", strong("sehen", *SEHEN), "person", obj("thing being site plant"), stative=True),
    verb("buy", weak("kaufen"), "person", obj("thing edible drink cut")),
    verb("have", HABEN, "person", obj("thing pet kin abstract home"), stative=True),
    verb(
        "find",
        strong("finden", "findet", "fand", "gefunden"),
        "person",
        obj("portable pet jewel site"),
        stative=True,
    ),
    verb("eat", strong("essen", "isst", "aß", "gegessen"), "person", obj("edible")),
    verb("read", strong("lesen", "liest", "las", "gelesen"), "person", obj("book text")),
    verb(
        "know",
        strong("kennen", "kennt", "kannte", "gekannt", always_preterite=True),
        "person",
        obj("person site film song tale book"),
        stative=True,
    ),
    verb("know", WISSEN, "person", obj("answer"), stative=True),
    verb("drink", strong("trinken", "trinkt", "trank", "getrunken"), "person", obj("drink")),
    verb("visit", weak("besuchen"), "person", obj("person site country town")),
    verb("meet", strong("treffen", "trifft", "traf", "getroffen"), "person", obj("person")),
    verb("write", strong("schreiben", *SCHREIBEN), "person", obj("text book")),
    verb("look for", weak("suchen"), "person", obj("portable pet jewel person")),
    verb("open", weak("öffnen"), "person", obj("opener holder")),
    verb("open", weak("auf|machen"), "person", obj("opener holder")),
    verb(
        "close",
        strong("schließen", "schließt", "schloss", "geschlossen"),
        "person",
        obj("opener holder"),
    ),
    verb("close", weak("zu|machen"), "person", obj("opener holder")),
    verb("sell", weak("verkaufen"), "person", obj("thing home edible")),
    verb("repair", weak("reparieren"), "person", obj("device vehicle furniture fixture")),
    verb("call", strong("an|rufen", *RUFEN), "person", obj("person")),
    verb(
        "forget",
        strong("vergessen", "vergisst", "vergaß", "vergessen"),
        "person",
        obj("portable abstract"),
    ),
    verb(
        "lose",
        strong("verlieren", "verliert", "verlor", "verloren"),
        "person",
        obj("portable jewel"),
    ),
    verb(
        "wash",
        strong("waschen", "wäscht", "wusch", "gewaschen"),
        "person",
        obj("clothing vehicle fruit"),
    ),
    verb(
        "understand",
        strong("verstehen", "versteht", "verstand", "verstanden"),
        "person",
        obj("person abstract text film"),
        stative=True,
    ),
    verb("love", weak("lieben"), "person", obj("kin pet bread drink song site"), stative=True),
    verb("hear", weak("hören"), "person", obj("song being instrument"), stative=True),
    verb("watch", strong("an|sehen", *SEHEN, reflexive=DAT), "person", obj("film show")),
    verb("look at", weak("an|schauen", reflexive=DAT), "person", obj("art site map vehicle")),
    verb("wear", strong("tragen", "trägt", "trug", "getragen"), "person", obj("clothing")),
    verb("put on", strong("an|ziehen", *ZIEHEN), "person", obj("clothing")),
    verb("turn on", weak("ein|schalten"), "person", obj("switch")),
    verb("turn on", weak("an|machen"), "person", obj("switch")),
    verb("turn off", weak("aus|schalten"), "person", obj("switch")),
    verb("turn off", weak("aus|machen"), "person", obj("switch")),
    verb("paint", weak("malen"), "person", obj("being art plant")),
    verb(
        "paint",
        strong("streichen", "streicht", "strich", "gestrichen"),
        "person",
        obj("indoors outdoors furniture fixture room"),
    ),
    verb("play", weak("spielen"), "person", obj("instrument")),
    verb("invite", strong("ein|laden", *LADEN), "person", obj("person")),
    verb("pick up", weak("ab|holen"), "person", obj("person text")),
    verb("pick up", strong("auf|heben", "hebt", "hob", "gehoben"), "person", obj("portable")),
    verb("clean", weak("putzen"), "person", obj("room fixture dishes")),
    verb("build", weak("bauen"), "person", obj("building furniture outdoors")),
    verb("eat", strong("fressen", "frisst", "fraß", "gefressen"), "animal", obj("edible")),
    verb("bake", strong("backen", "backt", "backte", "gebacken"), "person", obj("baked")),
    verb("bring along", strong("mit|bringen", *BRINGEN), "person", obj("portable edible person")),
    verb("take along", strong("mit|nehmen", *NEHMEN), "person", obj("portable pet")),
    verb(
        "leave",
        strong("verlassen", "verlässt", "verließ", "verlassen"),
        "person",
        obj("site kin town"),
    ),
    verb("miss", weak("verpassen"), "person", obj("event train")),
    verb("miss", weak("vermissen"), "person", obj("kin pet town"), stative=True),
    verb("save", weak("retten"), "person", obj("being")),
    verb("save", weak("speichern"), "person", obj("listing text")),
    verb("solve", weak("lösen"), "person", obj("solvable")),
    verb("tell", weak("erzählen"), "person", obj("tale")),
    verb("pay", weak("bezahlen"), "person", obj("payable")),
    verb(
        "borrow",
        strong("aus|leihen", "leiht", "lieh", "geliehen", reflexive=DAT),
        "person",
        obj("book tool vehicle"),
    ),
    verb(
        "get",
        strong("bekommen", "bekommt", "bekam", "bekommen"),
        "person",
        obj("text toy answer"),
        stative=True,
    ),
    verb("get", weak("holen"), "person", obj("drink dishes tool")),
    verb("draw", weak("zeichnen"), "person", obj("animal building plant")),
    verb("feed", weak("füttern"), "person", obj("animal")),
    verb("catch", strong("fangen", *FANGEN), "animal", obj("animal")),
    verb("bite", strong("beißen", "beißt", "biss", "gebissen"), "animal", obj("person animal")),
    verb(
        "steal",
        strong("stehlen", "stiehlt", "stahl", "gestohlen"),
        "person",
        obj("jewel vehicle portable"),
    ),
    verb(
        "break",
        strong("zerbrechen", "zerbricht", "zerbrach", "zerbrochen"),
        "person",
        obj("dishes"),
    ),
    verb("hide", weak("verstecken"), "person", obj("portable jewel")),
    verb("press", weak("drücken"), "person", obj("press")),
    verb("light", weak("an|zünden"), "person", obj("lightable")),
    verb("plant", weak("pflanzen"), "person", obj("plant")),
    verb("water", strong("gießen", "gießt", "goss", "gegossen"), "person", obj("plant")),
    verb("throw away", strong("weg|werfen", *WERFEN), "person", obj("portable fruit")),
    verb("collect", weak("sammeln"), "person", obj("collectible")),
    verb("try on", weak("an|probieren"), "person", obj("clothing")),
    verb(
        "cut",
        strong("schneiden", "schneidet", "schnitt", "geschnitten"),
        "person",
        obj("bread fruit baked"),
    ),
    verb(
        "pass",
        strong("bestehen", "besteht", "bestand", "bestanden"),
        "person",
        obj("test"),
        stative=True,
    ),
    verb("translate", weak("übersetzen"), "person", obj("book text song")),
    verb(
        "sign",
        strong("unterschreiben", "unterschreibt", "unterschrieb", "unterschrieben"),
        "person",
        obj("text"),
    ),
    verb(
        "recognize",
        strong("erkennen", "erkennt", "erkannte", "erkannt"),
        "person",
        obj("person song"),
        stative=True,
    ),
    verb("tidy up", weak("auf|räumen"), "person", obj("room")),
    verb("hug", strong("umarmen", "umarmt", "umarmte", "umarmt"), "person", obj("person")),
    verb("spell", weak("buchstabieren"), "person", obj("sign")),
]

PREPOSITIONAL: list[Verb] = [
    verb("wait", weak("warten"), "person", prep("for", "auf", ACC, "person text vehicle")),
    verb(
        "think",
        strong("denken", "denkt", "dachte", "gedacht"),
        "person",
        prep("of", "an", ACC, "kin abstract event"),
    ),
    verb("talk", strong("sprechen", *SPRECHEN), "person", prep("about", "über", ACC, "topic")),
    verb("talk", weak("reden"), "person", prep("with", "mit", DAT, "person")),
    verb("look forward", weak("freuen", reflexive=ACC), "person", prep("to", "auf", ACC, "event")),
    verb(
        "be happy",
        weak("freuen", reflexive=ACC),
        "person",
        prep("about", "über", ACC, "toy text answer"),
        stative=True,
    ),
    verb(
        "be interested",
        weak("interessieren", reflexive=ACC),
        "person",
        prep("in", "für", ACC, "abstract film book animal"),
        stative=True,
    ),
    verb(
        "remember",
        weak("erinnern", reflexive=ACC),
        "person",
        prep("", "an", ACC, "person event tale site"),
        stative=True,
    ),
    verb(
        "take care",
        weak("kümmern", reflexive=ACC),
        "person",
        prep("of", "um", ACC, "kin animal plant"),
    ),
    verb("laugh", weak("lachen"), "person", prep("about", "über", ACC, "abstract film tale")),
    verb(
        "complain",
        weak("beschweren", reflexive=ACC),
        "person",
        prep("about", "über", ACC, "dish building kin text"),
    ),
    verb("dream", weak("träumen"), "person", prep("of", "von", DAT, "travel vehicle home animal")),
    verb("take part", strong("teil|nehmen", *NEHMEN), "person", prep("in", "an", DAT, "event")),
    verb(
        "fall in love",
        weak("verlieben", reflexive=ACC),
        "person",
        prep("with", "in", ACC, "folk job town"),
    ),
    verb(
        "apologize",
        weak("entschuldigen", reflexive=ACC),
        "person",
        prep("to", "bei", DAT, "person"),
    ),
    verb(
        "smell",
        strong("riechen", "riecht", "roch", "gerochen"),
        "room clothing",
        prep("of", "nach", DAT, "bread drink fruit"),
        stative=True,
    ),
    verb(
        "depend",
        strong("ab|hängen", "hängt", "hing", "gehangen"),
        "abstract event",
        prep("on", "von", DAT, "person abstract"),
        stative=True,
    ),
    verb(
        "get used",
        strong("gewöhnen", "gewöhnt", "gewöhnte", "gewöhnt", reflexive=ACC),
        "person",
        prep("to", "an", ACC, "site kin town"),
    ),
]

DATIVE: list[Verb] = [
    verb("help", strong("helfen", "hilft", "half", "geholfen"), "person", dative("person")),
    verb("thank", weak("danken"), "person", dative("person")),
    verb("belong", weak("gehören"), "thing home animal", dative("person", "to"), stative=True),
    verb("follow", weak("folgen", sein=True), "being", dative("person animal")),
    verb("answer", weak("antworten"), "person", dative("person")),
    verb("listen", weak("zu|hören"), "person", dative("person", "to")),
    verb("congratulate", weak("gratulieren"), "person", dative("person")),
    verb("trust", weak("vertrauen"), "person", dative("person"), stative=True),
    verb("resemble", weak("ähneln"), "person", dative("kin"), stative=True),
    verb(
        "like",
        strong("gefallen", "gefällt", "gefiel", "gefallen"),
        "person",
        obj("art clothing film song site book home"),
        stative=True,
        inverted=True,
    ),
    verb(
        "enjoy", weak("schmecken"), "person", obj("dish bread drink"), stative=True, inverted=True
    ),
    verb("miss", weak("fehlen"), "person", obj("kin pet"), stative=True, inverted=True),
]

RECEIVERS = "person"
DITRANSITIVE: list[Verb] = [
    verb(
        "give",
        strong("geben", *GEBEN),
        "person",
        dative(RECEIVERS, "(to)"),
        obj("portable jewel edible"),
    ),
    verb("show", weak("zeigen"), "person", dative(RECEIVERS, "(to)"), obj("thing site art text")),
    verb(
        "give",
        weak("schenken"),
        "person",
        dative(RECEIVERS, "(to)"),
        obj("toy jewel book cut instrument"),
    ),
    verb("send", weak("schicken"), "person", dative(RECEIVERS, "(to)"), obj("text toy")),
    verb(
        "bring",
        strong("bringen", *BRINGEN),
        "person",
        dative(RECEIVERS, "(to)"),
        obj("dish drink portable cut"),
    ),
    verb("tell", weak("erzählen"), "person", dative(RECEIVERS, "(to)"), obj("tale")),
    verb(
        "explain",
        weak("erklären"),
        "person",
        dative(RECEIVERS, "to"),
        obj("abstract speech listing"),
    ),
    verb(
        "lend",
        strong("leihen", "leiht", "lieh", "geliehen"),
        "person",
        dative(RECEIVERS, "(to)"),
        obj("book tool vehicle clothing device"),
    ),
    verb(
        "read",
        strong("vor|lesen", "liest", "las", "gelesen"),
        "person",
        dative(RECEIVERS, "(to)"),
        obj("book text tale"),
    ),
    verb(
        "sell",
        weak("verkaufen"),
        "person",
        dative(RECEIVERS, "(to)"),
        obj("vehicle furniture home device"),
    ),
    verb(
        "offer",
        strong("an|bieten", "bietet", "bot", "geboten"),
        "person",
        dative(RECEIVERS, "(to)"),
        obj("dish drink bread"),
    ),
    verb(
        "recommend",
        strong("empfehlen", "empfiehlt", "empfahl", "empfohlen"),
        "person",
        dative(RECEIVERS, "to"),
        obj("book film site dish"),
    ),
    verb(
        "return",
        strong("zurück|geben", *GEBEN),
        "person",
        dative(RECEIVERS, "to"),
        obj("book tool jewel clothing"),
    ),
]

LOCAL: list[Verb] = [
    verb("be", strong("stehen", *STEHEN), "standing", rest(), stative=True),
    verb("be", strong("liegen", "liegt", "lag", "gelegen"), "lying", rest(), stative=True),
    verb("live", weak("wohnen"), "person", rest("town country home area")),
    verb("work", weak("arbeiten"), "person", rest("work")),
    verb("stand", strong("stehen", *STEHEN), "standing", rest(), stative=True),
    verb("lie", strong("liegen", "liegt", "lag", "gelegen"), "lying", rest(), stative=True),
    verb(
        "stay",
        strong("bleiben", "bleibt", "blieb", "geblieben", sein=True),
        "person",
        rest("town country room area green"),
    ),
    verb("sit", strong("sitzen", "sitzt", "saß", "gesessen"), "being", rest("spot room green")),
    verb(
        "hang",
        strong("hängen", "hängt", "hing", "gehangen"),
        "hanging",
        rest("indoors"),
        stative=True,
    ),
    verb("live", weak("leben"), "person animal", rest("area country")),
    verb("wait", weak("warten"), "person", rest("building water")),
    verb("hide", weak("verstecken", reflexive=ACC), "being", rest("spot room")),
    verb("sleep", strong("schlafen", *SCHLAFEN), "being", rest("room spot")),
]

MOTION: list[Verb] = [
    verb(
        "go",
        strong("gehen", *GEHEN, sein=True),
        "person",
        direction("shop out room green work job"),
    ),
    verb(
        "go", strong("fahren", *FAHREN, sein=True), "person", direction("town country area water")
    ),
    verb(
        "drive",
        strong("fahren", *FAHREN, sein=True),
        "person",
        direction("town country area building"),
    ),
    verb(
        "fly",
        strong("fliegen", "fliegt", "flog", "geflogen", sein=True),
        "person",
        direction("town country"),
    ),
    verb(
        "run",
        strong("laufen", "läuft", "lief", "gelaufen", sein=True),
        "being",
        direction("room green building"),
    ),
    verb(
        "run",
        strong("rennen", "rennt", "rannte", "gerannt", sein=True),
        "being",
        direction("room green building"),
    ),
    verb("come", strong("kommen", *KOMMEN, sein=True), "person", direction("room green out town")),
    verb("travel", weak("reisen", sein=True), "person", direction("town country")),
    verb("move", strong("ziehen", *ZIEHEN, sein=True), "person", direction("town country area")),
    verb("hike", weak("wandern", sein=True), "person", direction("water")),
    verb(
        "jump",
        strong("springen", "springt", "sprang", "gesprungen", sein=True),
        "animal",
        motion("surface"),
    ),
    verb(
        "crawl",
        strong("kriechen", "kriecht", "kroch", "gekrochen", sein=True),
        "animal",
        motion("furniture"),
    ),
]

PLACING: list[Verb] = [
    verb("put", weak("stellen"), "person", obj("standing"), motion()),
    verb("put", weak("legen"), "person", obj("lying"), motion()),
    verb("put", weak("stecken"), "person", obj("pocket"), motion("holder")),
    verb("lay", weak("legen"), "person", obj("lying"), motion("surface")),
    verb("hang", weak("hängen"), "person", obj("hanging"), motion("indoors")),
    verb(
        "carry",
        strong("tragen", "trägt", "trug", "getragen"),
        "person",
        obj("container furniture"),
        direction("room green"),
    ),
    verb("throw", strong("werfen", *WERFEN), "person", obj("portable"), motion("holder")),
    verb(
        "push",
        strong("schieben", "schiebt", "schob", "geschoben"),
        "person",
        obj("furniture wheeled"),
        direction("room green"),
    ),
    verb("take", strong("bringen", *BRINGEN), "person", obj("kin animal"), direction("building")),
]

# Verbs with a clause as their object.
SAYING: list[Verb] = [
    verb("say", weak("sagen"), "person"),
    verb("think", weak("glauben"), "person", stative=True),
    verb("know", WISSEN, "person", stative=True),
    verb("hope", weak("hoffen"), "person"),
    verb("believe", weak("glauben"), "person", stative=True),
    verb("notice", weak("bemerken"), "person", stative=True),
    verb("hear", weak("hören"), "person", stative=True),
    verb("claim", weak("behaupten"), "person"),
    verb("suspect", weak("vermuten"), "person", stative=True),
]
ASKING: list[Verb] = [
    verb("know", WISSEN, "person", stative=True),
    verb("ask", weak("fragen"), "person"),
    verb("wonder", weak("fragen", reflexive=ACC), "person"),
    verb("forget", strong("vergessen", "vergisst", "vergaß", "vergessen"), "person", stative=True),
    verb("find out", strong("heraus|finden", "findet", "fand", "gefunden"), "person", stative=True),
]
# Verbs with an infinitive as their object.
INTENDING: list[Verb] = [
    verb("try", weak("versuchen"), "person"),
    verb("forget", strong("vergessen", "vergisst", "vergaß", "vergessen"), "person", stative=True),
    verb("begin", strong("an|fangen", *FANGEN), "person", stative=True),
    verb("begin", strong("beginnen", "beginnt", "begann", "begonnen"), "person", stative=True),
    verb("hope", weak("hoffen"), "person"),
    verb("promise", strong("versprechen", "verspricht", "versprach", "versprochen"), "person"),
    verb(
        "decide",
        strong("beschließen", "beschließt", "beschloss", "beschlossen"),
        "person",
        stative=True,
    ),
    verb("plan", strong("vor|haben", "hat", "hatte", "gehabt", second="hast"), "person"),
    verb("refuse", weak("weigern", reflexive=ACC), "person"),
]

WEATHER: list[Verb] = [
    verb("rain", weak("regnen"), ""),
    verb("snow", weak("schneien"), ""),
    verb("storm", weak("stürmen"), ""),
]
