"""Verbs of rest, of motion and of putting things somewhere. Rank decides frequency."""

from examples.demo.language.lexicon.verb_frames import direction, motion, obj, rest, state, verb
from examples.demo.language.words import Verb

LOCAL: tuple[Verb, ...] = (
    state("be", "stehen", "standing", rest()),
    state("be", "liegen", "lying", rest()),
    state("live", "wohnen", "person", rest("town country home area")),
    verb("work", "arbeiten", "person", rest("work")),
    verb("sit", "sitzen", "being", rest("seat room green")),
    state("stand", "stehen", "standing", rest()),
    state("lie", "liegen", "lying", rest()),
    verb("stay", "bleiben +sein", "person", rest("town country room area")),
    state("hang", "hängen", "hanging", rest("indoors above")),
    state("live", "leben", "person animal", rest("area country")),
    verb("wait", "warten", "person", rest("building water")),
    verb("sleep", "schlafen", "being", rest("room seat")),
    verb("hide", "sich verstecken", "being", rest("hideout room")),
)

MOTION: tuple[Verb, ...] = (
    verb("go", "gehen +sein", "person", direction("shop out room green work job")),
    verb("go", "fahren +sein", "person", direction("town country area water")),
    verb("drive", "fahren +sein", "person", direction("town country area out shop")),
    verb("fly", "fliegen +sein", "person", direction("town country")),
    verb("run", "laufen +sein", "being", direction("room green building")),
    verb("run", "rennen +sein", "being", direction("room green building")),
    verb("come", "kommen +sein", "person", direction("room green out town")),
    verb("travel", "reisen +sein", "person", direction("town country")),
    verb("move", "ziehen +sein", "person", direction("town country area")),
    verb("hike", "wandern +sein", "person", direction("water")),
    verb("jump", "springen +sein", "animal", motion("surface")),
    verb("climb", "klettern +sein", "person", motion("surface")),
    verb("crawl", "kriechen +sein", "animal", motion("hideout")),
)

PLACING: tuple[Verb, ...] = (
    verb("put", "stellen", "person", obj("standing"), motion()),
    verb("put", "legen", "person", obj("lying"), motion()),
    verb("put", "stecken", "person", obj("pocket"), motion("holder")),
    verb("lay", "legen", "person", obj("lying"), motion("surface")),
    verb("hang", "hängen +weak", "person", obj("hanging"), motion("indoors above")),
    verb("carry", "tragen", "person", obj("container wooden"), direction("room green")),
    verb("throw", "werfen", "person", obj("portable"), motion("holder")),
    verb("push", "schieben", "person", obj("furniture wheeled"), direction("room green")),
    verb("take", "bringen", "person", obj("kin animal"), direction("building")),
)
