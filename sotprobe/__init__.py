"""sotprobe explains why a Paddle model is slower, wrong or unstable under ``paddle.jit.to_static``."""

__version__ = "0.1.0"
