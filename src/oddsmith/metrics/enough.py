"""How many cases it takes to tell anything."""

#: With fewer cases in all, or outside the most frequent class, nothing can be told.
FEWEST, FEWEST_OF_A_CLASS = 50, 10


def too_few(*cases: float) -> bool:
    """Whether nothing can be told from so many cases of each class.

    Examples
    --------
    >>> too_few(9, 900), too_few(30, 20), too_few(30, 9, 3, 30)
    (True, False, False)
    """
    return sum(cases) < FEWEST or sum(cases) - max(cases) < FEWEST_OF_A_CLASS


def few_cases(pos: float, neg: float) -> str:
    """Say how many cases there are, and how many it would take."""
    seen = f"{pos + neg:.0f} cases ({pos:.0f} positive, {neg:.0f} negative) are too few"
    return f"{seen}; it takes at least {FEWEST}, and {FEWEST_OF_A_CLASS} of each class"


def few_cases_of_classes(*cases: float) -> str:
    """Say how many cases of several classes there are, and how many it would take."""
    rest = "outside the most frequent class"
    seen = f"{sum(cases):.0f} cases ({sum(cases) - max(cases):.0f} {rest}) are too few"
    return f"{seen}; it takes at least {FEWEST}, and {FEWEST_OF_A_CLASS} {rest}"
