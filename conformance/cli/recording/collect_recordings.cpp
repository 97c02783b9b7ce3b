#include "cli/recording/collect_recordings.h"

#include <c10/util/accumulate.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/build.h"
#include "base/dtypes.h"
#include "base/files/atomic_file.h"
#include "cli/recording/operator_origins.h"
#include "spec/recordings.h"
#include "spec/schema/function_schema.h"
#include "spec/schema/registered_name.h"

namespace opgate {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr size_t kSamplesKept = 100;        // for each operator
constexpr size_t kRejectionsKept = 20;      // for each operator
constexpr int64_t kElementsKept = 1 << 20;  // in each sample, because every layout of a sample is checked

struct Call {
  json arguments;
  json names;
  uint64_t calls = 0;
  uint64_t raised = 0;
};

struct Seen {
  std::string schema;
  std::set<std::string> tuples;       // of a function: the arguments that it gets as tuples
  std::map<std::string, Call> calls;  // by the call without its values, over all processes
  std::map<std::string, uint64_t> left_out;
};

// Returns the descriptions of an argument's tensors.
std::vector<json*> tensors_of(json& argument) {
  std::vector<json*> tensors;
  if (!argument.is_object()) return tensors;
  if (argument.contains("shape")) tensors.push_back(&argument);
  if (argument.contains("tensors")) {
    for (json& tensor : argument.at("tensors")) {
      if (!tensor.is_null()) tensors.push_back(&tensor);
    }
  }
  return tensors;
}

std::string without_values(json arguments) {
  for (json& argument : arguments) {
    for (json* tensor : tensors_of(argument)) tensor->erase("values");
  }
  return arguments.dump();
}

// The lines of a log. One that is not valid JSON is skipped: the last one is cut if the process was killed.
std::vector<json> lines_of(const fs::path& file) {
  std::ifstream stream(file);
  std::vector<json> lines;
  for (std::string text; std::getline(stream, text);) {
    if (json line = json::parse(text, nullptr, /*allow_exceptions=*/false); line.is_object())
      lines.push_back(std::move(line));
  }
  return lines;
}

// The functions whose calls were recorded, each with its schema.
class Functions {
 public:
  void add(const json& line) {
    const std::string name = line.at("function");
    schemas_[name].add(line);
    for (const auto& [op, types] : line.at("operators").items()) by_operator_[op] = name;
  }

  // The name of the function whose calls pass through this operator; null if it stands for none.
  const std::string* name_of(const std::string& op) const {
    const auto found = by_operator_.find(op);
    return found == by_operator_.end() ? nullptr : &found->second;
  }

  const FunctionSchema& schema_of(const std::string& name) const { return schemas_.at(name); }

  // The arguments that calls of the function have written; none if it has no schema, as the methods of a
  // class.
  std::vector<std::string> written_by(const std::string& name) const {
    const auto found = schemas_.find(name);
    return found == schemas_.end() ? std::vector<std::string>() : found->second.written();
  }

