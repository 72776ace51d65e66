"""The rooms of the house, who imports whom, and every file, as the site shows them."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "oddsmith"
STUDIES = ROOT / "studies" / "src" / "oddsmith_studies"


#: Lower rooms that offer a service of a higher one, which they import when it is used.
UPWARD = {("data/table.py", "frames"), ("model/_model.py", "frames")}


def room_of(path: Path, package: Path = PACKAGE) -> str:
    """Return the first-level module of a package that a file belongs to."""
    return path.relative_to(package).parts[0].removesuffix(".py")


def imported(path: Path, package: Path = PACKAGE, *, nested: bool = True) -> set[tuple[str, ...]]:
    """Return what a file imports of its package, at any place in it, as paths of names within the package.

    Without ``nested``, imports inside of functions are left out.
    """
    found: set[tuple[str, ...]] = set()
    tree = ast.parse(path.read_text())
    late = {
        inner for node in ast.walk(tree) if not nested and isinstance(node, ast.FunctionDef) for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in late:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == package.name:
            found |= {(*node.module.split(".")[1:], alias.name) for alias in node.names}
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            found |= {tuple(name[1:]) for name in names if name[0] == package.name and len(name) > 1}
    return found


def arrows() -> dict[str, set[str]]:
    """Return the rooms that each room imports."""
    graph: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        room = room_of(path)
        if room != "__init__":
            others = {name[0] for name in imported(path)} - {room}
            file = path.relative_to(PACKAGE).as_posix()
            graph.setdefault(room, set()).update(other for other in others if (file, other) not in UPWARD)
    return graph


def reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    """Return all rooms that a room imports, directly or through others."""
    found: set[str] = set()
    todo = list(graph.get(start, ()))
    while todo:
        room = todo.pop()
        if room not in found:
            found.add(room)
            todo += graph.get(room, ())
    return found


def shortest() -> list[tuple[str, str]]:
    """Return which room imports which, without what follows from others."""
    graph = arrows()
    found = []
    for room in sorted(graph):
        implied = set().union(*(reachable(graph, other) for other in graph[room]))
        found += [(room, other) for other in sorted(graph[room] - implied)]
    return found


def contents() -> str:
    """Return a table of every file and the first sentence of its docstring, for the site."""
    rows = ["| file | what it is |", "|---|---|"]
    for package in (PACKAGE, STUDIES):
        for path in sorted(package.rglob("*.py"), key=lambda path: (room_of(path, package), path.parts)):
            said = (ast.get_docstring(ast.parse(path.read_text())) or "").split("\n\n")[0]
            rows.append(f"| `{path.relative_to(package.parent)}` | {' '.join(said.split())} |")
    return "\n".join(rows)
