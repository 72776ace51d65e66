"""Names and text in SQL."""

from collections.abc import Sequence


def text_literal(value: str) -> str:
    """Write text in SQL."""
    return "'" + value.replace("'", "''") + "'"


def identifier(name: str, quote: str = '"') -> str:
    """Write a name in SQL."""
    return quote + name.replace(quote, 2 * quote) + quote


def sum_of(terms: Sequence[str]) -> str:
    """Write a sum, by halves: engines refuse hundreds of terms one after the other, which are nested as deeply.

    Examples
    --------
    >>> sum_of(["a", "b", "c"])
    '(a + (b + c))'
    """
    middle = len(terms) // 2
    return terms[0] if len(terms) == 1 else f"({sum_of(terms[:middle])} + {sum_of(terms[middle:])})"
