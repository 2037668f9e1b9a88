"""Whole German sentences from meanings built by hand, next to their English."""

from dataclasses import replace

import pytest

from examples.demo.language.english.clauses import english
from examples.demo.language.english.tail import EnglishStyle
from examples.demo.language.features import (
    IMPERSONAL,
    SPEAKER,
    Address,
    Degree,
    Number,
    Polarity,
    Tense,
    hearer,
)
from examples.demo.language.german.clauses import german
from examples.demo.language.german.middle_field import GermanStyle, Role
from examples.demo.language.lexicon.places import INSIDE, ON, TOWN
from examples.demo.language.lexicon.things import TIME_UNITS
from examples.demo.language.meaning import (
    Clause,
    ClockTime,
    Conjunction,
    Content,
    Description,
    Determiner,
    Duration,
    DurationKind,
    Existence,
    Identity,
    Linked,
    Modal,
    Mood,
    NounPhrase,
    Pronoun,
    Question,
    RelativeClause,
    Sentence,
    Spatial,
    Wh,
)
from examples.demo.language.sampling.phrases import SOMEONE
from tests.examples.demo.language.lookup import HE, SHE, I, action, adverb, name, noun, quality, the

ANNA, PETER = name("Anna"), name("Peter")
YOU = Pronoun(hearer(Address.DU))
A = Determiner.INDEFINITE
YESTERDAY = adverb("yesterday")
PLAIN = GermanStyle()
TIME_FIRST = GermanStyle(front=Role.TIME)


def both(sentence: Sentence, style: GermanStyle = PLAIN) -> tuple[str, str]:
    return english(sentence, EnglishStyle()), german(sentence, style)


def a(german_word: str, *qualities: object) -> NounPhrase:
    return NounPhrase(noun(german_word), A, qualities=qualities)


BUYING = Clause(
    ANNA, action("buy", "kaufen", a("Mantel", quality("rot"))), Tense.PAST, adverbials=(YESTERDAY,)
)
OPENING = Clause(PETER, action("open", "aufmachen", the("Fenster")))
SLEEPING = Clause(SHE, action("sleep", "schlafen"))


def test_verb_second() -> None:
    source = "Anna bought a red coat yesterday."
    assert both(Sentence(BUYING)) == (source, "Anna hat gestern einen roten Mantel gekauft.")
    assert both(Sentence(BUYING), TIME_FIRST) == (
        source,
        "Gestern hat Anna einen roten Mantel gekauft.",
    )
    preterite = GermanStyle(perfect=False, front=Role.TIME)
    assert german(Sentence(BUYING), preterite) == "Gestern kaufte Anna einen roten Mantel."
    assert both(Sentence(OPENING)) == ("Peter opens the window.", "Peter macht das Fenster auf.")


def test_verb_final() -> None:
    because = Linked(Conjunction.BECAUSE, OPENING)
    assert both(Sentence(SLEEPING, linked=because)) == (
        "She sleeps because Peter opens the window.",
        "Sie schläft, weil Peter das Fenster aufmacht.",
    )
    first = replace(because, leading=True)
    assert both(Sentence(SLEEPING, linked=first)) == (
        "Because Peter opens the window, she sleeps.",
        "Weil Peter das Fenster aufmacht, schläft sie.",
    )
    reason = Linked(Conjunction.FOR, OPENING)
    assert german(Sentence(SLEEPING, linked=reason), PLAIN) == (
        "Sie schläft, denn Peter macht das Fenster auf."
    )
    therefore = Linked(Conjunction.THEREFORE, OPENING)
    assert german(Sentence(SLEEPING, linked=therefore), PLAIN) == (
        "Sie schläft, deshalb macht Peter das Fenster auf."
    )


