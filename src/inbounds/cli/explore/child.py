"""A process beside the server that ends with it, however the server ends: it watches a pipe.

Run: python -m inbounds.cli.explore.child MODULE WORD...
"""

from __future__ import annotations

import os
import runpy
import shutil
import sys
import threading

PIPE, FOLDER = "INBOUNDS_EXPLORE_PIPE", "INBOUNDS_EXPLORE_FOLDER"
"""The variables of the environment that name the pipe, and the folder to remove."""


def _watch(pipe: int, folder: str) -> None:
    """End once the server has: nobody would hear of what this process goes on to do."""
    os.read(pipe, 1)  # nothing is ever written, so this is the end of the last writer
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def main() -> None:
    """Run a module as a program until the other end of the pipe is closed."""
    pipe, folder = os.environ.pop(PIPE, ""), os.environ.pop(FOLDER, "")
    if pipe:
        threading.Thread(target=_watch, args=(int(pipe), folder), daemon=True).start()
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
