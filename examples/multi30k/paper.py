"""The numbers of Leblond et al. (2021), as far as the study has tables beside them.

BLEU and BERTScores are on the paper's scale of 0 to 100, errors of values on 0 to 1. Pairs are
(ENDE, ENFR) on WMT 2014; a number that the paper does not give is None.
"""

Pair = tuple[float | None, float | None]

#: table 4, "Comparison of decoding mechanisms": row -> metric -> (ENDE, ENFR)
MAIN: dict[str, dict[str, Pair]] = {
    "random": {"bleu": (0, 0), "bertscore": (69.59, 70.55), "mlbertscore": (68.13, 68.00)},
    "reference": {"bleu": (100, 100), "bertscore": (100.0, 100.0), "mlbertscore": (81.36, 82.83)},
    "greedy": {"bleu": (25.99, 38.70), "bertscore": (87.88, 90.55), "mlbertscore": (83.02, 84.22)},
    "beam": {"bleu": (27.75, 39.24), "bertscore": (88.48, 90.76), "mlbertscore": (83.40, 84.48)},
    "vgbs": {"bleu": (27.17, 39.33), "bertscore": (88.47, 90.87), "mlbertscore": (85.10, 85.80)},
    "srv": {"bleu": (26.03, 38.67), "bertscore": (88.39, 90.93), "mlbertscore": (84.49, 85.68)},
    "mcts": {"bleu": (27.47, 39.12), "bertscore": (88.45, 90.80), "mlbertscore": (84.97, 86.31)},
    "sr": {"mlbertscore": (85.11, 86.12)},
    "mcts-rollout": {"mlbertscore": (85.76, 86.87)},
}

#: table 1, "Multilingual BERTScore": row -> (ENDE, ENFR)
MLBERTSCORE: dict[str, Pair] = {
    "random": (68.13, 68.00),
    "reference": (81.36, 82.83),
    "greedy": (83.02, 83.85),
    "beam": (83.40, 84.00),
}

#: table 3, error of BLEU values on ENDE: (encoder input, positions) -> error
VALUE_ERRORS = {
    ("source", "every"): 0.112,
    ("source", "finished"): 0.111,
    ("reference", "every"): 0.065,
    ("reference", "finished"): 0.002,
}

#: table 6 (appendix, hybrid architecture), ENDE: (metric, decoder) -> architecture -> score
ARCHITECTURES: dict[tuple[str, str], dict[str, float | None]] = {
    ("bleu", "greedy"): {"normal": 26.11, "cheating": None, "hybrid": 25.99},
    ("bleu", "mcts"): {"normal": 26.40, "cheating": 38.52, "hybrid": 27.47},
    ("bertscore", "greedy"): {"normal": 87.92, "cheating": None, "hybrid": 87.88},
    ("bertscore", "mcts"): {"normal": 88.01, "cheating": 90.70, "hybrid": 88.48},
}

#: table 7 (appendix), BLEU by beam size: (ENDE, ENFR)
BEAM_SIZES: dict[str, Pair] = {
    "2": (27.22, 38.88),
    "4": (27.75, 39.24),
    "6": (28.03, 39.37),
    "8": (28.03, 39.29),
    "10": (28.01, 39.29),
    "20": (28.02, 39.21),
}

#: table 8 (appendix), VGBS on ENFR by the weight of the value: (BERTScore, MLBERTScore)
ALPHAS: dict[str, Pair] = {
    "0.0": (90.74, 84.41),
    "0.1": (90.77, 84.42),
    "0.2": (90.80, 84.44),
    "0.3": (90.80, 84.51),
    "0.4": (90.83, 84.62),
    "0.5": (90.84, 84.77),
    "0.6": (90.71, 84.90),
    "0.7": (89.91, 85.10),
    "0.8": (87.17, 85.44),
    "0.9": (82.25, 85.44),
    "0.95": (79.47, 85.55),
    "1.0": (76.22, 79.30),
}

#: table 9 (appendix), V-MCTS on ENDE: metric -> (choice, backup) -> score
BACKUPS = {
    "bleu": {
        ("visits", "mean"): 27.47,
        ("visits", "max"): 26.82,
        ("value", "mean"): 22.48,
        ("value", "max"): 25.52,
    },
    "mlbertscore": {
        ("visits", "mean"): 83.76,
        ("visits", "max"): 83.81,
        ("value", "mean"): 84.08,
        ("value", "max"): 84.97,
    },
}

#: table 10 (appendix), by temperature: S+R by MLBERTScore, S+RV by BLEU, BERTScore, MLBERTScore
TEMPERATURES = {
    "0.15": (83.97, 26.17, 88.31, 83.69),
    "0.25": (84.35, 26.23, 88.32, 84.02),
    "0.35": (84.60, 25.85, 88.31, 84.22),
    "0.45": (84.82, 25.47, 88.29, 84.37),
    "0.55": (84.91, 24.96, 88.14, 84.44),
    "0.65": (85.02, 24.28, 88.04, 84.48),
    "0.75": (85.11, 23.79, 87.91, 84.48),
    "0.85": (85.07, 22.77, 87.69, 84.21),
    "0.95": (84.95, 21.32, 87.23, 83.66),
}

#: table 5, MLBERTScore by budget: decoder -> budget -> (ENDE, ENFR)
SCALING: dict[str, dict[str, Pair]] = {
    "vgbs": {
        "1": (82.82, 84.22),
        "10": (84.48, 85.38),
        "25": (84.87, 85.69),
        "50": (85.10, 85.80),
        "75": (85.34, 85.75),
        "100": (85.39, 85.78),
        "200": (85.64, 85.77),
        "300": (85.79, 85.79),
    },
    "sr": {
        "1": (81.77, 82.94),
        "10": (84.25, 85.35),
        "25": (84.77, 85.82),
        "50": (85.10, 86.12),
        "75": (85.31, 86.33),
        "100": (85.40, 86.44),
        "200": (85.69, 86.76),
        "300": (85.89, 86.90),
    },
    "mcts": {
        "1": (82.82, 84.22),
        "10": (84.47, 85.76),
        "25": (84.81, 86.10),
        "50": (84.97, 86.31),
        "75": (85.07, 86.44),
        "100": (85.14, 86.51),
        "200": (85.27, 86.62),
        "300": (85.27, 86.66),
    },
}

#: table 12 (appendix), greedy BLEU: policy -> (ENDE, ENFR)
POLICIES: dict[str, Pair] = {"supervised": (25.99, 38.70), "distilled": (25.95, 38.16)}

#: table 13 (appendix), BLEU of MCTS with 25 simulations: value -> (ENDE, ENFR)
SEPARATE_VALUES: dict[str, Pair] = {
    "beam": (27.75, 39.24),
    "bleu": (27.33, 39.67),
    "bertscore": (27.42, 39.46),
    "mlbertscore": (27.17, 40.31),
}
