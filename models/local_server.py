"""The process in which the embedded judge runs. Started by path, never imported by the rest of the package.

It knows the standard library and ``xllamacpp`` only. Settings come as one JSON line on standard input; the address
goes out as one JSON line on standard output; then standard input is held open by the parent, and its end (the parent
closed it, or died) ends this process at once, whatever the model is doing.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from typing import Any

PARENT_CHECK_S = 1.0
"""How often the parent's process id is looked at, should a forked copy of the parent hold the pipe open."""


def watch_parent(parent: int) -> None:
    """End this process when standard input ends or the parent is another one than at the start."""
    while os.getppid() == parent:
        ready, _, _ = select.select([0], [], [], PARENT_CHECK_S)
        if ready and not os.read(0, 4096):
            break
    os._exit(0)


def parameters(settings: dict[str, Any]) -> Any:
    """llama.cpp's parameters: one slot, loopback, a free port, prompts kept in RAM, always the same answer."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {settings["name"]}
    params.n_ctx, params.n_parallel = settings["context"], 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.cache_prompt, params.cache_ram_mib = True, settings["cache_mib"]
    params.endpoint_slots = params.ui = False
    params.sampling.temp, params.sampling.seed = 0.0, settings["seed"]
    return params


def main() -> None:
    """Load, serve, wait for the parent's end."""
    settings = json.loads(sys.stdin.readline())
    threading.Thread(target=watch_parent, args=(settings["parent"],), daemon=True).start()
    import xllamacpp

    answer = os.dup(1)
    os.dup2(2, 1)  # whatever llama.cpp prints belongs in the log
    server = xllamacpp.Server(parameters(settings))
    os.write(answer, json.dumps({"address": server.listening_address}).encode() + b"\n")
    threading.Event().wait()


if __name__ == "__main__":
    main()
