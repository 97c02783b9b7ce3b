#include "packages/package.h"

#include <ATen/core/function_schema.h>
#include <c10/core/Device.h>
#include <fmt/format.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/dtypes.h"
#include "base/errors.h"
#include "base/text.h"
#include "compare/kept_results.h"
#include "device/device.h"
#include "spec/json/sample_json.h"
#include "spec/json/spec_json.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace opgate {
namespace {

using Loader = torch::inductor::AOTIModelPackageLoader;
using nlohmann::json;

constexpr const char* kModelName = "model";
constexpr const char* kManifestKey = "opgate";

json read_manifest(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) throw setup_error("package {} is missing", file.string());
  std::unordered_map<std::string, std::string> metadata;
  try {
    metadata = Loader::load_metadata_from_package(file.string(), kModelName);
  } catch (const std::exception& error) {
    throw setup_error("{} is no readable AOTInductor package (truncated, or not one at all): {}",
                      file.string(), first_line(error.what()));
  }
  if (!metadata.contains(kManifestKey)) {
    throw setup_error("{} has no OpGate manifest, so its inputs are unknown; make it with `opgate run`",
                      file.string());
  }
  return json::parse(metadata[kManifestKey]);
}

PackagedCall call_from(const json& described) {
  PackagedCall call;
  call.id = described.at("id");
  call.spec = std::make_shared<Spec>();
  call.spec->name = described.at("subject");
  call.spec->id = call.spec->name;
  call.spec->kind = described.at("kind") == "op" ? Spec::Kind::op : Spec::Kind::model;
  call.spec->samples.push_back(sample_from_json(described.at("sample")));
  const auto dtype = dtype_from_name(described.at("dtype").get<std::string>());
  if (!dtype) throw setup_error("{}: unknown dtype", call.id);
  call.dtype = *dtype;
  call.variant = described.at("variant");
  call.outputs = described.at("outputs");
  call.eager = described.at("eager");
  // Packages of earlier releases do not hold these.
  call.spec->accuracy = accuracy_from_json(described.value("accuracy", json()));
  call.in_pieces = described.value("in_pieces", false);
  if (described.contains("eager_results"))
    call.eager_results = results_from_text(described.at("eager_results").get<std::string>());
  return call;
}

}  // namespace

Package::Package(std::filesystem::path file, size_t runners) : file_(std::move(file)) {
  const json manifest = read_manifest(file_);
  try {
    device_ = c10::Device(manifest.at("device").get<std::string>()).type();
    torch_ = manifest.at("torch");
    for (const auto& [op, schema] : manifest.at("schemas").items()) schemas_.emplace_back(op, schema);
    for (const json& call : manifest.at("calls")) calls_.push_back(call_from(call));
  } catch (const json::exception& error) {
    throw setup_error(
        "{} has a manifest of another version of OpGate: {}; make the package again with `opgate run`",
        file_.string(), error.what());
  }
  if (const auto reason = missing_device(device_)) {
    throw DeviceMissing(fmt::format("{} was made for {}: {}", file_.string(), device_name(device_), *reason));
  }
  enable_device(device_);
  for (const auto& [op, schema] : schemas_) {
    if (!find_op(op)) {
      throw setup_error("{} needs {}, which no loaded library defines; name the library with --library",
                        file_.string(), op);
    }
  }
  for (PackagedCall& call : calls_) {
    call.spec->op = find_op(call.spec->name);
    if (!call.spec->op) continue;
    try {
      // Arguments that were added since the package was made get their defaults.
      fit_sample(call.spec->samples.front(), call.spec->op->schema());
    } catch (const SpecError&) {  // changed_schemas() reports it, and the eager call raises
    }
  }
  setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", 0);  // read when the package first runs
  try {
    loader_ = std::make_unique<Loader>(file_.string(), kModelName, /*run_single_threaded=*/false, runners);
  } catch (const std::exception& error) {
    throw setup_error("{} cannot be loaded: {}", file_.string(), first_line(error.what()));
  }
}

Package::~Package() = default;

std::string SchemaChange::in_words() const {
  return fmt::format("{} was {} when the package was made, and is {} now", op, then, now);
}

std::vector<SchemaChange> Package::changed_schemas(std::string_view of) const {
  std::vector<SchemaChange> changes;
  for (const auto& [op, then] : schemas_) {
    if (!of.empty() && of != op) continue;
    std::ostringstream now;
    now << find_op(op)->schema();
    if (now.str() != then) changes.push_back({op, then, now.str()});
  }
  return changes;
}

CallKey Package::key(const PackagedCall& call) const {
  return {call.spec.get(), &call.spec->samples.front(), call.dtype, device_, call.variant};
}

Package::Tensors Package::inputs(MaterializeOptions options) const {
  options.take_snapshots = false;
  ValueCache values;
  Tensors inputs;
  for (const PackagedCall& call : calls_) {
    std::vector<at::Tensor>& tensors = inputs.emplace_back();
    for (TensorInput& input : materialize(key(call), values, options).tensors)
      tensors.push_back(std::move(input.tensor));
  }
  return inputs;
}

Package::Tensors Package::run(const Tensors& inputs) {
  std::vector<at::Tensor> taken;
  for (const auto& tensors : inputs) taken.insert(taken.end(), tensors.begin(), tensors.end());
  const std::vector<at::Tensor> flat = loader_->run(taken);
  size_t promised = 0;
  for (const PackagedCall& call : calls_) promised += call.outputs;
  TORCH_CHECK(promised == flat.size(), "the package returned ", flat.size(),
              " tensors where its manifest promises ", promised);
  Tensors outputs;
  auto begin = flat.begin();
  for (const PackagedCall& call : calls_) {
    const auto end = begin + static_cast<std::ptrdiff_t>(call.outputs);
    outputs.emplace_back(begin, end);
    begin = end;
  }
  return outputs;
}

const Package::Tensors& Package::run() {
  if (outputs_.empty()) outputs_ = run(inputs());
  return outputs_;
}

}  // namespace opgate
