#include "device/simulator.h"

#include <fmt/format.h>
#include <opgate/error.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <opgate_sim/loaded.h>
#include "base/files/cache_folder.h"
#include "base/files/files.h"
#include "base/files/search_path.h"
#include "base/function_name.h"
#include "device/torch_cuda.h"

namespace opgate {
namespace simulated {

namespace fs = std::filesystem;

constexpr const char* kRuntime = "libcudart.so.13";
// The runtimes of CUDA 13 and 12, and what compiles kernels while a program runs. Torch loads the real ones
// by their paths.
constexpr const char* kPreloaded = "libcudart.so.13:libcudart.so.12:libnvrtc.so.13:libnvrtc.so.12";

fs::path folder() { return this_library().parent_path() / "simulator"; }

// Triton is installed beside torch, and brings its own ptxas.
fs::path folder_of_ptxas() {
  return torch_cuda_library().parent_path().parent_path().parent_path() / "triton" / "backends" / "nvidia" /
         "bin";
}

// What compiles kernels while the program runs gets a stand-in for ptxas that keeps their PTX, and caches of
// its own: what is compiled for the simulated device is neither read nor replaced where a real one is used.
std::map<std::string, std::string> environment_of_compilers() {
  std::map<std::string, std::string> environment{
      {"TRITON_PTXAS_PATH", (folder() / "ptxas").string()},
      {"TRITON_PTXAS_BLACKWELL_PATH", (folder() / "ptxas-blackwell").string()},
      {"OPGATE_PTXAS_FOLDER", folder_of_ptxas().string()}};
  if (const fs::path caches = cache_folder(); !caches.empty())
    environment["TRITON_CACHE_DIR"] = (caches / "triton").string();
  // The processes that Inductor starts to compile in would compile each configuration of a kernel.
  if (std::getenv("TORCHINDUCTOR_COMPILE_THREADS") == nullptr)
    environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1";
  // Where Inductor keeps its own, and not in the home of a user whose name has a space: it compiles nothing
  // in such a folder.
  std::error_code failed;
  if (const fs::path temporary = fs::temp_directory_path(failed); !failed)
    environment["TORCHINDUCTOR_CACHE_DIR"] =
        (temporary / fmt::format("opgate_inductor_{}", getuid())).string();
  return environment;
}

}  // namespace simulated

std::optional<std::string> missing_simulator() {
  using std::filesystem::exists;
  if (!exists(simulated::folder() / simulated::kRuntime))
    return "this OpGate is built without the simulated CUDA device: put nvcc of CUDA 13 on PATH and build "
           "again";
  if (simulated::folder().string().find_first_of(":;") != std::string::npos)
    return "the simulated CUDA device cannot be loaded from a folder with : or ; in its name: " +
           simulated::folder().string();
  if (!has_torch_cuda()) return "this torch is built without CUDA";
  return std::nullopt;
}

// Torch's libraries have an RPATH, which comes before LD_LIBRARY_PATH, but not before LD_PRELOAD. A name
// without a slash is looked for in LD_LIBRARY_PATH, where, unlike in LD_PRELOAD, a folder may have spaces in
// its name.
std::map<std::string, std::string> simulator_environment() {
  std::map<std::string, std::string> environment{
      {"LD_PRELOAD", before_present(simulated::kPreloaded, "LD_PRELOAD")},
      {"LD_LIBRARY_PATH", before_present(simulated::folder().string(), "LD_LIBRARY_PATH")},
      // nvidia-smi alone lies there.
      {"PATH", before_present((simulated::folder() / "bin").string(), "PATH")},
      // torch's Python half looks at it, and the simulated runtime does not: all devices are there.
      {"CUDA_VISIBLE_DEVICES", "0,1,2,3,4,5,6,7"},
      // Each tensor is an allocation of its own, so that a kernel which leaves it is noticed.
      {"PYTORCH_NO_CUDA_MEMORY_CACHING", "1"}};
  environment.merge(simulated::environment_of_compilers());
  return environment;
}

namespace simulated {

void demand_right_settings() {
  const auto wrong = OPGATE_SIMULATED(opgate_sim_wrong_settings);
  std::array<char, 4096> text{};
  if (wrong(text.data(), text.size()) != 0) throw SetupError(text.data());
}

}  // namespace simulated

bool is_simulated() { return OPGATE_SIMULATED(opgate_sim_take_failure) != nullptr; }

void enable_simulated_device(DeviceAllocator allocator) {
  if (!is_simulated())
    throw SetupError("the simulated CUDA runtime was not loaded: LD_PRELOAD does not reach this process");
  simulated::demand_right_settings();
  // The next case needs this process, too.
  OPGATE_SIMULATED(opgate_sim_survive_host_faults)();
  accelerator(kSimulatedType).enable(allocator);
}

std::string SimulatedFailure::frame() const {
  return kernel.empty() ? "" : fmt::format("{} at {}", short_function_name(kernel), location);
}

std::optional<SimulatedFailure> take_simulated_failure() {
  static const auto take = OPGATE_SIMULATED(opgate_sim_take_failure);
  if (take == nullptr) return std::nullopt;
  std::array<char, 4096> text{};
  const int kind = take(text.data(), text.size());
  if (kind == 0) return std::nullopt;
  SimulatedFailure failure{{}, {}, {}, {}, (kind & 1) != 0, (kind & 2) != 0};
  std::istringstream lines(text.data());
  std::getline(lines, failure.error);
  std::getline(lines, failure.what);
  std::getline(lines, failure.kernel);
  std::getline(lines, failure.location);
  return failure;
}

namespace simulated {

std::atomic<unsigned> block_orders{0};

}  // namespace simulated

void restart_block_orders() {
  static const auto restart = OPGATE_SIMULATED(opgate_sim_restart_block_orders);
  if (restart != nullptr) restart(simulated::block_orders);
}

BlockOrders::BlockOrders(unsigned number) : before_(simulated::block_orders.exchange(number)) {}

BlockOrders::~BlockOrders() { simulated::block_orders = before_; }

namespace simulated {

void refuse_launch(unsigned number) {
  static const auto refuse = OPGATE_SIMULATED(opgate_sim_refuse_launch);
  if (refuse != nullptr) refuse(number);
}

}  // namespace simulated

RefusedLaunch::RefusedLaunch(unsigned number) { simulated::refuse_launch(number); }

RefusedLaunch::~RefusedLaunch() { simulated::refuse_launch(0); }

std::optional<std::string> RefusedLaunch::take_kernel() {
  static const auto take = OPGATE_SIMULATED(opgate_sim_take_refused_launch);
  std::array<char, 4096> name{};
  if (take == nullptr || take(name.data(), name.size()) == 0) return std::nullopt;
  return name.data();
}

namespace simulated {

void run_aten_at_once(int at_once) {
  static const auto choose = OPGATE_SIMULATED(opgate_sim_run_aten_at_once);
  if (choose != nullptr) choose(at_once);
}

}  // namespace simulated

OrderedOperators::OrderedOperators() { simulated::run_aten_at_once(0); }

OrderedOperators::~OrderedOperators() { simulated::run_aten_at_once(-1); }

namespace simulated {

// Whether the message has the name as a word, or at the start of one if it ends with '_'. Words in paths, in
// names of files and in names of the program's own functions do not count.
bool names(std::string_view message, std::string_view name) {
  const auto is_of_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '/' || c == '-' || c == '.';
  };
  for (std::size_t at = message.find(name); at != std::string_view::npos; at = message.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || !is_of_name(message[at - 1]);
    const bool ends = name.ends_with('_') || end == message.size() || !is_of_name(message[end]) ||
                      (message[end] == '.' && end + 1 == message.size());
    if (begins && ends) return true;
  }
  return false;
}

}  // namespace simulated

