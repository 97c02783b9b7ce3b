// What a spec can say, and the messages for wrong specs.
#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "spec/json/sample_json.h"
#include "spec/json/spec_json.h"
#include "spec/specs.h"
#include "support.h"

namespace opgate::spec_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::Pair;

Spec written(const std::string& op, const std::function<void(SpecWriter&)>& write) {
  Spec spec;
  spec.name = op;
  spec.where = "my_spec.cpp:7";
  SpecWriter writer(spec);
  write(writer);
  return spec;
}

Spec with_sample(const std::string& op, std::vector<Argument> arguments) {
  return written(op, [&](SpecWriter& spec) { spec.sample(std::move(arguments)); });
}

std::string misfit(const std::string& op, std::vector<Argument> arguments) {
  Spec spec = with_sample(op, std::move(arguments));
  return message_of<SpecError>([&] { fit_to_schema(spec); });
}

std::vector<Spec> named_specs(const std::vector<std::string>& names) {
  std::vector<Spec> specs;
  for (const std::string& name : names) {
    specs.push_back(written(name, [](SpecWriter&) {}));
    specs.back().where = "spec.cpp:" + std::to_string(specs.size());
  }
  name_subjects(specs);
  return specs;
}

TEST(SpecWriter, TakesDtypesForAllDevicesOrForOne) {
  const Spec spec =
      written("aten::relu", [](SpecWriter& s) { s.dtypes(floating()).dtypes(c10::kCUDA, {c10::kHalf}); });
  EXPECT_EQ(spec.dtypes.at(c10::kCPU), floating());
  EXPECT_EQ(spec.dtypes.at(c10::kCUDA), Dtypes{c10::kHalf});
  const Spec on_cpu =
      written("aten::relu", [](SpecWriter& s) { s.dtypes(floating()).dtypes(c10::kCUDA, {}); });
  EXPECT_FALSE(on_cpu.dtypes.contains(c10::kCUDA));
}

TEST(SpecWriter, NamesASampleByItsShapesUnlessNamed) {
  const Spec spec = written("aten::add.Tensor", [](SpecWriter& s) {
    s.sample({uniform({2, 3}), uniform({}), 2});
    s.sample({uniform({2, 3}), uniform({3})}).named("broadcast");
  });
  EXPECT_NE(spec.find_sample("2x3,0d,2"), nullptr);
  EXPECT_NE(spec.find_sample("broadcast"), nullptr);
  EXPECT_EQ(spec.find_sample("2x3,3"), nullptr);
  EXPECT_THAT(spec.samples[0].where, HasSubstr("spec_test.cpp:"));
}

TEST(SpecWriter, NamesNumbersAsShortAsTheyAre) {
  const Spec spec = written("aten::threshold", [](SpecWriter& s) { s.sample({uniform({4}), 1e-6, 0.1}); });
  EXPECT_EQ(spec.samples[0].name, "4,1e-06,0.1");
  EXPECT_EQ(spec.find_sample("4,9.9999999999999995e-07,0.10000000000000001"), &spec.samples[0])
      << "as it was called once";
}

TEST(SpecWriter, ValuesOfASampleDoNotDependOnHowNumbersAreNamed) {
  const Spec spec = written("aten::threshold", [](SpecWriter& s) {
    s.sample({uniform({4}), 1e-6, 0.1});
    s.sample({uniform({4}), 1e-6, 0.1}).named("1e-06 exactly");
  });
  EXPECT_EQ(value_name(spec.samples[0]), "4,9.9999999999999995e-07,0.10000000000000001");
  EXPECT_EQ(value_name(spec.samples[1]), "1e-06 exactly");
  Sample numbered = spec.samples[0];
  numbered.name += " (2)";
  EXPECT_EQ(value_name(numbered), "4,9.9999999999999995e-07,0.10000000000000001 (2)");
}

