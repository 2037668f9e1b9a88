"""Pictures of search trees: a file format, the choice of what to show, and the drawing.

Knows neither the searches nor fairseq; `python -m fairseq_mcts.pictures` redraws saved trees.
"""
