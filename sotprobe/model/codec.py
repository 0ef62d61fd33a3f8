"""The version of what is written to disk and to ``--json``."""

FORMAT_VERSION = 1
