"""Minimum sample sizes for a verdict."""

#: Fewer cases in total, fewer outside the most frequent class, or fewer groups allow no verdict.
FEWEST, FEWEST_OF_A_CLASS, FEWEST_GROUPS = 50, 10, 30


def too_few(*cases: float) -> bool:
    """Whether these numbers of cases per class are too small for a verdict.

    Examples
    --------
    >>> too_few(9, 900), too_few(30, 20), too_few(30, 9, 3, 30)
    (True, False, False)
    """
    return sum(cases) < FEWEST or sum(cases) - max(cases) < FEWEST_OF_A_CLASS


def few_cases(pos: float, neg: float) -> str:
    """Return how many cases there are, and how many a verdict needs."""
    seen = f"{pos + neg:.0f} cases ({pos:.0f} positive, {neg:.0f} negative) are too few"
    return f"{seen}; a verdict needs at least {FEWEST}, and {FEWEST_OF_A_CLASS} of each class"


def few_cases_of_classes(*cases: float) -> str:
    """Return how many cases of several classes there are, and how many a verdict needs."""
    rest = "outside the most frequent class"
    seen = f"{sum(cases):.0f} cases ({sum(cases) - max(cases):.0f} {rest}) are too few"
    return f"{seen}; a verdict needs at least {FEWEST}, and {FEWEST_OF_A_CLASS} {rest}"


def few_groups(n_groups: int) -> str:
    """Return how many groups there are, and how many a verdict needs."""
    return f"{n_groups} groups of rows are too few; a verdict needs at least {FEWEST_GROUPS}"