TEST(SpecWriter, LeavesResultsUnspecifiedForKnownConditions) {
  const auto wrong = [](const std::function<void(SpecWriter&)>& write) {
    Spec spec = written("aten::relu_", [&](SpecWriter& s) {
      s.dtypes(floating()).reference("aten::relu").accuracy(exact()).sample({uniform({4})});
      write(s);
    });
    return message_of<SpecError>([&] { validate(spec); });
  };
  EXPECT_EQ(wrong([](SpecWriter& s) { s.unspecified_for("overlap").unspecified_for("nan"); }),
            "nothing was thrown");
  EXPECT_THAT(wrong([](SpecWriter& s) { s.unspecified_for("nans"); }),
              AllOf(HasSubstr("my_spec.cpp:7"), HasSubstr("nans"), HasSubstr("overlap, nan")));
  EXPECT_THAT(wrong([](SpecWriter& s) { s.unspecified_for("overlap").promises({refuses_overlap}); }),
              HasSubstr("contradicts itself: refuses_overlap"));
}

// A typing error in the table would have two words write to one list.
TEST(SpecWriter, KeepsWhatEachWordNamesApart) {
  const Spec spec = written("aten::relu", [](SpecWriter& s) {
    s.trusts("a")
        .wants_contiguous("b")
        .unspecified(1)
        .unspecified(10)
        .unspecified(2)
        .on_cpu(3)
        .unspecified_for("nan");
  });
  std::map<std::string_view, std::vector<std::string>> named;
  for (const NamingWord& word : kNamingWords) named[word.word] = names_as_texts(word, spec);
  EXPECT_THAT(named, ElementsAre(Pair("on_cpu", ElementsAre("3")), Pair("trusts", ElementsAre("a")),
                                 Pair("unspecified", ElementsAre("1", "10", "2")),
                                 Pair("unspecified_for", ElementsAre("nan")),
                                 Pair("wants_contiguous", ElementsAre("b"))));
}

TEST(SpecWriter, RefusesArgumentsThatTheSchemaDoesNotHave) {
  const auto with_argument = [](const std::string& name) {
    return message_of<SpecError>([&] {
      Spec spec = testing::spec_of("aten::relu", {{uniform({4})}});
      SpecWriter(spec).wants_contiguous(name);
      fit_to_schema(spec);
    });
  };
  EXPECT_EQ(with_argument("self"), "nothing was thrown");
  EXPECT_THAT(with_argument("y"), HasSubstr("spec.wants_contiguous(\"y\"): aten::relu has no such argument"));
}

TEST(SpecWriter, RefusesPlacesOfResultsThatTheSchemaDoesNotHave) {
  const auto with_result = [](size_t index) {
    return message_of<SpecError>([&] {
      Spec spec = testing::spec_of("aten::relu", {{uniform({4})}});
      SpecWriter(spec).on_cpu(index);
      fit_to_schema(spec);
    });
  };
  EXPECT_EQ(with_result(0), "nothing was thrown");
  EXPECT_THAT(with_result(1), HasSubstr("spec.on_cpu(1): aten::relu has 1 results"));
}

TEST(SpecWriter, RefusesANameForNoSample) {
  EXPECT_THAT(message_of<SpecError>([] { written("aten::relu", [](SpecWriter& s) { s.named("small"); }); }),
              AllOf(HasSubstr("my_spec.cpp:7"), HasSubstr(".named(\"small\") follows no sample")));
}

// The name of a sample is a part of case ids, whose parts are separated by '/'.
TEST(SpecWriter, RefusesASlashInTheNameOfASample) {
  EXPECT_THAT(misfit("aten::relu", {uniform({4}), "a/b"}),
              AllOf(HasSubstr("spec_test.cpp:"), HasSubstr("'4,a/b' has a '/' in its name")));
}

TEST(SpecWriter, RefusesASlashInAGivenNameToo) {
  EXPECT_THROW(
      {
        Spec spec = written("aten::relu", [](SpecWriter& s) { s.sample({uniform({4})}).named("a/b"); });
        fit_to_schema(spec);
      },
      SpecError);
}

TEST(SpecWriter, TakesASampleWithASlashOnceItIsNamed) {
  EXPECT_NO_THROW(written("aten::div.Tensor_mode", [](SpecWriter& s) {
    s.sample({uniform({4}), uniform({4}), "a/b"}).named("divided");  // as the message advises
  }));
}

