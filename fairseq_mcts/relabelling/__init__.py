"""Relabelling: a policy's own translations of a corpus, each with its score.

The corpus is cut into chunks of fixed rows. A finished chunk is one file, written whole or not at
all, and its content depends on nothing but the settings: not on the shard that makes it, not on
what was made before, not on the batch size. Merging puts the chunks together. So shards may run
anywhere in any number, and a killed run goes on where it was, with the same bytes in the end.
"""