def test_modals_in_both_orders() -> None:
    must = replace(OPENING, modal=Modal.MUST)
    assert both(Sentence(must)) == (
        "Peter has to open the window.",
        "Peter muss das Fenster aufmachen.",
    )
    content = action("say", "sagen", content=Content(must))
    assert both(Sentence(Clause(ANNA, content))) == (
        "Anna says that Peter has to open the window.",
        "Anna sagt, dass Peter das Fenster aufmachen muss.",
    )
    negated = Sentence(replace(must, polarity=Polarity.NOT))
    assert both(negated) == (
        "Peter does not have to open the window.",
        "Peter muss das Fenster nicht aufmachen.",
    )
    ban = Sentence(replace(must, modal=Modal.MAY, polarity=Polarity.NOT))
    assert english(ban, EnglishStyle(have_to=False)) == "Peter must not open the window."
    assert german(ban, PLAIN) == "Peter darf das Fenster nicht aufmachen."


def test_negation() -> None:
    sentences = [
        (BUYING, Polarity.NOT, "Anna hat gestern keinen roten Mantel gekauft."),
        (replace(BUYING, adverbials=()), Polarity.NEVER,
         "Anna hat nie einen roten Mantel gekauft."),
        (OPENING, Polarity.NOT, "Peter macht das Fenster nicht auf."),
        (OPENING, Polarity.NO_LONGER, "Peter macht das Fenster nicht mehr auf."),
        (replace(OPENING, tense=Tense.PERFECT), Polarity.NOT_YET,
         "Peter hat das Fenster noch nicht aufgemacht."),
        (Clause(I, action("help", "helfen", a("Lehrer"))), Polarity.NOT,
         "Ich helfe keinem Lehrer."),
        (Clause(I, Identity(a("Arzt"))), Polarity.NOT, "Ich bin kein Arzt."),
        (Clause(I, Description(quality("müde"))), Polarity.NOT, "Ich bin nicht müde."),
        (Clause(I, action("wait", "warten", the("Lehrer"))), Polarity.NOT,
         "Ich warte nicht auf den Lehrer."),
    ]  # fmt: skip
    for clause, polarity, expected in sentences:
        assert german(Sentence(replace(clause, polarity=polarity)), PLAIN) == expected
    no_car = Clause(I, action("have", "haben", a("Auto")), polarity=Polarity.NO_LONGER)
    assert both(Sentence(no_car)) == ("I no longer have a car.", "Ich habe kein Auto mehr.")


def test_questions() -> None:
    yes_no = Sentence(replace(BUYING, subject=YOU), Mood.QUESTION)
    assert both(yes_no) == (
        "Did you buy a red coat yesterday?",
        "Hast du gestern einen roten Mantel gekauft?",
    )
    help_him = Clause(YOU, action("help", "helfen", PETER), Tense.PAST)
    assert both(Sentence(help_him, Mood.QUESTION, Question(gap=0))) == (
        "Who did you help?",
        "Wem hast du geholfen?",
    )
    wait = Clause(ANNA, action("wait", "warten", the("Brief")), Tense.PROGRESSIVE)
    assert both(Sentence(wait, Mood.QUESTION, Question(gap=0))) == (
        "What is Anna waiting for?",
        "Worauf wartet Anna?",
    )
    live = Clause(YOU, action("live", "wohnen", Spatial(TOWN, name("Berlin"))))
    assert both(Sentence(live, Mood.QUESTION, Question(Wh.WHERE, gap=0))) == (
        "Where do you live?",
        "Wo wohnst du?",
    )
    go = Clause(YOU, action("go", "fahren", Spatial(TOWN, name("Berlin"), True)), Tense.PROGRESSIVE)
    assert both(Sentence(go, Mood.QUESTION, Question(Wh.WHERE_TO, gap=0))) == (
        "Where are you going?",
        "Wohin fährst du?",
    )
    who = Sentence(replace(BUYING, subject=SOMEONE), Mood.QUESTION, Question())
    assert both(who) == (
        "Who bought a red coat yesterday?",
        "Wer hat gestern einen roten Mantel gekauft?",
    )
    which = NounPhrase(noun("Buch"), Determiner.WHICH)
    read = Clause(YOU, action("read", "lesen", which), Tense.PAST)
    assert both(Sentence(read, Mood.QUESTION, Question(gap=0))) == (
        "Which book did you read?",
        "Welches Buch hast du gelesen?",
    )


