"""Drawings of subgraphs: two that Paddle 3.0.0 made, and files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from sotprobe.errors import InputError
from sotprobe.readers import relation
from sotprobe.readers.log import LogOptions, read_logs
from sotprobe.readers.relation import DrawnEdge, DrawnSubgraph, DrawnTensor

LOGS = Path(__file__).parents[2] / "golden" / "logs"
# print_break=2 helper_break=1: two subgraphs around a print, then four in a function and the one that it calls.
FIRST = LOGS / "3.0.0_py311_collect_relation_1.svg"
SECOND = LOGS / "3.0.0_py311_collect_relation_3.svg"


def test_the_subgraphs_of_a_step():
    drawn = relation.read(str(FIRST))
    assert drawn.subgraphs == (DrawnSubgraph(0, "SIR_0", 3, True), DrawnSubgraph(1, "SIR_1", 4, True))
    assert drawn.tensors == (DrawnTensor(1, (2, 4)), DrawnTensor(2, (2, 4)), DrawnTensor(3, ()))


def test_who_passes_what_to_whom():
    """SIR_1 takes in what SIR_0 gives out."""
    drawn = relation.read(str(FIRST))
    assert drawn.edges == (
        DrawnEdge(0, 1, False, (2, 4)),
        DrawnEdge(0, 2, True, (2, 4)),
        DrawnEdge(1, 2, False, (2, 4)),
        DrawnEdge(1, 3, True, ()),
    )


def test_every_line_is_counted():
    drawn = relation.read(str(SECOND))
    assert [graph.name for graph in drawn.subgraphs] == ["SIR_2", "SIR_3", "SIR_4", "SIR_5"]
    assert drawn.stats.matched == len(SECOND.read_bytes().splitlines())
    assert drawn.stats.malformed == 0


def test_it_is_told_by_its_content(tmp_path):
    copy = tmp_path / "workerlog.0"
    copy.write_bytes(SECOND.read_bytes())
    reading = read_logs([str(copy)], LogOptions())
    (run,) = reading.runs
    assert [(graph.name, graph.ops) for graph in run.subgraphs] == [("SIR_2", 1), ("SIR_3", 2), ("SIR_4", 2), ("SIR_5", 2)]
    assert set(reading.stats) == {"relation"}
    assert "SIR_2 of size 1" in run.notes[0].text


def test_a_log_that_is_called_svg_is_a_log(tmp_path):
    log = tmp_path / "subgraph_relation_1.svg"
    log.write_text("[Cache] all guards missed\n", encoding="utf-8")
    reading = read_logs([str(log)], LogOptions())
    assert reading.stats["sotlog"].matched == 1


def test_a_drawing_beside_a_log():
    reading = read_logs([str(FIRST), str(LOGS / "3.0.0_py311_collect_relation.txt")], LogOptions())
    assert len(reading.runs) == 2
    assert reading.stats["relation"].matched > 0
    assert reading.stats["sotinfo"].matched > 0


def changed(tmp_path: Path, old: bytes, new: bytes) -> str:
    data = FIRST.read_bytes()
    assert old in data
    path = tmp_path / "drawing.svg"
    path.write_bytes(data.replace(old, new))
    return str(path)


def test_a_subgraph_that_is_written_otherwise_is_malformed(tmp_path):
    drawn = relation.read(changed(tmp_path, b"Subgraph 1 (SIR_1, size=4)", b"Subgraph 1"))
    assert [graph.name for graph in drawn.subgraphs] == ["SIR_0"]
    assert (drawn.stats.malformed, drawn.stats.samples) == (1, ("subgraph_1: Subgraph 1",))


def test_a_dynamic_dimension(tmp_path):
    drawn = relation.read(changed(tmp_path, b">[2, 4]<", b">[-1, 4]<"))
    assert drawn.edges[0].ir_shape == (-1, 4)
    assert drawn.tensors[0].shape == (2, 4)


def test_later_calls_are_not_filled(tmp_path):
    drawn = relation.read(changed(tmp_path, b'fill="cyan"', b'fill="none"'))
    assert [graph.first_call for graph in drawn.subgraphs] == [False, False]


def test_entities_are_refused(tmp_path):
    bomb = b'<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">'
    path = changed(tmp_path, b'"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">', b'"x" [' + bomb + b"]>")
    with pytest.raises(InputError, match="entities"):
        relation.read(path)


def test_a_drawing_that_was_cut_off(tmp_path):
    path = tmp_path / "drawing.svg"
    path.write_bytes(FIRST.read_bytes()[:2000])
    with pytest.raises(InputError, match="no complete SVG"):
        relation.read(str(path))


def test_somebody_elses_drawing(tmp_path):
    path = tmp_path / "plot.svg"
    path.write_text('<svg xmlns="http://www.w3.org/2000/svg"><g class="node"><title>a</title></g></svg>', encoding="utf-8")
    with pytest.raises(InputError, match="not one of SOT"):
        read_logs([str(path)], LogOptions())


def test_a_drawing_that_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(relation, "MOST_BYTES", 100)
    with pytest.raises(InputError, match="larger than"):
        relation.read(str(FIRST))
