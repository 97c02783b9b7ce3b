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
  if (check == "grad.numeric") {
    return "tensors = [tensor.detach().requires_grad_(tensor.is_floating_point()) for tensor in tensors]\n"
           "torch.autograd.gradcheck(call, tensors)\n";
  }
  return "print(call(*tensors))\n";
}

}  // namespace opgate
