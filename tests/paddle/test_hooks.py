"""The SOT hooks on real programs: exact lines, reasons, counts and guards on the installed Paddle and Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from sotprobe.paddle_compat.traits import Traits, traits

pytestmark = [
    pytest.mark.paddle,
    pytest.mark.skipif(find_spec("paddle") is None, reason="Paddle is not installed (the cpu extra)"),
]

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
TIMEOUT = 600


class Recorded:
    """The records of one program, by scenario."""

    def __init__(self, program: str, records: list[dict]):
        self.path = str(PROGRAMS / program)
        self.codes = {record["id"]: record for record in records if record["kind"] == "code"}
        self.notes = [record["text"] for record in records if record["kind"] == "note"]
        self.scenarios: dict[str, list[dict]] = {}
        for record in records:
            if record["kind"] == "scenario":
                current = self.scenarios.setdefault(record["name"], [])
            elif record["kind"] not in ("code", "note"):
                current.append(record)
        self._source = (PROGRAMS / program).read_text(encoding="utf-8").splitlines()

    def line(self, marker: str) -> int:
        """The line of the comment ``# <marker>``."""
        found = [number for number, text in enumerate(self._source, 1) if f"# <{marker}>" in text]
        assert len(found) == 1, marker
        return found[0]

    def of(self, scenario: str, kind: str) -> list[dict]:
        return [record for record in self.scenarios[scenario] if record["kind"] == kind]

    def sites(self, scenario: str, kind: str) -> list[tuple[int, str]]:
        for record in self.of(scenario, kind):
            assert record["site"]["path"] == self.path
        return [(record["site"]["line"], record["site"]["function"]) for record in self.of(scenario, kind)]

    def outcomes(self, scenario: str) -> list[tuple[str, str]]:
        return [(self.codes[record["code"]]["function"], record["outcome"]) for record in self.of(scenario, "translate")]

    def translated(self, scenario: str) -> list[int]:
        """SOT's own count of translations, by step."""
        return [record["count"] for record in self.of(scenario, "translated")]

    def frame_totals(self, scenario: str, function: str) -> dict[str, int]:
        totals: dict[str, int] = {}
        for record in self.of(scenario, "frames"):
            for frame in record["frames"]:
                if self.codes[frame["code"]]["raw"] == function:
                    for name, value in frame.items():
                        totals[name] = totals.get(name, 0) + value
        return totals

    def runs(self, scenario: str) -> list[int]:
        """Runs of subgraphs, by step."""
        steps = len(self.of(scenario, "translated"))
        counts = dict.fromkeys(range(steps), 0)
        for record in self.of(scenario, "subgraph-runs"):
            counts[record["step"]] = sum(run["count"] for run in record["runs"])
        return [counts[step] for step in range(steps)]


