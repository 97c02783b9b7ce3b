// The part of a script that tests `call` (a function) on `tensors` (its arguments), for checks where that
// part is the same for every operator.
#pragma once

#include <string_view>

namespace opgate {

/// Returns Python statements that show a broken promise of this check, by an AssertionError or by what they
/// print. For a check that plain torch cannot repeat, the statements print the result of the call.
constexpr std::string_view script_question(std::string_view check) {
  if (check == "value.layout") {
    return "dense = [tensor.clone(memory_format=torch.contiguous_format) for tensor in tensors]\n"
           "torch.testing.assert_close(call(*tensors), call(*dense), equal_nan=True)\n";
  }
  if (check == "compile.equal") {
    return "from copy import deepcopy\n"
           "\n"
           "for dynamic in (False, True):  # gradients, which the check compares as well, are left out\n"
           "    once, again = deepcopy(tensors), deepcopy(tensors)\n"
           "    compiled = torch.compile(call, fullgraph=True, dynamic=dynamic)\n"
           "    torch.testing.assert_close(compiled(*again), call(*once), equal_nan=True, "
           "check_stride=True)\n";
  }
  if (check == "run.deterministic") {
    return "from copy import deepcopy\n"
           "\n"
           "again = deepcopy(tensors)\n"
           "torch.testing.assert_close(call(*again), call(*tensors), rtol=0, atol=0, equal_nan=True)\n";
  }
  if (check == "error.raises") {
    return "try:\n"
           "    returned = call(*tensors)\n"
           "except Exception as error:\n"
           "    print(\"refused:\", error)\n"
           "else:\n"
           "    print(\"accepted:\", returned)\n";
  }
  if (check == "fake.metadata") {
    return "from torch._subclasses.fake_tensor import FakeTensorMode\n"
           "\n"
           "\n"
           "def metadata(returned):\n"
           "    returned = returned if isinstance(returned, (list, tuple)) else [returned]\n"
           "    return [\n"
           "        (tensor.dtype, tuple(tensor.shape), tensor.storage_offset(), strides(tensor))\n"
           "        for tensor in returned\n"
           "        if isinstance(tensor, torch.Tensor)\n"
           "    ]\n"
           "\n"
           "\n"
           "def strides(tensor):  # of the dims whose stride has a meaning\n"
           "    sizes = zip(tensor.shape, tensor.stride())\n"
           "    return [stride for size, stride in sizes if size > 1 and tensor.numel() > 0]\n"
           "\n"
           "\n"
           "with FakeTensorMode() as mode:\n"
           "    fake = metadata(call(*[mode.from_tensor(tensor) for tensor in tensors]))\n"
           "real = metadata(call(*tensors))\n"
           "assert fake == real, f\"fake kernel: {fake}, kernel: {real}\"\n";
  }
  if (check == "grad.numeric" || check == "grad.reference") {
    return "import warnings\n"
           "\n"
           "tensors = [tensor.detach().requires_grad_(tensor.is_floating_point()) for tensor in tensors]\n"
           "steps = {}\n"
           "if any(tensor.dtype == torch.float32 for tensor in tensors):\n"
           "    warnings.filterwarnings(\"ignore\", \".*double precision.*\")\n"
           "    steps = {\"eps\": 1e-3, \"atol\": 1e-2, \"rtol\": 5e-2}\n"
           "torch.autograd.gradcheck(call, tensors, **steps)\n";
  }
  if (check == "grad.layout") {
    return "def gradients(inputs=None, output=None, laid_out=lambda dense: dense):\n"
           "    leaves = [tensor.detach().clone() for tensor in tensors]\n"
           "    wanted = [\n"
           "        leaf.requires_grad_()\n"
           "        for number, leaf in enumerate(leaves)\n"
           "        if leaf.is_floating_point() and (inputs is None or number in inputs)\n"
           "    ]\n"
           "    returned = call(*leaves)\n"
           "    returned = returned if isinstance(returned, (list, tuple)) else [returned]\n"
           "    torch.manual_seed(0)\n"
           "    random = [torch.rand_like(result, memory_format=torch.contiguous_format) for result in "
           "returned]\n"
           "    given = [\n"
           "        (result, laid_out(values))\n"
           "        for number, (result, values) in enumerate(zip(returned, random))\n"
           "        if result.requires_grad and (output is None or number == output)\n"
           "    ]\n"
           "    results, cotangents = zip(*given)\n"
           "    return torch.autograd.grad(results, wanted, cotangents, allow_unused=True, "
           "materialize_grads=True)\n"
           "\n"
           "\n"
           "layouts = [\n"
           "    lambda dense: dense.mT.contiguous().mT if dense.dim() > 1 else dense,\n"
           "    lambda dense: torch.stack([dense, dense], -1)[..., 0],\n"
           "    lambda dense: dense.flatten()[0].expand(dense.shape) if dense.numel() else dense,\n"
           "]\n"
           "for layout in layouts:  # of incoming gradients\n"
           "    dense = gradients(laid_out=lambda values: layout(values).contiguous())\n"
           "    torch.testing.assert_close(gradients(laid_out=layout), dense, equal_nan=True)\n"
           "whole = gradients()\n"
           "numbers = [number for number, tensor in enumerate(tensors) if tensor.is_floating_point()]\n"
           "for number, gradient in zip(numbers, whole):  # for one input alone\n"
           "    torch.testing.assert_close(gradients(inputs=[number])[0], gradient, equal_nan=True)\n"
           "returned = call(*tensors)\n"
           "if isinstance(returned, (list, tuple)):  # for one output at a time, added up\n"
           "    parts = [gradients(output=number) for number in range(len(returned))]\n"
           "    added = [sum(of_input) for of_input in zip(*parts)]\n"
           "    torch.testing.assert_close(added, list(whole), equal_nan=True)\n";
  }
  return "# No script without OpGate can test this promise. The script prints what the call returns.\n"
         "print(call(*tensors))\n";
}

}  // namespace opgate
