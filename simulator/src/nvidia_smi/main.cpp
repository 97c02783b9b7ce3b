// Stands in for nvidia-smi where devices are simulated: libraries run it to learn which devices there are. It
// answers from the same devices as the simulated runtime, and refuses what it does not know.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

// The first driver that has CUDA 13, of which the simulated libraries are.
constexpr const char* kDriver = "580.0";
constexpr const char* kNotAvailable = "[N/A]";
constexpr int kUnknown = 2;  // the exit status for a question that is not known, as that of nvidia-smi

struct Device {
  int index = 0;
  cudaDeviceProp properties{};
};

template <class... Arguments>
std::string printed(const char* format, Arguments... arguments) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), format, arguments...);
  return text.data();
}

std::string uuid_of(const Device& device) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof device.properties.uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += "-";
    text += printed("%02x", static_cast<unsigned char>(device.properties.uuid.bytes[i]));
  }
  return text;
}

std::string capability_of(const Device& device) {
  return printed("%d.%d", device.properties.major, device.properties.minor);
}

std::string bus_of(const Device& device) { return printed("00000000:%02X:00.0", device.properties.pciBusID); }

std::string memory_of(const Device& device) {
  return std::to_string(device.properties.totalGlobalMem / (1024 * 1024));
}

int count_of_devices() {
  int devices = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&devices); error != cudaSuccess)
    throw std::runtime_error(cudaGetErrorString(error));
  return devices;
}

std::string version_of_cuda() {
  int version = 0;
  cudaDriverGetVersion(&version);
  return printed("%d.%d", version / 1000, version % 1000 / 10);
}

struct Field {
  std::string_view name;
  std::string_view unit;
  std::string (*value)(const Device&);
};

std::string not_available(const Device&) { return kNotAvailable; }

constexpr std::array kFields{
    Field{"name", "", [](const Device& of) { return std::string(of.properties.name); }},
    Field{"gpu_name", "", [](const Device& of) { return std::string(of.properties.name); }},
    Field{"index", "", [](const Device& of) { return std::to_string(of.index); }},
    Field{"count", "", [](const Device&) { return std::to_string(count_of_devices()); }},
    Field{"uuid", "", &uuid_of},
    Field{"gpu_uuid", "", &uuid_of},
    Field{"compute_cap", "", &capability_of},
    Field{"driver_version", "", [](const Device&) { return std::string(kDriver); }},
    Field{"pci.bus_id", "", &bus_of},
    Field{"gpu_bus_id", "", &bus_of},
    Field{"compute_mode", "", [](const Device&) { return std::string("Default"); }},
    // Each process has devices of its own, whose memory nothing else uses.
    Field{"memory.total", "MiB", &memory_of},
    Field{"memory.free", "MiB", &memory_of},
    Field{"memory.used", "MiB", [](const Device&) { return std::string("0"); }},
    // What a device that is simulated does not have.
    Field{"serial", "", &not_available},
    Field{"gpu_serial", "", &not_available},
    Field{"display_active", "", &not_available},
    Field{"display_mode", "", &not_available},
    Field{"persistence_mode", "", &not_available},
    Field{"mig.mode.current", "", &not_available},
    Field{"ecc.mode.current", "", &not_available},
    Field{"pstate", "", &not_available},
    Field{"fan.speed", "%", &not_available},
    Field{"temperature.gpu", "", &not_available},
    Field{"utilization.gpu", "%", &not_available},
    Field{"utilization.memory", "%", &not_available},
    Field{"power.draw", "W", &not_available},
    Field{"power.limit", "W", &not_available},
    Field{"clocks.sm", "MHz", &not_available},
    Field{"clocks.mem", "MHz", &not_available},
    Field{"clocks.max.sm", "MHz", &not_available},
    Field{"clocks.max.mem", "MHz", &not_available},
};

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) {
    std::erase(part, ' ');
    parts.push_back(part);
  }
  return parts;
}

[[noreturn]] void refuse(const std::string& why) {
  throw std::runtime_error(
      why +
      "; this nvidia-smi belongs to OpGate's simulated devices and answers -L, -q and "
      "--query-gpu=FIELD,... --format=csv[,noheader][,nounits], each also with -i INDEX");
}

const Field& field_named(const std::string& name) {
  const auto* const found = std::ranges::find(kFields, name, &Field::name);
  if (found == kFields.end()) refuse("Field \"" + name + "\" is not a valid field to query");
  return *found;
}

struct Question {
  bool lists = false;
  bool shows_all = false;
  std::string query;
  std::string format;
  std::string chosen;  // indices or identifiers; empty: all devices
};

// The words of an option: "--id=0", "--id 0" or "-i 0".
Question question_in(std::span<char*> words) {
  Question question;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const auto takes = [&](std::string_view name, std::string& value) {
      if (word == name && i + 1 < words.size()) {
        value = words[++i];
        return true;
      }
      if (!name.starts_with("--") || !word.starts_with(std::string(name) + "=")) return false;
      value = word.substr(name.size() + 1);
      return true;
    };
    if (word == "-L" || word == "--list-gpus") {
      question.lists = true;
    } else if (word == "-q" || word == "--query") {
      question.shows_all = true;
    } else if (!takes("--query-gpu", question.query) && !takes("--format", question.format) &&
               !takes("--id", question.chosen) && !takes("-i", question.chosen)) {
      refuse("Invalid combination of input arguments: " + std::string(word) + " is not known");
    }
  }
  return question;
}

