"""Large logs made of real ones, as long trainings write them, and traces of torch.compile for tlparse.

    python tools/long_log.py OUTPUT [--megabytes 1000] [--level 2|3] [--frames 16] [--user-every 1]
    python tools/long_log.py OUTPUT --translations
    python tools/long_log.py OUTPUT --trace

A log begins with real logs of its level as they are (all the compiling), then come steady steps: real entries of frames, hits,
guards and runs of subgraphs, one set for each of ``--frames`` frames. From step to step these vary: some frames see another
shape and miss an entry first, the user prints a line with new numbers, glog writes lines with new times, and every 50 MB a new
process begins, with other addresses. With ``--translations`` there are no steady steps: real logs of level 3 follow each other,
every time with other addresses and object numbers, so that no line of the simulation comes twice.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import itertools
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

ROOT = Path(__file__).resolve().parent.parent
MEGABYTE = 1_000_000
ENTRY = b"[eval_frame_callback] start to translate: "
_ADDRESS = re.compile(rb"0x[0-9a-f]{6,}")
_CODE = re.compile(rb'at 0x[0-9a-f]+, file "[^"]*", line \d+')
_SIR = re.compile(rb"SIR_\d+")
_OBJECT = re.compile(rb"object_\d+")
_SIZE = re.compile(rb"\.shape\[0\] == \d+")
_STATEMENT = re.compile(rb"^    \w+ +\|\| .*$", re.MULTILINE)
_PROCESS_BYTES = 50 * MEGABYTE
_MOST_UNITS = 16
_SHAPES = 6


def real_logs(level: int) -> list[bytes]:
    """The logs that come with the project, and those of ``SOTPROBE_SHARED`` (../shared) where it is there."""
    shared = Path(os.environ.get("SOTPROBE_SHARED", ROOT.parent / "shared"))
    found = [*(ROOT / "tests" / "golden" / "logs").rglob("*"), *(shared / "cases").glob("*/log*.txt")]
    texts = [_text(path) for path in sorted(found) if path.is_file() and path.name.endswith((".txt", ".log", ".txt.gz"))]
    return [text for text in texts if _is_of(text, level)]


def _text(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def _is_of(text: bytes, level: int) -> bool:
    if b"<paddle.jit.dy2static" in text or b"with locals:" in text:  # levels 4 and 5
        return False
    return (b"[Translate " in text) == (level == 3)


def steady_units(logs: list[bytes]) -> list[bytes]:
    """Entries of frames that hit and ran a subgraph, each up to the last statement; one for each text apart from addresses."""
    found: dict[bytes, bytes] = {}
    for log in logs:
        for piece in log.split(ENTRY)[1:]:
            if b"Cache hit" not in piece or b"start run SIR" not in piece or b"start subgraph" in piece:
                continue
            statements = list(_STATEMENT.finditer(piece))
            if statements:
                unit = ENTRY + piece[: statements[-1].end()] + b"\n"
                found.setdefault(_CODE.sub(b"", unit), unit)
    # The longest are those of large guards; every so many of all keep the mixture.
    units = list(found.values())
    return units[:: max(1, len(units) // _MOST_UNITS)][:_MOST_UNITS]


def write_training(output: BinaryIO, size: int, level: int, frames: int, user_every: int) -> None:
    """Processes of 50 MB each: every eighth of the real logs, then steady steps."""
    logs = real_logs(level)
    units = steady_units(logs)
    if not units:
        raise SystemExit(f"no real log of level {level} to build from")
    written = 0
    for process in itertools.count():
        shift = process * 1000
        for log in logs[process % 8 :: 8]:
            text = _OBJECT.sub(lambda found, shift=shift: b"object_%d" % (int(found[0][7:]) + shift), log)
            written += output.write(_readdressed(text, process))
        end = min(size, written + _PROCESS_BYTES)
        model = [_variants(unit, frame, process) for frame, unit in zip(range(frames), itertools.cycle(units))]
        for step in itertools.count():
            parts = [variants[step % len(variants)] for variants in model]
            parts.insert(frames // 2, _glog(step))
            if step % user_every == 0:
                parts.append(_user(step))
            written += output.write(b"".join(parts))
            if written >= end:
                break
        if written >= size:
            return


def write_translations(output: BinaryIO, size: int) -> None:
    """Real logs of level 3 one after the other, no line of a simulation twice: the worst that a reader meets."""
    logs = real_logs(3)
    if not logs:
        raise SystemExit("no real log of level 3 to build from")
    written = 0
    for process in itertools.count():
        for log in logs:
            shift = process * 1000
            text = _OBJECT.sub(lambda found, shift=shift: b"object_%d" % (int(found[0][7:]) + shift), log)
            written += output.write(_readdressed(text, process))
            if written >= size:
                return


def _variants(unit: bytes, frame: int, process: int) -> list[bytes]:
    """What one frame of the model writes: always the same, or, every fifth frame, one of some shapes behind a miss."""
    code = b'at 0x%x, file "/proj/model/part_%d.py", line %d' % (_address(frame, process), frame % 7, 10 + 3 * frame)
    text = _SIR.sub(b"SIR_%d" % frame, _CODE.sub(code, unit))
    if frame % 5 or not _SIZE.search(text):
        return [text]
    return [_SIZE.sub(b".shape[0] == %d" % (16 + shape), text) for shape in range(_SHAPES)]


def _address(number: int, process: int) -> int:
    return 0x7F0000000000 + (process << 24) + number * 0xB0


def _readdressed(text: bytes, process: int) -> bytes:
    return _ADDRESS.sub(lambda found: b"0x%x" % (int(found[0], 16) + (process << 16)), text)


def _user(step: int) -> bytes:
    epoch, clock = divmod(step, 1000)[0], b"%02d:%02d:%02d" % (step // 3600 % 24, step // 60 % 60, step % 60)
    return b"[2026-11-30 %s] [    INFO] - epoch: %d, step: %d, loss: %.6f, lr: %.3e, ips: %.3f samples/s\n" % (
        clock,
        epoch,
        step,
        1 / (1 + step * 0.01),
        1e-3 / (1 + step),
        300 + step % 97 * 0.31,
    )


def _glog(step: int) -> bytes:
    """Every fourth step one line of C++, in the middle of the step."""
    if step % 4:
        return b""
    return b"I1130 %02d:%02d:%02d.%06d %d pir_interpreter.cc:1480] New Executor is Running ...\n" % (
        step // 3600 % 24,
        step // 60 % 60,
        step % 60,
        step * 7919 % 1_000_000,
        4000 + step % 3,
    )


def write_trace(output: BinaryIO, size: int) -> None:
    """A trace as TORCH_TRACE writes it, of one compilation after the other: envelopes in JSON, payloads indented by a tab."""
    written = output.write(_envelope({"str": ["/proj/model.py", 0]}))
    for number in itertools.count():
        for text in _compilation(number):
            written += output.write(text)
        if written >= size:
            return


def _compilation(number: int) -> Iterator[bytes]:
    identity = {"frame_id": number, "frame_compile_id": 0, "attempt": 0}
    yield _envelope({"dynamo_start": {"stack": [{"line": 20 + number % 90, "name": "forward", "filename": 0}]}, **identity})
    for tensor in range(4):
        about = {"describer_id": number, "id": tensor}
        yield _envelope({"describe_storage": {**about, "size": 4096}, **identity})
        yield _envelope(
            {
                "describe_tensor": {
                    **about,
                    "ndim": 2,
                    "dtype": "torch.float32",
                    "device": "device(type='cpu')",
                    "size": [32, 32],
                    "is_leaf": True,
                    "stride": [32, 1],
                    "storage": tensor,
                },
                **identity,
            }
        )
        yield _envelope({"describe_source": {**about, "source": f"L['x{tensor}']"}, **identity})
    graph = "".join(_operation(number, line) for line in range(60))
    sizes = {"sizes": {f"x{tensor}": [32, 32] for tensor in range(4)}}
    yield _envelope({"dynamo_output_graph": sizes, **identity}, graph)
    for name in ("aot_forward_graph", "inductor_post_grad_graph"):
        yield _envelope({name: {}, **identity}, graph)
    yield _envelope({"dynamo_guards": {}, **identity}, json.dumps([{"code": f"L['x'].size()[0] == {number}"}] * 8))
    for phase in ("B", "E"):
        event = {"name": "entire_frame_compile", "ts": 1.7e15 + number, "args": {}, "ph": phase, "tid": 0, "pid": 0}
        yield _envelope({"chromium_event": {}, **identity}, json.dumps(event, indent=0))


def _operation(number: int, line: int) -> str:
    return (
        f"     # File: /proj/model.py:{line + 20} in forward, code: h{line} = torch.relu(h{line} @ w + {number})\n"
        f'    relu_{line}: "f32[32, 32][32, 1]cpu" = torch.ops.aten.relu.default(add_{line});  add_{line} = None\n'
    )


def _envelope(record: dict, payload: str | None = None) -> bytes:
    lines = ""
    if payload is not None:
        record = {**record, "has_payload": hashlib.md5(payload.encode()).hexdigest()}
        lines = "".join(f"\t{line}\n" for line in payload.split("\n"))
    return f"V1130 10:00:00.000000 4000 torch/_dynamo/convert_frame.py:961] {json.dumps(record)}\n{lines}".encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--level", type=int, choices=(2, 3), default=2)
    parser.add_argument("--trace", action="store_true", help="a trace of torch.compile instead")
    parser.add_argument("--translations", action="store_true", help="nothing but compiling, at level 3")
    parser.add_argument("--frames", type=int, default=16, help="frames that a step enters")
    parser.add_argument("--user-every", type=int, default=1, metavar="STEPS", help="the user prints a line so often")
    arguments = parser.parse_args()
    size = arguments.megabytes * MEGABYTE
    with open(arguments.output, "wb") as output:
        if arguments.trace:
            write_trace(output, size)
        elif arguments.translations:
            write_translations(output, size)
        else:
            write_training(output, size, arguments.level, arguments.frames, arguments.user_every)


if __name__ == "__main__":
    main()
