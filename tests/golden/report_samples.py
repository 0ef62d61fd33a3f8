"""Synthetic but realistic results, one per kind of page. Run by path (runpy): it is data, not a module of the tests."""

from __future__ import annotations

import runpy
from pathlib import Path

from sotprobe.model import (
    Diagnosis,
    Evidence,
    ExitStatus,
    Finding,
    GraphSummary,
    ModeSummary,
    ParityVerdict,
    ProgramInfo,
    Ratio,
    ReadStats,
    SourceSite,
    Verdict,
)

ENVIRONMENT = {
    "paddle": "3.3.1",
    "python": "3.11.7",
    "gpu_build": False,
    "cpu_count": 2,
    "env": {"MIN_GRAPH_SIZE": "0"},
}
RETURNED = ExitStatus(reason="returned", code=0, wall_ns=4_210_000_000)
READ = {"records": ReadStats(matched=412, ignored=3)}


def dynamic(**changes: object) -> ModeSummary:
    figures = {
        "mode": "dynamic",
        "steps": 106,
        "rounds": 5,
        "ips": 212.31,
        "step_ms_median": 4.7101,
        "step_ms_mean": 4.8333,
        "step_ms_min": 4.6012,
        "step_ms_max": 6.0199,
        "first_step_ms": 31.4,
        "loss": (0.6931, 0.5512, 0.4127, 0.3608),
        "exit": RETURNED,
    }
    return ModeSummary(**{**figures, **changes})


def static(**changes: object) -> ModeSummary:
    figures = {
        "mode": "static",
        "steps": 44,
        "rounds": 5,
        "ips": 89.127,
        "step_ms_median": 11.22,
        "step_ms_mean": 11.41,
        "step_ms_min": 10.98,
        "step_ms_max": 14.03,
        "first_step_ms": 812.6,
        "compile_ms": 1893.2,
        "loss": (0.6931, 0.5512, 0.4127),
        "exit": RETURNED,
        "subgraphs": 4,
        "translations": 6,
        "recompiles": 1,
        "breaks": 2,
        "fallbacks": 0,
        "not_captured": 1,
        "graph": GraphSummary(3, 4, 1, 3, 2.5, 0.6134, 0.4127, 3, 14.5, 4096.0, 1_572_864.0),
    }
    return ModeSummary(**{**figures, **changes})


EQUAL = ParityVerdict(
    comparable=True,
    outputs_equal=True,
    max_abs_error=5.96e-8,
    max_rel_error=3.1e-7,
    noise_abs=0.0,
    gradient_rel_error=1.2e-7,
    text="outputs, loss and gradients agree within float32 rounding",
)

CLEAN = Diagnosis(
    program=ProgramInfo("cases/plain_mlp.py", "case"),
    environment=ENVIRONMENT,
    modes={
        "dynamic": dynamic(),
        "static": static(
            ips=251.6,
            step_ms_median=3.974,
            step_ms_mean=4.01,
            step_ms_min=3.91,
            step_ms_max=4.77,
            subgraphs=1,
            translations=1,
            recompiles=0,
            breaks=0,
            not_captured=0,
        ),
    },
    ratio=Ratio(static_over_dynamic=1.1851, low=1.1702, high=1.2013, confident=True, pairs=5),
    parity=EQUAL,
    verdict=Verdict("faster", "static is 1.19 times as fast as dynamic"),
    findings=(),
    read_stats=READ,
    saved_in=".sotprobe/plain_mlp-20260214-101502",
)

