"""Calls the operators whose kernels a project replaces with the samples of torch's own tests, on the CPU.

`opgate record --over KEY` records this program. The project itself is not loaded here: its kernels may
refuse what torch's take.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from typing import Any

from opgate.request import UserError, asked, status_of


def kernels_found(request: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What overrides/found.py prints, by a process that loads the project."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPGATE_RECORD")}
    environment |= request["environment"]
    command = [sys.executable, "-m", "opgate.overrides.found", "0"]
    ended = subprocess.run(
        command, input=json.dumps(request), env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    if ended.returncode != 0:
        raise UserError(f"the kernels at {request['key']} are not known: see above")
    kernels: dict[str, dict[str, Any]] = json.loads(ended.stdout)
    return kernels


def call_samples(kernels: set[str], device: str) -> set[str]:
    """Calls the operators of torch's tests that reach them; returns those that none reaches.

    The samples are those in all dtypes that torch's own kernels take on both devices.
    """
    import torch  # which reads what is recorded

    from opgate.calls import torch_tests

    torch.manual_seed(0)
    waiting = set(kernels)
    for op, reached in torch_tests.that_reach(kernels):
        for dtype in sorted(op.supported_dtypes("cpu") & op.supported_dtypes(device), key=str):
            for sample in torch_tests.samples_of(op, dtype):
                torch_tests.call(op, sample)
        waiting -= reached
    return waiting


def run(request: dict[str, Any]) -> int:
    """Calls what reaches the kernels."""
    kernels = kernels_found(request)
    key = request["key"]
    if not kernels:
        project = (
            ", ".join([*request["modules"], *request["libraries"]]) or "opgate.toml lists nothing, and so"
        )
        raise UserError(f"--over {key}: {project} registers no kernel of torch's operators at this key")
    for name, kernel in kernels.items():
        stays = " and ".join(kernel["variants"])
        beside = f"; for {stays} torch's kernel stays" if stays else ""
        print(f"{name} at {key}: {kernel['place']}{beside}", flush=True)
    os.environ["OPGATE_RECORD_OPERATORS"] = ",".join(kernels)
    warnings.simplefilter("ignore")
    for name in sorted(call_samples(set(kernels), request["device"])):
        print(f"opgate: no sample of torch's tests reaches {name}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(status_of(lambda: run(asked())))