def _record(program: str, directory: Path) -> Recorded:
    out = directory / f"{program}.jsonl"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MIN_GRAPH_SIZE": "0", "OMP_NUM_THREADS": "1"}
    child = subprocess.run(
        [sys.executable, str(PROGRAMS / "hooks_child.py"), str(PROGRAMS / program), str(out)],
        env=environment,
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert child.returncode == 0, child.stderr[-4000:]
    return Recorded(program, [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()])


@pytest.fixture(scope="module")
def breaks(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return _record("hooks_breaks.py", tmp_path_factory.mktemp("breaks"))


@pytest.fixture(scope="module")
def guards(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return _record("hooks_guards.py", tmp_path_factory.mktemp("guards"))


@pytest.fixture(scope="module")
def fallbacks(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return _record("hooks_fallbacks.py", tmp_path_factory.mktemp("fallbacks"))


@pytest.fixture(scope="module")
def known() -> Traits:
    from importlib.metadata import version

    return traits(version("paddlepaddle"), ".".join(map(str, sys.version_info[:3])))


PRINT = "Not support builtin function: print"
CONTROL_FLOW = "DataDependencyControlFlowBreak"


def test_no_hook_fails(breaks: Recorded, guards: Recorded, fallbacks: Recorded) -> None:
    assert breaks.notes == []
    assert guards.notes == []
    assert fallbacks.notes == []


def test_every_translation_is_recorded_and_numbered(breaks: Recorded, guards: Recorded, fallbacks: Recorded) -> None:
    for recorded in (breaks, guards, fallbacks):
        nth: dict[int, int] = {}
        for scenario in recorded.scenarios:
            steps = [0] * len(recorded.translated(scenario))
            for record in recorded.of(scenario, "translate"):
                steps[record["step"]] += 1
                nth[record["code"]] = nth.get(record["code"], 0) + 1
                assert record["nth"] == nth[record["code"]]
                assert record["wall_ns"] > 0
            assert steps == recorded.translated(scenario), scenario


def test_frames_add_up(breaks: Recorded, guards: Recorded, fallbacks: Recorded) -> None:
    outcomes = ("hits", "fallback_hits", "translated", "cache_full", "compile_limit")
    for recorded in (breaks, guards, fallbacks):
        for scenario in recorded.scenarios:
            for record in recorded.of(scenario, "frames"):
                for frame in record["frames"]:
                    assert frame["entered"] == sum(frame[outcome] for outcome in outcomes) > 0
                    assert frame["callback_ns"] > 0


# --- breaks


def test_nested_break_is_emitted_once_at_the_innermost_user_line(breaks: Recorded) -> None:
    (record,) = breaks.of("nested", "break")
    assert breaks.sites("nested", "break") == [(breaks.line("nested-leaf"), "leaf")]
    assert (record["step"], record["how"], record["reason"]) == (0, "call", "BuiltinFunctionBreak")
    assert record["message"].startswith(PRINT)
    assert [(site["line"], site["function"]) for site in record["stack"]] == [
        (breaks.line("nested-root"), "nested"),
        (breaks.line("nested-middle"), "middle"),
        (breaks.line("nested-leaf"), "leaf"),
    ]
    # Translated inlined, then as frames of their own, then their rests.
    functions = [function for function, _ in breaks.outcomes("nested")]
    assert functions == ["nested", "middle", "leaf", "leaf", "middle", "nested"]
    assert breaks.translated("nested") == [6, 0, 0]


def test_chain_of_break_lines_leads_to_a_resume_function(breaks: Recorded) -> None:
    chains = {
        (code["function"], tuple(code["break_lines"]))
        for code in breaks.codes.values()
        if code["function"] in ("nested", "middle", "leaf", "tensor_if")
    }
    assert {
        ("nested", ()),
        ("nested", (breaks.line("nested-root"),)),
        ("middle", (breaks.line("nested-middle"),)),
        ("leaf", (breaks.line("nested-leaf"),)),
        ("tensor_if", (breaks.line("tensor-if"),)),
    } <= chains


@pytest.mark.parametrize("scenario", ["tensor-if", "tensor-while", "tensor-assert"])
def test_branch_on_a_tensor(breaks: Recorded, scenario: str) -> None:
    records = breaks.of(scenario, "break")
    assert {line for line, _ in breaks.sites(scenario, "break")} == {breaks.line(scenario)}
    assert {(record["how"], record["reason"]) for record in records} == {("if", CONTROL_FLOW)}
    assert all(record["opcode"].startswith(("POP_JUMP", "JUMP_IF")) for record in records)
    assert all("NONE" not in record["opcode"] for record in records)
    assert len(records) == 1


def test_inlined_branch_on_a_tensor_has_the_same_reason(breaks: Recorded) -> None:
    (record,) = breaks.of("inlined-if", "break")
    assert breaks.sites("inlined-if", "break") == [(breaks.line("inlined-if"), "branch")]
    assert (record["how"], record["reason"]) == ("if", CONTROL_FLOW)
    assert record["opcode"].startswith("POP_JUMP")
    assert [site["function"] for site in record["stack"]] == ["inlined_if", "branch"]


def test_is_not_none_on_a_tensor(breaks: Recorded, known: Traits) -> None:
    if not known.tensor_is_none_breaks:
        assert breaks.of("is-not-none", "break") == []
        assert breaks.runs("is-not-none") == [1, 1]
        return
    (record,) = breaks.of("is-not-none", "break")
    assert breaks.sites("is-not-none", "break") == [(breaks.line("is-not-none"), "is_not_none")]
    assert record["how"] == "if"
    assert "IF_NONE" in record["opcode"]
    assert breaks.runs("is-not-none") == [2, 2] if known.paddle >= (3, 2) else [1, 1]


def test_equal_breaks_of_a_line_are_one(breaks: Recorded) -> None:
    (record,) = breaks.of("two-on-a-line", "break")
    assert breaks.sites("two-on-a-line", "break") == [(breaks.line("two-on-a-line"), "two_on_a_line")]
    assert "<class 'float'>" in record["message"]
    assert len(breaks.outcomes("two-on-a-line")) == 3


def test_break_in_a_loop_body(breaks: Recorded, known: Traits) -> None:
    line = breaks.line("loop-break")
    if known.loop_body_break_is_fallback:
        (record,) = breaks.of("loop-break", "fallback")
        assert breaks.sites("loop-break", "fallback") == [(line, "loop_break")]
        assert (record["reason"], record["error"]) == ("BuiltinFunctionBreak", "FallbackError")
        assert record["message"].startswith(PRINT)
        assert "FOR_ITER" in record["final_message"]
        assert breaks.of("loop-break", "break") == []
        assert breaks.outcomes("loop-break") == [("loop_break", "fallback")]
        assert breaks.frame_totals("loop-break", "loop_break")["fallback_hits"] == 1
    else:
        assert breaks.of("loop-break", "fallback") == []
        record, *others = breaks.of("loop-break", "break")
        assert (record["how"], record["message"].startswith(PRINT)) == ("for", True)
        assert others == []
        assert breaks.sites("loop-break", "break") == [(line, "loop_break")]


def test_set_value_in_a_loop(breaks: Recorded, known: Traits) -> None:
    kind = "fallback" if known.loop_body_break_is_fallback else "break"
    record = breaks.of("set-value", kind)[0]
    assert set(breaks.sites("set-value", kind)) == {(breaks.line("set-value"), "set_value_loop")}
    assert record["reason"] == "UnsupportedPaddleAPIBreak"
    assert "set_value" in record["message"]


def test_fallback_while_inlined_is_a_break_of_the_caller(breaks: Recorded) -> None:
    (record,) = breaks.of("inlined-with", "break")
    assert breaks.sites("inlined-with", "break") == [(breaks.line("inlined-with"), "with_block")]
    assert record["reason"] == "FallbackInlineCallBreak"
    assert record["message"].startswith("opcode: ")
    assert record["stack"][0]["line"] == breaks.line("inlined-with-root")
    own = breaks.of("inlined-with", "fallback")
    assert len(own) == (1 if sys.version_info < (3, 11) else 0)  # later versions skip the frame without a word


def test_numpy_read(breaks: Recorded, known: Traits) -> None:
    sites = breaks.sites("numpy-read", "break")
    assert sites[0] == (breaks.line("numpy-read"), "numpy_read")
    record = breaks.of("numpy-read", "break")[0]
    assert (record["how"], record["reason"]) == ("call", "DataDependencyOperationBreak")
    # 3.0 does not say which method it was.
    assert ("Tensor.numpy" if known.paddle >= (3, 2) else "break_graph_tensor_method") in record["message"]


def test_lines_are_exact_in_every_resume_function(breaks: Recorded) -> None:
    expected = [breaks.line(f"many-{number}") for number in range(1, 8)]
    assert breaks.sites("many", "break") == [(line, "many") for line in expected]
    chains = [tuple(code["break_lines"]) for code in breaks.codes.values() if code["function"] == "many"]
    assert [tuple(expected[:length]) for length in range(8)] == sorted(chains, key=len)
    for record, before in zip(breaks.of("many", "break")[1:], expected, strict=False):
        # The real frames above are SOT's translated ones; their lines are those of the breaks passed.
        assert [site["line"] for site in record["outer"] if site["function"] == "many"][-1] == before
    statements = [
        (statement["text"], statement["line"])
        for subgraph in breaks.of("many", "subgraph")
        for statement in subgraph["statements"]
    ]
    (softmax,) = [line for text, line in statements if "softmax" in text]
    assert softmax == breaks.line("many-6") - 1
    (concat,) = [line for text, line in statements if "concat" in text]
    assert concat == breaks.line("many-4") - 4
    assert breaks.translated("many") == [8, 0]


def test_simulated_lines_are_covered_in_the_step_of_the_translation(breaks: Recorded) -> None:
    (record,) = breaks.of("one-side", "coverage")
    assert (record["step"], record["simulated"]) == (0, True)
    ((path, lines, functions),) = record["lines"]
    assert path == breaks.path
    expected = {"side-branch", "side-taken", "side-plain", "side-inlined"}
    assert {breaks.line(marker) for marker in expected} <= set(lines)
    assert breaks.line("side-not-taken") not in lines
    assert functions[str(breaks.line("side-inlined"))] == "helped"
    assert sorted(functions) == sorted(str(line) for line in lines)


def test_coverage_passes_every_break(breaks: Recorded) -> None:
    (record,) = breaks.of("many", "coverage")
    ((_, lines, functions),) = record["lines"]
    assert {breaks.line(f"many-{number}") for number in range(1, 8)} <= set(lines)
    assert set(functions.values()) == {"many"}


# --- recompiles


def guard(expression: str, expected: object, seen: object) -> dict[str, str]:
    return {"expression": expression, "expected": repr(expected), "seen": repr(seen)}


def test_item_is_guarded_by_value(guards: Recorded, known: Traits) -> None:
    if not known.item_breaks:
        assert guards.of("item-storm", "break") == []
        assert guards.of("item-storm", "recompile") == []
        assert guards.translated("item-storm") == [1, 0, 0, 0]
        return
    assert guards.sites("item-storm", "break") == [(guards.line("item"), "item_storm")]
    assert guards.translated("item-storm") == [2, 1, 1, 1]
    records = guards.of("item-storm", "recompile")
    assert [record["entries"] for record in records] == [1, 2, 3]
    assert set(guards.sites("item-storm", "recompile")) == {(guards.line("item"), "item_storm")}
    for record in records:
        newest, *_ = record["guards"]
        assert newest["expression"].startswith("frame.f_locals['resume_")
        assert len(record["guards"]) == record["entries"]
    assert [(record["guards"][0]["expected"], record["guards"][0]["seen"]) for record in records] == [
        ("2.0", "4.0"),
        ("4.0", "6.0"),
        ("6.0", "8.0"),
    ]


def test_float_is_guarded_by_value_on_its_own_line(guards: Recorded) -> None:
    assert guards.sites("float-storm", "break") == [(guards.line("float"), "float_storm")]
    assert set(guards.sites("float-storm", "recompile")) == {(guards.line("float"), "float_storm")}
    assert guards.translated("float-storm") == [2, 1, 1]
    second = guards.of("float-storm", "recompile")[1]
    assert [(part["expected"], part["seen"]) for part in second["guards"]] == [("6.0", "9.0"), ("3.0", "9.0")]


def test_shape_churn_recompiles_once(guards: Recorded) -> None:
    assert guards.translated("shape-churn") == [1, 1, 0, 0, 0]
    (record,) = guards.of("shape-churn", "recompile")
    assert record["guards"] == [guard("frame.f_locals['x'].shape[0] == 3", 3, 4)]
    assert guards.sites("shape-churn", "recompile") == [(guards.line("shape"), "shape_churn")]
    first, second = guards.of("shape-churn", "subgraph")
    assert (first["inputs"][0]["ir_shape"], second["inputs"][0]["ir_shape"]) == ([3], [-1])
    shapes = [
        record["inputs"][0][0] for record in guards.of("shape-churn", "subgraph-shapes") if record["name"] == second["name"]
    ]
    assert shapes == [[4], [5], [6], [7]]


def test_counter_on_self(guards: Recorded) -> None:
    assert guards.translated("self-n") == [1, 1, 0, 0]
    (record,) = guards.of("self-n", "recompile")
    assert record["guards"] == [guard("frame.f_locals['self'].n == 0", 0, 1)]
    assert guards.sites("self-n", "recompile")[0][1] == "forward"


def test_list_length(guards: Recorded) -> None:
    assert guards.translated("list-length") == [1, 1, 1]
    first, second = guards.of("list-length", "recompile")
    assert first["guards"] == [guard("len(frame.f_locals['numbers']) == 1", 1, 2)]
    assert second["guards"] == [
        guard("len(frame.f_locals['numbers']) == 2", 2, 3),
        guard("len(frame.f_locals['numbers']) == 1", 1, 3),
    ]
    assert set(guards.sites("list-length", "recompile")) == {(guards.line("list-length"), "list_length")}


def test_global(guards: Recorded) -> None:
    assert guards.translated("global") == [1, 0, 1, 0]
    (record,) = guards.of("global", "recompile")
    assert record["guards"] == [guard("frame.f_globals['scale'] == 2", 2, 3)]
    assert guards.sites("global", "recompile") == [(guards.line("global"), "reads_global")]


def test_counter_on_a_global_object(guards: Recorded, known: Traits) -> None:
    expected = [1, 1, 1] if known.global_object_counter_is_guarded else [1, 1, 0]
    assert guards.translated("global-object") == expected
    record = guards.of("global-object", "recompile")[0]
    assert record["guards"] == [guard("frame.f_globals['holder'].n == 0", 0, 1)]
    assert set(guards.sites("global-object", "recompile")) == {(guards.line("global-object"), "counts_on_global")}


def test_nan_never_matches(guards: Recorded) -> None:
    assert guards.translated("nan") == [1, 1, 1]
    for record in guards.of("nan", "recompile"):
        assert record["guards"] == [{"expression": "frame.f_locals['number'] == nan", "expected": "nan", "seen": "nan"}]
    assert set(guards.sites("nan", "recompile")) == {(guards.line("nan"), "nan_number")}


def test_all_failed_guards_are_reported(guards: Recorded) -> None:
    (record,) = guards.of("several", "recompile")
    assert sorted(part["expression"] for part in record["guards"]) == [
        "frame.f_locals['k'] == 0.5",
        "frame.f_locals['name'] == 'first'",
        "frame.f_locals['options']['bias'] == 0",
    ]
    assert guard("frame.f_locals['name'] == 'first'", "first", "second") in record["guards"]


def test_object_identity(guards: Recorded) -> None:
    (record,) = guards.of("object", "recompile")
    (part,) = record["guards"]
    assert part["expected"].startswith("<code double at 0x")
    assert part["seen"].startswith("<code triple at 0x")
    assert guards.sites("object", "recompile") == [(guards.line("object"), "object_identity")]


def test_cache_full(guards: Recorded, known: Traits) -> None:
    assert guards.translated("cache-full") == [1] * known.max_cache_size + [0] * 3
    totals = guards.frame_totals("cache-full", "cache_full")
    # Call 21 has a new value, calls 22 and 23 values that used to hit: all three are skipped.
    assert (totals["entered"], totals["translated"], totals["cache_full"], totals["hits"]) == (23, 20, 3, 0)
    assert guards.runs("cache-full")[-4:] == [1, 0, 0, 0]


def test_compile_time_limit(guards: Recorded, known: Traits) -> None:
    totals = guards.frame_totals("compile-limit", "compile_limit")
    assert totals["compile_limit"] == (1 if known.compile_time_limit else 0)
    assert guards.translated("compile-limit") == ([1, 1, 0, 1] if known.compile_time_limit else [1, 1, 1, 1])


# --- subgraphs


def test_too_small(guards: Recorded) -> None:
    assert guards.outcomes("too-small") == [
        ("small", "too-small"),
        ("small_with_break", "compiled"),
        ("small_with_break", "too-small"),
    ]
    assert [record["nested_disabled"] for record in guards.of("too-small", "translate")] == [True, False, True]
    dropped = guards.of("too-small", "subgraph")
    assert [(record["dropped"], record["ops"]) for record in dropped] == [("too-small", 2)] * 3
    assert [record["statements"][0]["line"] for record in dropped] == [
        guards.line("small"),
        guards.line("small-break-1"),
        guards.line("small-break-2"),
    ]
    assert guards.runs("too-small") == [0, 0]
    assert guards.of("too-small", "fallback") == []


def test_forced(guards: Recorded) -> None:
    (record,) = guards.of("forced", "subgraph")
    assert record["dropped"] == "forced"
    assert guards.runs("forced") == [0]


def test_subgraph(guards: Recorded) -> None:
    first, second = guards.of("subgraph", "subgraph")
    assert [statement["line"] for statement in first["statements"]] == [
        guards.line("linear"),
        guards.line("relu"),
        guards.line("sum"),
    ]
    assert {statement["function"] for statement in first["statements"]} == {"forward"}
    assert "relu" in first["statements"][1]["text"]
    assert first["ops"] >= 4
    assert first["dropped"] is None
    assert first["params"] == 2
    assert first["compile_ns"] > 0
    assert [(meta["ir_shape"], meta["dtype"]) for meta in first["inputs"]] == [([2, 4], "float32")]
    assert sorted(meta["ir_shape"] for meta in first["outputs"]) == [[2], [2, 2]]
    assert [meta["ir_shape"] for meta in second["inputs"]] == [[-1, 4]]
    assert guards.runs("subgraph") == [1, 1, 1]
    assert all(run["forward_ns"] > 0 for record in guards.of("subgraph", "subgraph-runs") for run in record["runs"])
    shapes = guards.of("subgraph", "subgraph-shapes")
    assert [record["inputs"] for record in shapes] == [[[[rows, 4], "float32", True]] for rows in (2, 3, 4)]
    assert sorted(shapes[-1]["outputs"]) == [[[4], "float32", False], [[4, 2], "float32", False]]


# --- fallbacks


def test_dict_update(fallbacks: Recorded) -> None:
    (record,) = fallbacks.of("dict-update", "fallback")
    assert fallbacks.sites("dict-update", "fallback") == [(fallbacks.line("dict-update"), "dict_update")]
    assert record["reason"] == "BuiltinFunctionBreak"
    assert "update with args" in record["message"]
    assert "_reconstruct" in record["final_message"]
    assert fallbacks.outcomes("dict-update") == [("dict_update", "fallback")]
    assert fallbacks.of("dict-update", "break") == []  # the split failed, so nothing was committed
    assert fallbacks.of("dict-update", "subgraph") == []  # what was finished before is thrown away with it
    assert fallbacks.frame_totals("dict-update", "dict_update")["fallback_hits"] == 1


def test_paddle_shape(fallbacks: Recorded) -> None:
    line = fallbacks.line("paddle-shape")
    kind = "break" if sys.version_info >= (3, 12) else "fallback"  # PEP 709: no function object on the stack to rebuild
    if sys.version_info >= (3, 12):
        assert fallbacks.of("paddle-shape", "break") == []
        assert fallbacks.outcomes("paddle-shape") == []  # the comprehension's exception table hides the frame
        return
    first, second = fallbacks.of("paddle-shape", kind)
    assert fallbacks.sites("paddle-shape", kind) == [(line, "paddle_shape"), (line, "<listcomp>")]
    assert first["message"] == "Not support builtin function: <class 'int'> with args: Args(TensorVariable)"
    assert "_reconstruct" in first["final_message"]
    assert second["reason"] == "UnsupportedIteratorBreak"


def test_with_block_of_a_frame(fallbacks: Recorded, known: Traits) -> None:
    if known.exception_table_skips:
        assert fallbacks.of("frame-with", "fallback") == []
        assert fallbacks.outcomes("frame-with") == []
        return
    (record,) = fallbacks.of("frame-with", "fallback")
    assert fallbacks.sites("frame-with", "fallback") == [(fallbacks.line("frame-with"), "frame_with")]
    assert record["message"] == "opcode: SETUP_WITH is not supported."
    assert record["reason"] is None


def test_logging(fallbacks: Recorded, known: Traits) -> None:
    here = [(fallbacks.line("logging"), "log_in_forward")]
    if known.captured_exception_disables_subtree:
        (record,) = fallbacks.of("logging", "fallback")
        assert fallbacks.sites("logging", "fallback") == here
        assert (record["error"], record["message"]) == ("SotCapturedKeyError", "KeyError: 20")
        (translation,) = fallbacks.of("logging", "translate")
        assert (translation["outcome"], translation["nested_disabled"]) == ("captured-exception", True)
    elif known.logging_call_ends_program:
        first, second = fallbacks.of("logging", "raised")
        assert first["type"] == second["type"] == "InnerError"
        assert first["stack"] == [list(site) for site in here]
        assert [outcome for _, outcome in fallbacks.outcomes("logging")] == ["error", "error"]
        assert fallbacks.of("logging", "translate")[0]["message"].startswith("AssertionError")
    else:
        assert set(fallbacks.sites("logging", "break")) == set(here)
        assert fallbacks.of("logging", "fallback") == []


def test_locals(fallbacks: Recorded) -> None:
    assert fallbacks.sites("locals", "fallback") == [(fallbacks.line("locals"), "calls_locals")]
    assert "`locals`" in fallbacks.of("locals", "fallback")[0]["message"]


def test_zero_size(fallbacks: Recorded, known: Traits) -> None:
    if not known.zero_size_falls_back:
        assert fallbacks.of("zero-size", "fallback") == []
        return
    (record,) = fallbacks.of("zero-size", "fallback")
    assert fallbacks.sites("zero-size", "fallback") == [(fallbacks.line("zero-size"), "zero_size")]
    assert (record["step"], record["error"]) == (1, "ConditionalFallbackError")
    assert [outcome for _, outcome in fallbacks.outcomes("zero-size")] == ["compiled", "conditional-fallback"]
    (missed,) = fallbacks.of("zero-size", "recompile")
    assert missed["guards"] == [guard("frame.f_locals['x'].shape[0] == 2", 2, 0)]
    assert fallbacks.translated("zero-size") == [1, 1, 0]


def test_psdb_fallback(fallbacks: Recorded) -> None:
    assert fallbacks.sites("psdb", "fallback") == [(fallbacks.line("psdb"), "forced")]


def test_inner_error_keeps_its_simulated_stack(fallbacks: Recorded) -> None:
    (raised,) = fallbacks.of("inner-error", "raised")
    assert raised["type"] == "InnerError"
    assert raised["stack"][-1] == [fallbacks.line("inner-error"), "subtract"]
    failed = fallbacks.of("inner-error", "translate")[-1]
    assert failed["outcome"] == "error"
    assert failed["message"].startswith("TypeError: ")
    assert "Traceback" not in failed["message"]


def test_warnings_of_paddle(fallbacks: Recorded) -> None:
    assert fallbacks.sites("redecorated", "warning") == [(fallbacks.line("redecorated"), "decorated_twice")]
    (record,) = fallbacks.of("input-spec", "warning")
    assert fallbacks.sites("input-spec", "warning") == [(fallbacks.line("input-spec"), "with_input_spec")]
    assert record["category"] == "UserWarning"
    assert "full_graph=False" in record["message"]
