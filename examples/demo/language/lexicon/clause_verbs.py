"""Verbs whose object is a clause or an infinitive. Rank decides frequency."""

from examples.demo.language.lexicon.verb_frames import state, verb
from examples.demo.language.words import Verb

# They say, think, know that …
SAYING: tuple[Verb, ...] = (
    verb("say", "sagen", "person"),
    state("think", "glauben", "person"),
    state("know", "wissen", "person"),
    state("hope", "hoffen", "person"),
    state("believe", "glauben", "person"),
    state("notice", "bemerken", "person"),
    state("hear", "hören", "person"),
    verb("claim", "behaupten", "person"),
    state("suspect", "vermuten", "person"),
    verb("admit", "zu|geben", "person"),
)
# They ask, do not know whether, where, why …
ASKING: tuple[Verb, ...] = (
    state("know", "wissen", "person"),
    verb("ask", "fragen", "person"),
    state("wonder", "sich fragen", "person"),
    state("forget", "vergessen", "person"),
    state("find out", "heraus|finden", "person"),
)
# They try, forget, begin to …
INTENDING: tuple[Verb, ...] = (
    verb("try", "versuchen", "person"),
    state("forget", "vergessen", "person"),
    state("begin", "an|fangen", "person"),
    state("begin", "beginnen", "person"),
    verb("hope", "hoffen", "person"),
    state("promise", "versprechen", "person"),
    state("decide", "beschließen", "person"),
    verb("plan", "vor|haben", "person"),
    verb("refuse", "sich weigern", "person"),
)
# Verbs of the lists above that tell what happened at one moment: not used in the present.
SUDDEN = frozenset({"forget", "find out", "notice", "decide", "promise", "hear", "admit", "begin"})
