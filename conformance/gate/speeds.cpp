#include "gate/speeds.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/errors.h"

namespace opgate {
namespace {

using nlohmann::json;

std::string name_of(const json& line) {
  std::string name =
      fmt::format("{}, {}, {}", line.at("bench").get<std::string>(), line.at("direction").get<std::string>(),
                  line.at("dtype").get<std::string>());
  if (line.contains("threads")) name += fmt::format(", threads {}", line.at("threads").get<int>());
  return name;
}

void add_line(const json& line, const std::string& machine, State& state) {
  const auto subject = state.find(line.at("op").get<std::string>());
  if (subject == state.end() || !line.contains("ratio")) return;
  DeviceState& device = subject->second.devices[line.at("device").get<std::string>()];
  device.machines[machine].speed[name_of(line)] = {{"ratio", line.at("ratio").get<double>()},
                                                   {"low", line.at("interval").at(0).get<double>()},
                                                   {"high", line.at("interval").at(1).get<double>()}};
}

}  // namespace

void add_speeds(const std::filesystem::path& bench, const std::string& libraries, RunState& run) {
  std::ifstream stream(bench);
  if (!stream) throw setup_error("cannot read {}; `opgate bench` writes it", bench.string());
  size_t number = 0;
  bool finished = false;
  try {
    for (std::string text; std::getline(stream, text);) {
      const json line = json::parse(text);
      if (++number == 1 && line.at("libraries") != libraries) {
        throw setup_error("{} was measured with other builds of the libraries; run `opgate bench` again",
                          bench.string());
      }
      finished = line.contains("finished");
      if (number > 1 && !finished) add_line(line, machine_of(run.header), run.state);
    }
  } catch (const json::exception& error) {
    throw setup_error("{}:{}: not a line of `opgate bench`: {}", bench.string(), std::max<size_t>(number, 1),
                      error.what());
  }
  if (!finished) throw setup_error("{} is unfinished; run `opgate bench` to its end", bench.string());
}

}  // namespace opgate
