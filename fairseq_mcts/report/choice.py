"""Which searches a page holds: as many as fit, the most interesting ones first."""

from fairseq_mcts.progress import showing
from fairseq_mcts.report.page_data import packed_record
from fairseq_mcts.report.page_file import search_block
from fairseq_mcts.report.report import Report


def chosen_searches(report: Report, max_bytes: int) -> dict[tuple[int, int], str]:
    """Packed searches by run and sentence, which take at most `max_bytes` of a page.

    First those of the sentences whose score a run has changed most, for better or worse, by the
    metric that it went by.
    """
    baseline = report.runs[report.baseline]
    changes: list[tuple[float, int, int]] = []  # negative ones first, then by sentence and run
    for number, run in enumerate(report.runs):
        metric = report.judged_by(run)
        for sentence in run.records:
            if sentence >= report.num_sentences:
                raise ValueError(
                    f"{run.name}: there is a search of sentence {sentence}, but there are only "
                    f"{report.num_sentences} sentences: is it of another test set?"
                )
            change = run.sentences[metric][sentence] - baseline.sentences[metric][sentence]
            changes.append((-abs(change), sentence, number))
    chosen: dict[tuple[int, int], str] = {}
    size = 0
    for _, sentence, number in showing("packing", sorted(changes), "searches"):
        packed = packed_record(report.runs[number].records[sentence])
        size += len(search_block(number, sentence, packed)) + 1  # the end of its line
        if size > max_bytes:
            break
        chosen[number, sentence] = packed
    return dict(sorted(chosen.items()))
