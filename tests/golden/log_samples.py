"""Synthetic but realistic results that were read from logs. Run by path, like report_samples.py, which includes them."""

from __future__ import annotations

from dataclasses import replace

from sotprobe.model import (
    Diagnosis,
    Evidence,
    ExitStatus,
    Finding,
    LogSummary,
    ModeSummary,
    ProgramInfo,
    ReadStats,
    SourceSite,
    Verdict,
)
from sotprobe.model.site import FUNCTION, NEAR

_RAN = "runs/2026-02-14/distributed/node1/log/workerlog"
_LOG_COUNTS = {
    "frames_entered": 960,
    "translations": 16,
    "cache_hits": 912,
    "cached_fallback_hits": 24,
    "cache_misses": 12,
    "cache_exceeded": 0,
    "subgraphs_built": 16,
    "subgraph_runs": 936,
    "fallbacks": 4,
    "breaks": 4,
    "recompiles": 12,
}
_LOG_MODE = ModeSummary(mode="static", steps=0, rounds=0, exit=ExitStatus("log-ended"), subgraphs=8, translations=16)

LOG_RANKS = Diagnosis(
    program=ProgramInfo(", ".join(f"{_RAN}.{rank}" for rank in range(4)), "log"),
    environment={"paddle_seen": "3.2+", "python": "3.11", "log_level": 3},
    modes={
        "static": replace(
            _LOG_MODE,
            exit=ExitStatus(
                reason="signal",
                signal="SIGSEGV",
                site=SourceSite("ppdet/modeling/losses.py", 131, "bbox_loss", NEAR),
                stacks="Fatal Python error: Segmentation fault",
                stack=(SourceSite("train.py", 12, "main"), SourceSite("ppdet/modeling/losses.py", 131, "bbox_loss", NEAR)),
            ),
        )
    },
    ratio=None,
    parity=None,
    verdict=Verdict(
        "crashed", "rank 2 alone crashed after 120 steps: SIGSEGV; 474 of 480 calls of 4 ranks ran subgraphs (16 subgraphs built)"
    ),
    findings=(
        Finding(
            slug="not-comparable",
            severity="error",
            title="the program was killed by SIGSEGV",
            site=SourceSite("ppdet/modeling/losses.py", 131, "bbox_loss", NEAR),
            advice="see the C++ stack in the log",
            evidence=(Evidence("glog", "SIGSEGV (@0x0) received by PID 21191", f"{_RAN}.2", 10231),),
            cause="signal",
            ranks=("2",),
        ),
        Finding(
            slug="graph-break",
            severity="warning",
            title="an if on a tensor splits the graph",
            site=SourceSite("ppdet/modeling/head.py", 88, "forward"),
            source_line="        if mask.any():",
            advice="use paddle.where, or paddle.static.nn.cond",
            evidence=(
                Evidence("sotlog", "break graph for if jump tensor", f"{_RAN}.0", 411),
                Evidence("log", "between 1 and 2 times a call, depending on the process"),
                Evidence("sotlog", "break graph for if jump tensor", f"{_RAN}.1", 412),
                Evidence("sotlog", "break graph for if jump tensor", f"{_RAN}.2", 411),
                Evidence("sotlog", "break graph for if jump tensor", f"{_RAN}.3", 411),
            ),
            cause="tensor-if",
            count_per_step=2.0,
            ranks=("0", "1", "2", "3"),
        ),
        Finding(
            slug="recompile",
            severity="info",
            title="forward is recompiled: an input whose shape changes",
            site=SourceSite("ppdet/modeling/head.py", 80, "forward", FUNCTION),
            source_line="    def forward(self, feats, mask):",
            advice="pad or bucket the inputs",
            evidence=(
                Evidence("log", "3 recompiles in steps 1 to 7, and stays compiled since"),
                Evidence("sotlog", "feats.shape[0] == 8", f"{_RAN}.0", 977),
            ),
            cause="shape-churn",
            count_per_step=3 / 120,
            ranks=("0", "1", "3"),
        ),
        Finding(
            slug="not-captured",
            severity="warning",
            title="post_process would be skipped: a try block in the function",
            site=SourceSite("ppdet/modeling/post.py", 40, "post_process"),
            source_line="        try:",
            advice="move the try block into a function of its own",
            evidence=(Evidence("source", "post_process has an exception table, and no line of the log names it"),),
            cause="try-block",
            suspected=True,
        ),
    ),
    read_stats={
        "glog": ReadStats(matched=212),
        "sotlog": ReadStats(matched=39_988, malformed=1, samples=("[Cache]: Firstly call <code obj",)),
        "text": ReadStats(
            ignored=5120, unrecognised=7, samples=("[Cache] a line of next year\t\x1b[31m", "[SOT] 数据集 " + "x" * 180)
        ),
    },
    notes=(
        Evidence("log", "the ranks did not get equally far: 118 calls in rank 2, up to 120 in others"),
        Evidence("text", "line 7 is longer than 4 MiB: the rest of it was not read", f"{_RAN}.3", 7),
    ),
    counts=_LOG_COUNTS,
    log=LogSummary(
        files=tuple(f"{_RAN}.{rank}" for rank in range(4)),
        ranks=("0", "1", "2", "3"),
        lines=45_328,
        calls=480,
        static_calls=474,
        steps=120,
        refused=("cannot read workerlog.4: permission denied",),
    ),
)

LOG_WITHOUT_SOT = Diagnosis(
    program=ProgramInfo("-", "log"),
    environment={"python": "3.11.7"},
    modes={"static": replace(_LOG_MODE, subgraphs=0, translations=0)},
    ratio=None,
    parity=None,
    verdict=Verdict(
        "no-sot-lines",
        "no SOT lines of frames in the log, which is no success: SOT_LOG_LEVEL was below 2, or SOT was shown no frame; record it "
        "with SOT_LOG_LEVEL=2 or higher",
    ),
    findings=(),
    read_stats={"text": ReadStats(ignored=3)},
    notes=(Evidence("limits", "functions with a with or try block are skipped without a line"),),
    counts=dict.fromkeys(_LOG_COUNTS, 0),
    log=LogSummary(files=("-",), lines=3, calls=0, static_calls=0, steps=0),
)

SAMPLES: dict[str, Diagnosis] = {"log_ranks": LOG_RANKS, "log_without_sot": LOG_WITHOUT_SOT}