SEED_STORY = Diagnosis(
    program=ProgramInfo("cases/detection_loss.py", "case"),
    environment=ENVIRONMENT,
    modes={"dynamic": dynamic(ips_unit="samples/s"), "static": static(ips_unit="samples/s")},
    ratio=Ratio(static_over_dynamic=0.41979, low=0.40112, high=0.44631, confident=True, pairs=5),
    parity=EQUAL,
    verdict=Verdict("slower", "static runs at 0.42 of the speed of dynamic"),
    findings=(
        Finding(
            slug="eager-loop",
            severity="warning",
            title="a Python loop runs 97 small operators per step outside every subgraph",
            site=SourceSite("cases/detection_loss.py", 58, "rotate_weight"),
            source_line="        for i in range(n_classes):\n",
            advice="replace the loop by one operator, such as paddle.put_along_axis, or move it into a captured frame",
            evidence=(
                Evidence("lines", "line 59: 48 x set_value_, 48 x slice per step, 4.61 ms", "records.jsonl", 77),
                Evidence("lines", "line 58: 1 x full per step, 0.02 ms", "records.jsonl", 77),
                Evidence("steps", "dynamic spends 0.31 ms per step on the same lines"),
                Evidence("hooks", "rotate_weight was entered 60 times and never reached SOT", "records.jsonl", 41),
                Evidence("source", "only the static branch (`if self.to_static:`, line 57) takes this loop"),
            ),
            count_per_step=97.0,
            cost_ns=4_300_000.0,
            cost_share=0.38324,
        ),
        Finding(
            slug="no-grad-block",
            severity="warning",
            title="a with-block keeps its whole frame out of SOT",
            site=SourceSite("cases/detection_loss.py", 44, "forward"),
            source_line="\t\twith paddle.no_grad():",
            advice="move the with block into its own function; the rest of the frame can then be captured",
            evidence=(Evidence("hooks", "forward was entered 60 times and SOT said nothing", "records.jsonl", 12),),
            cause="exception-table",
            count_per_step=1.0,
            cost_ns=1_902_000.0,
            cost_share=0.1695,
        ),
        Finding(
            slug="recompile",
            severity="info",
            title="one recompile, then stable: the batch became a dynamic dimension",
            site=SourceSite("cases/detection_loss.py", 40, "forward"),
            source_line="    def forward(self, feats, gt_class):",
            advice="nothing to change",
            evidence=(
                Evidence("hooks", "frame.f_locals['feats'].shape[0] == 8: compiled for 8, saw 4", "records.jsonl", 30),
                Evidence("hooks", "retranslation took 71.3 ms", "records.jsonl", 30),
            ),
            cause="shape-churn",
            count_per_step=1 / 60,
        ),
        Finding(
            slug="environment",
            severity="info",
            title="Paddle 3.3.1 ignores GRAPH_SIZE",
            site=None,
            advice="did you mean MIN_GRAPH_SIZE?",
            evidence=(Evidence("hooks", "GRAPH_SIZE=0 in the environment"),),
        ),
    ),
    read_stats=READ,
    notes=(Evidence("statistics", "round 3 of static was slower than the others by 21%; the median is not moved by it"),),
    saved_in=".sotprobe/detection_loss-20260214-101730",
)

_STACKS = "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f2b (most recent call first):\n" + "\n".join(
    f'  File "/data/proj/train.py", line {line} in step_{line}' for line in range(40, 10, -1)
)

FAILED_STATIC = Diagnosis(
    program=ProgramInfo("train.py", "script", ("--config", "configs/det.yml")),
    environment=ENVIRONMENT,
    modes={
        "dynamic": dynamic(exit=ExitStatus(reason="signal", code=-11, signal="SIGSEGV", stacks=_STACKS, wall_ns=12_300_000_000)),
        "static": static(
            steps=0,
            rounds=0,
            ips=None,
            step_ms_median=None,
            step_ms_mean=None,
            step_ms_min=None,
            step_ms_max=None,
            compile_ms=None,
            loss=(),
            exit=ExitStatus(
                reason="error",
                code=1,
                error_type="InnerError",
                error_message="elementwise_sub: the operands have types float32 and int64\n  [operator < sub > error]",
                site=SourceSite("ppdet/modeling/losses.py", 131, "bbox_loss"),
                stack=(
                    SourceSite("train.py", 12, "main"),
                    SourceSite("ppdet/modeling/head.py", 88, "forward"),
                    SourceSite("ppdet/modeling/losses.py", 131, "bbox_loss"),
                ),
                traceback="Traceback (most recent call last):\n  ...",
                wall_ns=3_400_000_000,
                simulated=True,
            ),
        ),
    },
    ratio=None,
    parity=None,
    verdict=Verdict("failed", "both modes failed"),
    findings=(
        Finding(
            slug="fallback",
            severity="error",
            title="the static run ends in an error that dynamic does not have",
            site=SourceSite("ppdet/modeling/losses.py", 131, "bbox_loss"),
            source_line="        loss = pred - target",
            advice="cast one operand: target.astype(pred.dtype)",
            evidence=(Evidence("hooks", "InnerError: elementwise_sub", "records.jsonl", 9),),
        ),
    ),
    read_stats=READ,
    saved_in=".sotprobe/train-20260214-110000",
)

