"""The records every layer speaks in: frozen, standard library only.

A field exists because a rule or a report reads it. A missing fact is ``None``, never 0.
"""

from sotprobe.model.diagnosis import Diagnosis, Finding, LogSummary, ModeSummary, ParityVerdict, Ratio, Verdict
from sotprobe.model.event import Event, Guard
from sotprobe.model.graph import GraphEdge, GraphNode, GraphSummary, GraphVersion, SubgraphGraph
from sotprobe.model.run import ExitStatus, LineTotal, ParityFact, ProgramInfo, Run, Step
from sotprobe.model.site import Evidence, SourceSite
from sotprobe.model.stats import ReadStats
from sotprobe.model.subgraph import Statement, Subgraph, TensorFlow, TensorMeta

__all__ = [
    "Diagnosis",
    "Event",
    "Evidence",
    "ExitStatus",
    "Finding",
    "GraphEdge",
    "GraphNode",
    "GraphSummary",
    "GraphVersion",
    "Guard",
    "LineTotal",
    "LogSummary",
    "ModeSummary",
    "ParityFact",
    "ParityVerdict",
    "ProgramInfo",
    "Ratio",
    "ReadStats",
    "Run",
    "SourceSite",
    "Statement",
    "Step",
    "Subgraph",
    "SubgraphGraph",
    "TensorFlow",
    "TensorMeta",
    "Verdict",
]
