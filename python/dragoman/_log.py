"""The library's log: lines of the logger "dragoman"."""
from __future__ import annotations

import logging

logger = logging.getLogger("dragoman")


def log(warns: bool, line: str) -> None:
    logger.log(logging.WARNING if warns else logging.INFO, "%s", line)