@pytest.mark.parametrize(
    ("address", "vocative", "expected"),
    [
        (Address.DU, "Peter", "Peter, mach bitte das Fenster auf!"),
        (Address.SIE, "Mrs. Weber", "Frau Weber, machen Sie bitte das Fenster auf!"),
    ],
)
def test_commands(address: Address, vocative: str, expected: str) -> None:
    clause = replace(OPENING, subject=Pronoun(hearer(address)))
    sentence = Sentence(clause, Mood.COMMAND, vocative=name(vocative), please=True)
    assert both(sentence) == (f"{vocative}, please open the window.", expected)


def test_two_objects_and_pronouns() -> None:
    give = action("give", "geben", the("Lehrer"), the("Schlüssel"))
    assert both(Sentence(Clause(SHE, give, Tense.PAST))) == (
        "She gave the teacher the key.",
        "Sie hat dem Lehrer den Schlüssel gegeben.",
    )
    it = Pronoun(the("Schlüssel").referent)
    give_it = replace(give, arguments=(the("Lehrer"), it))
    assert both(Sentence(Clause(SHE, give_it, Tense.PAST))) == (
        "She gave it to the teacher.",
        "Sie hat ihn dem Lehrer gegeben.",
    )
    give_him = replace(give, arguments=(HE, it))
    assert german(Sentence(Clause(SHE, give_him, Tense.PAST)), PLAIN) == (
        "Sie hat ihn ihm gegeben."
    )


@pytest.mark.parametrize(
    ("thing", "pronoun"), [("Schlüssel", "er"), ("Lampe", "sie"), ("Buch", "es")]
)
def test_it_follows_the_german_gender(thing: str, pronoun: str) -> None:
    phrase = the(thing)
    found = Clause(ANNA, action("find", "finden", phrase), Tense.PAST)
    second = Clause(Pronoun(phrase.referent), Description(quality("alt")), Tense.PAST)
    sentence = Sentence(found, linked=Linked(Conjunction.BUT, second))
    source, target = both(sentence)
    assert source.endswith(", but it was old.")
    assert target.endswith(f" gefunden, aber {pronoun} war alt.")


def test_relative_clauses() -> None:
    living = Clause(the("Mann"), action("live", "wohnen", Spatial(TOWN, name("Berlin"))))
    man = replace(the("Mann"), relative=RelativeClause(living))
    assert both(Sentence(Clause(man, action("laugh", "lachen"), Tense.PAST))) == (
        "The man who lives in Berlin laughed.",
        "Der Mann, der in Berlin wohnt, hat gelacht.",
    )
    assert both(Sentence(Clause(I, action("see", "sehen", man), Tense.PAST))) == (
        "I saw the man who lives in Berlin.",
        "Ich habe den Mann gesehen, der in Berlin wohnt.",
    )
    waited = Clause(SHE, action("wait", "warten", the("Mann")), Tense.PAST)
    awaited = replace(the("Mann"), relative=RelativeClause(waited, gap=0))
    assert both(Sentence(Clause(awaited, action("come", "kommen")))) == (
        "The man who she waited for comes.",
        "Der Mann, auf den sie gewartet hat, kommt.",
    )


def test_place_and_motion() -> None:
    lying = Clause(the("Buch"), action("be", "liegen", Spatial(ON, the("Tisch"))))
    assert both(Sentence(lying)) == ("The book is on the table.", "Das Buch liegt auf dem Tisch.")
    standing = Clause(the("Flasche"), action("be", "stehen", Spatial(ON, the("Tisch"))))
    assert german(Sentence(standing), PLAIN) == "Die Flasche steht auf dem Tisch."
    goal = Spatial(ON, the("Tisch"), True)
    put = Clause(HE, action("put", "legen", the("Buch"), goal), Tense.PAST)
    assert both(Sentence(put)) == (
        "He put the book onto the table.",
        "Er hat das Buch auf den Tisch gelegt.",
    )
    inside = Clause(HE, action("run", "rennen", Spatial(INSIDE, the("Küche"), True)), Tense.PAST)
    assert both(Sentence(inside)) == ("He ran into the kitchen.", "Er ist in die Küche gerannt.")


