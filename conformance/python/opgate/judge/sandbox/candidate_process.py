"""What runs in the process of a candidate: it calls the candidate and sends what that returns as raw bytes.

This process never sees what is right. It keeps results, so that they can be read again after later calls.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import itertools
import json
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from opgate.judge.sandbox.guarded_functions import addresses
from opgate.judge.sandbox.timed_calls import sample_bytes
from opgate.judge.sandbox.wire import ChannelClosed, receive, send
from opgate.judge.subject.called_operators import operators_of
from opgate.judge.subject.source_file import SourceFile, made
from opgate.judge.tensors.arguments import NotJudged, put_together, taken_apart, tensors_of
from opgate.judge.tensors.message import loaded, tensors_in
from opgate.judge.tensors.raw_tensor import from_raw, geometry_of, span, to_raw

M_PERTURB = -6
KEPT = 6
QUICK_COMPILATION = {
    "TORCHINDUCTOR_COMPILE_THREADS": "1",  # a pool of processes costs more than it saves
    "TORCHINDUCTOR_VEC_ISA_OK": "1",  # test programs for each set of instructions take as long as the kernel
    "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0",
}


class Candidate:
    """The loaded candidate, its arguments by geometry, and its last results."""

    def __init__(self, source: SourceFile, device: str) -> None:
        self.source = source
        self.device = device
        self.slots: dict[str, list[torch.Tensor]] = {}
        self.kept: dict[int, list[torch.Tensor]] = {}
        self.sets: list[list[Any]] = []  # arguments of calls that are timed, laid out before the clock runs
        self.returned: list[Any] = []  # what these calls returned

    def load(self, head: dict[str, Any], blobs: list[bytes]) -> dict[str, Any]:
        """Imports the file and makes the object; unwritten memory has the `poison` from now on."""
        init, state = loaded(blobs[0])
        ctypes.CDLL(None).mallopt(M_PERTURB, head["poison"])
        forget_the_judge()
        module = self.source.load("opgate_judged_candidate")
        called = self.source.adapted(made(module, self.source.name, init, head["seed"]))
        self.called = called.to(self.device) if isinstance(called, torch.nn.Module) else called
        answer = {"state": self.take_over(state)}
        if head.get("compile"):
            os.environ.update(QUICK_COMPILATION)
            self.called = torch.compile(self.called)
        return answer

    def take_over(self, state: dict[str, torch.Tensor]) -> str:
        """Gives the module the reference's parameters if it has the same ones; returns what was done."""
        if not state or not isinstance(self.called, torch.nn.Module):
            return "none"
        own = self.called.state_dict()
        if {k: v.shape for k, v in own.items()} != {k: v.shape for k, v in state.items()}:
            return "other"
        self.called.load_state_dict(state)
        return "same"

    def arguments(self, head: dict[str, Any], blobs: list[bytes]) -> tuple[list[Any], list[torch.Tensor]]:
        """The arguments of a call: in the tensors of an earlier one if the judge wants it, or in new ones."""
        key = json.dumps(head["geometries"])
        tensors = self.slots.get(key, [])
        if head["reuse"] and tensors and [geometry_of(each) for each in tensors] == head["geometries"]:
            for tensor, content in zip(tensors, blobs, strict=True):
                write(tensor, content)
        else:
            tensors = self.slots[key] = tensors_in(head, blobs, self.device)
        return put_together(head["structure"], tensors), tensors

    @torch.no_grad()
    def call(self, head: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        """Calls the candidate once."""
        arguments, given = self.arguments(head, blobs)
        try:
            returned = self.called(*arguments)
        except Exception as error:
            return {"raised": f"{type(error).__name__}: {error}"[:2000]}, []
        reply, contents = self.described(returned)
        if "structure" not in reply:
            return reply, []
        results = tensors_of(returned)
        places = [place(result) for result in results]
        kept = {place(old) for each in self.kept.values() for old in each} - {0}
        reply |= {
            "shared": [[i for i, t in enumerate(given) if place(t) == at != 0] for at in places],
            "same_memory_as_before": any(at in kept for at in places),
            "arguments": [hashlib.sha256(content).hexdigest() for content in read(given)[1]],
            "threads": len(os.listdir("/proc/self/task")),
        }
        self.kept[head["call"]] = results
        for old in list(self.kept)[:-KEPT]:
            del self.kept[old]
        return reply, contents

    def lay_out(self, head: dict[str, Any], blobs: list[bytes]) -> dict[str, Any]:
        """Lays out arguments for calls that are timed, for which memory is not filled any more."""
        ctypes.CDLL(None).mallopt(M_PERTURB, 0)
        left = iter(blobs)
        self.sets, self.returned = [], []
        for each in head["sets"]:
            own = list(itertools.islice(left, len(each["geometries"])))
            self.sets.append(put_together(each["structure"], tensors_in(each, own, self.device)))
        return {}

    @torch.no_grad()
    def go(self, head: dict[str, Any]) -> dict[str, Any]:
        """Calls with the first sets, one right after the other, and looks at some bytes of the last results.

        No clock is read here. Without a call, earlier results stay.
        """
        if head["count"]:
            self.returned = []
        for arguments in self.sets[: head["count"]]:
            self.returned.append(self.called(*arguments))
        seen: list[str] = []
        if self.returned:
            with contextlib.suppress(NotJudged):  # which shows when the results are collected
                seen = sample_bytes(tensors_of(self.returned[-1]), head["places"])
        return {"seen": seen}

    def collect(self) -> tuple[dict[str, Any], list[bytes]]:
        """All results of the calls that were timed."""
        described: list[dict[str, Any]] = []
        contents: list[bytes] = []
        for returned in self.returned:
            reply, own = self.described(returned)
            described.append(reply)
            contents += own
        return {"returned": described}, contents

    def described(self, returned: Any) -> tuple[dict[str, Any], list[bytes]]:
        """The structure of what a call returned, and the bytes of its tensors."""
        try:
            structure, results = taken_apart(returned)
        except NotJudged as error:
            return {"unusual": f"returns what is no result: {error}"}, []
        for result in results:
            if (strange := unusual(result, self.device)) is not None:
                return strange, []
        geometries, contents = read(results)
        return {"structure": structure, "results": geometries}, contents

    def reread(self) -> dict[str, Any]:
        """Digests of the results that are kept, as they are now."""
        digests = {
            call: hashlib.sha256(b"".join(read(results)[1])).hexdigest()
            for call, results in self.kept.items()
        }
        return {"digests": digests, "threads": len(os.listdir("/proc/self/task"))}


def forget_the_judge() -> None:
    """Modules of the judge are not found under their names any more."""
    for name in [name for name in sys.modules if name.startswith("opgate.judge")]:
        del sys.modules[name]


def unusual(result: torch.Tensor, device: str) -> dict[str, Any] | None:
    """What keeps a result from being plain memory on the device."""
    if type(result) not in (torch.Tensor, torch.nn.Parameter):
        return {"subclass": f"{type(result).__module__}.{type(result).__qualname__}"}
    if result.layout != torch.strided or result.device.type != device:
        return {"unusual": f"returns a tensor of layout {result.layout} on {result.device}"}
    return None


def place(tensor: torch.Tensor) -> int:
    """The address of the storage."""
    return tensor.untyped_storage().data_ptr()


def read(tensors: Sequence[torch.Tensor]) -> tuple[list[dict[str, Any]], list[bytes]]:
    """Geometry and bytes of each tensor."""
    pairs = [read_one(torch.resolve_neg(torch.resolve_conj(tensor.detach()))) for tensor in tensors]
    return [geometry for geometry, _ in pairs], [content for _, content in pairs]


def read_one(tensor: torch.Tensor) -> tuple[dict[str, Any], bytes]:
    """Geometry and bytes of one tensor, on any device; without the gaps, if they are large."""
    if span(list(tensor.size()), list(tensor.stride())) > 4 * tensor.numel():
        tensor = tensor.contiguous()
    if tensor.device.type == "cpu":
        return to_raw(tensor)
    flat = tensor.as_strided([span(list(tensor.size()), list(tensor.stride()))], [1]).cpu()
    return geometry_of(tensor), to_raw(flat)[1]


def write(tensor: torch.Tensor, content: bytes) -> None:
    """Writes other contents into the memory of a tensor, without its knowledge."""
    if tensor.device.type == "cpu":
        ctypes.memmove(tensor.data_ptr(), content, len(content))
    else:
        tensor.copy_(from_raw(geometry_of(tensor), content))


def run(which: str, commands: int, answers: int) -> None:
    """Answers the judge's messages. Each answer repeats the number that came with its message."""
    described = json.loads(which)
    candidate = Candidate(SourceFile.from_json(described), described["device"])
    while True:
        try:
            head, blobs = receive(commands)
        except ChannelClosed:
            return
        contents: list[bytes] = []
        try:
            match head["do"]:
                case "load":
                    reply = candidate.load(head, blobs)
                case "call":
                    reply, contents = candidate.call(head, blobs)
                case "alter":
                    reply = {"state": candidate.take_over(loaded(blobs[0]))}
                case "reread":
                    reply = candidate.reread()
                case "lay out":
                    reply = candidate.lay_out(head, blobs)
                case "go":
                    reply = candidate.go(head)
                case "collect":
                    reply, contents = candidate.collect()
                case _:
                    arguments, _ = candidate.arguments(head, blobs)
                    reply = {"operators": operators_of(partial(candidate.called, *arguments))}
        except Exception as error:
            reply = {"raised": f"{type(error).__name__}: {error}"[:2000]}
        reply["nonce"] = head["nonce"]
        if head["do"] != "go":  # which takes longer than many kernels
            reply["addresses"] = addresses()
        send(answers, reply, contents)
