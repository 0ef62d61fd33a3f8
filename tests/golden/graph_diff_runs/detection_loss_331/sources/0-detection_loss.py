"""A small detector whose loss is slow only under to_static: a ``no_grad`` block and a loop that only the static branch takes.

The targets are written in place inside ``with paddle.no_grad():``. That block keeps SOT from capturing the loss, and the
static branch in it, written years ago for a Paddle without dynamic indexing, assigns the anchors one by one: what it
launches runs eagerly, operator by operator, where dynamic mode takes the vectorised branch. detection_loss_fixed.py is the
same program after the repair.
"""

import unittest

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle.jit.dy2static.program_translator import ProgramTranslator

FACTS = {
    "steps": 24,
    "findings": [
        {"slug": "no-grad-block", "cause": "no-grad", "line": "no-grad-block", "severity": "warning", "count": 1.0},
        {
            "slug": "eager-loop",
            "line": "set-item-loop",
            "severity": "warning",
            "count": 192.0,
            "evidence": "one_hot 64, set_value_with_tensor_ 64, slice 64",
        },
        {"slug": "mode-divergent-path", "line": "static-branch", "severity": "warning"},
    ],
    "parity": {"comparable": True, "outputs_equal": True},
}

IMAGES = 4
ANCHORS = 64
CLASSES = 8


class DetectionLoss(paddle.nn.Layer):
    """Classification over all anchors, regression over those that own a box. ``to_static`` is the configuration's flag."""

    def __init__(self, to_static):
        super().__init__()
        self.to_static = to_static

    def forward(self, scores, boxes, labels, gt_boxes):
        with paddle.no_grad():  # <- no-grad-block
            targets = paddle.zeros([IMAGES, ANCHORS, CLASSES])
            if self.to_static:  # <- static-branch
                for anchor in range(ANCHORS):  # <- set-item-loop
                    targets[:, anchor] = F.one_hot(labels[:, anchor], CLASSES)  # <- set-item
            else:
                targets[:] = F.one_hot(labels, CLASSES)
            foreground = (labels > 0).astype("float32").unsqueeze(-1)
        classification = F.binary_cross_entropy_with_logits(scores, targets)
        regression = (F.l1_loss(boxes, gt_boxes, reduction="none") * foreground).mean()
        return classification + 0.5 * regression


class Detector(paddle.nn.Layer):
    def __init__(self, to_static):
        super().__init__()
        self.backbone = paddle.nn.Sequential(
            paddle.nn.Conv2D(3, 16, 3, stride=2, padding=1),
            paddle.nn.ReLU(),
            paddle.nn.Conv2D(16, 32, 3, stride=2, padding=1),
            paddle.nn.ReLU(),
        )
        self.scores = paddle.nn.Conv2D(32, CLASSES, 1)
        self.boxes = paddle.nn.Conv2D(32, 4, 1)
        self.loss = DetectionLoss(to_static)

    def forward(self, images, labels, gt_boxes):
        features = self.backbone(images)
        scores = self.scores(features).flatten(2).transpose([0, 2, 1])
        boxes = F.relu(self.boxes(features)).flatten(2).transpose([0, 2, 1])
        return self.loss(scores, boxes, labels, gt_boxes)  # <- loss-call


def model():
    return Detector(to_static=ProgramTranslator.get_instance().enable_to_static)


def init():
    paddle.seed(7)
    images = paddle.rand([IMAGES, 3, 32, 32])
    labels = paddle.randint(0, CLASSES, [IMAGES, ANCHORS])
    gt_boxes = paddle.rand([IMAGES, ANCHORS, 4])
    return images, labels, gt_boxes


def loss(outputs):
    return outputs


def optimizer(layer):
    return paddle.optimizer.Momentum(0.01, parameters=layer.parameters())


class BothModesAgree(unittest.TestCase):
    def test_loss(self):
        losses = []
        for to_static in (False, True):
            paddle.jit.enable_to_static(to_static)
            paddle.seed(1)
            layer = model()
            run = paddle.jit.to_static(layer) if to_static else layer
            losses.append(float(run(*init())))
        np.testing.assert_allclose(losses[1], losses[0], rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
