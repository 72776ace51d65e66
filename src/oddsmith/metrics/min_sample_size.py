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


def few_cases(*cases: float) -> str:
    """Return how many cases of each class there are, of two classes the positive ones first, and what a verdict needs.

    Examples
    --------
    >>> few_cases(30, 5)
    '35 cases (30 positive, 5 negative) are too few; a verdict needs at least 50, and 10 of each class'
    """
    fewest = f"a verdict needs at least {FEWEST}, and {FEWEST_OF_A_CLASS}"
    if len(cases) == 2:
        seen = f"{sum(cases):.0f} cases ({cases[0]:.0f} positive, {cases[1]:.0f} negative) are too few"
        return f"{seen}; {fewest} of each class"
    rest = "outside the most frequent class"
    return f"{sum(cases):.0f} cases ({sum(cases) - max(cases):.0f} {rest}) are too few; {fewest} {rest}"


def few_groups(n_groups: int) -> str:
    """Return how many groups there are, and how many a verdict needs."""
    return f"{n_groups} groups of rows are too few; a verdict needs at least {FEWEST_GROUPS}"
