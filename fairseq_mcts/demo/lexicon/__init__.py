"""The bilingual lexicon as plain tables, one file per field of words."""

from fairseq_mcts.demo.lexicon.compounds import COMPOUNDS
from fairseq_mcts.demo.lexicon.people import ANIMALS, PERSONS
from fairseq_mcts.demo.lexicon.places import PLACES
from fairseq_mcts.demo.lexicon.things import DRINKS, FIXTURES, FOOD, IDEAS, PLANTS, THINGS
from fairseq_mcts.demo.words import Noun

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
