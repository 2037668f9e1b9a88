"""Reports of decodings: what was found, what it cost, what it gave up, and how it was found.

One page that needs neither server nor network (`page/`), and the same figures as Markdown. Knows
neither torch nor fairseq.
"""
