// What identity_conv and IdentityConv promise.
#include <ATen/ops/clone.h>
#include <opgate/class_spec.h>

using namespace opgate;

OPGATE_SPEC("opgate_ops::identity_conv", spec) {
  spec.dtypes(floating());
  spec.reference([](const at::Tensor& x) { return x.clone(); });
  spec.accuracy(exact());
  spec.promises({clear_errors, fake_refuses, deterministic, thread_invariant, batch_invariant, capturable});
  for (const Shape& shape : {Shape{7}, {4, 8}, {2, 3, 257}, {1, 3, 16, 16}, {2, 3, 4, 5, 6}})
    spec.sample({uniform(shape)});
  for (const Shape& shape : {Shape{64}, {256, 1024}, {4096, 1024}})
    spec.bench({uniform(shape)}).forward(0.95);
  spec.bench({uniform({2, 256, 64, 64})}).named("half").dtype(at::kHalf).forward(0.95);
}

// The class must return a copy of its input, and refuse an input with another number of channels.
struct Channels {
  explicit Channels(int64_t channels) : channels(channels) {}
  at::Tensor forward(const at::Tensor& x) {
    TORCH_CHECK(x.size(-3) == channels, "another number of channels");
    return x.clone();
  }
  int64_t channels;
};

OPGATE_CLASS_SPEC("opgate_ops::IdentityConv", spec) {
  spec.dtypes(floating());
  spec.model<Channels(int64_t)>();
  spec.construct({3}).construct({1});
  spec.method("forward", &Channels::forward).with({uniform({2, 3, 4, 5})}).with({uniform({1, 7, 6})});
  spec.method("get_channels", [](Channels& layer) { return layer.channels; });
}
