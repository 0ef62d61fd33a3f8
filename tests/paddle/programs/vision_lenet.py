"""LeNet of paddle.vision, trained on 1x28x28 images."""

import paddle
from vision_training import CLASSES, images, loss, optimizer

__all__ = ["init", "loss", "model", "optimizer"]


def model():
    return paddle.vision.models.LeNet(num_classes=CLASSES)


def init():
    return images(channels=1, size=28)
