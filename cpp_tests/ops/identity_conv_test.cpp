// identity_conv and IdentityConv called from C++, as in a program without Python: by name, through the
// dispatcher and the class registry.
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/custom_class.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using c10::IValue;

at::Tensor identity_conv(const at::Tensor& x) {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow("opgate_ops::identity_conv", "")
      .typed<at::Tensor(const at::Tensor&)>()
      .call(x);
}

// A tensor whose bytes count up, so that all its elements differ and a misplaced element is found.
at::Tensor counted(at::IntArrayRef sizes, at::ScalarType dtype) {
  at::Tensor x = at::empty(sizes, dtype);
  auto* bytes = static_cast<uint8_t*>(x.mutable_data_ptr());
  std::iota(bytes, bytes + x.nbytes(), uint8_t{1});
  return x;
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor left = a.contiguous();
  const at::Tensor right = b.contiguous();
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() &&
         std::memcmp(left.const_data_ptr(), right.const_data_ptr(), left.nbytes()) == 0;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "nothing was raised";
}

class IdentityConvOp : public testing::TestWithParam<at::ScalarType> {};

TEST_P(IdentityConvOp, KeepsTheBitsOfEveryLayout) {
  const at::Tensor x = counted({4, 6, 10}, GetParam());
  const std::vector<std::pair<std::string, at::Tensor>> layouts = {
      {"contiguous", x},
      {"transposed", x.transpose(0, 2)},
      {"stepped", x.slice(0, 0, 4, 2).slice(2, 0, 10, 3)},
      {"row sliced", x.slice(1, 1, 4)},
      {"offset by one element", x.flatten().slice(0, 1)},
      {"expanded", x.slice(2, 0, 1).expand({4, 6, 10})},
      {"overlapping", x.as_strided({5, 7}, {1, 1}, 3)},
      {"no dimensions", x.select(0, 1).select(0, 1).select(0, 1)},
      {"no elements", x.slice(1, 3, 3)},
  };
  for (const auto& [name, view] : layouts) {
    SCOPED_TRACE(name);
    const at::Tensor out = identity_conv(view);
    EXPECT_TRUE(same_bits(out, view));
    EXPECT_EQ(out.strides(), at::empty_like(view).strides());
    EXPECT_EQ(out.storage_offset(), 0);
  }
}

TEST_P(IdentityConvOp, KeepsTheBitsWhenThreadsShareTheCopy) {
  const at::Tensor x = counted({3, 251, 353}, GetParam());
  EXPECT_TRUE(same_bits(identity_conv(x), x));
  const at::Tensor turned = x.permute({1, 2, 0}).slice(1, 1, 353, 2);
  EXPECT_TRUE(same_bits(identity_conv(turned), turned));
}

INSTANTIATE_TEST_SUITE_P(EveryDtype, IdentityConvOp,
                         testing::Values(at::kHalf, at::kBFloat16, at::kFloat, at::kDouble),
                         [](const auto& info) { return c10::toString(info.param); });

TEST(IdentityConvOpErrors, NameTheDtypeOnEveryDevice) {
  for (const at::Device device : {at::Device(at::kCPU), at::Device(at::kMeta)}) {
    const at::Tensor x = at::empty({2}, at::TensorOptions(device).dtype(at::kInt));
    EXPECT_EQ(message_of([&] { identity_conv(x); }),
              "identity_conv: x must be Half, BFloat16, Float or Double, got Int");
  }
}

// Gets the TorchBind class as a loader of an exported program gets it.
class IdentityConvClass : public testing::Test {
 protected:
  IValue make(int64_t channels) {
    auto object = c10::ivalue::Object::create(c10::StrongTypePtr(nullptr, type_), 1);
    type_->getMethod("__init__")({object, channels});
    return object;
  }
  IValue call(const IValue& object, const std::string& method, std::vector<IValue> arguments = {}) {
    arguments.insert(arguments.begin(), object);
    return type_->getMethod(method)(std::move(arguments));
  }

  c10::ClassTypePtr type_ = torch::getCustomClass("__torch__.torch.classes.opgate_ops.IdentityConv");
};

TEST_F(IdentityConvClass, GivesTheBitsBack) {
  const IValue layer = make(3);
  EXPECT_EQ(call(layer, "get_channels").toInt(), 3);
  for (const auto& sizes : {std::vector<int64_t>{3, 5, 7}, std::vector<int64_t>{2, 3, 5, 7}}) {
    const at::Tensor x = counted(sizes, at::kFloat);
    EXPECT_TRUE(same_bits(call(layer, "forward", {x}).toTensor(), x));
  }
}

TEST_F(IdentityConvClass, RefusesWhatItCannotTake) {
  EXPECT_EQ(message_of([&] { make(0); }), "IdentityConv: channels must be at least 1, got 0");
  const IValue layer = make(3);
  EXPECT_EQ(message_of([&] {
              call(layer, "forward", {counted({3, 5}, at::kFloat)});
            }),
            "IdentityConv.forward: x must be [C, H, W] or [N, C, H, W], got 2 dimensions");
  EXPECT_EQ(message_of([&] {
              call(layer, "forward", {counted({3, 4, 5, 6}, at::kFloat)});
            }),
            "IdentityConv.forward: x must have 3 channels in dimension 1, got 4");
}

TEST_F(IdentityConvClass, FlattensToItsConstructorArguments) {
  const auto flattened = call(make(5), "__obj_flatten__").toTuple();
  ASSERT_EQ(flattened->elements().size(), 1);
  const auto pair = flattened->elements()[0].toTuple();
  EXPECT_EQ(pair->elements()[0].toStringRef(), "channels");
  EXPECT_EQ(pair->elements()[1].toInt(), 5);
}

TEST_F(IdentityConvClass, SurvivesPickling) {
  const std::vector<char> bytes = torch::jit::pickle_save(make(5));
  const IValue loaded = torch::jit::pickle_load_obj(std::string_view(bytes.data(), bytes.size()));
  EXPECT_EQ(call(loaded, "get_channels").toInt(), 5);
}

}  // namespace
