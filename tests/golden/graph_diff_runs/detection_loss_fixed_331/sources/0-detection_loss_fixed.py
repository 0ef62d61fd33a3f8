"""The detector of detection_loss.py after the repair: both modes take the same path and SOT captures all of it.

The targets are made by a function of its own under ``@paddle.no_grad()`` instead of in a ``with`` block, and the branch with
the loop is gone. One subgraph a step (Paddle 3.2+; 3.0 still breaks at the decorator).
"""

import unittest

import numpy as np
import paddle
import paddle.nn.functional as F

FACTS = {
    "steps": 24,
    "requires": {"paddle": ">=3.2"},
    "findings": [],
    "absent": ["eager-loop", "no-grad-block", "mode-divergent-path"],
    "static": {"subgraphs": 1, "breaks": 0, "recompiles": 0, "fallbacks": 0, "not_captured": 0},
    "parity": {"comparable": True, "outputs_equal": True},
}

IMAGES = 4
ANCHORS = 64
CLASSES = 8


@paddle.no_grad()
def assign_targets(labels):
    """(one-hot class targets, foreground mask); no gradient flows through them."""
    targets = F.one_hot(labels, CLASSES)
    foreground = (labels > 0).astype("float32").unsqueeze(-1)
    return targets, foreground


class DetectionLoss(paddle.nn.Layer):
    """Classification over all anchors, regression over those that own a box."""

    def forward(self, scores, boxes, labels, gt_boxes):
        targets, foreground = assign_targets(labels)
        classification = F.binary_cross_entropy_with_logits(scores, targets)
        regression = (F.l1_loss(boxes, gt_boxes, reduction="none") * foreground).mean()
        return classification + 0.5 * regression


class Detector(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.backbone = paddle.nn.Sequential(
            paddle.nn.Conv2D(3, 16, 3, stride=2, padding=1),
            paddle.nn.ReLU(),
            paddle.nn.Conv2D(16, 32, 3, stride=2, padding=1),
            paddle.nn.ReLU(),
        )
        self.scores = paddle.nn.Conv2D(32, CLASSES, 1)
        self.boxes = paddle.nn.Conv2D(32, 4, 1)
        self.loss = DetectionLoss()

    def forward(self, images, labels, gt_boxes):
        features = self.backbone(images)
        scores = self.scores(features).flatten(2).transpose([0, 2, 1])
        boxes = F.relu(self.boxes(features)).flatten(2).transpose([0, 2, 1])
        return self.loss(scores, boxes, labels, gt_boxes)


def model():
    return Detector()


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
