"""opgate.onnx: an unusable form, or an environment without ONNX, is not reported as the operator's fault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import opgate as opgate_package
import pytest
from harness import OpGate, read_results

MODULE = """
import os
import sys

import opgate
import torch

FORMS = {
    "no_module": "no_such_module:TABLE",
    "no_table": "onnx_tables:NO_SUCH_TABLE",
    "not_in_it": "onnx_tables:EMPTY",
    "raises": "onnx_raises:TABLE",
}
if "HIDDEN" in os.environ:
    sys.modules["onnxscript"] = None

for name, form in FORMS.items():
    @torch.library.custom_op(f"onnx_forms::{name}", mutates_args=())
    def operator(x: torch.Tensor) -> torch.Tensor:
        return x.clone(memory_format=torch.contiguous_format)

    operator.register_fake(lambda x: torch.empty_like(x, memory_format=torch.contiguous_format))
    opgate.onnx(form, operators=[f"onnx_forms::{name}"], standard=True)

    @opgate.spec(f"onnx_forms::{name}")
    def promise(spec: opgate.OpSpec) -> None:
        spec.dtypes(torch.float32, device="cpu").reference("aten::clone").accuracy(opgate.exact())
        spec.sample(opgate.uniform(4, 6))
"""


@pytest.fixture
def project(new_project: Callable[..., Path]) -> Path:
    folder = new_project(python=["onnx_specs"], python_path=["."])
    (folder / "onnx_specs.py").write_text(MODULE)
    (folder / "onnx_tables.py").write_text("EMPTY = {}\n")
    (folder / "onnx_raises.py").write_text("import no_onnxscript_here\n")
    return folder


def test_a_form_that_cannot_be_taken_is_the_project_s_fault(opgate: OpGate, project: Path) -> None:
    result = opgate("run", "--check", "onnx.runs", folder=project)
    assert result.returncode == 2, result
    cases = read_results(project / ".opgate").cases
    assert {line["verdict"] for line in cases.values()} == {"invalid"}
    reasons = {case.split("/")[0]: line["reason"] for case, line in cases.items()}
    assert (
        "no_such_module:TABLE cannot be taken: ModuleNotFoundError: No module named 'no_such_module'"
        in reasons["no_module"]
    )
    assert "NO_SUCH_TABLE" in reasons["no_table"]
    assert "onnx_tables:EMPTY has nothing for onnx_forms::not_in_it" in reasons["not_in_it"]
    assert "No module named 'no_onnxscript_here'" in reasons["raises"]


def test_without_the_packages_it_is_owed_and_says_how_to_get_them(opgate: OpGate, project: Path) -> None:
    result = opgate("run", "--check", "onnx.runs", folder=project, environment={"HIDDEN": "1"})
    assert result.returncode == 0, result
    assert "not checked: onnx.runs (Python packages not installed: pip install onnxscript)" in result.stdout
    for line in read_results(project / ".opgate").cases.values():
        assert line["verdict"] == "owed"
        assert "not installed: pip install onnxscript" in line["reason"]


@pytest.mark.parametrize(("form", "operators"), [("TABLE", ["a::b"]), ("m:", ["a::b"]), ("m:TABLE", None)])
def test_a_form_is_named_by_module_and_name_and_with_its_operators(
    form: str, operators: list[str] | None
) -> None:
    with pytest.raises(ValueError, match='a table that is named is "module:NAME"'):
        opgate_package.onnx(form, operators=operators, standard=True)
