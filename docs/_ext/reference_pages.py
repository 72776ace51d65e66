"""The reference: a page for each public module, and one for each public name.

A name that several modules offer has one page, under the module from which it is usually imported.
"""

import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Annotated, Any, get_args, get_origin

from escaping import escaped

from oddsmith.metrics.measure import ForecastFunction

#: Public modules, in the order in which the reference shows them.
MODULES = (
    "oddsmith",
    "oddsmith.calibrators",
    "oddsmith.calibrators.registry",
    "oddsmith.classify",
    "oddsmith.metrics",
    "oddsmith.plots",
    "oddsmith.decide",
    "oddsmith.audit",
    "oddsmith.explain",
    "oddsmith.pooling",
    "oddsmith.cutoffs",
    "oddsmith.base_rates",
    "oddsmith.bands",
    "oddsmith.combine",
    "oddsmith.data",
    "oddsmith.maps",
    "oddsmith.maps.one_vs_rest",
    "oddsmith.maps.rows",
    "oddsmith.maps.scaling",
    "oddsmith.frames",
    "oddsmith.frames.engines",
    "oddsmith.files",
    "oddsmith.model",
    "oddsmith.monitor",
    "oddsmith.expected",
    "oddsmith.planning",
    "oddsmith.export",
    "oddsmith.report",
    "oddsmith.errors",
    "oddsmith.checks",
    "oddsmith.cli.plugin",
)

#: Modules of the studies that are shown after them.
STUDY_MODULES = ("oddsmith_studies.learners",)

#: Values with a comment that says what they are, as opposed to strings and names of types, which are shown.
_DATA = Mapping | list


@cache
def homes() -> dict[tuple[str, str], str]:
    """Return for each module and each name in it where the name is documented."""
    first: dict[tuple[int, str], str] = {}
    found = {}
    for module in (*MODULES, *STUDY_MODULES):
        for name in import_module(module).__all__:
            same = (id(getattr(import_module(module), name)), name)
            found[module, name] = first.setdefault(same, f"{module}.{name}")
    return found


def pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every page."""
    documented = homes()
    for module in (*MODULES, *STUDY_MODULES):
        names = {name: home for (where, name), home in documented.items() if where == module}
        yield module, _module_page(module, names)
        for name, home in names.items():
            if home == f"{module}.{name}":
                yield home, _page(home, getattr(import_module(module), name))


def names_of(module: str) -> str:
    """Return the table of a module's names, each with the line that says what it is."""
    found = {name: home for (where, name), home in homes().items() if where == module}
    rows = [f"   * - :py:obj:`{name} <{home}>`\n     - {_summary(home)}" for name, home in found.items()]
    return "\n".join([".. list-table::", "   :class: names", "", *rows])


def index_of(module: str) -> str:
    """Return what the index of the reference shows of a module."""
    first = (inspect.getdoc(import_module(module)) or "").partition("\n\n")[0].replace("\n", " ")
    return f":doc:`{module} </_made/reference/{module}>`: {escaped(first)}\n\n{names_of(module)}\n"


def _module_page(module: str, names: dict[str, str]) -> str:
    own = [f"   {home}" for home in names.values() if home.rpartition(".")[0] == module]
    parts = [
        _title(module),
        f".. automodule:: {module}\n   :no-members:",
        names_of(module),
        "\n".join([".. toctree::", "   :hidden:", "", *own]) if own else "",
    ]
    return "\n\n".join(parts) + "\n"


def _page(home: str, value: Any) -> str:
    module, _, name = home.rpartition(".")
    if _is_function(value) and value.__name__ != name:
        body = f".. py:function:: {name}(y_true, y_prob, sample_weight=None)\n\n   {_other_name(value)}"
    elif inspect.isclass(value) and issubclass(value, Exception):
        body = f".. autoexception:: {name}"
    elif inspect.isclass(value):
        body = f".. autoclass:: {name}\n   :members:\n   :inherited-members: {_foreign(value)}"
    elif _is_function(value):
        body = f".. autofunction:: {name}"
    elif isinstance(value, _DATA):
        body = f".. autodata:: {name}\n   :no-value:"
    else:
        body = f".. py:data:: {name}\n\n   {_alias(value)}"
    return f"{_title(name)}\n\n.. currentmodule:: {module}\n\n{body}\n"


def _is_function(value: Any) -> bool:
    return inspect.isfunction(value) or isinstance(value, ForecastFunction)


def _other_name(value: Any) -> str:
    return f"Another name of `{value.__module__.rpartition('.')[0]}.{value.__name__}`."


def _alias(value: Any) -> str:
    if get_origin(value) is Annotated:
        kind, option = get_args(value)
        return f"An option of a command, ``{kind.__name__}``: {option.help}"
    return f"Stands for ``{value}``."


def _foreign(cls: type) -> str:
    """Return the bases from elsewhere, whose members are documented there."""
    return ", ".join(base.__name__ for base in cls.__mro__ if not base.__module__.startswith("oddsmith"))


def _summary(home: str) -> str:
    module, _, name = home.rpartition(".")
    value = getattr(import_module(module), name)
    if _is_function(value) and value.__name__ != name:
        return _other_name(value)
    if inspect.isclass(value) or _is_function(value):
        return escaped((inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " "))
    return "" if isinstance(value, _DATA) else _alias(value)


def _title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}"
