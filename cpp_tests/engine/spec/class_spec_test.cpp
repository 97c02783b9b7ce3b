// What a class's spec can say, and the messages for wrong specs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/class_promises.h"
#include "spec/spec.h"
#include "spec/specs.h"
#include "support.h"
#include "tiny_classes.h"

namespace opgate::class_spec_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::message_of;
using testing::store_spec;
using testing::StoreModel;
using Write = std::function<void(ClassSpecWriter&)>;

// The message for a spec of opgate_test::Store, or of another class.
std::string refusal(const Write& write, const std::string& name = "opgate_test::Store") {
  return message_of<SpecError>([&] {
    Spec spec;
    spec.name = name;
    spec.where = "my_spec.cpp:7";
    ClassSpecWriter writer(spec);
    write(writer);
    fit_to_schema(spec);
  });
}

// The message for a complete spec with something added.
std::string refusal_of_more(const Write& more) {
  return message_of<SpecError>([&] { store_spec("Store", {100}, more); });
}

void write_whole(ClassSpecWriter& spec) {
  spec.model<StoreModel(const at::Tensor&, int64_t)>().construct({uniform({3}), 5});
  spec.method("get", &StoreModel::get);
}

struct Other {
  int64_t get() { return 0; }
};

TEST(ClassSpec, FillsDefaultsAndNamesWhatIsMadeOfNothing) {
  const Spec spec = store_spec("Store", {}, [](ClassSpecWriter& s) { s.construct({uniform({3})}); });
  ASSERT_EQ(spec.samples.at(0).arguments.size(), 2u);
  EXPECT_EQ(spec.samples[0].arguments[1].other()->toInt(), 100);
  EXPECT_EQ(spec.samples[0].name, "3");
  EXPECT_EQ(spec.id, "Store");
  EXPECT_TRUE(spec.accuracy->exact);
  Spec nullary;
  ClassSpecWriter(nullary).construct({});
  EXPECT_EQ(nullary.samples.at(0).name, "default");
}

TEST(ClassSpec, CallsAMethodWithoutArgumentsWhereItIsGivenNone) {
  const Spec spec = store_spec("Store");
  const auto& methods = spec.torch_class->methods;
  ASSERT_EQ(methods.size(), 3u);
  EXPECT_EQ(methods[0].calls.size(), 1u);
  EXPECT_EQ(methods[1].name, "get");
  ASSERT_EQ(methods[1].calls.size(), 1u);
  EXPECT_TRUE(methods[1].calls[0].arguments.empty());
}

TEST(ClassSpec, IsRefusedForAClassThatIsNotThere) {
  for (const char* name : {"opgate_test::Stor", "Store", "opgate_test::doubled"}) {
    EXPECT_THAT(refusal(&write_whole, name),
                AllOf(HasSubstr("my_spec.cpp:7"), HasSubstr("no loaded library registers the class"),
                      HasSubstr(name), HasSubstr("libraries")));
  }
}

TEST(ClassSpec, IsRefusedWithoutConstructorArgumentsModelOrMethod) {
  EXPECT_THAT(refusal([](ClassSpecWriter&) {}), HasSubstr("names no constructor arguments"));
  EXPECT_THAT(refusal([](ClassSpecWriter& s) { s.construct({}); }), HasSubstr("names no model"));
  EXPECT_THAT(refusal([](ClassSpecWriter& s) {
                s.model<StoreModel(const at::Tensor&, int64_t)>().construct({uniform({3})});
              }),
              HasSubstr("names no method"));
}

TEST(ClassSpec, IsRefusedForAMethodThatTheClassLacks) {
  EXPECT_THAT(refusal_of_more([](ClassSpecWriter& s) { s.method("pop", &StoreModel::get); }),
              AllOf(HasSubstr("class_spec_test.cpp:"), HasSubstr("Store has no method 'pop'"),
                    HasSubstr("clear, get, put")));
}

