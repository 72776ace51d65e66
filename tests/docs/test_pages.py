"""What the pages show is what happens: every block of code is run, page by page, and shown output is compared.

Blocks of a page share one namespace and one empty folder. Python that is written with ``>>>`` and commands that are
followed by output must print what the page says, where ``...`` stands for anything. So must Python with a block of text
right below it. Of what commands and such Python print, the last digits of figures may differ. ``<!-- needs: torch -->``
above a block names modules that a user's machine may lack; ``<!-- fragment -->`` marks code that is only looked at.
"""

import contextlib
import doctest
import io
import math
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from samples import ours_allowed

DOCS = Path(__file__).parents[2] / "docs"
#: Pages of the studies are written by `oddsmith study`, which needs data and hours; made pages are made anew each time.
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if not {"studies", "_made"} & set(path.relative_to(DOCS).parts)]

#: What a block may be: code that is run, or text that is not.
RUN = {"python", "console"}
TEXT = {"text", "c", "javascript", "json", "r", "sql", "toml", "yaml"}

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[^`\n]*)\n(?P<code>.*?)^ *(?P=fence) *$", re.M | re.S)
REMARK = re.compile(r"<!-- *(?P<word>needs|fragment)(?:: *(?P<names>[\w., ]+?))? *-->\s*\Z")
COMMAND = re.compile(r"^\$ (?P<command>(?:.*\\\n)*.*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.M)
#: Programs that install things or run for long are shown, not run.
NOT_RUN = re.compile(r"(pip|make|git|python -m pip|oddsmith study|oddsmith data) ")
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+\.?\d*(?:e[-+]?\d+)?")


class Block(NamedTuple):
    """Code on a page."""

    language: str
    code: str
    line: int
    needs: tuple[str, ...]
    fragment: bool
    shown: str | None


def blocks(text):
    """Return the blocks of a page, in order."""
    found = []
    fences = list(FENCE.finditer(text))
    for match, below in zip_longest(fences, fences[1:]):
        printed = below is not None and below["language"] == "text" and not text[match.end() : below.start()].strip()
        remark = REMARK.search(text, 0, match.start())
        names = tuple(re.findall(r"[\w.]+", (remark and remark["names"]) or ""))
        code = re.sub(f"^{match['indent']}", "", match["code"], flags=re.M)
        line = text.count("\n", 0, match.start("code"))
        fragment = remark is not None and remark["word"] == "fragment"
        shown = below["code"] if printed else None
        found.append(Block(match["language"].strip(), code, line, names, fragment, shown))
    return found


def run_page(text, name):
    """Run the blocks of a page in the current folder; skip at its end, or fail in CI, if some needed what is absent."""
    missing = set()
    module = ModuleType("page")
    for block in blocks(text):
        assert block.language in RUN | TEXT or block.language.startswith("{"), f"{name}, line {block.line}"
        assert "code-block" not in block.language, f"{name}, line {block.line}: write ```python, which is run"
        absent = {need for need in block.needs if find_spec(need.partition(".")[0]) is None}
        missing |= absent
        if block.fragment or absent:
            continue
        if block.language == "python":
            run_python(block, vars(module), name)
        elif block.language == "console":
            run_console(block, name)
    if missing:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"no module {', '.join(sorted(missing))}")


def run_python(block, names, page):
    """Run code; what is written as a session must print what it shows."""
    with ours_allowed():
        if ">>> " not in block.code:
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile("\n" * block.line + block.code, page, "exec"), names)
            said = output.getvalue()
            assert block.shown is None or prints(block.shown, said), f"{page}, line {block.line}: it prints\n{said}"
            return
        session = doctest.DocTestParser().get_doctest(block.code, names, page, page, block.line)
        said = []
        doctest.DocTestRunner(optionflags=OPTIONS).run(session, out=said.append, clear_globs=False)
        names |= session.globs
        assert not said, "".join(said)


def prints(shown, said):
    """Whether this was said: the same words, and figures within 5 % or 0.02, as other versions of what is used give."""
    check = doctest.OutputChecker().check_output
    if check(shown, said, OPTIONS):
        return True
    if not check(*(NUMBER.sub("0", text) for text in (shown, said)), OPTIONS):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(said), strict=False)
    return "..." in shown or all(math.isclose(float(a), float(b), rel_tol=0.05, abs_tol=0.02) for a, b in pairs)


def run_console(block, page):
    """Run commands by the shell; what they print must be what is shown, if anything is."""
    if (shell := shutil.which("bash")) is None:
        pytest.skip("no bash")
    found = list(COMMAND.finditer(block.code))
    assert found, f"{page}, line {block.line}: no line begins with $"
    code = 0
    for place, match in enumerate(found):
        command, shown = match["command"], match["output"]
        asked = place + 1 < len(found) and found[place + 1]["command"] == "echo $?"
        if command == "echo $?":
            said = f"{code}\n"
        elif NOT_RUN.match(command):
            continue
        else:
            path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
            env = {**os.environ, "PATH": path, "COLUMNS": "100"}
            done = subprocess.run(
                [shell, "-c", command], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            said, code = done.stdout, done.returncode
            assert code == 0 or asked, f"{page}, line {block.line}: {command} exits with {code}\n{said}"
        if shown.strip():
            assert prints(shown, said), f"{page}, line {block.line}: {command} prints\n{said}\nnot\n{shown}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_shows_what_happens(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(page.read_text(encoding="utf-8"), str(page))


def test_the_start_pages_run_twice_one_after_another_in_one_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages = [DOCS / "start" / f"{name}.md" for name in ("python", "command-line", "several-classes", "report")]
    for page in [*pages, *pages]:
        run_page(page.read_text(encoding="utf-8"), str(page))


def test_blocks_share_names_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = "```python\nfrom pathlib import Path\nPath('a.txt').write_text('12')\nx = 1\n```\n"
    page += "- then\n\n  ```python\n  y = x + 1\n  ```\n"
    page += "```python\nprint('P =', 0.5)\nprint('so')\n```\n\n```text\nP = 0.51\n...\n```\n"
    page += "```python\n>>> y\n2\n```\n```console\n$ cat a.txt\n1...\n$ false\n$ echo $?\n1\n```\n"
    run_page(page, "page")


@pytest.mark.parametrize(
    "page",
    [
        "```python\n1 / 0\n```\n",
        "```python\n>>> 1 + 1\n3\n```\n",
        "```python\nprint(0.5)\n```\n\n```text\n0.6\n```\n",
        "```python\nprint('a 1')\n```\n```text\nb 1\n```\n",
        "```console\n$ false\n```\n",
        "```console\n$ echo yes\nno\n```\n",
        "```console\n$ oddsmith fit \\\n    nowhere.csv\n```\n",
        "```console\noddsmith demo\n```\n",
        "```py\nx = 1\n```\n",
        "```{code-block} python\nx = 1\n```\n",
    ],
)
def test_a_page_that_shows_something_else_fails(page):
    with pytest.raises((AssertionError, ZeroDivisionError)):
        run_page(page, "page")


def test_what_is_absent_is_skipped_by_name_and_fails_in_ci(monkeypatch):
    page = "<!-- needs: nothing_of_this_name -->\n\n```python\n1 / 0\n```\n"
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="nothing_of_this_name"):
        run_page(page, "page")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="nothing_of_this_name"):
        run_page(page, "page")


def test_a_fragment_is_not_run():
    run_page("<!-- fragment -->\n```python\n1 / 0\n```\n", "page")