NOT_COMPARABLE = Diagnosis(
    program=ProgramInfo("drop.py", "case"),
    environment={},
    modes={"dynamic": dynamic(), "static": static()},
    ratio=None,
    parity=ParityVerdict(
        comparable=False,
        reasons=(
            "the program draws from numpy's generator: dynamic run twice differs by 0.31",
            "static ran lines 14-18 that dynamic never ran",
        ),
        outputs_equal=False,
        max_abs_error=float("inf"),
        max_rel_error=float("nan"),
        noise_abs=0.3125,
        first_divergent_step=0,
    ),
    verdict=Verdict("not-comparable", "the two modes did not do the same work"),
    findings=(),
    read_stats=READ,
    saved_in=".sotprobe/drop-20260214-111111",
)

ONE_MODE = Diagnosis(
    program=ProgramInfo("export_only.py", "script"),
    environment=ENVIRONMENT,
    modes={"static": static(loss=(float("nan"), float("inf"), 0.5))},
    ratio=None,
    parity=None,
    verdict=Verdict("one-mode", "only static was run: there is nothing to compare it with"),
    findings=(),
    saved_in=".sotprobe/export_only-20260214-120000",
)

NO_TIMINGS = Diagnosis(
    program=ProgramInfo("two_steps.py", "script"),
    environment=ENVIRONMENT,
    modes={
        "dynamic": ModeSummary(mode="dynamic", steps=2, rounds=1, exit=RETURNED),
        "static": ModeSummary(mode="static", steps=2, rounds=1, exit=RETURNED, subgraphs=1, translations=2),
    },
    ratio=None,
    parity=ParityVerdict(comparable=True, text="no outputs were recorded"),
    verdict=Verdict("too-few-steps", "2 steps are too few for a ratio: use --steps"),
    findings=(
        Finding(
            slug="graph-break",
            severity="warning",
            title="an if on a tensor splits the graph",
            site=SourceSite("two_steps.py", 9, "forward"),
            source_line="    if x.mean() > 0:",
            advice="use paddle.where, or paddle.static.nn.cond",
            evidence=(Evidence("hooks", "2 breaks here", "records.jsonl", 5),),
            cause="tensor-if",
            count_per_step=1.0,
        ),
    ),
    read_stats={},
    notes=(Evidence("lines", "no attribution window was completed: costs are not measured"),),
    saved_in=None,
)

_NASTY = (
    "[red]not markup[/red] :smile: \x1b[31mred\x1b[0m\r\nnext\tline \u202egnp.exe\u202c \u200b\x00 \ud800 数据集 שלום "
    + "x" * 900
)

HOSTILE = Diagnosis(
    program=ProgramInfo("dir [bold]/\x1b]0;title\x07模型.py", "script", ("--name=\x1b[2J", "a\nb")),
    environment={"paddle": "3.3.1\x1b[1m", "python": "3.11.7", "gpu_build": True},
    modes={
        "dynamic": dynamic(exit=ExitStatus(reason="timeout", stacks=_NASTY + "\n" + _NASTY, wall_ns=60_000_000_000)),
        "static": static(exit=ExitStatus(reason="error", error_type="[E]", error_message=_NASTY, traceback=_NASTY)),
    },
    ratio=Ratio(static_over_dynamic=1.0, low=None, high=None, confident=False, pairs=1),
    parity=ParityVerdict(comparable=False, reasons=(_NASTY,), text=_NASTY),
    verdict=Verdict("no-difference", _NASTY),
    findings=(
        Finding(
            slug="host-sync",
            severity="warning",
            title=_NASTY,
            site=SourceSite("dir [bold]/\x1b]0;title\x07模型.py", 7, "f\n[link]"),
            source_line="\tprint('[red]', \x1b[31m, '数据集', '" + "y" * 300 + "')\n",
            advice=_NASTY,
            evidence=(Evidence("hooks", _NASTY, "re[b]c\x1b.jsonl", 1),),
            count_per_step=0.25,
            cost_ns=1234.0,
            cost_share=0.0004,
        ),
    ),
    notes=(Evidence("hooks", _NASTY),),
    saved_in="/tmp/[bold]\x1b[31m/out",
)

SAMPLES: dict[str, Diagnosis] = {
    "clean": CLEAN,
    "seed_story": SEED_STORY,
    "failed_static": FAILED_STATIC,
    "not_comparable": NOT_COMPARABLE,
    "one_mode": ONE_MODE,
    "no_timings": NO_TIMINGS,
    "hostile": HOSTILE,
    **runpy.run_path(str(Path(__file__).with_name("log_samples.py")))["SAMPLES"],
}