std::vector<Device> devices_of(const Question& question) {
  std::vector<Device> all(static_cast<std::size_t>(count_of_devices()));
  for (int index = 0; Device & device : all) {
    device.index = index++;
    if (cudaGetDeviceProperties(&device.properties, device.index) != cudaSuccess)
      throw std::runtime_error("device " + std::to_string(device.index) + " does not answer");
  }
  if (question.chosen.empty()) return all;
  std::vector<Device> chosen;
  for (const std::string& which : parts_of(question.chosen)) {
    const auto found = std::ranges::find_if(all, [&](const Device& device) {
      return which == std::to_string(device.index) || which == uuid_of(device) || which == bus_of(device);
    });
    if (found == all.end()) refuse("No devices were found: there is no device " + which);
    chosen.push_back(*found);
  }
  return chosen;
}

void print_row(const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) std::cout << (i == 0 ? "" : ", ") << cells[i];
  std::cout << "\n";
}

void answer_query(const Question& question, const std::vector<Device>& devices) {
  const std::vector<std::string> format = parts_of(question.format);
  const auto has = [&](std::string_view word) { return std::ranges::find(format, word) != format.end(); };
  if (!has("csv")) refuse("\"--format=\" switch is missing or is not csv");
  std::vector<const Field*> fields;
  std::vector<std::string> names;
  for (const std::string& name : parts_of(question.query)) {
    const Field& field = *fields.emplace_back(&field_named(name));
    const bool shows_unit = !field.unit.empty() && !has("nounits");
    names.push_back(name + (shows_unit ? " [" + std::string(field.unit) + "]" : ""));
  }
  if (!has("noheader")) print_row(names);
  for (const Device& device : devices) {
    std::vector<std::string> cells;
    for (const Field* field : fields) {
      const std::string value = field->value(device);
      const bool shows_unit = !field->unit.empty() && !has("nounits") && value != kNotAvailable;
      cells.push_back(value + (shows_unit ? " " + std::string(field->unit) : ""));
    }
    print_row(cells);
  }
}

void print_line(const std::string& text) { std::cout << printed("| %-87s |\n", text.c_str()); }

void print_summary(const std::vector<Device>& devices) {
  const std::string rule = "+" + std::string(89, '-') + "+\n";
  std::cout << rule;
  print_line(printed("NVIDIA-SMI of OpGate (simulated)   Driver Version: %s   CUDA Version: %s", kDriver,
                     version_of_cuda().c_str()));
  std::cout << rule;
  for (const Device& device : devices)
    print_line(printed("%3d  %-40s %s   0MiB / %sMiB", device.index, device.properties.name,
                       bus_of(device).c_str(), memory_of(device).c_str()));
  std::cout << rule;
}

void print_all(const std::vector<Device>& devices) {
  const auto line = [](const std::string& depth, const std::string& name, const std::string& value) {
    std::cout << depth << printed("%-*s", 42 - static_cast<int>(depth.size()), name.c_str()) << ": " << value
              << "\n";
  };
  std::cout << "\n==============NVSMI LOG==============\n\n";
  line("", "Driver Version", kDriver);
  line("", "CUDA Version", version_of_cuda());
  std::cout << "\n";
  line("", "Attached GPUs", std::to_string(count_of_devices()));
  for (const Device& device : devices) {
    std::cout << "GPU " << bus_of(device) << "\n";
    line("    ", "Product Name", device.properties.name);
    line("    ", "GPU UUID", uuid_of(device));
    std::cout << "    FB Memory Usage\n";
    line("        ", "Total", memory_of(device) + " MiB");
    line("        ", "Used", "0 MiB");
    line("        ", "Free", memory_of(device) + " MiB");
    line("    ", "Compute Mode", "Default");
  }
}

void answer(const Question& question) {
  const std::vector<Device> devices = devices_of(question);
  if (!question.query.empty()) {
    answer_query(question, devices);
  } else if (!question.format.empty()) {
    refuse("--format is for --query-gpu");
  } else if (question.lists) {
    for (const Device& device : devices)
      std::cout << "GPU " << device.index << ": " << device.properties.name << " (UUID: " << uuid_of(device)
                << ")\n";
  } else if (question.shows_all) {
    print_all(devices);
  } else {
    print_summary(devices);
  }
}

}  // namespace

int main(int argc, char** argv) {
  // To ask which devices there are is no use of them.
  unsetenv("OPGATE_SIM_REPORT");
  try {
    answer(question_in({argv + 1, static_cast<std::size_t>(argc - 1)}));
  } catch (const std::exception& error) {
    std::cerr << "nvidia-smi: " << error.what() << "\n";
    return kUnknown;
  }
}
