"""Names and figures in running text: where a name leads, where it may break, and what stays together."""

import re
from collections.abc import Iterator

from reference_pages import homes

#: A name as it is written in text: alone, or called.
NAME = re.compile(r"[A-Za-z_][\w.]*(?=\(|$)")
#: ENIR·Calibrator, from_·frame, plots.·CorpDisplay, fit(·scores
BETWEEN_WORDS = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z][_./])(?=[a-zA-Z])|(?<=[a-z]=)(?=\S)|(?<=\w\()(?=[^)])"
)
#: Words of so many letters fit beside others even on a phone.
SHORT = 16
#: 95 %, 3 ms, × 10³, σ = 3, [0.85, 1.27]
FIGURE = re.compile(r"\d (?=[%×]|(?:[mµ]?s|[MGT]B)\b)|[×=] (?=\d)|\[[−+\d.]+, [−+\d.]+\]")
#: 0.84–0.94
RANGE = re.compile(r"(?<=\d–)(?=\d)")


def targets(code: str) -> Iterator[str]:
    """Yield where code may lead to in the reference, the most precise place first.

    A word that is also plain English, such as `load`, leads nowhere without its module.
    """
    match = NAME.match(code)
    if match is None:
        return
    for (module, public), home in homes().items():
        full = f"{module}.{public}"
        plain = public.islower() and "_" not in public
        for start in {full, full.removeprefix("oddsmith."), public} - ({public} if plain else set()):
            if f"{match[0]}.".startswith(f"{start}."):
                yield from dict.fromkeys((home + match[0].removeprefix(start), home))
                return


def breakable(code: str, short: int = SHORT) -> str:
    """Return a word of code in which a browser may begin a new line between the parts of a long name."""
    return BETWEEN_WORDS.sub("<wbr>", code) if len(code) > short else code


def bound(text: str) -> str:
    """Return text whose figures stay in one line with what belongs to them."""
    return RANGE.sub("\N{WORD JOINER}", FIGURE.sub(lambda figure: figure[0].replace(" ", "\N{NO-BREAK SPACE}"), text))
