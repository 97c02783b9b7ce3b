#include "process/mutants.h"

#include <dlfcn.h>
#include <link.h>
#include <opgate/error.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "process/ptx_mutants.h"

namespace opgate {
namespace {

constexpr int kMost = 1 << 16;

std::vector<std::string> every_loaded_file() {
  std::vector<std::string> files;
  const auto take = [](dl_phdr_info* info, size_t, void* files) {
    static_cast<std::vector<std::string>*>(files)->emplace_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(take, &files);
  return files;
}

// The function of this name in each library that has one.
template <typename Function>
std::vector<Function*> functions(const char* name) {
  std::vector<Function*> found;
  for (const std::string& file : every_loaded_file()) {
    void* const loaded = file.empty() ? nullptr : dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (loaded == nullptr) continue;
    auto* const function = reinterpret_cast<Function*>(dlsym(loaded, name));
    dlclose(loaded);  // it stays loaded, because other code has opened it
    if (function != nullptr && std::ranges::count(found, function) == 0) found.push_back(function);
  }
  return found;
}

}  // namespace

void choose_mutant(int number) {
  const auto choose = functions<void(int)>("opgate_choose_mutant");
  if (choose.empty() && std::getenv(kNoMutantsInLibraries) == nullptr)
    throw SetupError(
        "no library was built with mutants, or its build hides the function opgate_choose_mutant");
  for (auto* const each : choose) each(number);
  choose_ptx_mutant(number);
}

std::vector<int> reached_mutants() {
  std::vector<int> all = take_reached_ptx();
  std::vector<int> numbers(kMost);
  using List = int(int*, int);
  static const auto kOfLibraries = functions<List>("opgate_reached_mutants");  // after choose_mutant()
  for (auto* const each : kOfLibraries) {
    const int count = each(numbers.data(), kMost);
    all.insert(all.end(), numbers.begin(), numbers.begin() + count);
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

}  // namespace opgate
