"""What both modes computed, saved by the reference run and compared by the later ones.

The comparison happens in the child because numpy is there (Paddle brings it); the parent only reads the verdicts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from sotprobe.capture.child.emit import Emitter
from sotprobe.capture.child.job import Job
from sotprobe.capture.child.steps import Steps

# Copies cost time, so they stay out of the steps in which lines are attributed ([4, 7) and [25, 30)).
KEPT_STEPS = frozenset({0, 1, 2, 3, 10, 20, 38})
MAX_BYTES = 256 << 20
MAX_CALLS = 8
MAX_DETAILS = 20


class ParityRecorder:
    """Keeps a step's outputs, inputs and (step 0) gradients; writes them, or compares them with ``job.reference``."""

    def __init__(self, emit: Emitter, job: Job, steps: Steps):
        self._emit = emit
        self._steps = steps
        self._reference = os.path.join(job.reference, "parity") if job.reference else None
        self._directory = job.file("parity")
        self._entries: list[dict[str, Any]] = []
        self._arrays: list[Any] = []
        self._calls = 0
        self._bytes = 0
        self._full = False
        if self._reference is None:
            os.makedirs(self._directory, exist_ok=True)

    def returned(self, args: tuple, kwargs: dict, outputs: Any) -> None:
        """An outermost to_static call returned: keep its outputs, and its inputs as it left them."""
        self._calls += 1
        if self._full or self._calls > MAX_CALLS or self._steps.index not in KEPT_STEPS:
            return
        prefix = f"call {self._calls} " if self._calls > 1 else ""
        self._keep("output", f"{prefix}outputs", outputs)
        self._keep("input", f"{prefix}inputs", (args, kwargs))

    def gradients(self, named: Iterable[tuple[str, Any]]) -> None:
        """Gradients before the first update, when both modes still have the same state."""
        if self._steps.index > 0 or self._full:
            return
        for name, gradient in named:
            if gradient is not None:
                # detached: whether a gradient itself wants gradients differs between modes and means nothing
                self._add("gradient", name, gradient.detach())

    def optimizer_gradients(self, optimizer: Any) -> None:
        parameters = getattr(optimizer, "_parameter_list", None) or []
        flat = [p for group in parameters for p in (group["params"] if isinstance(group, dict) else [group])]
        self.gradients((f"parameter {i} {list(p.shape)}", p.grad) for i, p in enumerate(flat))

    def begin_step(self, index: int) -> None:
        self._calls = 0

    def end_step(self, index: int) -> None:
        entries, arrays = self._entries, self._arrays
        self._entries, self._arrays = [], []
        if self._full or not entries:
            return
        if self._reference is None:
            self._save(index, entries, arrays)
        else:
            self._compare(index, entries, arrays)

    def _keep(self, what: str, name: str, value: Any) -> None:
        import paddle

        for position, leaf in enumerate(paddle.utils.flatten(value)):
            if isinstance(leaf, paddle.Tensor) or (what == "output" and isinstance(leaf, (bool, int, float))):
                self._add(what, f"{name}[{position}]", leaf)

    def _add(self, what: str, name: str, value: Any) -> None:
        array, entry = _as_array(value)
        self._bytes += array.nbytes
        if self._bytes > MAX_BYTES:
            self._full = True
            self._emit("note", text=f"parity was compared up to step {self._steps.index - 1}: outputs exceed 256 MB")
            return
        self._entries.append({"what": what, "name": name, **entry})
        self._arrays.append(array)

    def _save(self, index: int, entries: list[dict], arrays: list[Any]) -> None:
        import numpy

        path = os.path.join(self._directory, f"step{index}")
        numpy.savez(path + ".npz", **{f"a{i}": array for i, array in enumerate(arrays)})
        with open(path + ".json.tmp", "w", encoding="utf-8") as file:
            json.dump(entries, file)
        os.replace(path + ".json.tmp", path + ".json")

    def _compare(self, index: int, entries: list[dict], arrays: list[Any]) -> None:
        path = os.path.join(self._reference, f"step{index}")
        if not os.path.exists(path + ".json"):
            return  # the reference run ended earlier
        import numpy

        with open(path + ".json", encoding="utf-8") as file:
            expected = json.load(file)
        with numpy.load(path + ".npz", allow_pickle=False) as stored:
            reference = [stored[f"a{i}"] for i in range(len(expected))]
        facts = compare_step(expected, reference, entries, arrays)
        for what in dict.fromkeys(fact["what"] for fact in facts):
            mine = [fact for fact in facts if fact["what"] == what]
            differing = [fact for fact in mine if not fact["equal"]]
            if not differing:
                differing = [{"what": what, "name": "all", "equal": True, "max_abs_error": 0.0, "max_rel_error": 0.0,
                              "mismatch": None}]
            differing.sort(key=lambda fact: -(fact["max_abs_error"] or 0.0))
            for fact in differing[:MAX_DETAILS]:
                self._emit("parity", step=index, **fact)


