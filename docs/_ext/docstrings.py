"""Docstrings are written for people who read source; here they become the markup that Sphinx wants.

Formulas such as |s − k| are no substitutions, initials such as J. Platt begin no list, names such as coef_ are no
links, and a name in single backticks is found wherever it is documented.
"""

import re
from typing import Any

from docutils import nodes
from escaping import escaped
from reference_pages import homes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

#: Methods that scikit-learn gives to every estimator with weights, and that only its meta-estimators call.
ROUTING = re.compile(r"set_\w+_request|get_metadata_routing")


def setup(app: Sphinx) -> dict[str, bool]:
    """Read docstrings as they were meant."""
    app.connect("autodoc-process-docstring", _escape_lines, priority=900)  # after numpydoc
    app.connect("autodoc-skip-member", _skip)
    app.connect("missing-reference", _find)
    return {"parallel_read_safe": True}


def _escape_lines(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    del app, what, name, value, options
    literal = None  # how far the line is indented that opened a literal block
    session = False
    for place, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        session = line.lstrip().startswith(">>>") or (session and bool(line.strip()))
        if literal is not None and line.strip() and indent <= literal:
            literal = None
        if not session and literal is None and not line.lstrip().startswith(".. "):
            lines[place] = escaped(line)
            literal = indent if line.rstrip().endswith("::") else None


def _skip(app: Sphinx, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    del app, what, options
    is_field = (getattr(value, "__doc__", None) or "").startswith("Alias for field number")  # of a named tuple
    return True if is_field or ROUTING.fullmatch(name) else (skip or None)


def _find(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement) -> nodes.Node | None:
    """Find a public name, or a member of one, that is written without its module."""
    if node.get("refdomain") != "py":
        return None
    first, _, rest = node["reftarget"].removeprefix("oddsmith.").partition(".")
    found = {f"{home}.{rest}" if rest else home for (_, name), home in homes().items() if name == first}
    found |= {home for (module, name), home in homes().items() if f"{module}.{name}" == node["reftarget"]}
    known = [home for home in sorted(found, key=len) if home in env.domains.python_domain.objects]
    if not known:
        return None
    return env.domains.python_domain.resolve_xref(env, node["refdoc"], app.builder, "obj", known[0], node, content)
