"""Prose of docstrings, in which |s − k|, J. Platt and coef_ are meant as they stand, for a reader of markup."""

import re


def escaped(text: str) -> str:
    r"""Return text in which only backticks have a meaning.

    Examples
    --------
    >>> print(escaped("J. Platt: |s| of `coef_` or coef_ and ``a|b``"))
    J\. Platt: \|s\| of `coef_` or coef\_ and ``a|b``
    """
    parts = re.split(r"(``.*?``|`[^`]*`_?)", text)
    for place in range(0, len(parts), 2):
        parts[place] = re.sub(r"\||(?<=\w)_(?!\w)", r"\\\g<0>", parts[place])
    return re.sub(r"^(\s*[A-Z])\. ", r"\1\\. ", "".join(parts))