def compare_step(expected: list[dict], reference: list[Any], entries: list[dict], arrays: list[Any]) -> list[dict]:
    """Facts about one step: values, dtype, shape and stop_gradient of everything that both runs kept.

    ``max_rel_error`` is relative to the largest reference value; for gradients to the norm of all reference gradients,
    because a parameter whose true gradient is zero has no scale of its own.
    """
    import numpy

    theirs = {(entry["what"], entry["name"]): (entry, array) for entry, array in zip(expected, reference, strict=True)}
    mine = {(entry["what"], entry["name"]): (entry, array) for entry, array in zip(entries, arrays, strict=True)}
    squares = [float(numpy.sum(numpy.square(numpy.abs(a.astype("float64")))))
               for (what, _), (_, a) in theirs.items() if what == "gradient"]
    norm = float(numpy.sqrt(sum(squares))) if squares else 0.0
    facts = []
    for key in [*theirs, *(key for key in mine if key not in theirs)]:
        if key not in mine or key not in theirs:
            here = "only the reference run" if key in theirs else "only this run"
            facts.append(_fact(key, False, mismatch=f"{here} has it"))
            continue
        (old, a), (new, b) = theirs[key], mine[key]
        facts.append(_compare_arrays(key, old, a, new, b, norm))
    return facts


def _compare_arrays(key: tuple[str, str], old: dict, a: Any, new: dict, b: Any, norm: float) -> dict:
    import numpy

    mismatch = [f"{field} {old[field]} became {new[field]}" for field in ("dtype", "shape", "stop_gradient")
                if old[field] != new[field]]
    if a.shape != b.shape:
        return _fact(key, False, mismatch="; ".join(mismatch))
    kind = "complex128" if "c" in (a.dtype.kind, b.dtype.kind) else "float64"
    x, y = a.astype(kind), b.astype(kind)
    same = (x == y) | (numpy.isnan(x) & numpy.isnan(y))
    if bool(same.all()):
        return _fact(key, not mismatch, 0.0, 0.0, "; ".join(mismatch) or None)
    nonfinite = ~numpy.isfinite(x[~same]) | ~numpy.isfinite(y[~same])
    if bool(nonfinite.any()):
        mismatch.append(f"{int(nonfinite.sum())} values are nan or inf in one run only")
        return _fact(key, False, mismatch="; ".join(mismatch))
    absolute = float(numpy.abs(x - y)[~same].max())
    finite = numpy.abs(x[numpy.isfinite(x)])
    scale = norm if key[0] == "gradient" else (float(finite.max()) if finite.size else 0.0)
    return _fact(key, False, absolute, absolute / scale if scale > 0 else None, "; ".join(mismatch) or None)


def _fact(key: tuple[str, str], equal: bool, absolute: float | None = None, relative: float | None = None,
          mismatch: str | None = None) -> dict:
    return {"what": key[0], "name": key[1], "equal": equal, "max_abs_error": absolute, "max_rel_error": relative,
            "mismatch": mismatch}


def _as_array(value: Any) -> tuple[Any, dict]:
    """(numpy array, {dtype, shape, stop_gradient}) of a tensor or a Python number."""
    import numpy

    if isinstance(value, (bool, int, float)):
        return numpy.asarray(value), {"dtype": type(value).__name__, "shape": [], "stop_gradient": None}
    entry = {
        "dtype": str(value.dtype).removeprefix("paddle."),
        "shape": list(value.shape),
        "stop_gradient": bool(value.stop_gradient),
    }
    tensor = value.detach()
    if "bfloat16" in entry["dtype"]:  # numpy has no bfloat16
        tensor = tensor.astype("float32")
    return numpy.array(tensor.numpy()), entry
