"""Five models of paddle.vision, trained a few steps: nothing to warn of, and both modes give the same."""

from __future__ import annotations

import pytest
from expectations import check, page
from runs import Ask, Made

pytestmark = pytest.mark.paddle

MODELS = ("resnet18", "mobilenet_v2", "shufflenet_v2_x0_25", "squeezenet1_1", "lenet")
EQUAL = {"comparable": True, "outputs_equal": True}
OPTIONS = ("--rounds", "1", "--steps", "5")


@pytest.mark.parametrize("ask", [Ask(f"tests/paddle/programs/vision_{name}.py", OPTIONS) for name in MODELS], ids=MODELS)
def test_model_is_clean(ask: Ask, made: Made) -> None:
    check(made, {"findings": [], "parity": EQUAL}, {})
    losses = [made.result["modes"][mode]["loss"] for mode in ("dynamic", "static")]
    assert len(losses[0]) >= 5, page(made)
    assert losses[1] == pytest.approx(losses[0], rel=1e-5), page(made)


@pytest.mark.parametrize("ask", [Ask("tests/paddle/programs/vision_wrapped.py", OPTIONS)], ids=["wrapped"])
def test_model_in_a_layer_of_ones_own_is_one_subgraph(ask: Ask, made: Made) -> None:
    check(made, {"findings": [], "static": {"subgraphs": 1, "breaks": 0, "recompiles": 0}, "parity": EQUAL}, {})
