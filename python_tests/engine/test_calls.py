"""Calls as Python makes them: keyword-only arguments by keyword, and the calls of an exported graph."""

from __future__ import annotations

import torch
from opgate.calls.call import OpModule, keyword_names, split_keywords
from opgate.checks.export_graph import graph_calls


def test_arguments_after_the_star_go_by_keyword() -> None:
    bucketize = torch.ops.aten.bucketize.Tensor
    x, edges = torch.tensor([1.0]), torch.tensor([0.0, 1.0])
    names = keyword_names(bucketize)
    assert split_keywords([x, edges, False, True], names) == ((x, edges), {"out_int32": False, "right": True})
    assert split_keywords([x, edges], names) == ((x, edges), {})
    module = OpModule(bucketize, [None, None, False, True], [(0, None), (1, None)])
    assert module(x, edges).tolist() == [2]


def test_picking_one_of_several_results_is_no_call() -> None:
    module = OpModule(torch.ops.aten.sort.default, [None], [(0, None)])
    program = torch.export.export(module, (torch.tensor([2.0, 1.0]),))
    assert graph_calls(program) == ["aten.sort.default"]