std::optional<std::string> unsimulated_library(std::string_view message) {
  constexpr std::array<std::string_view, 6> kStatusNames{
      "CUBLAS_STATUS_", "CUDNN_STATUS_", "CUSOLVER_STATUS_", "CUSPARSE_STATUS_", "CUFFT_", "CURAND_STATUS_"};
  for (const std::string_view name : kStatusNames) {
    if (simulated::names(message, name)) return std::string(name.substr(0, name.find('_')));
  }
  if (message.find("undefined symbol: cu") != std::string_view::npos) return "a function of the CUDA driver";
  return std::nullopt;
}

namespace simulated {

void watch(const char* tools) {
  static const auto function = OPGATE_SIMULATED(opgate_sim_watch);
  if (function != nullptr) function(tools);
}

}  // namespace simulated

SimulatorTools::SimulatorTools(const char* names) { simulated::watch(names); }

SimulatorTools::~SimulatorTools() { simulated::watch(""); }

std::vector<simulator::Finding> SimulatorTools::take() {
  static const auto take_line = OPGATE_SIMULATED(opgate_sim_take_finding);
  std::vector<simulator::Finding> findings;
  std::string line(4096, '\0');
  for (size_t length = 0; take_line != nullptr && (length = take_line(line.data(), line.size())) != 0;) {
    if (length >= line.size()) {
      line.resize(length + 1);
      continue;
    }
    findings.push_back(simulator::finding_from_line(std::string_view(line).substr(0, length)).value());
  }
  return findings;
}

}  // namespace opgate
