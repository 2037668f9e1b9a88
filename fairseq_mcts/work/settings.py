"""Everything that a result depends on, as plain data: recorded, digested and compared."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

#: nested dictionaries of plain values, as JSON has them
Settings = dict[str, Any]


def settings_digest(settings: Settings) -> str:
    """A short name for settings; equal settings have equal names."""
    text = json.dumps(settings, sort_keys=True, allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def differences(before: Settings, now: Settings) -> list[str]:
    """What changed, by name: `metric.name was "bleu", is now "chrf"`."""
    old, new = _flat(before), _flat(now)
    return [
        f"{name} was {json.dumps(old.get(name))}, is now {json.dumps(new.get(name))}"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{name}."))
        else:
            flat[prefix + name] = value
    return flat
