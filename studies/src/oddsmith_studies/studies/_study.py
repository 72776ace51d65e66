"""What a study is: named parts that can be computed alone, and what is made of them."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from oddsmith_studies.studies._claims import Evidence
from oddsmith_studies.studies._figures import StudyFigure
from oddsmith_studies.studies._page import read_template
from oddsmith_studies.studies._published import Published, read_published
from oddsmith_studies.studies._record import Record
from oddsmith_studies.studies._tables import Table

Json = Any
"""None, bool, int, float, str, and lists and dictionaries of them; arrays and results of this package become such."""


DEFAULT_GRID = "default"


@dataclass(frozen=True)
class Setting:
    """What a run was asked for.

    Parameters
    ----------
    seed : int, default 0
    quick : bool, default False
        Whether to do the same on less data, in about a minute.
    data : str, default None
        A data folder to look in first.
    grid : str, default "default"
        Which of `Study.grids` to search.

    Examples
    --------
    >>> Setting(seed=1).seed_of("split", 3) == Setting(seed=1).seed_of("split", 3)
    True
    """

    seed: int = 0
    quick: bool = False
    data: str | None = None
    grid: str = DEFAULT_GRID

    def seed_of(self, *key: str | int) -> int:
        """Return a seed of 32 bits for one use of chance: parts draw the same wherever and whenever they run."""
        named = "/".join(map(str, (self.seed, *key)))
        return int.from_bytes(hashlib.sha256(named.encode()).digest()[:4], "big")


@dataclass(frozen=True)
class Part:
    """A step of a study that needs no other one.

    Parameters
    ----------
    name : str
        Small letters, digits, dots and dashes: it names the file that keeps the result.
    function : callable
        ``function(setting, **arguments)`` returns plain data. It stands at the top of a module, so that another process
        can import it.
    arguments : mapping of str to plain data, optional
    cost : float, default 1
        How long it takes, relative to the other parts, for the time left.
    """

    name: str
    function: Callable[..., Json]
    arguments: Mapping[str, Json] = field(default_factory=dict)
    cost: float = 1.0


@dataclass(frozen=True)
class Results(Mapping[str, Json]):
    """The results of all parts, by name and in the order of `Study.parts`.

    Parameters
    ----------
    setting : Setting
        What they were made with.
    parts : mapping of str to plain data
    published : Published
        What the document printed.
    """

    setting: Setting
    parts: Mapping[str, Json]
    published: Published

    def __getitem__(self, name: str) -> Json:
        return self.parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def starting(self, prefix: str) -> list[Json]:
        """Return the results of the parts whose names start so."""
        return [result for name, result in self.parts.items() if name.startswith(prefix)]


@dataclass(frozen=True)
class Study:
    """A study: what computes its parts, and what makes tables, pictures, verdicts and a page of their results.

    A module, or a package where it is long, has one, called ``STUDY``. All but ``parts`` are pure functions of their
    results, and the page is made of what is kept of a run, so that a rule or a sentence can be changed and nothing is
    computed again.

    Parameters
    ----------
    name : str
        As on the command line; the module has underscores for its dashes, ``expected/<name>.toml`` holds what the
        document printed, ``pages/<name>.md`` what its page says.
    title : str
    parts : callable
        Returns what is to be computed; with ``setting.quick`` less of the same.
    tables : callable
        Returns the tables, the published ones next to ours.
    figures : callable
        Returns the pictures.
    evidence : callable
        Returns what was measured for each claim; ``expected/verdicts.toml`` holds the rules that judge it.
    facts : callable, optional
        Returns the sentences and numbers that the page names, from the `Record` of the run; by default its remarks.
    remarks : callable, optional
        Returns sentences and numbers for the page that no table holds, by name.
    judged : callable, optional
        Returns those of the parts that the verdicts rest on, so that they can be computed alone; by default all.
    data : tuple of str
        Names of the data sets that it needs.
    grids : tuple of str
        What may be searched, the first by default: some documents search more than one machine can.
    version : int
        Raise it when parts compute something else, so that kept results are not used.
    """

    name: str
    title: str
    parts: Callable[[Setting], list[Part]]
    tables: Callable[[Results], list[Table]]
    figures: Callable[[Results], list[StudyFigure]]
    evidence: Callable[[Results], Evidence]
    facts: Callable[[Record], Mapping[str, str]] = lambda record: record.remarks
    remarks: Callable[[Results], Mapping[str, str]] = lambda _results: {}
    judged: Callable[[Setting], list[Part]] | None = None
    data: tuple[str, ...] = ()
    grids: tuple[str, ...] = (DEFAULT_GRID,)
    version: int = 1

    @cached_property
    def published(self) -> Published:
        """What the document printed."""
        return read_published(self.name)

    @cached_property
    def template(self) -> str:
        """What the page says around tables, pictures and facts."""
        return read_template(self.name)
