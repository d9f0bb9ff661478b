"""What the documents name is there: commands, flags, figures, pages, versions."""

import re
import shlex
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HELP = ROOT / "crates/cli/tests/snapshots/help.md"

pytestmark = pytest.mark.skipif(not HELP.exists(), reason="the repository is not around the tests")

PAGES = [
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "proofs").glob("*.md")),
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md")),
]
# Flags of other programs, by whom they are meant for.
FOREIGN = {
    "Chromium": {"--print-to-pdf"},
    "cargo": {"--document-private-items", "--release", "--no-deps", "--workspace", "--nocapture", "--ignored"},
    "Dask and Ray": {"--dashboard-address", "--host", "--memory-limit", "--no-dashboard", "--nthreads"},
    "mkdocs": {"--strict"},
    "version 0.1": {"--range-share"},
}
# Tasks whose own arguments are read where the task is.
BENCHES = ("experiments/bench/src", "bench", "xtask/src")


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def helps():
    """What every command of `pairdp` says to `--help`, as the transcripts have it, which tests hold against the command."""
    parts = re.split(r"^\$ pairdp ?(.*?) ?--help$", HELP.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@cache
def subcommands(parent=""):
    listed = re.search(r"^Commands:\n((?:  .*\n)+)", helps()[parent], flags=re.MULTILINE)
    return set() if listed is None else set(re.findall(r"^  (\w[\w-]*)", listed[1], flags=re.MULTILINE)) - {"help"}


def flags(text):
    return set(re.findall(r"--[a-z][a-z-]*", text))


@cache
def tasks():
    return {
        name: flags(takes)
        for name, takes in re.findall(r'name: "([\w-]+)",\s*takes: "([^"]*)"', read("xtask/src/main.rs"))
    }


@cache
def benchmarks():
    table = read("experiments/bench/src/main.rs").split("const BENCHMARKS", 1)[1].split("];", 1)[0]
    named = re.findall(r'name == "(\w+)"', read("xtask/src/main.rs"))
    return {*re.findall(r'\(\s*"([\w-]+)",', table), *named}


@cache
def bench_flags():
    """Flags that some benchmark reads."""
    files = [path for folder in BENCHES for path in (ROOT / folder).rglob("*") if path.suffix in (".rs", ".py")]
    return {flag for path in files for flag in re.findall(r'"(--[a-z][a-z-]*)"', path.read_text(encoding="utf-8"))}


@cache
def experiments():
    files = (ROOT / "experiments/reproduce/src").rglob("*.rs")
    return {name for path in files for name in re.findall(r'"([a-z]+-[a-z-]+)"', path.read_text(encoding="utf-8"))}


def commands(text):
    """Return every command of `pairdp` and `cargo xtask` in code, as a list of words."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    lines = [line for kind, fence in fences if kind in ("sh", "console", "text") for line in fence.splitlines()]
    lines += re.findall(r"^    (.+)$", prose, flags=re.MULTILINE)
    lines += [re.sub(r"\s+", " ", span) for span in re.findall(r"`([^`]+)`", prose)]
    for line in lines:
        found = re.match(r"(?:\$ )?((?:pairdp|cargo xtask) .+)", line)
        if found:
            try:
                yield shlex.split(found[1], comments=True)
            except ValueError:
                yield found[1].split()


def fault(words):
    """Say what of a command does not exist, or nothing."""
    plain = [word.strip("[]…,").partition("=")[0] for word in words]
    given = {word for word in plain if re.fullmatch(r"--[a-z][a-z-]*", word)} - {"--help"}
    if plain[0] == "pairdp":
        if plain[1].startswith("-") or not plain[1]:
            return None if given <= flags(helps()[""]) else f"pairdp has no {given}"
        if plain[1] not in subcommands():
            return f"pairdp has no {plain[1]}"
        path = plain[1]
        if path in helps() and subcommands(path) and len(plain) > 2 and not plain[2].startswith("-"):
            path = f"{path} {plain[2]}"
            if plain[2] not in subcommands(plain[1]):
                return f"there is no pairdp {path}"
        unknown = given - flags(helps()[path])
        return f"pairdp {path} has no {', '.join(sorted(unknown))}" if unknown else None
    task = plain[2]
    if task == "--help":
        return None
    if task not in tasks():
        return f"there is no task {task}"
    name = plain[3] if len(plain) > 3 and not plain[3].startswith("-") else None
    known = tasks()[task]
    if task == "bench":
        known = bench_flags()
        if name and name not in {*benchmarks(), "NAME"}:
            return f"there is no benchmark {name}"
    if task == "reproduce" and name and name not in {*experiments(), "NAME", "all", "list"}:
        return f"there is no experiment {name}"
    unknown = given - known - {"--json"}
    return f"cargo xtask {task} has no {', '.join(sorted(unknown))}" if unknown else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_a_page_names_exists(page):
    assert [why for why in map(fault, commands(page.read_text(encoding="utf-8"))) if why] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_flag_that_a_page_names_is_one_of_some_command(page):
    known = set().union(*map(flags, helps().values()), *tasks().values(), bench_flags(), *FOREIGN.values())
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    named = {flag for span in re.findall(r"`(--[^`]+)`", prose) for flag in flags(span)}
    assert named - known == set()


def test_pages_name_many_commands():
    """A pattern that finds nothing would pass."""
    found = [words for page in PAGES for words in commands(page.read_text(encoding="utf-8"))]
    assert len(found) > 150
    assert {words[1] for words in found if words[0] == "pairdp"} >= {"train", "verify", "budget", "audit", "plan"}


def test_what_does_not_exist_is_noticed():
    wrong = (
        "pairdp fly",
        "pairdp budget burn",
        "pairdp train table.csv --epsylon 1",
        "pairdp verify --records 5",
        "cargo xtask fly",
        "cargo xtask bench flights",
        "cargo xtask bench utility --splinters 3",
        "cargo xtask reproduce nobody-knows --quick",
        "cargo xtask storm --hours 3",
    )
    assert [command for command in wrong if fault(command.split()) is None] == []


def test_every_command_has_its_transcript_of_help():
    for parent in ("", *subcommands()):
        for name in subcommands(parent):
            assert f"{parent} {name}".strip() in helps()


def test_figures_name_pages_that_name_their_commands():
    """`docs/figures.md` is what `cargo xtask figures` reads."""
    rows = re.findall(r"^\| (\S+) \| [^|]+ \| `([^`]+)` \|$", read("docs/figures.md"), flags=re.MULTILINE)
    assert len(rows) > 20
    for page, command in rows:
        text = re.sub(r"\s+", " ", (ROOT / "docs" / page).read_text(encoding="utf-8"))
        for words in (command.split(" --")[0], *flags(command.split(" -- ")[0])):
            assert words in text, f"{page} does not name {words} of {command}"
    # And whatever is measured stands there, under the page that it is printed on.
    listed = {(page, command.split(" --")[0]) for page, command in rows}
    for page in sorted((ROOT / "docs").glob("*.md")):
        for words in commands(page.read_text(encoding="utf-8")):
            measures = words[:3] == ["cargo", "xtask", "bench"] and len(words) > 3 and words[3] in benchmarks()
            if measures and page.name not in ("figures.md", "first_issues.md"):
                assert (page.name, " ".join(words[:4])) in listed, (
                    f"{page.name}: {' '.join(words)} is not in figures.md"
                )


def test_the_home_page_has_the_numbers_of_the_planner():
    """Its table, without standard errors, is that of documented ranges."""
    planner = read("docs/planner.md").split("### Documented ranges", 1)[1].split("###", 1)[0]
    rows = re.findall(r"^\| (\w+) \| (\d+) \| (.+) \|$", read("docs/index.md"), flags=re.MULTILINE)
    assert len(rows) >= 5
    for name, records, values in rows:
        row = re.search(rf"^\| {name} \| {records} \| (.+) \|$", planner, flags=re.MULTILINE)
        assert row, f"docs/planner.md has no {name} of {records} records"
        cells = row[1].split(" | ")
        shown = [value.split(" ± ")[0] for value in cells[0].split(" / ")] + [cells[-1]]
        assert values.split(" | ") == shown, f"{name}: the planner has {shown}"


def test_every_page_is_in_a_group_of_the_site():
    """`cargo xtask docs` refuses a page that is in none; this needs no site."""
    named = set(re.findall(r": ([\w/]+\.md)$", read("mkdocs.yml"), flags=re.MULTILINE))
    pages = {page.name for page in (ROOT / "docs").glob("*.md")}
    assert pages - named == set()
    assert {name for name in named if "/" not in name} - pages == set()


def places(path):
    """Names that links to a page may end in: its headings, as sites write them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def dead(page, text):
    """List the links of a page that lead nowhere in the repository."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", prose)):
        path, _, place = target.partition("#")
        if "://" in path:
            continue
        file = page.parent / path if path else page
        if not file.exists() or (place and file.suffix == ".md" and place not in places(file)):
            yield target


def test_no_link_of_a_page_is_dead():
    more = [ROOT / name for name in ("CHANGELOG.md", "GOVERNANCE.md", "CODE_OF_CONDUCT.md", "python/README.md")]
    found = {page.name: list(dead(page, page.read_text(encoding="utf-8"))) for page in [*PAGES, *more]}
    assert {name: links for name, links in found.items() if links} == {}
    wrong = "[a](nowhere.md) [b](../proofs/none.md) [c](data.md#nope) [d](data.md#schema) ![e](images/none.svg)"
    assert len(list(dead(ROOT / "docs/index.md", wrong))) == 4


def test_versions_and_licences_are_the_same_everywhere():
    workspace = re.search(r'^version = "(.+)"$', read("Cargo.toml"), flags=re.MULTILINE)[1]
    assert re.search(r'^version = "(.+)"$', read("python/pyproject.toml"), flags=re.MULTILINE)[1] == workspace
    assert re.search(r"^version: (.+)$", read("CITATION.cff"), flags=re.MULTILINE)[1] == workspace
    # A wheel takes licences from its own folder.
    for name in ("LICENSE-APACHE", "LICENSE-MIT"):
        assert read(f"python/{name}") == read(name)