TEST(SpecWriter, TellsOfAReferenceThatDoesNotExist) {
  const Spec spec = written("aten::relu", [](SpecWriter& s) { s.reference("aten::no_such_op"); });
  torch::jit::Stack stack{at::full({2}, 1.0)};
  EXPECT_THAT(message_of<SpecError>([&] { spec.reference(*find_op("aten::relu"), stack); }),
              AllOf(HasSubstr("my_spec.cpp:7"), HasSubstr("aten::no_such_op")));
}

TEST(SpecWriter, TakesAReferenceWithMoreArgumentsThatHaveDefaults) {
  const Spec spec = written("aten::relu", [](SpecWriter& s) { s.reference("aten::clone"); });
  torch::jit::Stack stack{at::full({2}, 1.0)};
  spec.reference(*find_op("aten::relu"), stack);
  ASSERT_EQ(stack.size(), 1u);
  EXPECT_EQ(stack[0].toTensor().numel(), 2);
}

TEST(SpecWriter, TellsOfAReferenceThatTakesOtherArguments) {
  for (const char* reference : {"aten::mm", "aten::rand"}) {
    const Spec spec = written("aten::relu", [&](SpecWriter& s) { s.reference(reference); });
    torch::jit::Stack stack{at::full({2}, 1.0)};
    if (std::string(reference) == "aten::rand") stack.insert(stack.end(), 8, c10::IValue());
    EXPECT_THAT(
        message_of<SpecError>([&] { spec.reference(*find_op("aten::relu"), stack); }),
        AllOf(HasSubstr("my_spec.cpp:7"), HasSubstr("does not take the operator's"), HasSubstr(reference)));
  }
}

TEST(FindOp, FindsAnOverloadOnlyByItsName) {
  EXPECT_TRUE(find_op("aten::add.Tensor").has_value());
  EXPECT_TRUE(find_op("aten::relu").has_value());
  for (const char* name : {"aten::add", "aten::relu.Tensor", "aten::no_such_op", "relu", "", "aten::"}) {
    EXPECT_FALSE(find_op(name).has_value()) << name;
  }
}

TEST(FitToSchema, FillsInDefaults) {
  Spec spec = with_sample("aten::add.Tensor", {uniform({4}), uniform({4})});
  fit_to_schema(spec);
  ASSERT_EQ(spec.samples[0].arguments.size(), 3u);
  EXPECT_EQ(spec.samples[0].arguments[2].other()->toScalar().toLong(), 1);
  EXPECT_EQ(spec.samples[0].name, "4,4") << "defaults do not change case ids";
}

TEST(FitToSchema, TakesEveryTypeThatASampleCanHave) {
  EXPECT_EQ(misfit("opgate_test::sized", {uniform({4}), 2, std::vector<int64_t>{2, 2}, 0.5, uniform({4}), 3}),
            "nothing was thrown");
  EXPECT_EQ(misfit("opgate_test::sized", {uniform({4}), 2, std::vector<int64_t>{}, 0.5, c10::IValue(), 1.5}),
            "nothing was thrown");
  EXPECT_EQ(misfit("aten::div.Tensor_mode", {uniform({4}), uniform({4}), "floor"}), "nothing was thrown");
  EXPECT_EQ(misfit("aten::sum.dim_IntList", {uniform({4}), std::vector<int64_t>{0}, true}),
            "nothing was thrown");
}

TEST(FitToSchema, RefusesTooManyArguments) {
  EXPECT_THAT(misfit("aten::relu", {uniform({4}), 1}),
              AllOf(HasSubstr("spec_test.cpp:"), HasSubstr("has 2 arguments, but the schema takes 1"),
                    HasSubstr("aten::relu(Tensor self) -> Tensor")));
}

TEST(FitToSchema, RefusesAMissingArgumentWithoutADefault) {
  EXPECT_THAT(misfit("aten::add.Tensor", {uniform({4})}),
              HasSubstr("no value for 'other', which has no default"));
}

