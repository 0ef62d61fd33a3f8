"""The versions as Paddle shows them itself, and as reports of bugs quote them."""

import platform

import paddle

if __name__ == "__main__":
    paddle.version.show()
    print("Paddle version:", paddle.__version__)
    print("Paddle With CUDA:", paddle.is_compiled_with_cuda())
    print("Python version:", platform.python_version())
