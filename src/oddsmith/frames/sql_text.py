"""Names and text in SQL."""


def text_literal(value: str) -> str:
    """Write text in SQL."""
    return "'" + value.replace("'", "''") + "'"


def identifier(name: str, quote: str = '"') -> str:
    """Write a name in SQL."""
    return quote + name.replace(quote, 2 * quote) + quote