TEST(FitToSchema, RefusesAnotherType) {
  EXPECT_THAT(misfit("aten::relu", {3}), HasSubstr("gives 'self' a int, but the schema wants Tensor"));
  EXPECT_THAT(misfit("aten::add.Tensor", {uniform({4}), uniform({4}), "one"}),
              HasSubstr("gives 'alpha' a str"));
  EXPECT_THAT(misfit("aten::sum.dim_IntList", {uniform({4}), uniform({4})}),
              HasSubstr("gives 'dim' a Tensor"));
  EXPECT_THAT(misfit("aten::dropout", {uniform({4}), true, true}), HasSubstr("gives 'p' a bool"));
}

// As when the operator is called from Python.
TEST(FitToSchema, AnIntegerIsAFloatingPointNumberWhereTheSchemaHasOne) {
  Spec spec = with_sample("aten::dropout", {uniform({4}), 1, true});
  fit_to_schema(spec);
  const c10::IValue& p = *spec.samples[0].arguments[1].other();
  ASSERT_TRUE(p.isDouble());
  EXPECT_EQ(p.toDouble(), 1);
}

TEST(FitToSchema, RefusesAnOperatorThatIsNotThere) {
  EXPECT_THAT(misfit("aten::no_such_op", {uniform({4})}),
              AllOf(HasSubstr("my_spec.cpp:7"), HasSubstr("no loaded library defines aten::no_such_op")));
  EXPECT_THAT(misfit("aten::add", {uniform({4})}), HasSubstr("overload"));
}

TEST(FitToSchema, RefusesTwoSamplesOfOneName) {
  Spec spec =
      written("aten::relu", [](SpecWriter& s) { s.sample({uniform({4})}).sample({uniform({4}, 0, 1)}); });
  EXPECT_THAT(message_of<SpecError>([&] { fit_to_schema(spec); }),
              AllOf(HasSubstr("two samples of aten::relu are named '4'"), HasSubstr(".named(")));
}

TEST(NameSubjects, LeavesTheNamespaceOutWhereThatLeavesNoDoubt) {
  const std::vector<Spec> specs = named_specs({"a::relu", "b::relu", "a::add.Tensor", "model"});
  EXPECT_EQ(specs[0].id, "a::relu");
  EXPECT_EQ(specs[1].id, "b::relu");
  EXPECT_EQ(specs[2].id, "add.Tensor");
  EXPECT_EQ(specs[3].id, "model");
}

TEST(NameSubjects, RefusesTwoSpecsOfOneSubject) {
  EXPECT_THAT(
      message_of<SpecError>([] {
        named_specs({"a::relu", "a::add", "a::relu"});
      }),
      AllOf(HasSubstr("a::relu has a spec already"), HasSubstr("spec.cpp:1"), HasSubstr("spec.cpp:3")));
}

TEST(SampleJson, IsReadBackAsItWasWritten) {
  const Sample sample{"all",
                      {uniform({2, 3}), uniform({}, 0, 1).of(c10::kInt), 1.5, 3.0, 7, true, "text",
                       std::vector<int64_t>{3, 3}, c10::IValue(), c10::IValue(std::vector<double>{0.5, 2})},
                      "spec.cpp:9"};
  const Sample read = sample_from_json(json::parse(to_json(sample).dump()));
  EXPECT_EQ(read.name, "all");
  EXPECT_EQ(read.where, "spec.cpp:9");
  ASSERT_EQ(read.arguments.size(), sample.arguments.size());
  EXPECT_EQ(read.arguments[0].tensor()->shape, (Shape{2, 3}));
  EXPECT_EQ(read.arguments[0].tensor()->dtype, std::nullopt);
  EXPECT_EQ(read.arguments[1].tensor()->domain, (Domain{"uniform", {0, 1}}));
  EXPECT_EQ(read.arguments[1].tensor()->dtype, c10::kInt);
  for (size_t i = 2; i < read.arguments.size(); ++i) {
    EXPECT_EQ(read.arguments[i].other()->tagKind(), sample.arguments[i].other()->tagKind()) << i;
    EXPECT_TRUE(*read.arguments[i].other() == *sample.arguments[i].other()) << i;
  }
}

