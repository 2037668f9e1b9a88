"""Verbs that govern a preposition, a dative, or two objects. Rank decides frequency."""

from examples.demo.language.features import Case
from examples.demo.language.lexicon.verb_frames import dative, feeling, obj, prep, state, verb
from examples.demo.language.words import Verb

ACC, DAT = Case.ACC, Case.DAT

PREPOSITIONAL: tuple[Verb, ...] = (
    verb("wait", "warten", "person", prep("for", "auf", ACC, "person mail answer")),
    verb("think", "denken", "person", prep("of", "an", ACC, "kin abstract event")),
    verb("talk", "sprechen", "person", prep("about", "über", ACC, "topic")),
    verb("talk", "reden", "person", prep("with", "mit", DAT, "person")),
    verb("look forward", "sich freuen", "person", prep("to", "auf", ACC, "event")),
    state("be happy", "sich freuen", "person", prep("about", "über", ACC, "gift text answer")),
    state(
        "be interested",
        "sich interessieren",
        "person",
        prep("in", "für", ACC, "abstract film book animal"),
    ),
    state("remember", "sich erinnern", "person", prep("", "an", ACC, "person event tale site")),
    verb("take care", "sich kümmern", "person", prep("of", "um", ACC, "kin animal plant")),
    verb("laugh", "lachen", "person", prep("about", "über", ACC, "tale mistake film")),
    verb("complain", "sich beschweren", "person", prep("about", "über", ACC, "dish kin building")),
    verb("dream", "träumen", "person", prep("of", "von", DAT, "travel vehicle home animal")),
    verb("take part", "teil|nehmen", "person", prep("in", "an", DAT, "event")),
    verb("fall in love", "sich verlieben", "person", prep("with", "in", ACC, "job")),
    verb("apologize", "sich entschuldigen", "person", prep("to", "bei", DAT, "person")),
    state("smell", "riechen", "room clothing", prep("of", "nach", DAT, "stuff drink cut")),
    state("depend", "ab|hängen", "abstract event", prep("on", "von", DAT, "person abstract")),
    verb("get used", "sich gewöhnen", "person", prep("to", "an", ACC, "home kin rule")),
)

DATIVE: tuple[Verb, ...] = (
    verb("help", "helfen", "person", dative("person")),
    verb("thank", "danken", "person", dative("person")),
    state("belong", "gehören", "thing home animal", dative("person", "to")),
    verb("follow", "folgen +sein", "being", dative("person animal")),
    verb("answer", "antworten", "person", dative("person")),
    verb("listen", "zu|hören", "person", dative("person", "to")),
    feeling("like", "gefallen", obj("art clothing film song site book home")),
    state("trust", "vertrauen", "person", dative("person")),
    verb("congratulate", "gratulieren", "person", dative("person")),
    feeling("enjoy", "schmecken", obj("dish stuff drink")),
    feeling("miss", "fehlen", obj("kin pet")),
    verb("contradict", "widersprechen", "person", dative("person")),
    verb("forgive", "verzeihen", "person", dative("person")),
    state("resemble", "ähneln", "person", dative("kin")),
)

DITRANSITIVE: tuple[Verb, ...] = (
    verb("give", "geben", "person", dative("person", "(to)"), obj("portable edible")),
    verb("show", "zeigen", "person", dative("person", "(to)"), obj("thing site")),
    verb(
        "give", "schenken", "person", dative("person", "(to)"), obj("toy jewel book cut clothing")
    ),
    verb("send", "schicken", "person", dative("person", "(to)"), obj("mail")),
    verb("bring", "bringen", "person", dative("person", "(to)"), obj("dish drink portable cut")),
    verb("tell", "erzählen", "person", dative("person", "(to)"), obj("tale")),
    verb("explain", "erklären", "person", dative("person", "to"), obj("abstract listing")),
    verb("lend", "leihen", "person", dative("person", "(to)"), obj("book tool vehicle clothing")),
    verb("read", "vor|lesen", "person", dative("person", "(to)"), obj("book text tale")),
    verb("sell", "verkaufen", "person", dative("person", "(to)"), obj("vehicle home device")),
    verb("offer", "an|bieten", "person", dative("person", "(to)"), obj("dish drink stuff")),
    verb("recommend", "empfehlen", "person", dative("person", "to"), obj("book film site dish")),
    verb("return", "zurück|geben", "person", dative("person", "to"), obj("book tool jewel")),
)
