#include "tiny_classes.h"

#include <ATen/ops/full.h>
#include <torch/custom_class.h>

#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate::testing {
namespace {

using State = std::tuple<at::Tensor, int64_t, int64_t>;
template <class Value>
using Named = std::tuple<std::string, Value>;

struct Store : torch::CustomClassHolder {
  Store(const at::Tensor& first, int64_t limit) : value(first.clone()), limit(limit) {
    TORCH_CHECK(limit >= 0, "limit must not be negative, got ", limit);
  }
  int64_t put(const at::Tensor& x) {
    TORCH_CHECK(count < limit, "the store is full");
    value.copy_(x);
    return ++count;
  }
  at::Tensor get() { return value.clone(); }
  void clear() { count = 0; }

  State state() { return {value.clone(), limit, count}; }
  void set_state(const State& state) { std::tie(value, limit, count) = state; }
  std::tuple<Named<at::Tensor>, Named<int64_t>, Named<int64_t>> flatten() {
    return {{"value", value.clone()}, {"limit", limit}, {"count", count}};
  }

  at::Tensor value;
  int64_t limit;
  int64_t count = 0;
};

// Classes with mistakes in what their methods do.
struct Miscounts : Store {
  using Store::Store;
  int64_t put(const at::Tensor& x) { return std::min<int64_t>(Store::put(x), 2); }
};
struct KeepsArgument : Store {
  using Store::Store;
  int64_t put(const at::Tensor& x) {
    value = x;
    return Store::put(x);
  }
};
struct KeepsFirst : Store {
  KeepsFirst(const at::Tensor& first, int64_t limit) : Store(first, limit) { value = first; }
  int64_t put(const at::Tensor& x) {
    value = value.clone();
    return Store::put(x);
  }
};
struct ReturnsBuffer : Store {
  using Store::Store;
  at::Tensor get() { return value; }
};
struct WritesArgument : Store {
  using Store::Store;
  int64_t put(const at::Tensor& x) {
    const int64_t count = Store::put(x);
    x.neg_();
    return count;
  }
};
struct SharesCount : Store {
  SharesCount(const at::Tensor& first, int64_t limit) : Store(first, limit) { all = 0; }
  int64_t put(const at::Tensor& x) {
    count = all;
    return all = Store::put(x);
  }
  void clear() { all = 0; }
  static inline int64_t all = 0;
};
struct CountsOn : Store {
  CountsOn(const at::Tensor& first, int64_t limit) : Store(first, limit) { count = last; }
  int64_t put(const at::Tensor& x) { return last = Store::put(x); }
  static inline int64_t last = 0;
};
struct NeverFull : Store {
  using Store::Store;
  int64_t put(const at::Tensor& x) {
    ++limit;
    return Store::put(x);
  }
};
struct FullEarly : Store {
  using Store::Store;
  int64_t put(const at::Tensor& x) {
    TORCH_CHECK(count < limit - 1, "full before it is full");
    return Store::put(x);
  }
};
struct Rounds : Store {
  using Store::Store;
  at::Tensor get() { return value.mul(1 + 0x1p-23); }
};

// Classes with mistakes in pickling.
struct ForgetsCount : Store {
  using Store::Store;
  State state() { return {value.clone(), limit, 0}; }
};
struct ForgetsLimit : Store {
  using Store::Store;
  State state() { return {value.clone(), 100, count}; }
};
struct SharesPickled : Store {
  using Store::Store;
  State state() { return {value, limit, count}; }
};
struct PicklesLive : Store {
  using Store::Store;
  State state() { return {value, limit, count}; }
  void set_state(const State& state) {
    Store::set_state(state);
    value = value.clone();
  }
};
struct PickleClears : Store {
  using Store::Store;
  State state() {
    const State state = Store::state();
    clear();
    return state;
  }
};
struct CannotUnpickle : Store {
  using Store::Store;
  void set_state(const State&) { TORCH_CHECK(false, "version 2 of this state is unknown"); }
};

// Classes with mistakes in flattening.
struct FlattenRaises : Store {
  using Store::Store;
  std::tuple<Named<int64_t>> flatten() {
    TORCH_CHECK(count == 0, "not any more");
    return {{"limit", limit}};
  }
};
struct FlattensToList : Store {
  using Store::Store;
  std::vector<Named<int64_t>> flatten() { return {{"limit", limit}}; }
};
struct FlattensItsTurn : Store {
  using Store::Store;
  std::tuple<Named<at::Tensor>, Named<int64_t>> flatten() { return {{"value", value}, {"turn", ++turn}}; }
  int64_t turn = 0;
};
struct FlattensItsNumber : Store {
  FlattensItsNumber(const at::Tensor& first, int64_t limit) : Store(first, limit), number(++made) {}
  std::tuple<Named<int64_t>, Named<int64_t>> flatten() { return {{"number", number}, {"limit", limit}}; }
  static inline int64_t made = 0;
  int64_t number;
};
struct FlattenClears : Store {
  using Store::Store;
  std::tuple<Named<at::Tensor>, Named<int64_t>> flatten() {
    clear();
    return {{"value", value.clone()}, {"limit", limit}};
  }
};
struct OmitsCount : Store {
  using Store::Store;
  std::tuple<Named<int64_t>> flatten() { return {{"limit", limit}}; }
};
struct OmitsLimit : Store {
  using Store::Store;
  std::tuple<Named<at::Tensor>, Named<int64_t>> flatten() {
    return {{"value", value.clone()}, {"count", count}};
  }
};

template <class Class>
torch::class_<Class> define_bare(torch::Library& m, const std::string& name) {
  using Self = c10::intrusive_ptr<Class>;
  return m.class_<Class>(name)
      .def(torch::init<const at::Tensor&, int64_t>(), "", {torch::arg("first"), torch::arg("limit") = 100})
      .def("put", [](const Self& self, const at::Tensor& x) { return self->put(x); })
      .def("get", [](const Self& self) { return self->get(); })
      .def("clear", [](const Self& self) { self->clear(); });
}

template <class Class>
void define(torch::Library& m, const std::string& name) {
  using Self = c10::intrusive_ptr<Class>;
  define_bare<Class>(m, name)
      .def("__obj_flatten__", [](const Self& self) { return self->flatten(); })
      .def_pickle([](const Self& self) { return self->state(); },
                  [](State state) {
                    auto made = c10::make_intrusive<Class>(std::get<0>(state), 0);
                    made->set_state(state);
                    return made;
                  });
}

// A state that cannot be serialised.
struct Secret : torch::CustomClassHolder {};
struct PicklesAnObject : Store {
  using Store::Store;
};
struct Bare : Store {
  using Store::Store;
};

TORCH_LIBRARY_FRAGMENT(opgate_test, m) {
  define<Store>(m, "Store");
#define OPGATE_DEFINE(name) define<name>(m, #name)
  OPGATE_DEFINE(Miscounts);
  OPGATE_DEFINE(KeepsArgument);
  OPGATE_DEFINE(KeepsFirst);
  OPGATE_DEFINE(ReturnsBuffer);
  OPGATE_DEFINE(WritesArgument);
  OPGATE_DEFINE(SharesCount);
  OPGATE_DEFINE(CountsOn);
  OPGATE_DEFINE(NeverFull);
  OPGATE_DEFINE(FullEarly);
  OPGATE_DEFINE(Rounds);
  OPGATE_DEFINE(ForgetsCount);
  OPGATE_DEFINE(ForgetsLimit);
  OPGATE_DEFINE(SharesPickled);
  OPGATE_DEFINE(PicklesLive);
  OPGATE_DEFINE(PickleClears);
  OPGATE_DEFINE(CannotUnpickle);
  OPGATE_DEFINE(FlattenRaises);
  OPGATE_DEFINE(FlattensToList);
  OPGATE_DEFINE(FlattensItsTurn);
  OPGATE_DEFINE(FlattensItsNumber);
  OPGATE_DEFINE(FlattenClears);
  OPGATE_DEFINE(OmitsCount);
  OPGATE_DEFINE(OmitsLimit);
#undef OPGATE_DEFINE
  define_bare<Bare>(m, "Bare");
  m.class_<Secret>("Secret");
  define_bare<PicklesAnObject>(m, "PicklesAnObject")
      .def_pickle([](const c10::intrusive_ptr<PicklesAnObject>&) { return c10::make_intrusive<Secret>(); },
                  [](c10::intrusive_ptr<Secret>) {
                    return c10::make_intrusive<PicklesAnObject>(at::full({3}, 0.5), 100);
                  });
}

}  // namespace

Spec store_spec(const std::string& name, const std::vector<int64_t>& limits,
                const std::function<void(ClassSpecWriter&)>& more) {
  std::vector<Spec> specs(1);
  specs[0].name = "opgate_test::" + name;
  specs[0].where = "store_spec";
  ClassSpecWriter writer(specs[0]);
  writer.dtypes(c10::kCPU, {c10::kFloat, c10::kHalf}).model<StoreModel(const at::Tensor&, int64_t)>();
  for (const int64_t limit : limits) writer.construct({uniform({3}), limit});
  writer.method("put", &StoreModel::put).with({uniform({3})});
  writer.method("get", &StoreModel::get);
  writer.method("clear", &StoreModel::clear);
  more(writer);
  fit_to_schema(specs[0]);
  name_subjects(specs);
  return specs[0];
}

}  // namespace opgate::testing
