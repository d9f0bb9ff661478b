"""What the site has beyond the folder of guides: proof notes, worked examples and the documents at the root of the repository.

Pages keep the links that work in the repository. Here a link to a file that is on the site leads to its page, a link to one that is
not becomes plain text, and one to nothing at all is a warning, which `mkdocs build --strict` makes an error.
"""

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
LOG = logging.getLogger("mkdocs.hooks.site")

# Pages of the site that are not in `docs`, and where they are in the repository.
PROJECT = {
    "project/architecture.md": "ARCHITECTURE.md",
    "project/changelog.md": "CHANGELOG.md",
    "project/conduct.md": "CODE_OF_CONDUCT.md",
    "project/contributing.md": "CONTRIBUTING.md",
    "project/governance.md": "GOVERNANCE.md",
    "project/peers.md": "bench/README.md",
    "project/security.md": "SECURITY.md",
}
PROOFS = {
    f"proofs/{'index.md' if path.name == 'README.md' else path.name}": f"proofs/{path.name}"
    for path in sorted((ROOT / "proofs").glob("*.md"), key=lambda path: (path.name != "README.md", path.name))
}
EXAMPLES = {
    f"examples/{path.stem}.md": f"docs/notebooks/{path.name}" for path in sorted((ROOT / "docs/notebooks").glob("*.py"))
}
ELSEWHERE = {**PROJECT, **PROOFS, **EXAMPLES}
ON_SITE = {source: page for page, source in ELSEWHERE.items()}

FENCE = re.compile(r"^(```.*?^```)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
NAMED = re.compile(r"(?<!\[)`((?:proofs|docs)/\w+\.md)`(?!\])")


def on_config(config: Any) -> None:
    """Puts all pages of a folder where the navigation says `…/*`."""
    for group in config.nav:
        for entries in group.values():
            for entry in entries:
                for name, target in entry.items():
                    if str(target).endswith("/*"):
                        entry[name] = [page for page in ELSEWHERE if page.startswith(target[:-1])]


def on_files(files: Files, config: Any) -> None:
    for page, source in ELSEWHERE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=example(text) if page in EXAMPLES else text))


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    here = page.file.src_uri
    if here in PROOFS or here in PROJECT:
        # Whoever searches wants the guide first.
        page.meta.setdefault("search", {"boost": 0.3})
    parts = FENCE.split(markdown)
    parts[::2] = [LINK.sub(lambda link: linked(here, link[1], link[2]), named(here, part)) for part in parts[::2]]
    return "".join(parts)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Types of the reference are read as sums: "path - like" was "path-like"."""
    if page.file.src_uri != "reference.md":
        return html
    types = r"(?<=\()<code>.*?</code>(?=[,)])"
    return re.sub(types, lambda found: re.sub(r"(?<=\w) - (?=\w)", "-", found[0]), html, flags=re.DOTALL)


def named(here: str, text: str) -> str:
    """Makes a link of a page that is named by its path alone."""
    base = posixpath.dirname(source_of(here))
    return NAMED.sub(lambda name: f"[`{name[1]}`]({posixpath.relpath(name[1], base or '.')})", text)


def linked(here: str, text: str, target: str) -> str:
    path, _, anchor = target.partition("#")
    if not path or "://" in path or path.startswith("mailto:"):
        return f"[{text}]({target})"
    source = posixpath.normpath(posixpath.join(posixpath.dirname(source_of(here)), path))
    page = ON_SITE.get(source, source.removeprefix("docs/") if source.startswith("docs/") else None)
    if source == "README.md":
        page = "index.md"
    if source == "docs/notebooks":
        page = next(iter(EXAMPLES))
    if page is not None and (page in ELSEWHERE or (ROOT / "docs" / page).is_file()):
        text = title(source) if re.fullmatch(r"`?[\w/]+\.md`?", text) else text
        way = posixpath.relpath(page, posixpath.dirname(here) or ".")
        return f"[{text}]({way}{'#' * bool(anchor)}{anchor})"
    if not (ROOT / source).exists():
        LOG.warning("%s links to %s, which is not in the repository", here, target)
    return text


def title(source: str) -> str:
    """What a page is called; in the repository links have the names of files."""
    heading = re.search(r"^# (.+)$", (ROOT / source).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return heading[1] if heading else source


def source_of(page: str) -> str:
    """Where a page of the site is in the repository."""
    return ELSEWHERE.get(page, f"docs/{page}")


def example(text: str) -> str:
    """Turns a script whose cells begin with `# %%` into a page."""
    page = []
    for cell in text.split("# %%")[1:]:
        kind, _, body = cell.partition("\n")
        if "[markdown]" in kind:
            page.append("\n".join(re.sub("^# ?", "", line) for line in body.strip().splitlines()))
        else:
            page.append(f"```python\n{body.strip()}\n```")
    return "\n\n".join(page) + "\n"
