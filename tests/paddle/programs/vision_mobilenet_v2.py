"""MobileNetV2 of paddle.vision, trained on 3x64x64 images."""

import paddle
from vision_training import CLASSES, images, loss, optimizer

__all__ = ["init", "loss", "model", "optimizer"]


def model():
    return paddle.vision.models.mobilenet_v2(num_classes=CLASSES)


def init():
    return images(channels=3, size=64)