TEST(SampleJson, KeepsNumbersThatJsonHasNoWordFor) {
  const Sample read = sample_from_json(json::parse(to_json(Sample{"inf", {INFINITY}, ""}).dump()));
  ASSERT_TRUE(read.arguments.at(0).other()->isDouble());
  EXPECT_EQ(read.arguments[0].other()->toDouble(), INFINITY);
}

TEST(SampleJson, RefusesWhatDescribesNoSample) {
  for (const char* text :
       {"[]", "{}", "3", "null", R"({"arguments": [{"shape": "2x3", "values": "uniform"}]})",
        R"({"arguments": [{"shape": [2]}]})", R"({"arguments": [{"values": "uniform"}]})",
        R"({"arguments": [{"shape": [2], "values": "normal"}]})", R"({"arguments": [[1, "a"]]})",
        R"({"arguments": [{"shape": [2], "values": "uniform", "dtype": "float33"}]})",
        R"({"name": 3, "arguments": []})"}) {
    EXPECT_THROW(sample_from_json(json::parse(text)), SpecError) << text;
  }
}

TEST(SampleJson, RefusesArgumentsThatAreNoList) {
  EXPECT_THROW(sample_from_json(json::parse(R"({"arguments": 5})")), SpecError);
}

TEST(ModelJson, RefusesWhatDescribesNoModel) {
  const json model = json::parse(
      R"({"kind": "model", "name": "m", "where": "m.py:1", "dtypes": {"cpu": ["float32"]}, "samples": [{"arguments": []}], "accuracy": null, "scale": false})");
  EXPECT_EQ(spec_from_json(model).dtypes.at(c10::kCPU), Dtypes{c10::kFloat});
  for (const char* key : {"kind", "name", "where", "dtypes", "samples", "accuracy", "scale"}) {
    json without = model;
    without.erase(key);
    EXPECT_THROW(spec_from_json(without), SpecError) << key;
  }
  json other_device = model;
  other_device["dtypes"] = {{"gpu", {"float32"}}};
  EXPECT_THROW(spec_from_json(other_device), SpecError);
}

TEST(OpJson, BeginsWithTheSpecThatItIsLike) {
  Spec relu = written("aten::relu", [](SpecWriter& s) {
    s.dtypes(floating()).reference("aten::relu").accuracy(exact()).promises({deterministic});
    s.sample({uniform({4})}).sample({uniform({2, 3})});
  });
  json described = json::parse(
      R"({"kind": "op", "name": "aten::relu6", "where": "m.py:1", "schema": "", "like": {"operator": "aten::relu", "without": ["2x3"]},
          "dtypes": {"cpu": ["float32"]}, "samples": [], "reference": false, "scale": false, "accuracy": null,
          "gradient_accuracy": null, "promises": ["batch_invariant"], "rejections": [], "benches": [], "named": {},
          "draft": false, "planted": null})");
  const Spec spec = spec_from_json(described, {relu});
  EXPECT_EQ(spec.name, "aten::relu6");
  EXPECT_EQ(spec.promises, (Promises{deterministic, batch_invariant}));
  EXPECT_EQ(spec.dtypes.at(c10::kCPU), Dtypes{c10::kFloat});
  EXPECT_TRUE(spec.accuracy->exact);
  ASSERT_EQ(spec.samples.size(), 1u);
  EXPECT_EQ(spec.samples[0].name, "4");
  EXPECT_THAT(message_of<SpecError>([&] { spec_from_json(described); }),
              HasSubstr("aten::relu has no spec in C++"));
  described["like"]["without"] = {"7"};
  EXPECT_THAT(message_of<SpecError>([&] { spec_from_json(described, {relu}); }), HasSubstr("no sample '7'"));
}

// The old word is torch's tag now; specs and recordings that have it still load.
TEST(Promises, HaveTheTagOfTorchForRandomOperatorsAndStillTakeTheOldWord) {
  EXPECT_EQ(known_promise("nondeterministic_seeded", "spec.cpp:1"), nondeterministic_seeded);
  EXPECT_EQ(known_promise("draws_random", "spec.cpp:1"), nondeterministic_seeded);
  EXPECT_EQ(to_string(nondeterministic_seeded), "nondeterministic_seeded");
}

}  // namespace
}  // namespace opgate::spec_test
