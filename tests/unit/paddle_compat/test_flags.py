"""Variables that do nothing or do harm are told per version; tables are checked against what was read from the packages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sotprobe.paddle_compat import flags

SHARED = Path(__file__).resolve().parents[4] / "shared" / "cases" / "32_env_names"
VERSIONS = {"p262": "2.6.2", "p300": "3.0.0", "p322": "3.2.2", "p331": "3.3.1"}


def issues(environment: dict[str, str], version: str = "3.3.1") -> dict[str, flags.EnvironmentIssue]:
    return {issue.name: issue for issue in flags.check_environment(environment, version)}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the names read from the packages are not here")
@pytest.mark.parametrize("key", VERSIONS)
def test_each_version_reads_exactly_the_names_that_its_package_has(key):
    names = json.loads((SHARED / "env_names_by_version.json").read_text())
    every = {name for version in names.values() for name in version}
    assert set(flags.NAMES) == every
    values = dict.fromkeys(every, "0")
    assert set(values) - set(issues(values, VERSIONS[key])) == set(names[key])


@pytest.mark.skipif(not SHARED.is_dir(), reason="the launch script is not here")
def test_the_settings_of_a_real_launch_script():
    text = (SHARED / "run_env.sh").read_text()
    exports = (line.split("#")[0].removeprefix("export ").strip() for line in text.splitlines() if line.startswith("export "))
    environment = dict(line.split("=", 1) for line in exports)
    found = issues(environment, "3.3.1")
    assert {name: (issue.kind, issue.near) for name, issue in found.items()} == {
        "COST_MODEL": ("ignored", None),
        "GRAPH_SIZE": ("ignored", "MIN_GRAPH_SIZE"),
        "SOT_LOG_LEVEL": ("distorts", None),
        "SOT_TRACE_NUMPY": ("ignored", "ENV_SOT_TRACE_NUMPY"),
    }
    assert found["GRAPH_SIZE"].advice == "did you mean MIN_GRAPH_SIZE?"
    assert found["COST_MODEL"].text == "Paddle 3.3.1 does not read COST_MODEL; 2.6 does"
    older = issues(environment, "3.2.2")
    assert older["SOT_ENABLE_COMPILE_TIME_LIMIT"].text.endswith("does not read SOT_ENABLE_COMPILE_TIME_LIMIT; 3.3 does")


def test_a_name_is_in_doubt_between_two_versions_that_were_read():
    assert not issues({"SOT_CE_DEBUG_MODE": "1"}, "3.1.0")
    assert issues({"SOT_CE_DEBUG_MODE": "1"}, "3.0.0")
    assert issues({"COST_MODEL": "1"}, "3.1.0")


def test_newer_and_development_builds_count_as_the_newest():
    assert not issues({"SOT_ENABLE_COMPILE_TIME_LIMIT": "0"}, "3.9.0")
    assert not issues({"SOT_ENABLE_COMPILE_TIME_LIMIT": "0"}, "0.0.0")
    assert issues({"COST_MODEL": "0"}, "0.0.0")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("GRAPH_SIZE", "MIN_GRAPH_SIZE"),
        ("MIN_GRAPHSIZE", "MIN_GRAPH_SIZE"),
        ("SOT_LOGLEVEL", "SOT_LOG_LEVEL"),
        ("SOT_EXPORTS", "SOT_EXPORT"),
        ("SOT_TRACE_NUMPY", "ENV_SOT_TRACE_NUMPY"),
        ("ENABLE_FALLBACK", "ENABLE_FALL_BACK"),
        ("SOT_ALLOW_DYNAMIC_SHAPES", "SOT_ALLOW_DYNAMIC_SHAPE"),
    ],
)
def test_typing_errors_find_the_name_that_was_meant(typed, meant):
    assert issues({typed: "1"})[typed].near == meant


def test_a_near_name_is_one_that_this_version_reads():
    assert issues({"SOT_TRACE_NUMPY": "1"}, "3.0.0")["SOT_TRACE_NUMPY"].near is None


@pytest.mark.parametrize(
    "name",
    ["PATH", "LOG_LEVEL", "HOME", "LC_ALL", "PYTHONPATH", "DEBUG_MODE", "BATCH_SIZE", "FLAGS_prim_all", "GRAPHICS_SIZE"],
)
def test_other_programs_variables_are_left_alone(name):
    assert not issues({name: "1"})


@pytest.mark.parametrize(("level", "kind"), [("0", None), ("1", None), ("2", "distorts"), ("3", "distorts"), ("x", "ignored")])
def test_log_levels(level, kind):
    found = issues({"SOT_LOG_LEVEL": level}).get("SOT_LOG_LEVEL")
    assert (found.kind if found else None) == kind


def test_an_integer_that_is_none_is_ignored_by_paddle():
    found = issues({"MIN_GRAPH_SIZE": "ten"})["MIN_GRAPH_SIZE"]
    assert found.kind == "ignored"
    assert "uses its default" in found.text


def test_settings_that_end_the_program():
    relation = {"SOT_COLLECT_INFO": "breakgraph_reason,subgraph_relation"}
    assert issues(relation, "3.3.1")["SOT_COLLECT_INFO"].kind == "breaks"
    assert not issues(relation, "3.0.0")
    assert issues({"SOT_COLLECT_INFO": "subgraph_info[details]"})["SOT_COLLECT_INFO"].kind == "distorts"
    assert issues({"GLOG_vmodule": "run_program_impl=3,pir_interpreter=2,run_program_func=3"})["GLOG_vmodule"].kind == "breaks"
    assert not issues({"GLOG_vmodule": "run_program*=3"})


def test_a_child_has_fixed_hashes_unless_the_user_fixed_them():
    assert flags.child_environment({"A": "1"}, {"B": "2"}, 7) == {"PYTHONHASHSEED": "7", "A": "1", "B": "2"}
    assert flags.child_environment({"PYTHONHASHSEED": "3"}, {}, 7)["PYTHONHASHSEED"] == "3"
    assert flags.child_environment({"A": "1"}, {"A": "2"}, 0)["A"] == "2"


def test_only_variables_about_the_run_are_recorded():
    kept = {"SOT_EXPORT": "x", "MIN_GRAPH_SIZE": "0", "FLAGS_prim_all": "1", "GRAPH_SIZE": "0", "PYTHONHASHSEED": "0"}
    others = {"AWS_SECRET_ACCESS_KEY": "s", "HOME": "/root", "PATH": "/bin"}
    assert flags.recorded({**others, **kept}) == kept


@pytest.mark.paddle
def test_the_installed_paddle_reads_what_the_table_says():
    paddle = pytest.importorskip("paddle", reason="Paddle is not installed")
    from paddle.jit.sot.utils import envs
    from paddle.utils.environments import EnvironmentVariable

    names = {value.name for value in vars(envs).values() if isinstance(value, EnvironmentVariable)}
    assert len(names) > 5
    assert not issues(dict.fromkeys(names, "0"), paddle.__version__)
