"""Step records to Steps: which clock counts, and what a compile step is."""

from __future__ import annotations

from sotprobe.model import Step
from sotprobe.readers.records import Record, Records

# Best first; a case file's steps are the only ones it has (docs/run-directory.md).
CLOCKS = ("case", "nvprof", "function", "optimizer", "call")


def read_steps(records: Records) -> tuple[Step, ...]:
    """The steps of the best clock. A step cut short (``partial``) is no step: its wall time says nothing."""
    complete = [record for record in records.of("step") if not record.get("partial", False)]
    sources = {record.get("source") for record in complete}
    clock = next((name for name in CLOCKS if name in sources), None)
    late_losses = {record.get("index"): record.get("loss") for record in records.of("step-loss")}
    return tuple(_step(record, late_losses) for record in complete if record.get("source") == clock)


def batch_size(records: Records, given: int | None) -> int | None:
    """What the user said, else what the program said at its last step."""
    if given is not None:
        return given
    sizes = [record.get("batch_size") for record in records.of("step") if record.get("batch_size")]
    return sizes[-1] if sizes else None


def _step(record: Record, late_losses: dict) -> Step:
    translations = record.get("translations")
    loss = record.get("loss")
    return Step(
        index=record.get("index"),
        kind="compile" if translations else "steady",
        wall_ns=record.get("wall_ns"),
        source=record.get("source"),
        translations=translations,
        loss=late_losses.get(record.get("index")) if loss is None else loss,
    )
