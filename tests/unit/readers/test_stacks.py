"""faulthandler's text, as CPython 3.10-3.13 writes it."""

from __future__ import annotations

from sotprobe.readers.stacks import program_stack

TIMEOUT = """\
Timeout (0:00:10)!
Thread 0x00007f61ad000000 (most recent call first):
  File "/usr/lib/python3.10/threading.py", line 324 in wait
  File "/usr/lib/python3.10/threading.py", line 973 in _bootstrap

Thread 0x00007f61ae454b80 (most recent call first):
  File "/usr/lib/python3.10/socket.py", line 12 in recv
  File "/home/me/net.py", line 7 in pull
  File "/env/lib/python3.10/site-packages/pkg/x.py", line 3 in wrap
  File "/home/me/train.py", line 40 in main
  File "/home/me/train.py", line 50 in <module>
  File "/opt/sotprobe/capture/child/script.py", line 36 in run_script
"""
SEGFAULT = """\
Fatal Python error: Segmentation fault

Current thread 0x00007f3eaf3d9b80 (most recent call first):
  File "/home/me/train.py", line 31 in <module>
  File "/opt/sotprobe/capture/child/script.py", line 35 in run_script
  File "<frozen runpy>", line 88 in _run_code

Extension modules: numpy._core._multiarray_umath (total: 1)
"""


def test_the_programs_frames_outermost_first_without_libraries_and_starter():
    assert program_stack(TIMEOUT, "/home/me/train.py") == [
        ("/home/me/train.py", 50, "<module>"),
        ("/home/me/train.py", 40, "main"),
        ("/home/me/net.py", 7, "pull"),
    ]


def test_a_fatal_signal_names_the_line():
    assert program_stack(SEGFAULT, "/home/me/train.py") == [("/home/me/train.py", 31, "<module>")]


def test_the_last_dump_counts():
    later = TIMEOUT + "\n" + SEGFAULT.replace("line 31", "line 33")
    assert program_stack(later, "/home/me/train.py") == [("/home/me/train.py", 33, "<module>")]


def test_no_thread_in_the_program():
    assert program_stack(TIMEOUT, "/home/me/other.py") == []
    assert program_stack("", "/home/me/train.py") == []