def test_infinitives() -> None:
    inner = Clause(ANNA, action("open", "aufmachen", the("Tür")))
    trying = Clause(ANNA, action("try", "versuchen", infinitive=inner), Tense.PAST)
    assert both(Sentence(trying)) == (
        "Anna tried to open the door.",
        "Anna hat versucht, die Tür aufzumachen.",
    )
    purpose = Linked(Conjunction.IN_ORDER_TO, replace(BUYING, adverbials=()))
    going = Clause(ANNA, action("come", "kommen"), Tense.PAST)
    assert both(Sentence(going, linked=purpose)) == (
        "Anna came to buy a red coat.",
        "Anna ist gekommen, um einen roten Mantel zu kaufen.",
    )
    without = Linked(Conjunction.WITHOUT, inner)
    assert both(Sentence(going, linked=without)) == (
        "Anna came without opening the door.",
        "Anna ist gekommen, ohne die Tür aufzumachen.",
    )


def test_reversed_feelings() -> None:
    like = Clause(I, action("like", "gefallen", the("Film")), Tense.PRESENT)
    assert both(Sentence(like)) == ("I like the film.", "Der Film gefällt mir.")
    fronted = GermanStyle(front=Role.EXPERIENCER)
    assert german(Sentence(like), fronted) == "Mir gefällt der Film."
    inside = Clause(HE, action("say", "sagen", content=Content(like)))
    assert german(Sentence(inside), PLAIN) == "Er sagt, dass mir der Film gefällt."


def test_reflexives() -> None:
    looking = Clause(ANNA, action("look forward", "freuen", the("Hochzeit")), Tense.PROGRESSIVE)
    assert both(Sentence(looking)) == (
        "Anna is looking forward to the wedding.",
        "Anna freut sich auf die Hochzeit.",
    )
    today = replace(looking, adverbials=(adverb("today"),))
    assert german(Sentence(today), TIME_FIRST) == "Heute freut sich Anna auf die Hochzeit."
    mine = replace(looking, subject=I)
    assert german(Sentence(mine, Mood.QUESTION), PLAIN) == "Freue ich mich auf die Hochzeit?"


def test_passive() -> None:
    building = Clause(the("Lehrer"), action("build", "bauen", the("Schule")), Tense.PAST)
    passive = replace(building, passive=True)
    assert both(Sentence(passive)) == (
        "The school was built by the teacher.",
        "Die Schule wurde vom Lehrer gebaut.",
    )
    hidden = replace(passive, subject=SOMEONE, tense=Tense.PERFECT)
    assert both(Sentence(hidden)) == (
        "The school has been built.",
        "Die Schule ist gebaut worden.",
    )


def test_conditions_and_when() -> None:
    rain = Clause(Pronoun(IMPERSONAL), action("rain", "regnen"), Tense.HYPOTHETICAL)
    stay = replace(SLEEPING, tense=Tense.CONDITIONAL)
    assert both(Sentence(stay, linked=Linked(Conjunction.IF, rain))) == (
        "She would sleep if it rained.",
        "Sie würde schlafen, wenn es regnen würde.",
    )
    past_rain = replace(rain, tense=Tense.PAST)
    once = Linked(Conjunction.WHEN_ONCE, past_rain)
    assert both(Sentence(replace(SLEEPING, tense=Tense.PAST), linked=once)) == (
        "She slept when it rained.",
        "Sie hat geschlafen, als es geregnet hat.",
    )
    general = Linked(Conjunction.WHEN_GENERAL, replace(rain, tense=Tense.PRESENT))
    assert both(Sentence(SLEEPING, linked=general)) == (
        "She sleeps when it rains.",
        "Sie schläft, wenn es regnet.",
    )
    before = Linked(Conjunction.AFTER, replace(BUYING, tense=Tense.PLUPERFECT, adverbials=()))
    assert both(Sentence(replace(SLEEPING, tense=Tense.PAST), linked=before)) == (
        "She slept after Anna had bought a red coat.",
        "Sie hat geschlafen, nachdem Anna einen roten Mantel gekauft hatte.",
    )


