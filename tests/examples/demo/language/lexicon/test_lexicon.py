"""The lexicon as a whole: every entry is well formed, and every entry is drawn."""

from collections import defaultdict
from dataclasses import is_dataclass
from random import Random

import pytest

from examples.demo.language.features import Gender
from examples.demo.language.german.strong_verbs import STRONG_VERBS
from examples.demo.language.lexicon import NOUNS
from examples.demo.language.lexicon.places import SPOTS, WALL_SPOTS
from examples.demo.language.lexicon.qualities import ADJECTIVES, INTENSIFIERS
from examples.demo.language.sampling.sentences import Grammar
from examples.demo.language.words import Adjective, Adverb, Noun, ProperName, Verb
from tests.examples.demo.language.lookup import ADVERBS, NAMES, VERBS, noun

ENTRIES = {*NOUNS, *VERBS, *ADJECTIVES, *INTENSIFIERS, *NAMES, *ADVERBS}


def collect(node: object, found: set[object]) -> None:
    """Add all lexicon entries below a node of a meaning."""
    if isinstance(node, Noun | Verb | Adjective | Adverb | ProperName):
        found.add(node)
    elif isinstance(node, tuple):
        for item in node:
            collect(item, found)
    elif is_dataclass(node):
        for part in vars(node).values():
            collect(part, found)


@pytest.mark.slow
def test_every_entry_is_drawn() -> None:
    rng = Random(3)
    found: set[object] = set()
    for count in range(30_000):
        collect(Grammar(rng).sentence(), found)
        if count % 500 == 0 and found >= ENTRIES:
            break
    missing = [getattr(entry, "english", entry) for entry in ENTRIES - found]
    assert not missing


def test_there_are_many_lemmas() -> None:
    assert len({n.german for n in NOUNS}) > 400
    assert len({v.german.full_infinitive for v in VERBS}) > 180
    assert len({a.german for a in ADJECTIVES}) > 70


def test_kinds_that_words_ask_for_exist() -> None:
    kinds = {kind for entry in NOUNS for kind in entry.kinds}
    known = kinds | {"spot", "town", "country"}
    for verb in VERBS:
        asked = verb.subject.union(*(slot.kinds for slot in verb.slots))
        assert asked <= known, verb.english
    for adjective in ADJECTIVES:
        assert adjective.kinds <= kinds, adjective.english
    assert {kind for kind, _ in (*SPOTS, *WALL_SPOTS)} <= kinds


def test_no_entry_twice() -> None:
    seen = [(n.english, n.german, n.kinds) for n in NOUNS]
    assert len(set(seen)) == len(seen)


def test_strong_verbs_are_all_in_use() -> None:
    assert set(STRONG_VERBS) == {v.german.infinitive for v in VERBS} & set(STRONG_VERBS)


def test_ambiguous_english_words_have_several_translations() -> None:
    german: dict[str, set[str]] = defaultdict(set)
    for entry in (*NOUNS, *ADJECTIVES):
        german[entry.english].add(entry.german)
    for verb in VERBS:
        german[verb.english].add(verb.german.full_infinitive)
    assert german["bank"] == {"Bank", "Ufer"}
    assert german["key"] == {"Schlüssel", "Taste"}
    assert german["letter"] == {"Brief", "Buchstabe"}
    assert german["know"] == {"wissen", "kennen"}
    assert german["eat"] == {"essen", "fressen"}
    assert german["put"] == {"stellen", "legen", "stecken"}
    assert german["light"] >= {"leicht", "hell", "Licht"}
    assert german["teacher"] == {"Lehrer", "Lehrerin"}
    assert sum(len(words) > 1 for words in german.values()) > 50


@pytest.mark.parametrize(
    ("compound", "gender", "plural"),
    [
        ("Küchentisch", Gender.MASC, "Küchentische"),
        ("Geburtstagsgeschenk", Gender.NEUT, "Geburtstagsgeschenke"),
        ("Apfelsaftflasche", Gender.FEM, "Apfelsaftflaschen"),
        ("Kirschbaum", Gender.MASC, "Kirschbäume"),
    ],
)
def test_compounds_inherit_from_their_head(compound: str, gender: Gender, plural: str) -> None:
    entry = noun(compound)
    assert (entry.gender, entry.german_plural) == (gender, plural)
    assert len(entry.english.split()) > 1
