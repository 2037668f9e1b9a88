"""Networks as the searches' evaluators: key/value pool, decoder steppers, device matters."""

from typing import Any, TypeAlias

#: A fairseq module whose parts are reached by name: torch types them all as "Tensor | Module".
Network: TypeAlias = Any
