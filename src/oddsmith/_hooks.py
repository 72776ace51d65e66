"""Services of higher rooms that objects of lower rooms offer, such as `ScoreTable.from_frame` and ``cal.save``.

A lower room names the service alone. The rooms that do the work are named where the package is put together, in
``oddsmith/__init__.py``, and are loaded when they are first asked.
"""

from collections.abc import Callable
from typing import Any

#: How to load the function that does a service.
PROVIDERS: dict[str, Callable[[], Callable[..., Any]]] = {}


def service(name: str) -> Callable[..., Any]:
    """Return the function that does a service."""
    return PROVIDERS[name]()
