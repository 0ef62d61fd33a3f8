"""What a PROGRAM is, told from its source alone."""

from __future__ import annotations

import textwrap

import pytest

from sotprobe.capture.program import classify
from sotprobe.errors import InputError


@pytest.fixture
def program(tmp_path):
    def write(source: str | bytes, name: str = "prog.py"):
        data = source if isinstance(source, bytes) else textwrap.dedent(source).encode()
        (tmp_path / name).write_bytes(data)
        return classify(name, tmp_path)

    return write


CASES = {
    "function": """
        import paddle
        paddle.seed(1)
        def func(x):
            return x + 1
        def init():
            return paddle.rand([2])
    """,
    "model class, run by unittest": """
        import unittest, paddle
        class Net(paddle.nn.Layer):
            pass
        model = Net
        def init(step):
            return []
        class Test(unittest.TestCase):
            def test(self):
                pass
        if __name__ == "__main__":
            unittest.main()
    """,
    "imported": """
        from nets import detector as model, init
    """,
    "lambda": """
        func = lambda x: x * 2
        init = lambda: [1]
    """,
    "wrapped": """
        import functools
        def _f(a, x): return a * x
        func = functools.partial(_f, 2)
        def init(): return [1]
        if __name__ == "__main__":
            func(*init())
    """,
    "under a version test": """
        try:
            from fast import func
        except ImportError:
            def func(x): return x
        if True:
            def init(): return []
    """,
}

SCRIPTS = {
    "plain": "print('hello')",
    "main guard": "def main(): pass\nif __name__ == '__main__':\n    main()\n",
    "unittest": """
        import unittest
        class Test(unittest.TestCase):
            def init(self): pass
            def func(self): pass
        unittest.main()
    """,
    "loop over a model made at module level": """
        import paddle
        def init():
            paddle.seed(1)
        model = paddle.nn.Linear(2, 2)
        init()
        for _ in range(3):
            model(paddle.rand([1, 2]))
    """,
    "init but neither func nor model, with a start of its own": """
        def init(): pass
        def train(): pass
        if __name__ == "__main__":
            init(); train()
    """,
    "assignments only": "from trainer import train\nmodel = object()\nlosses = train(model)\n",
    "with block": "import paddle\nwith paddle.no_grad():\n    x = paddle.rand([1])\n",
}


@pytest.mark.parametrize("source", CASES.values(), ids=CASES)
def test_case_files(program, source):
    assert program(source).kind == "case"


@pytest.mark.parametrize("source", SCRIPTS.values(), ids=SCRIPTS)
def test_scripts(program, source):
    assert program(source).kind == "script"


def test_the_path_is_absolute_and_the_given_name_is_kept(program, tmp_path):
    found = program("print(1)")
    assert (found.path, found.given) == (str(tmp_path / "prog.py"), "prog.py")


def test_a_path_with_dots_is_normalised(program, tmp_path):
    program("print(1)\n")
    (tmp_path / "below").mkdir()
    found = classify("../prog.py", tmp_path / "below")
    assert (found.path, found.given) == (str(tmp_path / "prog.py"), "../prog.py")


def test_nothing_is_imported_or_run(program, tmp_path):
    program(f"import nowhere_at_all\nopen({str(tmp_path / 'ran')!r}, 'w')\n")
    assert not (tmp_path / "ran").exists()


ERRORS = {
    "init without a callable": ("def init(): return []\n", "no callable in prog.py: it has init but neither func nor model"),
    "callable without init": ("def func(x): return x\n", "no inputs in prog.py: it has func but no init"),
    "test class that nobody starts": ("import unittest\nclass T(unittest.TestCase):\n    pass\n", "nothing to run in prog.py"),
    "empty": ("", "nothing to run in prog.py"),
    "syntax": ("x = 1\ndef f(:\n    pass\n", r"syntax error at prog.py:2: .*: def f\(:"),
    "indentation": ("if True:\nx = 1\n", "syntax error at prog.py:2: expected an indented block"),
    "binary": (b"\x7fELF\0\0\0", "prog.py is not text"),
    "not utf-8": (b"name = '\xff\xfe'\nprint(name)\n", "prog.py"),
}


@pytest.mark.parametrize(("source", "message"), ERRORS.values(), ids=ERRORS)
def test_what_cannot_be_run(program, source, message):
    with pytest.raises(InputError, match=message) as caught:
        program(source)
    assert caught.value.hint
    assert caught.value.exit_code == 3


def test_a_coding_cookie_is_obeyed(program):
    assert program("# -*- coding: latin-1 -*-\nprint('é')\n".encode("latin-1")).kind == "script"


def test_a_missing_file_says_where_it_was_looked_for(tmp_path):
    with pytest.raises(InputError, match=r"no such file: train\.py") as caught:
        classify("train.py", tmp_path)
    assert str(tmp_path / "train.py") in caught.value.hint


def test_a_directory(tmp_path):
    (tmp_path / "project").mkdir()
    with pytest.raises(InputError, match="project is a directory"):
        classify("project", tmp_path)


@pytest.mark.parametrize(("name", "hint"), [("demo.ipynb", "nbconvert"), ("run.sh", "shell script"), ("notes.txt", r"\.py file")])
def test_other_files_get_a_hint(tmp_path, name, hint):
    (tmp_path / name).write_text("{}")
    with pytest.raises(InputError, match=f"{name} is not a Python file") as caught:
        classify(name, tmp_path)
    assert hint.replace("\\", "") in caught.value.hint


def test_the_users_own_string_warnings_are_not_printed_by_the_parent(program, recwarn):
    assert program("print('\\d')\n").kind == "script"
    assert not recwarn.list
