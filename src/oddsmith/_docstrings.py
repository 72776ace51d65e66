"""Entries that many docstrings share: written once, and complete in `help`."""

import re
from inspect import cleandoc

_HEADING = re.compile(r"^([A-Z][A-Za-z ]*)\n-+$", re.MULTILINE)
_ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)


def insert_shared(doc: str | None, base: str | None, reference: str) -> str | None:
    """Replace the entry whose text is a reference to another docstring by what that documents and this one does not."""
    if doc is None or base is None or reference not in doc:
        return doc
    clean = cleandoc(doc)
    entry = re.compile(rf"^\S[^\n]*\n {{4}}{re.escape(reference)}$", re.MULTILINE)
    own = _by_name(entry.sub("", clean))
    missing = ", ".join(name for name in _by_name(cleandoc(base)) if name not in own)
    return entry.sub(lambda _: "\n".join(_entries(base, missing)), clean)


def with_parameters(doc: str | None, base: str | None, names: str, returns: str) -> str | None:
    """Add parameters that another docstring describes before a docstring's own, and what is returned after them."""
    if doc is None or base is None:
        return doc
    head, own, rest = _parts(cleandoc(doc))
    shared = "\n".join(_entries(base, names))
    sections = [head, f"Parameters\n----------\n{shared}\n{own}".rstrip(), f"Returns\n-------\n{returns}", rest]
    return "\n\n".join(part for part in sections if part)


def _parts(doc: str) -> tuple[str, str, str]:
    """Split a docstring into what precedes its parameters, the entries of these, and what follows."""
    headings = list(_HEADING.finditer(doc))
    starts = [found.start() for found in headings] + [len(doc)]
    for place, found in enumerate(headings):
        if found[1] == "Parameters":
            following = doc[starts[place + 1] :]
            return doc[: found.start()].rstrip(), doc[found.end() + 1 : starts[place + 1]].rstrip(), following.rstrip()
    return doc[: starts[0]].rstrip(), "", doc[starts[0] :].rstrip()


def _entries(base: str, names: str) -> list[str]:
    """Return the entries of a docstring's parameters that have these names, in the order of the names."""
    known = _by_name(cleandoc(base))
    return list(dict.fromkeys(known[name] for name in names.split(", ")))


def _by_name(doc: str) -> dict[str, str]:
    """Return the entries of a docstring's parameters by the names that they document."""
    entries = [text.rstrip() for text in _ENTRY.split(_parts(doc)[1]) if text.strip()]
    return {name: text for text in entries for name in text.partition("\n")[0].partition(" : ")[0].split(", ")}
