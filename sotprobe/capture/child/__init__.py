"""What runs inside the child process, around the user's program.

``python -m sotprobe.capture.child RUN_DIR`` reads ``RUN_DIR/run.json``, runs the program in one mode and writes
``RUN_DIR/records.jsonl`` (docs/run-directory.md). A timing child carries step markers only; a diagnosing child also
carries the SOT hooks, the line attribution and the parity recorder.
"""
