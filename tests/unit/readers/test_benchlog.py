"""Which lines of the suites' logs are steps."""

from __future__ import annotations

import pytest
from log_engine import SHARED, read

from sotprobe.paddle_compat.log_lines.benchmark import kind_of

# A line of each suite, cut down.
STEPS = [
    "[2026/01/05 10:00:00] ppcls INFO: [Train][Epoch 1/1][Iter: 0/2503]lr: 0.1, batch_cost: 0.24304s, ips: 263.33399 samples/s",
    "2020-11-04 17:25:00 INFO: epoch:0  , train step:0  , loss: 7.0, batch_cost: 0.97626 s, ips: 65.55621 images/sec.",
    "[01/05 10:00:00] ppdet.engine INFO: Epoch: [0] [  0/791] loss: nan eta: 0:54:58 batch_cost: 0.9751 ips: 8.2041 images/s",
    "[01/05 10:00:00] ppgan.engine.trainer INFO: Iter: 10/200000 batch_cost: 2.42661 sec ips: 3.29678 images/s",
    "tobal step: 10, epoch: 0, batch: 9, avg_batch_cost: 0.48921 sec, avg_samples: 96.00000, ips: 196.23332 sequences/sec",
    "[INFO] - loss: 9.0, global_step: 10, interval_samples_per_second: 10.7657, interval_steps_per_second: 1.3457",
    "2026-01-05 10:00:00 [INFO]\t[TRAIN] epoch=1, iter=10/400, batch_cost=1.2184, reader_cost=0.16502, ips=6.5658 samples/sec",
    "Train: Rank: 0, epoch: 0, step: 0, batch_cost: 1.83198055, samples: 32, ips samples/s: 17.4",
    "[INFO] -  iter: 1/1000, avg_batch_cost: 1.19325 sec, avg_samples: 6, avg_ips: 5.02827 sequences/sec",
    "[Iter 1]  reader_cost: 0.00011 s batch_cost: 0.16229 s ips: 24.647 samples/s",
    "ToStatic = True,       Pass = 0,       Iter = 0,      Loss = 4.600,   Elapse(ms) = 1546.000",
    "loss: 4.5 batch_cost: 0.1664 data_cost: 0.0034 **ips: 28.1298 images/s**, max_mem_reserved: 42653 MB",
]
SUMMARIES = [
    "[2026/01/05 10:01:09] ppcls INFO: [Eval][Epoch 1][Iter: 0/10]CELoss: 6.5, batch_cost: 1.0s, ips: 64.0 images/sec",
    "[01/05 10:01:00] END epoch:1   train loss_avg: 5.0 avg_batch_cost: 0.345 sec, avg_ips: 46.37681 instance/sec.",
    "[01/05 10:01:10] epoch:[  1/80 ] val step:0    loss: 5.0 batch_cost: 0.1 sec, ips: 160.0 instance/sec.",
    "2021-02-22 02:22:19,513 - INFO - Epoch: 0, using time 130.599303007 second, ips 84225.62561 example/sec.",
    "[2026-01-05 10:02:00,009] [    INFO] -   train_samples_per_second               =     35.1234",
    "|    batch_cost    |    0.05000    |    0.16229    |    0.04861    |",
]
OTHERS = [
    "LAUNCH INFO 2026-01-05 10:00:00,100 ips: None",
    "ips: 127.0.0.1",
    "ips: 10.0.0.1,10.0.0.2",
    "python -m paddle.distributed.launch --ips: hosts",
    "clips: 3",
    "the ips of this run",
]


@pytest.mark.parametrize("line", STEPS)
def test_steps(line):
    assert kind_of(line) == "step"


@pytest.mark.parametrize("line", SUMMARIES)
def test_figures_that_are_no_step(line):
    assert kind_of(line) == "summary"


@pytest.mark.parametrize("line", OTHERS)
def test_other_lines(line):
    assert kind_of(line) is None


def test_steps_are_counted_and_summaries_matched():
    text = "\n".join([*STEPS, *SUMMARIES, *OTHERS[1:]])
    log = read(text.encode())
    assert log.parts[0].steps == len(STEPS)
    assert log.stats["benchlog"].matched == len(STEPS) + len(SUMMARIES)
    assert log.stats["text"].ignored == len(OTHERS) - 1


# Steps of the shared logs, as counted by hand; the official script misses those of Trainer, Science, Speech, Matting and X.
SHARED_STEPS = {
    "PaddleClas.log": 24, "PaddleClas_2020.log": 14, "PaddleClas_static.log": 24, "PaddleDetection.log": 30,
    "PaddleDetection_2020.log": 14, "PaddleNLP_trainer.log": 24, "PaddleScience.log": 24, "PaddleSeg_Matting.log": 14,
    "PaddleSpeech_s2t.log": 24, "PaddleSpeech_t2s.log": 24, "PaddleVideo.log": 24, "PaddleX_quoted_in_issue.md": 24,
    "nul_and_cr.log": 24, "paddle_profiler_timer.log": 24, "too_few.log": 9,
}  # fmt: skip


@pytest.mark.parametrize(("name", "steps"), SHARED_STEPS.items())
def test_shared_logs(name, steps):
    path = SHARED / "cases" / "29_ips_formats" / name
    if not path.is_file():
        pytest.skip("the shared cases are not there")
    assert read(path.read_bytes()).parts[0].steps == steps
