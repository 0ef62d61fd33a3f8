"""What a test can ask of the result of ``sotprobe log``: a log's counts, its findings, and what must not be said of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sotprobe.model import Diagnosis, Finding

# Paddle and Python of a log, by the word in its name.
VERSIONS = {
    "262": ("2.6", "3.11"),
    "300": ("3.0", "3.11"),
    "300py310": ("3.0", "3.10"),
    "322": ("3.2", "3.11"),
    "331": ("3.3", "3.11"),
    "331py310": ("3.3", "3.10"),
    "331py312": ("3.3", "3.12"),
    "331py313": ("3.3", "3.13"),
    "force": ("3.3", "3.11"),
}
COUNTS = (
    "frames_entered",
    "translations",
    "cache_hits",
    "cached_fallback_hits",
    "cache_misses",
    "cache_exceeded",
    "subgraphs_built",
    "subgraph_runs",
    "fallbacks",
    "breaks",
    "recompiles",
)
LINE = "line"
FUNCTION = "function"


@dataclass(frozen=True)
class Expected:
    """One finding. ``slug`` and ``cause`` may be several, split by ``|``; ``says`` is searched in all its words, case ignored.

    ``line`` None asks for no site, and without ``precision`` any will do. ``names`` is a line that the finding must name, as
    its site or in its words: what the source tells of a function that a log names only as a whole.
    """

    slug: str
    cause: str | None = None
    line: int | None = None
    severity: str = "warning"
    precision: str | None = None
    says: str = ""
    names: int | None = None
    suspected: bool | None = False

    def matches(self, finding: Finding) -> bool:
        if finding.slug not in self.slug.split("|") or finding.severity not in self.severity.split("|"):
            return False
        if self.cause is not None and finding.cause not in self.cause.split("|"):
            return False
        if self.suspected is not None and finding.suspected != self.suspected:
            return False
        if self.line is not None and (finding.site is None or finding.site.line != self.line):
            return False
        if self.precision is not None and (finding.site is None or finding.site.precision != self.precision):
            return False
        if self.names is not None and not _names(finding, self.names):
            return False
        return re.search(self.says, words_of(finding), re.IGNORECASE | re.DOTALL) is not None


def _names(finding: Finding, line: int) -> bool:
    at = finding.site is not None and finding.site.line == line
    return at or re.search(rf"(\blines? (\d+, )*|:){line}\b", words_of(finding)) is not None


@dataclass(frozen=True)
class Truth:
    """What is known of one log.

    ``counts`` that are left out are 0, those in ``open`` are not asked for. ``findings`` must be there; others above info must
    not, but for the slugs in ``may``. ``sourced`` stands for them when the source is at hand, where that changes something.
    ``says`` are words of the verdict or a note, ``absent`` are slugs that must not be there at all. ``steps`` are lines of
    training steps in a suite's format.
    """

    case: str
    log: str
    counts: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[Expected, ...] = ()
    sourced: tuple[Expected, ...] | None = None
    may: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    steps: int = 0

    @property
    def version(self) -> tuple[str, str] | None:
        """Paddle and Python that wrote the log, None when its name does not tell."""
        word = re.search(r"log3?_p?(\d{3}(?:py\d{3})?|force)", self.log)
        return VERSIONS.get(word[1]) if word else None

    @property
    def id(self) -> str:
        return f"{self.case}-{self.log.removesuffix('.txt')}"


def counts(*, entered: int, translated: int = 1, **more: int) -> dict[str, int]:
    """Counts by short words: hits, fallback_hits, misses, exceeded, built, runs, and the others by their names."""
    long = {
        "hits": "cache_hits",
        "fallback_hits": "cached_fallback_hits",
        "misses": "cache_misses",
        "exceeded": "cache_exceeded",
        "built": "subgraphs_built",
        "runs": "subgraph_runs",
    }
    named = {long.get(name, name): number for name, number in more.items()}
    assert set(named) <= set(COUNTS), named
    return {"frames_entered": entered, "translations": translated, **named}


def one_graph(calls: int) -> dict[str, int]:
    """A function that is captured whole and called some times with inputs of one kind."""
    return counts(entered=calls, hits=calls - 1, built=1, runs=calls)


def logs(
    case: str, name: str, versions: Sequence[str], truth_counts: Mapping[str, int] | None = None, *findings: Expected, **more
):
    """A row for each version; ``{}`` in the name stands for it."""
    return [Truth(case, name.format(version), dict(truth_counts or {}), findings, **more) for version in versions]


def words_of(finding: Finding) -> str:
    return "\n".join([finding.title, finding.advice, *(evidence.text for evidence in finding.evidence)])


def told(finding: Finding) -> str:
    """A finding in one line, for messages."""
    site = f" at {finding.site} ({finding.site.function}, {finding.site.precision})" if finding.site else ""
    suspected = " suspected" if finding.suspected else ""
    return f"{finding.severity}{suspected} {finding.slug}/{finding.cause}{site}: {finding.title}"


def wrong_findings(diagnosis: Diagnosis, expected: Sequence[Expected], may: Sequence[str]) -> list[str]:
    """What is missing, and what is there above info and should not be."""
    left = list(diagnosis.findings)
    wrong = []
    for entry in expected:
        found = next((finding for finding in left if entry.matches(finding)), None)
        if found is None:
            wrong.append(f"missing: {entry}")
        else:
            left.remove(found)
    wrong.extend(f"not expected: {told(finding)}" for finding in left if finding.severity != "info" and finding.slug not in may)
    return wrong
