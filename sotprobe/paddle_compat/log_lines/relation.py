"""The drawing that SOT_COLLECT_INFO=subgraph_relation makes of a step: which subgraph passes which tensor to which.

``SubGraphRelationInfo.summary`` of Paddle 3.0 (``utils/info_collector.py``) has graphviz write
subgraph_relation/subgraph_relation_N.svg below the working directory, and remove the .dot file. From 3.2 the collector ends the
program before it draws.
"""

from __future__ import annotations

import re

# Titles of nodes and edges.
SUBGRAPH = re.compile(r"subgraph_(?P<index>\d+)$")
TENSOR = re.compile(r"tensor_(?P<id>\d+)$")
EDGE = re.compile(r"(?P<from>(?:tensor|subgraph)_\d+)->(?P<to>(?:tensor|subgraph)_\d+)$")

# What stands in them. A label of an edge is the shape in the program, where -1 is a dynamic dimension.
SUBGRAPH_TEXT = re.compile(r"Subgraph \d+ \((?P<name>SIR_\d+), size=(?P<operators>\d+)\)$")
TENSOR_TEXT = re.compile(r"Tensor \d+ shape=(?:paddle\.Size\()?\[(?P<shape>[-\d, ]*)\]\)?$")
SHAPE_TEXT = re.compile(r"\[(?P<shape>[-\d, ]*)\]$")
# Filled subgraphs ran for the first time.
FIRST_CALL = "cyan"