TEST(ClassSpec, IsRefusedForArgumentsThatDoNotFit) {
  const auto with = [](std::vector<Argument> arguments) {
    return refusal([&](ClassSpecWriter& s) {
      write_whole(s);
      s.method("put", &StoreModel::put).with(arguments);
    });
  };
  EXPECT_THAT(with({}), AllOf(HasSubstr("class_spec_test.cpp:"), HasSubstr("no value for")));
  EXPECT_THAT(with({5}), AllOf(HasSubstr("class_spec_test.cpp:"), HasSubstr("a int, but the schema wants")));
  EXPECT_THAT(with({uniform({3}), 5}), HasSubstr("the sample has 2 arguments, but the schema takes 1"));
  EXPECT_THAT(with({generator(3)}), HasSubstr("generator(...) is for operators"));
  const auto constructed = [](std::vector<Argument> arguments) {
    return refusal_of_more([&](ClassSpecWriter& s) { s.construct(arguments); });
  };
  EXPECT_THAT(constructed({5}), AllOf(HasSubstr("class_spec_test.cpp:"), HasSubstr("gives 'first' a int")));
  EXPECT_THAT(constructed({uniform({3}), 5, 6}), HasSubstr("has 3 arguments, but the schema takes 2"));
}

TEST(ClassSpec, IsRefusedForAModelThatDoesNotFit) {
  EXPECT_THAT(refusal_of_more([](ClassSpecWriter& s) { s.model<StoreModel(const at::Tensor&, double)>(); }),
              AllOf(HasSubstr("the model takes (Tensor, float)"), HasSubstr("__init__")));
  const auto put = [](auto function) {
    return refusal([&](ClassSpecWriter& s) {
      write_whole(s);
      s.method("put", function).with({uniform({3})});
    });
  };
  EXPECT_THAT(put([](StoreModel&, int64_t) { return int64_t{0}; }), HasSubstr("the model takes (int)"));
  EXPECT_THAT(put([](StoreModel&) { return int64_t{0}; }), HasSubstr("the model takes ()"));
  EXPECT_THAT(put([](StoreModel&, const at::Tensor&) { return 0.5; }),
              HasSubstr("the model of put gives float, but the class gives int"));
  EXPECT_THAT(put([](StoreModel&, const at::Tensor&) {}), HasSubstr("gives NoneType"));
  EXPECT_THAT(refusal([](ClassSpecWriter& s) {
                write_whole(s);
                s.method("clear", &Other::get);
              }),
              HasSubstr("takes another model than spec.model<...>() makes"));
}

TEST(ClassSpec, IsRefusedForWordsOutOfPlace) {
  EXPECT_THAT(refusal([](ClassSpecWriter& s) { s.with({}); }), HasSubstr(".with(...) follows no method"));
  EXPECT_THAT(refusal([](ClassSpecWriter& s) { s.may_share(); }), HasSubstr("follows no method"));
  EXPECT_THAT(refusal_of_more([](ClassSpecWriter& s) { s.method("put", &StoreModel::put); }),
              AllOf(HasSubstr("put has a model already, at "), HasSubstr(".with(")));
}

TEST(ClassSpec, TakesTheModelsArgumentsByValueReferenceOrConstReference) {
  struct Numbers {
    explicit Numbers(std::vector<double> first) : sum(first.at(0)) {}
    double sum;
  };
  Spec spec;
  ClassSpecWriter writer(spec);
  writer.model<Numbers(std::vector<double>)>();
  writer.method("by_value", [](Numbers& n, double x) { return n.sum += x; });
  writer.method("by_reference", [](Numbers& n, at::Tensor& x, std::string text) {
    x = at::Tensor();
    return std::tuple(n.sum, text);
  });
  const std::shared_ptr<void> model = spec.torch_class->model.make({std::vector<double>{2.5}});
  const auto& methods = spec.torch_class->methods;
  EXPECT_EQ(methods[0].call(model.get(), {1.5}).toDouble(), 4);
  const at::Tensor tensor = testing::counted({2});
  const auto both = methods[1].call(model.get(), {tensor, "text"}).toTuple();
  EXPECT_EQ(both->elements()[0].toDouble(), 4);
  EXPECT_EQ(both->elements()[1].toStringRef(), "text");
  EXPECT_TRUE(tensor.defined());
}

}  // namespace
}  // namespace opgate::class_spec_test
