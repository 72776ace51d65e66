"""Follow every link of a built site; refuse what a reader without network would miss, and pages that load too much.

`python docs/_ext/check_site.py build/docs` prints each broken link and heavy page, and exits with 1 if there is one.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: The most bytes that a page may load at once, itself included, as they are on the disk; search loads its index too.
HEAVIEST = 1_000_000


class Page(HTMLParser):
    """The targets, the links and the parts that a page loads, some of them when they come into view."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.targets, self.links, self.parts, self.late = path, {""}, [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what one tag names, links to and loads."""
        given = {name: value or "" for name, value in attrs}
        self.targets |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in {"index", "search", "next", "prev", "canonical"}:
            self.parts.append(given.get("href", ""))
        elif "src" in given:
            self.parts.append(given["src"])
            self.late |= {given["src"]} if given.get("loading") == "lazy" else set()


def complaints(site: Path) -> list[str]:
    """Return one line for each link that leads nowhere, each part outside the site and each page that is too heavy."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}
    found = [] if pages else [f"{site}: no pages"]
    for page in pages.values():
        remote = [part for part in page.parts if urlsplit(part).netloc]
        found += [f"{page.path}: loads {part}" for part in remote]
        local = {urlsplit(part).path for part in page.parts if part and part not in {*remote, *page.late}}
        files = [page.path, *((page.path.parent / unquote(part)) for part in local)]
        weight = sum(file.stat().st_size for file in files if file.is_file())
        if weight > HEAVIEST and page.path.name != "search.html":
            found.append(f"{page.path}: loads {weight:,} bytes, more than {HEAVIEST:,}")
        for link in [*page.links, *(part for part in page.parts if part not in remote)]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            file = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path.resolve()
            if not file.is_file():
                found.append(f"{page.path}: {link} leads nowhere")
            elif file in pages and unquote(parts.fragment) not in pages[file].targets:
                found.append(f"{page.path}: {link} has no such place")
    remote_style = re.compile(r"""(url\(|@import)\s*["']?(https?:)?//""")
    found += [
        f"{style}: loads from the network" for style in site.rglob("*.css") if remote_style.search(style.read_text())
    ]
    return found


if __name__ == "__main__":
    broken = complaints(Path(sys.argv[1]))
    print(*broken, sep="\n", end="\n" if broken else "")
    sys.exit(bool(broken))
