"""The type of the networks that fairseq builds."""

from typing import Any, TypeAlias

#: A fairseq module whose parts are reached by name: torch types them all as "Tensor | Module".
Network: TypeAlias = Any
