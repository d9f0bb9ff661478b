"""Looks at a built site as a browser would: `check_site.py FOLDER` fails if a link or a picture leads nowhere.

MkDocs checks the links that are written in Markdown; this one also sees those of themes, of HTML in pages and of the reference. Nothing
may be fetched from elsewhere, either: whoever reads a page about privacy tells nobody.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for key, value in attributes:
            if key in ("id", "name") and value:
                self.names.add(value)
            if key == "href" and tag == "a" and value:
                self.links.append(value)
            if value and ((key == "src") or (key == "href" and tag == "link")):
                self.links.append(value)
                self.fetched.append(value)


def faults(folder: Path) -> list[str]:
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    found = [] if pages else [f"{folder} has no pages"]
    for path, page in pages.items():
        here = path.relative_to(folder.resolve())
        # The page for missing pages does not know where it will be shown.
        if here.name == "404.html":
            continue
        found += [f"{here}: fetched from elsewhere: {link}" for link in page.fetched if urlsplit(link).netloc]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target = target / "index.html"
            if not target.exists():
                found.append(f"{here}: {link} is not there")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
                found.append(f"{here}: {link} has no such place")
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links, {len(found)} faults")
    return found


if __name__ == "__main__":
    missing = faults(Path(sys.argv[1]))
    print(*missing, sep="\n", end="\n" if missing else "")
    sys.exit(bool(missing))
