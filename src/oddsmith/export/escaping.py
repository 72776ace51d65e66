"""Text in generated code: what strangers chose to call something must stay a name.

Every text that reaches an export goes through one of these functions. Comments are all of one line, so one rule serves
every target: what is kept means nothing in any of them, nor to what reads files before them.
"""

from collections.abc import Iterable

from oddsmith import _check

__all__ = ["in_comment", "spare_name", "sql_name"]

#: Ends a comment, joins lines (C, also by trigraphs), closes a script or starts another language around it, is replaced
#: by templates, shells and SQL clients, ends a statement, or tells the encoding (Python) or an editor what to do.
_ACTIVE = "\\*?<>{}$&`'\"@;:="


def in_comment(text: str) -> str:
    r"""Return text for a comment of one line, in any target.

    Examples
    --------
    >>> in_comment("PlattCalibrator, gcc (Debian 12.2.0-14) 12.2.0")
    'PlattCalibrator, gcc (Debian 12.2.0-14) 12.2.0'
    >>> in_comment("Platt\nimport os */ -- ?>")
    'Platt[U+000A]import os [U+002A]/ - - [U+003F][U+003E]'
    """
    return _check.visible(text, hide=_ACTIVE).replace("--", "- -").replace("--", "- -")


def sql_name(name: object, what: str) -> str:
    """Return the name of a column or table if it can be written in SQL, where it is quoted."""
    if not isinstance(name, str) or not name or _check.visible(name) != name:
        _check.fail(f"{what} must be a name of visible characters", repr(name), "rename it, or choose another")
    return name


def spare_name(names: Iterable[str]) -> str:
    """Return the beginning of names that none of these has, in any case."""
    spare, taken = "oddsmith_", [name.casefold() for name in names]
    while any(name.startswith(spare) for name in taken):
        spare += "_"
    return spare