def test_spans_and_clock_times() -> None:
    since = Duration(DurationKind.SINCE, 3, TIME_UNITS[1])
    working = Clause(I, action("work", "arbeiten"), Tense.SINCE, adverbials=(since,))
    assert both(Sentence(working)) == (
        "I have been working for three years.",
        "Ich arbeite seit drei Jahren.",
    )
    ago = replace(working, tense=Tense.PAST, adverbials=(replace(since, kind=DurationKind.AGO),))
    assert both(Sentence(ago)) == (
        "I worked three years ago.",
        "Ich habe vor drei Jahren gearbeitet.",
    )
    half = replace(working, tense=Tense.PAST, adverbials=(ClockTime(3, half=True),))
    assert both(Sentence(half)) == (
        "I worked at half past three.",
        "Ich habe um halb vier gearbeitet.",
    )


def test_comparison_profession_and_existence() -> None:
    older = Description(replace(quality("alt"), degree=Degree.COMPARATIVE), PETER)
    assert both(Sentence(Clause(ANNA, older))) == (
        "Anna is older than Peter.",
        "Anna ist älter als Peter.",
    )
    equal = Description(quality("alt"), PETER)
    assert both(Sentence(Clause(ANNA, equal))) == (
        "Anna is as old as Peter.",
        "Anna ist so alt wie Peter.",
    )
    assert both(Sentence(Clause(ANNA, Identity(a("Ärztin"))))) == (
        "Anna is a doctor.",
        "Anna ist Ärztin.",
    )
    parks = NounPhrase(noun("Park"), Determiner.MANY, Number.PLURAL)
    there = Clause(
        Pronoun(IMPERSONAL), Existence(parks), adverbials=(Spatial(TOWN, name("Berlin")),)
    )
    assert both(Sentence(there), GermanStyle(front=Role.PLACE)) == (
        "There are many parks in Berlin.",
        "In Berlin gibt es viele Parks.",
    )


def test_compounds() -> None:
    key = NounPhrase(noun("Autoschlüssel"), Determiner.POSSESSIVE, possessor=SPEAKER)
    bottle = the("Apfelsaftflasche")
    seeing = Clause(HE, action("see", "sehen", key))
    assert both(Sentence(seeing)) == ("He sees my car key.", "Er sieht meinen Autoschlüssel.")
    found = Clause(HE, action("see", "sehen", bottle))
    assert both(Sentence(found)) == (
        "He sees the apple juice bottle.",
        "Er sieht die Apfelsaftflasche.",
    )


@pytest.mark.parametrize(
    ("clause", "source", "target"),
    [
        (Clause(I, action("know", "kennen", the("Lehrer"))),
         "I know the teacher.", "Ich kenne den Lehrer."),
        (Clause(I, action("know", "wissen", the("Antwort"))),
         "I know the answer.", "Ich weiß die Antwort."),
        (Clause(the("Katze"), action("eat", "fressen", the("Fisch")), Tense.PROGRESSIVE),
         "The cat is eating the fish.", "Die Katze frisst den Fisch."),
        (Clause(I, action("eat", "essen", the("Fisch")), Tense.PROGRESSIVE),
         "I am eating the fish.", "Ich esse den Fisch."),
        (Clause(I, action("paint", "streichen", the("Wand")), Tense.PAST),
         "I painted the wall.", "Ich habe die Wand gestrichen."),
        (Clause(I, action("press", "drücken", the("Taste")), Tense.PAST),
         "I pressed the key.", "Ich habe die Taste gedrückt."),
        (Clause(I, action("go", "gehen", Spatial(noun("Bank", "bank").relation,
                                                 NounPhrase(noun("Bank", "bank")), True))),
         "I go to the bank.", "Ich gehe zur Bank."),
        (Clause(I, action("wait", "warten", Spatial(noun("Ufer").relation, the("Ufer")))),
         "I wait on the bank.", "Ich warte am Ufer."),
    ],
)  # fmt: skip
def test_context_decides(clause: Clause, source: str, target: str) -> None:
    assert both(Sentence(clause)) == (source, target)
