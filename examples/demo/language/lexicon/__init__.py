"""The bilingual lexicon as plain tables, one file per field of words."""

from examples.demo.language.lexicon.compounds import COMPOUNDS
from examples.demo.language.lexicon.people import ANIMALS, PERSONS
from examples.demo.language.lexicon.places import PLACES
from examples.demo.language.lexicon.things import DRINKS, FIXTURES, FOOD, IDEAS, PLANTS, THINGS
from examples.demo.language.words import Noun

NOUNS: list[Noun] = [
    *PERSONS,
    *ANIMALS,
    *THINGS,
    *FIXTURES,
    *PLANTS,
    *FOOD,
    *DRINKS,
    *IDEAS,
    *PLACES,
    *COMPOUNDS,
]
