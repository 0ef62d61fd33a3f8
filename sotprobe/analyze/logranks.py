"""Findings of several processes of one program: what one cause does to all of them is one finding, which says to which."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sotprobe.analyze.rules.endings import terminated
from sotprobe.model import Evidence, Finding, Run, SourceSite
from sotprobe.model.diagnosis import SEVERITIES
from sotprobe.model.run import LOG_ENDED
from sotprobe.model.site import EXACT, FUNCTION, NEAR

# Of each process; thirty ranks that say the same need no thirty times three lines.
MOST_EVIDENCE = 3
LOG = "log"
# Readers of a run directory; what rules sum up in their name was read in a log here.
_RECORDED = frozenset({"hooks", "lines", "steps", "exit", "records"})
_PRECISIONS = (EXACT, NEAR, FUNCTION)


def rank_of(run: Run) -> str | None:
    rank = run.environment.get("rank")
    return None if rank is None else str(rank)


def in_order(ranks: Iterable[str]) -> tuple[str, ...]:
    """Every rank once, by number."""
    return tuple(sorted(set(ranks), key=_natural))


def _natural(rank: str) -> list[tuple[int, str]]:
    """Digits count as numbers: 2 before 10, and node2/0 before node10/0."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", rank) if part]


def stopped_alone(runs: Sequence[Run]) -> tuple[str, ...]:
    """Ranks whose logs just stop where others say that somebody ended them: a launcher does so when one process is gone.

    A process that is killed by SIGKILL (the kernel's out-of-memory killer) has no last word. When most ranks have none, it is
    only that their last words were not logged.
    """
    by_rank: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        rank = rank_of(run)
        if rank is not None:
            by_rank[rank].append(run)
    asked = [rank for rank, own in by_rank.items() if any(terminated(run) for run in own)]
    silent = [rank for rank, own in by_rank.items() if all(run.exit.reason == LOG_ENDED for run in own)]
    return in_order(silent) if len(silent) <= len(asked) else ()


def merged(found: Sequence[tuple[Run, Sequence[Finding]]]) -> tuple[Finding, ...]:
    """The findings of all processes, equal ones once: errors first, then in the order they were found in.

    Equal are those of one slug, cause and line; titles may differ in wording, but two that one process tells apart stay two.
    """
    groups: dict[tuple, list[_Group]] = defaultdict(list)
    for run, findings in found:
        for key, own in _by_key(findings).items():
            _join(groups[key], own, rank_of(run))
    joined = (group.finding() for several in groups.values() for group in several if group.stands(len(found)))
    return tuple(sorted(joined, key=lambda finding: SEVERITIES.index(finding.severity)))


def _by_key(findings: Iterable[Finding]) -> dict[tuple, list[Finding]]:
    by_key: dict[tuple, list[Finding]] = defaultdict(list)
    for finding in findings:
        title = None if finding.site is not None else _wording(finding.title)
        by_key[finding.slug, finding.cause, finding.site, title].append(finding)
    return by_key


def _wording(title: str) -> str:
    """A title without its numbers: sizes, devices and counts differ between ranks."""
    return re.sub(r"\d+", "#", title)


def _join(known: list[_Group], own: Sequence[Finding], rank: str | None) -> None:
    only = known[0] if len(known) == len(own) == 1 else None
    for finding in own:
        same = (group for group in known if _wording(group.title) == _wording(finding.title))
        group = next(same, only)
        if group is None:
            group = _Group()
            known.append(group)
        group.add(finding, rank)


class _Group:
    """One finding, as every process tells it."""

    def __init__(self) -> None:
        self._findings: list[Finding] = []
        self._ranks: list[str] = []

    @property
    def title(self) -> str:
        return self._findings[0].title

    def add(self, finding: Finding, rank: str | None) -> None:
        self._findings.append(finding)
        if rank is not None:
            self._ranks.append(rank)

    def stands(self, processes: int) -> bool:
        """A suspicion that the log of any process refutes is none: what err.log does not show, out.log may."""
        return len(self._findings) >= processes or not all(finding.suspected for finding in self._findings)

    def finding(self) -> Finding:
        """The text of a line that is only near is not quoted: it would be the wrong one."""
        site = min((finding.site for finding in self._findings if finding.site), key=_precision, default=None)
        suspected = all(finding.suspected for finding in self._findings)  # by the source, which is that of all processes
        quoted = None if site is not None and site.precision == NEAR else self._source_line()
        return replace(
            self._findings[0],
            severity=min((finding.severity for finding in self._findings), key=SEVERITIES.index),
            site=site,
            evidence=_without_repeats([*self._counts_differ(), *self._evidence()]),
            count_per_step=max(self._counts(), default=None),
            source_line=quoted,
            ranks=() if suspected else in_order(self._ranks),
            suspected=suspected,
        )

    def _source_line(self) -> str | None:
        return next((finding.source_line for finding in self._findings if finding.source_line), None)

    def _evidence(self) -> Iterator[Evidence]:
        for finding in self._findings:
            for evidence in finding.evidence[:MOST_EVIDENCE] if len(self._findings) > 1 else finding.evidence:
                of_run = evidence.file is None and evidence.reader in _RECORDED
                yield replace(evidence, reader=LOG) if of_run else evidence

    def _counts(self) -> list[float]:
        return [finding.count_per_step for finding in self._findings if finding.count_per_step is not None]

    def _counts_differ(self) -> Iterator[Evidence]:
        counts = self._counts()
        if counts and min(counts) != max(counts):
            yield Evidence(LOG, f"between {min(counts):.3g} and {max(counts):.3g} times a call, depending on the process")


def _precision(site: SourceSite) -> int:
    return _PRECISIONS.index(site.precision)


def _without_repeats(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Different texts first, then the same again from other places, so that the first lines say most."""
    first: dict[str, Evidence] = {}
    others = [item for item in dict.fromkeys(evidence) if first.setdefault(item.text, item) != item]
    return (*first.values(), *others)