 private:
  std::map<std::string, std::string> by_operator_;
  std::map<std::string, FunctionSchema> schemas_;
};

// A recorded call of an operator or of a function.
struct RecordedCall {
  std::string op;
  std::string schema;
  std::set<std::string> tuples;  // of a function: the arguments that it gets as tuples
  json arguments;
  json names;
  std::string misfit = {};  // why no sample can hold it
};

// None for a call of a function that no schema describes, because no call has returned.
std::optional<RecordedCall> recorded_call(const json& line, const Functions& functions) {
  const std::string op = line.at("op");
  const std::string* function = functions.name_of(op);
  if (function == nullptr)
    return RecordedCall{op, line.at("schema"), {}, line.at("arguments"), line.at("names")};
  const FunctionSchema& schema = functions.schema_of(*function);
  const std::optional<std::string> text = schema.text();
  if (!text) return std::nullopt;
  RecordedCall call{*function, *text, schema.tuples(), nullptr, schema.names(), schema.misfit(op)};
  if (!call.misfit.empty()) return call;
  std::optional<json> arguments = schema.in_order(line.at("arguments"), line.at("names"));
  if (!arguments) return std::nullopt;
  call.arguments = *std::move(arguments);
  return call;
}

// Gives the operators and functions of kernels the names that stay the same for each build.
void name_for_each_build(json& line) {
  for (const char* key : {"op", "function", "left_out", "schema"}) {  // a schema begins with the name
    if (const auto named = line.find(key); named != line.end() && named->is_string())
      *named = stable_name(named->get<std::string>());
  }
}

// Reads one process's log.
void read_log(const std::vector<json>& lines, const Functions& functions, std::map<std::string, Seen>& seen,
              OperatorOrigins& origins) {
  std::map<size_t, Call*> by_number;
  std::map<size_t, const json*> described;  // by number: the line of the kind
  std::map<size_t, uint64_t*> left_out;     // by number: how many calls of this kind no sample holds
  std::map<size_t, json> counts;            // the last count of each kind is its total
  for (const json& line : lines) {
    if (line.contains("call")) {
      std::optional<RecordedCall> recorded = recorded_call(line, functions);
      if (!recorded) continue;
      Seen& op = seen[recorded->op];
      op.schema = recorded->schema;
      op.tuples = recorded->tuples;
      if (!recorded->misfit.empty()) {
        left_out[line.at("call")] = &op.left_out[recorded->misfit];
        continue;
      }
      Call& call = op.calls[without_values(recorded->arguments)];
      if (call.arguments.is_null()) call.arguments = recorded->arguments;
      call.names = recorded->names;
      by_number[line.at("call")] = &call;
      described[line.at("call")] = &line;
    } else if (line.contains("again")) {
      const auto known = described.find(line.at("again"));
      if (known == described.end()) continue;
      json anew = *known->second;
      anew["arguments"] = line.at("arguments");
      by_number.at(known->first)->arguments = recorded_call(anew, functions).value().arguments;
    } else if (line.contains("left_out")) {
      seen[line.at("left_out")].left_out[line.at("because")] += line.at("count").get<uint64_t>();
    } else if (line.contains("count")) {
      counts[line.at("count").at(0)] = line.at("count");
    } else {
      origins.read(line);
    }
  }
  const auto counted = [&](size_t number, size_t field, uint64_t unless_counted) {
    const auto found = counts.find(number);
    return found == counts.end() ? unless_counted : found->second.at(field).get<uint64_t>();
  };
  for (auto& [number, call] : by_number) {
    call->calls += counted(number, 1, 1);
    call->raised += counted(number, 2, 0);
  }
  for (auto& [number, count] : left_out) *count += counted(number, 1, 1);
}

bool is_floating(const json& tensor) {
  const auto dtype = dtype_from_name(tensor.at("dtype").get<std::string>());
  return dtype && (c10::isFloatingType(*dtype) || c10::isComplexType(*dtype));
}

// Returns the dtype of a call that samples vary: the first floating tensor's, or else the first tensor's.
std::optional<std::string> varied_dtype(Call& call) {
  std::optional<std::string> first;
  for (json& argument : call.arguments) {
    for (json* tensor : tensors_of(argument)) {
      if (is_floating(*tensor)) return tensor->at("dtype").get<std::string>();
      if (!first) first = tensor->at("dtype").get<std::string>();
    }
  }
  return first;
}

int64_t elements_of(json& arguments, bool& empty) {
  int64_t elements = 0;
  for (json& argument : arguments) {
    for (json* tensor : tensors_of(argument)) {
      const int64_t count = c10::multiply_integers(tensor->at("shape").get<std::vector<int64_t>>());
      empty = empty || count == 0;
      elements += count;
    }
  }
  return elements;
}

// Returns the arguments whose tensors have the varied dtype in every call. Other arguments keep their own
// dtype.
std::set<size_t> varied_arguments(std::vector<Call*>& calls) {
  std::set<size_t> varied;
  for (size_t i = 0; !calls.empty() && i < calls.front()->arguments.size(); ++i) varied.insert(i);
  for (Call* call : calls) {
    const std::optional<std::string> dtype = varied_dtype(*call);
    for (size_t i = 0; i < call->arguments.size(); ++i) {
      for (const json* tensor : tensors_of(call->arguments[i])) {
        if (tensor->at("dtype") != *dtype) varied.erase(i);
      }
    }
  }
  return varied;
}

struct SampleSeen {
  json arguments;
  uint64_t calls = 0;
  std::map<std::string, uint64_t> layouts;
  int64_t elements = 0;
  bool empty = false;
};

// Reduces a tensor's description to what a sample keeps, and counts its layout in `layouts`.
void reduce(json& tensor, bool varied, const std::string& name, uint64_t calls,
            std::map<std::string, uint64_t>& layouts) {
  std::string layout;
  if (tensor.contains("strides")) {
    std::string strides = tensor.at("strides").dump();
    layout = fmt::format("{} strides ({})", name, strides.substr(1, strides.size() - 2));
  }
  if (tensor.contains("offset"))
    layout += fmt::format("{} offset {}", layout.empty() ? name : "", tensor.at("offset").get<int64_t>());
  if (tensor.contains("view"))
    layout += fmt::format("{} {}", layout.empty() ? name : "", tensor.at("view").get<std::string>());
  if (!layout.empty()) layouts[layout] += calls;
  json kept{{"shape", tensor.at("shape")}, {"values", tensor.at("values")}};
  if (!varied) kept["dtype"] = tensor.at("dtype");
  tensor = std::move(kept);
}

// Adds a sample, or merges it into the known sample that differs only in values.
void add_sample(SampleSeen sample, std::map<std::string, SampleSeen>& samples) {
  sample.elements = elements_of(sample.arguments, sample.empty);
  const auto [known, is_new] = samples.try_emplace(without_values(sample.arguments), sample);
  if (is_new) return;
  known->second.calls += sample.calls;
  for (const auto& [layout, count] : sample.layouts) known->second.layouts[layout] += count;
}

// Adds one kind of call to the samples. Kinds that differ only in dtype and layout become one sample.
void add_call(const Call& call, const std::set<size_t>& varied, std::map<std::string, SampleSeen>& samples) {
  SampleSeen sample{call.arguments, call.calls, {}, 0, false};
  for (size_t i = 0; i < sample.arguments.size(); ++i) {
    for (json* tensor : tensors_of(sample.arguments[i]))
      reduce(*tensor, varied.contains(i), call.names.at(i), call.calls, sample.layouts);
  }
  add_sample(std::move(sample), samples);
}

// Chooses the most frequent samples. The smallest comes first, because all checks use the first one;
// samples without elements come last.
std::vector<SampleSeen> chosen(std::map<std::string, SampleSeen> samples,
                               std::map<std::string, uint64_t>& left_out) {
  std::vector<SampleSeen> all;
  for (auto& [key, sample] : samples) {
    if (sample.elements > kElementsKept)
      left_out[fmt::format("of more than {} elements", kElementsKept)] += sample.calls;
    else
      all.push_back(std::move(sample));
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &SampleSeen::calls);
  for (size_t i = kSamplesKept; i < all.size(); ++i)
    left_out[fmt::format("of a further kind, after the {} most frequent", kSamplesKept)] += all[i].calls;
  all.resize(std::min(all.size(), kSamplesKept));
  std::ranges::stable_sort(all, {}, [](const SampleSeen& s) { return std::pair(s.empty, s.elements); });
  return all;
}

// Whether the recording holds everything that the operator may have refused: values, layout and device.
bool is_known_whole(const json& tensor) {
  const json& shape = tensor.at("shape");
  const bool has_elements = std::ranges::find(shape, json(0)) == shape.end();
  const bool has_values = tensor.at("values").get<std::string>().starts_with("literal(");
  return (has_values || !has_elements) && tensor.at("device") == "cpu" && !tensor.contains("strides") &&
         !tensor.contains("offset") && !tensor.contains("view") && !tensor.contains("requires_grad");
}

// The arguments of a call that raised, as those of a sample; none if they do not say what was refused.
std::optional<json> rejection_of(json arguments) {
  for (json& argument : arguments) {
    for (json* tensor : tensors_of(argument)) {
      if (!is_known_whole(*tensor)) return std::nullopt;
      *tensor = json{
          {"shape", tensor->at("shape")}, {"values", tensor->at("values")}, {"dtype", tensor->at("dtype")}};
    }
  }
  return arguments;
}

// Writes one sample per line, because people read and compare the file, too.
std::string text_of(const json& head, const std::vector<SampleSeen>& samples,
                    const std::set<std::string>& rejections) {
  std::string text = head.dump(1);
  text.resize(text.rfind('\n'));
  if (!rejections.empty()) {
    text += ",\n \"rejections\": [";
    for (const std::string& rejection : rejections) {
      text += text.back() == '[' ? "\n  " : ",\n  ";
      text += "{\"arguments\":" + rejection + "}";
    }
    text += "\n ]";
  }
  text += ",\n \"samples\": [";
  for (size_t i = 0; i < samples.size(); ++i) {
    json sample{{"arguments", samples[i].arguments}, {"calls", samples[i].calls}};
    if (!samples[i].layouts.empty()) sample["layouts"] = samples[i].layouts;
    text += (i == 0 ? "\n  " : ",\n  ") + sample.dump();
  }
  return text + "\n ]\n}\n";
}

// Reads an earlier recording of the same schema; an empty object if there is none.
json earlier(const fs::path& file, const std::string& schema) {
  const json known = json::parse(std::ifstream(file), nullptr, /*allow_exceptions=*/false);
  const bool same = known.is_object() && known.value("recorded", 0) == kRecordingFormat &&
                    known.value("schema", "") == schema && known.contains("samples");
  return same ? known : json::object();
}

// Adds the samples of an earlier recording, as they were written.
void add_earlier(const json& known, std::map<std::string, SampleSeen>& samples) {
  for (const json& old : known.value("samples", json::array())) {
    SampleSeen sample{old.at("arguments"), old.at("calls"), {}, 0, false};
    if (old.contains("layouts")) sample.layouts = old.at("layouts").get<std::map<std::string, uint64_t>>();
    add_sample(std::move(sample), samples);
  }
}

std::string file_name(std::string op) {
  for (size_t at = op.find("::"); at != std::string::npos; at = op.find("::")) op.replace(at, 2, ".");
  std::ranges::replace(op, ':', '.');  // of a function
  return op + ".json";
}

RecordedOperator write(const std::string& op, Seen& seen, const fs::path& folder, bool anew,
                       const std::optional<ReplacedAt>& replaced) {
  RecordedOperator told;
  told.left_out = seen.left_out;
  std::vector<Call*> calls;
  std::set<std::string> rejections;
  for (auto& [key, call] : seen.calls) {
    told.calls += call.calls;
    if (call.raised != call.calls) {
      calls.push_back(&call);
      continue;
    }
    const std::optional<json> rejection = rejection_of(call.arguments);
    if (rejection && rejections.size() < kRejectionsKept)
      rejections.insert(rejection->dump());
    else
      told.left_out["that raised"] += call.calls;
  }
  for (const auto& [reason, count] : seen.left_out) told.calls += count;
  if (calls.empty()) return told;

  const fs::path file = folder / file_name(op);
  const json known = anew ? json::object() : earlier(file, seen.schema);
  const std::set<size_t> varied = varied_arguments(calls);
  std::map<std::string, SampleSeen> samples;
  std::map<std::string, std::set<std::string>> dtypes;
  bool differentiated = known.value("differentiated", false);
  if (known.contains("dtypes")) known.at("dtypes").get_to(dtypes);
  for (Call* call : calls) {
    std::string device = replaced ? replaced->device : "cpu";
    for (json& argument : call->arguments) {
      for (const json* tensor : tensors_of(argument)) {
        if (tensor->at("device") != "cpu") device = tensor->at("device");
        differentiated = differentiated || tensor->contains("requires_grad");
      }
    }
    dtypes[device].insert(varied_dtype(*call).value_or("float32"));
    add_call(*call, varied, samples);
  }
  add_earlier(known, samples);
  for (const json& old : known.value("rejections", json::array())) {
    if (rejections.size() < kRejectionsKept) rejections.insert(old.at("arguments").dump());
  }
  const std::vector<SampleSeen> kept = chosen(std::move(samples), told.left_out);
  if (kept.empty()) return told;
  json head{{"recorded", kRecordingFormat},
            {"op", op},
            {"schema", seen.schema},
            {"torch", kTorchVersion},
            {"calls", told.calls + known.value("calls", uint64_t{0})},
            {"dtypes", dtypes},
            {"differentiated", differentiated}};
  if (replaced) head["replaced_at"] = replaced->key;
  if (!seen.tuples.empty()) head["tuples"] = seen.tuples;
  if (!told.left_out.empty()) head["left_out"] = told.left_out;
  AtomicFile(file, text_of(head, kept, rejections)).commit();
  told.samples = kept.size();
  told.rejections = rejections.size();
  for (const auto& [device, names] : dtypes)
    told.dtypes.insert(told.dtypes.end(), names.begin(), names.end());
  std::ranges::sort(told.dtypes);
  told.dtypes.erase(std::ranges::unique(told.dtypes).begin(), told.dtypes.end());
  return told;
}

}  // namespace

Recording collect_recordings(const fs::path& logs, const fs::path& recorded, bool anew,
                             const std::optional<ReplacedAt>& replaced) {
  std::map<std::string, Seen> seen;
  OperatorOrigins origins;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(logs)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<std::vector<json>> logs_read;
  for (const fs::path& file : files) {
    for (const json& line : logs_read.emplace_back(lines_of(file))) {
      if (line.contains("package")) origins.read(line);
    }
  }
  set_built_namespaces(origins.built_namespaces());
  Functions functions;
  for (std::vector<json>& lines : logs_read) {
    for (json& line : lines) {
      name_for_each_build(line);
      if (line.contains("function")) functions.add(line);
    }
  }
  for (const std::vector<json>& lines : logs_read) read_log(lines, functions, seen, origins);
  Recording recording;
  for (auto& [op, what] : seen) {
    RecordedOperator& recorded_operator = recording.operators[op] = write(op, what, recorded, anew, replaced);
    recorded_operator.written = functions.written_by(op);
  }
  origins.find(recording);
  return recording;
}

}  // namespace opgate
