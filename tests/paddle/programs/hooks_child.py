"""Runs every scenario of a program below the SOT hooks and writes the records, one JSON object a line.

Usage: hooks_child.py PROGRAM OUT. The program has ``SCENARIOS``: name -> (steps, function of the step).
"""

import importlib.util
import json
import sys
import traceback

from sotprobe.paddle_compat.hooks import SotRecorder, simulated_stack_of, translate_count


def main(path, out):
    step = -1
    with open(out, "w", encoding="utf-8") as file:

        def emit(kind, **fields):
            file.write(json.dumps({"kind": kind, **fields}) + "\n")
            file.flush()

        recorder = SotRecorder(emit, lambda name: name == path, lambda: step)
        recorder.install()
        spec = importlib.util.spec_from_file_location("program", path)
        program = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(program)
        for name, (steps, run) in program.SCENARIOS.items():
            emit("scenario", name=name)
            for step in range(steps):
                before = translate_count()
                try:
                    run(step)
                except Exception as error:  # noqa: BLE001 - whatever a scenario raises is recorded
                    traceback.print_exc()
                    stack = [[site.line, site.function] for site in simulated_stack_of(error) if site.path == path]
                    emit("raised", step=step, type=type(error).__name__, message=str(error), stack=stack)
                recorder.end_step(step)
                emit("translated", step=step, count=translate_count() - before)
            step = -1


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
