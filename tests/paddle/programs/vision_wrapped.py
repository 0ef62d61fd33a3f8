"""MobileNetV2 of paddle.vision inside a layer of one's own: Paddle skips its own files as frames, but inlines them.

Given to to_static directly, only the Sequential blocks of a paddle.vision model reach SOT.
"""

import paddle
from vision_training import CLASSES, images, loss, optimizer

__all__ = ["init", "loss", "model", "optimizer"]


class Classifier(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.net = paddle.vision.models.mobilenet_v2(num_classes=CLASSES)

    def forward(self, x):
        return self.net(x)


def model():
    return Classifier()


def init():
    return images(channels=3, size=64)
