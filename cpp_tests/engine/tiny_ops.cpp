// Operators of a few lines, each with one planted defect; checks_test.cpp says which check must find it.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mean.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

namespace {

bool is_floating(const at::Tensor& x) {
  const at::ScalarType dtype = x.scalar_type();
  return dtype == at::kHalf || dtype == at::kBFloat16 || dtype == at::kFloat || dtype == at::kDouble;
}

// What each of the operators should do.
at::Tensor doubled(const at::Tensor& x) {
  TORCH_CHECK(is_floating(x), "x must be floating, got ", x.scalar_type());
  return at::empty_like(x).copy_(x).mul_(2);
}

at::Tensor doubled_meta(const at::Tensor& x) {
  TORCH_CHECK(is_floating(x), "x must be floating, got ", x.scalar_type());
  return at::empty_like(x);
}

at::Tensor takes_any_dtype(const at::Tensor& x) { return at::empty_like(x).copy_(x); }

at::Tensor refuses_half(const at::Tensor& x) {
  TORCH_CHECK(x.scalar_type() != at::kHalf, "x must not be Half");
  return doubled(x);
}

at::Tensor names_no_dtype(const at::Tensor& x) {
  TORCH_CHECK(is_floating(x), "this input is not supported");
  return doubled(x);
}

at::Tensor names_a_number(const at::Tensor& x) {
  TORCH_CHECK(is_floating(x), "Not yet supported ScalarType ", static_cast<int>(x.scalar_type()));
  return doubled(x);
}

at::Tensor mentions_a_point(const at::Tensor& x) {
  TORCH_CHECK(is_floating(x), "x must be floating point");
  return doubled(x);
}

at::Tensor returns_other_dtype(const at::Tensor& x) { return doubled(x).to(at::kInt); }

at::Tensor wrong_in_one_place(const at::Tensor& x) {
  at::Tensor out = doubled(x);
  if (out.numel() > 5) out.flatten()[5].add_(1);  // out is dense: flatten() is a view of it
  return out;
}

at::Tensor ignores_strides(const at::Tensor& x) {
  const at::Tensor dense =
      x.storage().nbytes() < x.nbytes() ? x : x.as_strided(x.sizes(), at::empty(x.sizes()).strides());
  return at::empty(x.sizes(), x.options()).copy_(dense).mul_(2);
}

at::Tensor mean_in_double(const at::Tensor& x) {
  TORCH_CHECK(is_floating(x), "x must be floating, got ", x.scalar_type());
  return at::mean(x).to(at::kDouble);
}

at::Tensor flattened(const at::Tensor& x) { return x.view({-1}).clone(); }

at::Tensor ignores_offset(const at::Tensor& x) { return doubled(x.as_strided(x.sizes(), x.strides(), 0)); }

at::Tensor refuses_empty(const at::Tensor& x) {
  TORCH_CHECK(x.numel() > 0, "x must not be empty");
  return doubled(x);
}

// As a sum by atomic additions on a GPU: each call may round otherwise. The first calls do so in the way that
// looks most like a result that depends on what memory held.
at::Tensor twice_in_some_order(const at::Tensor& x) {
  constexpr std::string_view kCalls = "ABABBABAABBA";
  static std::atomic<size_t> calls{0};
  return x.mul(kCalls[calls++ % kCalls.size()] == 'A' ? 2 : 2 + 0x1p-22);
}

at::Tensor half_written(const at::Tensor& x) {
  at::Tensor out = at::empty_like(x);
  if (x.dim() > 0 && x.size(0) > 1) out.narrow(0, 0, x.size(0) / 2).zero_();
  return out;
}

// A list of two unwritten tensors, and the result.
std::tuple<std::vector<at::Tensor>, at::Tensor> with_scratch(const at::Tensor& x) {
  return {{at::empty_like(x), at::empty_like(x)}, doubled(x)};
}

// The first result is scratch memory with a row for each of x, whose contents depend on how many there are.
std::tuple<at::Tensor, at::Tensor> with_rows_of_scratch(const at::Tensor& x) {
  return {at::empty_like(x).fill_(x.dim() > 0 ? x.size(0) : 0), doubled(x)};
}

// The second result is no tensor, as a mask that was not asked for.
std::tuple<at::Tensor, at::Tensor> with_no_second(const at::Tensor& x) { return {doubled(x), at::Tensor()}; }

std::tuple<at::Tensor, at::Tensor> with_no_second_meta(const at::Tensor& x) {
  return {doubled_meta(x), at::Tensor()};
}

at::Tensor returns_meta(const at::Tensor& x) {
  TORCH_CHECK(is_floating(x), "x must be floating, got ", x.scalar_type());
  return at::empty(x.sizes(), x.options().device(at::kMeta));
}

at::Tensor wants_contiguous(const at::Tensor& x) {
  TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
  return doubled(x);
}

// Writes the element after the last one of each row, if the layout leaves a gap there.
at::Tensor writes_in_a_gap(const at::Tensor& x) {
  at::Tensor out = doubled(x);
  const int64_t width = x.dim() == 2 ? x.size(1) : 0;
  if (width > 0 && x.size(0) > 0 && x.stride(1) == 1 && x.stride(0) > width) {
    x.as_strided({x.size(0)}, {x.stride(0)}, x.storage_offset() + width).fill_(1);
  }
  return out;
}

at::Tensor writes_its_input(const at::Tensor& x) {
  at::Tensor out = doubled(x);
  if (x.numel() > 1) x.flatten()[1].fill_(3);
  return out;
}

at::Tensor returns_input(const at::Tensor& x) { return x.contiguous(); }

std::vector<at::Tensor> returns_input_in_list(const at::Tensor& x) { return {x}; }

std::tuple<at::Tensor, at::Tensor> shares_a_workspace(const at::Tensor& x) {
  const at::Tensor out = doubled(x);
  return {out, out.view(out.sizes())};
}

// An Autograd kernel that forgets what the kernel below it does.
at::Tensor returns_input_for_gradients(const at::Tensor& x) {
  return x.requires_grad() ? x : at::empty_like(x).copy_(x);
}

at::Tensor makes_no_view(const at::Tensor& x) { return x.clone(); }

void double_in_place(at::Tensor& x) { x.mul_(2); }

// For strided input, contiguous() makes a copy, and the result is not copied back.
void loses_write_back(at::Tensor& x) { x.contiguous().mul_(2); }

void in_place_meta(at::Tensor&) {}

void writes_past_the_view(at::Tensor& x) {
  x.mul_(2);
  if (x.stride(-1) == 2) x.as_strided(x.sizes(), x.strides(), x.storage_offset() + 1).fill_(0);
}

// This one is correct: it loads whole vectors of four, the last one beyond the end of the row, and uses
// only the row.
at::Tensor loads_gaps(const at::Tensor& x) {
  TORCH_CHECK(is_floating(x), "x must be floating, got ", x.scalar_type());
  at::Tensor out = at::empty(x.sizes(), x.options());
  if (x.dim() != 2 || x.scalar_type() != at::kFloat || x.stride(1) != 1 || x.stride(0) < x.size(1) + 2)
    return out.copy_(x).mul_(2);
  for (int64_t row = 0; row < x.size(0); ++row) {
    const float* const from = x.const_data_ptr<float>() + row * x.stride(0);
    float* const to = out.mutable_data_ptr<float>() + row * x.size(1);
    for (int64_t i = 0; i < x.size(1); i += 4) {
      volatile float lanes[4];
      for (int64_t lane = 0; lane < 4 && row * x.stride(0) + i + lane < x.stride(0) * x.size(0) - 3; ++lane)
        lanes[lane] = from[i + lane];
      for (int64_t lane = 0; lane < 4 && i + lane < x.size(1); ++lane) to[i + lane] = 2 * lanes[lane];
    }
  }
  return out;
}

at::Tensor throws_a_number(const at::Tensor&) { throw 42; }

at::Tensor refuses_all(const at::Tensor&) { TORCH_CHECK(false, "not today"); }

at::Tensor dense_meta(const at::Tensor& x) { return at::empty(x.sizes(), x.options()); }

// Twice the mean: the correct one of x, and the other one of the first tensor of that size that it was
// given.
at::Tensor twice_the_mean(const at::Tensor& x) { return x.mean().mul(2); }

at::Tensor mean_of_the_first(const at::Tensor& x) {
  static std::map<int64_t, at::Tensor>& means = *new std::map<int64_t, at::Tensor>();
  return means.try_emplace(x.numel(), twice_the_mean(x)).first->second.clone();
}

// The scratch memory is locked for each access, but another call can change it between two accesses.
at::Tensor shares_scratch(const at::Tensor& x) {
  static std::mutex mutex;
  static at::Tensor& scratch = *new at::Tensor();
  {
    const std::lock_guard lock(mutex);
    scratch = doubled(x);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const std::lock_guard lock(mutex);
  return scratch.clone();
}

at::Tensor keeps_its_input(const at::Tensor& x) {
  static at::Tensor& kept = *new at::Tensor();
  kept = x;
  return doubled(x);
}

at::Tensor keeps_a_view(const at::Tensor& x) {
  static at::Tensor& kept = *new at::Tensor();
  kept = x.select(0, 0);
  return doubled(x);
}

at::Tensor double_meta(const at::Tensor& x) { return at::empty_like(x, x.options().dtype(at::kDouble)); }

}  // namespace

// Selects the row whose number is a floating value, as pooling operators select the image of a region.
at::Tensor row_named(const at::Tensor& x, const at::Tensor& row) {
  const at::Tensor whole = row.round();
  TORCH_CHECK(whole.equal(row), "row must be whole, got ", row);
  return x.index_select(0, whole.to(at::kLong));
}

// Keeps the mean beside its result, which autograd differentiates.
at::Tensor centred(const at::Tensor& x, at::Tensor& running) {
  TORCH_CHECK(x.dim() == 2 && running.dim() == 1 && running.size(0) == x.size(1) && x.size(0) > 0 &&
                  running.scalar_type() == x.scalar_type(),
              "running must have a value for each column of x");
  const at::Tensor mean = x.mean(0);
  running.detach().copy_(mean.detach());
  return x - mean;
}

TORCH_LIBRARY(opgate_test, m) {
  m.def("centred(Tensor x, Tensor(a!) running) -> Tensor", &centred);
  m.def("row_named(Tensor x, Tensor row) -> Tensor", &row_named);
  for (const char* name : {"doubled",          "takes_any_dtype", "refuses_half",        "names_no_dtype",
                           "mentions_a_point", "names_a_number",  "returns_other_dtype", "wrong_in_one_place",
                           "ignores_strides",  "ignores_offset",  "wants_contiguous",    "writes_in_a_gap",
                           "writes_its_input", "returns_input",   "throws_a_number",     "refuses_all",
                           "has_no_meta",      "has_dense_meta",  "has_double_meta",     "loads_gaps"}) {
    m.def((std::string(name) + "(Tensor x) -> Tensor").c_str());
  }
  m.def("mean_in_double(Tensor x) -> Tensor", &mean_in_double);
  m.def("flattened(Tensor x) -> Tensor", &flattened);
  m.def("twice_in_some_order(Tensor x) -> Tensor", &twice_in_some_order);
  m.def("half_written(Tensor x) -> Tensor", &half_written);
  m.def("refuses_empty(Tensor x) -> Tensor", &refuses_empty);
  m.def("with_scratch(Tensor x) -> (Tensor[], Tensor)", &with_scratch);
  m.def("with_rows_of_scratch(Tensor x) -> (Tensor, Tensor)", &with_rows_of_scratch);
  m.def("with_no_second(Tensor x) -> (Tensor, Tensor)");
  m.def("returns_meta(Tensor x) -> Tensor", &returns_meta);
  m.def("returns_input_in_list(Tensor x) -> Tensor[]", &returns_input_in_list);
  m.def("shares_scratch(Tensor x) -> Tensor", &shares_scratch);
  m.def("keeps_its_input(Tensor x) -> Tensor", &keeps_its_input);
  m.def("keeps_a_view(Tensor x) -> Tensor", &keeps_a_view);
  m.def("twice_the_mean(Tensor x) -> Tensor", &twice_the_mean);
  m.def("mean_of_the_first(Tensor x) -> Tensor", &mean_of_the_first);
  m.def("shares_a_workspace(Tensor x) -> (Tensor, Tensor)", &shares_a_workspace);
  m.def("returns_input_for_gradients(Tensor x) -> Tensor");
  m.def("makes_no_view(Tensor(a) x) -> Tensor(a)", &makes_no_view);
  m.def("double_in_place(Tensor(a!) x) -> ()");
  m.def("loses_write_back(Tensor(a!) x) -> ()");
  m.def("writes_past_the_view(Tensor(a!) x) -> ()");
  m.def(
      "sized(Tensor x, SymInt n, SymInt[] sizes, float scale=0.5, Tensor? bias=None, Scalar s=1) -> Tensor");
}

TORCH_LIBRARY_IMPL(opgate_test, CPU, m) {
  for (const char* name : {"doubled", "has_no_meta", "has_dense_meta", "has_double_meta"})
    m.impl(name, &doubled);
  m.impl("with_no_second", &with_no_second);
  m.impl("takes_any_dtype", &takes_any_dtype);
  m.impl("refuses_half", &refuses_half);
  m.impl("names_no_dtype", &names_no_dtype);
  m.impl("mentions_a_point", &mentions_a_point);
  m.impl("names_a_number", &names_a_number);
  m.impl("returns_other_dtype", &returns_other_dtype);
  m.impl("wrong_in_one_place", &wrong_in_one_place);
  m.impl("ignores_strides", &ignores_strides);
  m.impl("ignores_offset", &ignores_offset);
  m.impl("wants_contiguous", &wants_contiguous);

  m.impl("loads_gaps", &loads_gaps);
  m.impl("writes_in_a_gap", &writes_in_a_gap);
  m.impl("writes_its_input", &writes_its_input);
  m.impl("returns_input", &returns_input);
  m.impl("double_in_place", &double_in_place);
  m.impl("loses_write_back", &loses_write_back);
  m.impl("writes_past_the_view", &writes_past_the_view);
  m.impl("throws_a_number", &throws_a_number);
  m.impl("refuses_all", &refuses_all);
}

TORCH_LIBRARY_IMPL(opgate_test, Autograd, m) {
  m.impl("returns_input_for_gradients", &returns_input_for_gradients);
}

TORCH_LIBRARY_IMPL(opgate_test, Meta, m) {
  for (const char* name : {"doubled", "wants_contiguous"}) m.impl(name, &doubled_meta);
  m.impl("loads_gaps", &dense_meta);
  m.impl("with_no_second", &with_no_second_meta);
  m.impl("double_in_place", &in_place_meta);
  m.impl("has_dense_meta", &dense_meta);
  m.impl("has_double_meta", &double_meta);
  m.impl("refuses_all", &refuses_all);
}
