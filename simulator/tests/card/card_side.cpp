// The card, by functions of the driver that are found when the program runs: it is linked without CUDA.
#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <stdexcept>

#include "card/side.h"

namespace opgate::card {
namespace {

using Handle = void*;

/// The functions of libcuda.so.1 that are needed. Each returns 0 or an error.
struct Driver {
  int (*init)(unsigned);
  int (*device)(int*, int);
  int (*name)(char*, int, int);
  int (*version)(int*);
  int (*retain)(Handle*, int);
  int (*make_current)(Handle);
  int (*load)(Handle*, const void*, unsigned, int*, void**);
  int (*unload)(Handle);
  int (*function)(Handle*, Handle, const char*);
  int (*allocate)(std::uint64_t*, std::size_t);
  int (*free)(std::uint64_t);
  int (*to_card)(std::uint64_t, const void*, std::size_t);
  int (*to_host)(void*, std::uint64_t, std::size_t);
  int (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**,
                void**);
  int (*synchronize)();
  int (*error_name)(int, const char**);
};

template <class Function>
void find(Handle library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw std::runtime_error(std::string("libcuda.so.1 has no function ") + name);
}

Driver load_driver() {
  Handle const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) throw std::runtime_error(std::string("there is no driver: ") + dlerror());
  Driver driver{};
  find(library, "cuInit", driver.init);
  find(library, "cuDeviceGet", driver.device);
  find(library, "cuDeviceGetName", driver.name);
  find(library, "cuDriverGetVersion", driver.version);
  find(library, "cuDevicePrimaryCtxRetain", driver.retain);
  find(library, "cuCtxSetCurrent", driver.make_current);
  find(library, "cuModuleLoadDataEx", driver.load);
  find(library, "cuModuleUnload", driver.unload);
  find(library, "cuModuleGetFunction", driver.function);
  find(library, "cuMemAlloc_v2", driver.allocate);
  find(library, "cuMemFree_v2", driver.free);
  find(library, "cuMemcpyHtoD_v2", driver.to_card);
  find(library, "cuMemcpyDtoH_v2", driver.to_host);
  find(library, "cuLaunchKernel", driver.launch);
  find(library, "cuCtxSynchronize", driver.synchronize);
  find(library, "cuGetErrorName", driver.error_name);
  return driver;
}

class Card final : public Side {
 public:
  Card() : driver_(load_driver()) {
    int device = 0;
    Handle context = nullptr;
    std::array<char, 256> text{};
    int version = 0;
    demand(driver_.init(0), "cuInit");
    demand(driver_.device(&device, 0), "cuDeviceGet");
    demand(driver_.name(text.data(), static_cast<int>(text.size()), device), "cuDeviceGetName");
    demand(driver_.version(&version), "cuDriverGetVersion");
    demand(driver_.retain(&context, device), "cuDevicePrimaryCtxRetain");
    demand(driver_.make_current(context), "cuCtxSetCurrent");
    name_ = std::string(text.data()) + ", driver for CUDA " + std::to_string(version / 1000) + "." +
            std::to_string(version % 1000 / 10);
  }

  std::string name() const override { return name_; }

  Result run(const Work& work) override {
    constexpr int kErrorLogBuffer = 5;
    constexpr int kErrorLogBytes = 6;
    std::string log(2000, '\0');
    std::array<int, 2> options{kErrorLogBuffer, kErrorLogBytes};
    std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
    Handle module = nullptr;
    if (driver_.load(&module, work.ptx.c_str(), 2, options.data(), values.data()) != 0)
      return {{}, "the driver refuses the PTX: " + std::string(log.c_str())};
    Handle kernel = nullptr;
    demand(driver_.function(&kernel, module, "k"), "cuModuleGetFunction");
    std::uint64_t memory = 0;
    demand(driver_.allocate(&memory, work.memory.size()), "cuMemAlloc");
    demand(driver_.to_card(memory, work.memory.data(), work.memory.size()), "cuMemcpyHtoD");
    void* argument = &memory;
    demand(driver_.launch(kernel, work.blocks, 1, 1, work.threads, 1, 1, 0, nullptr, &argument, nullptr),
           "cuLaunchKernel");
    if (const int error = driver_.synchronize(); error != 0) throw LostSide("it " + failure_of(error));
    Result result{std::vector<unsigned char>(work.memory.size()), {}};
    demand(driver_.to_host(result.memory.data(), memory, result.memory.size()), "cuMemcpyDtoH");
    demand(driver_.free(memory), "cuMemFree");
    demand(driver_.unload(module), "cuModuleUnload");
    return result;
  }

 private:
  void demand(int error, const std::string& what) const {
    if (error != 0) throw std::runtime_error(what + " " + failure_of(error));
  }

  std::string failure_of(int error) const {
    const char* text = nullptr;
    driver_.error_name(error, &text);
    return std::string("failed with ") + (text != nullptr ? text : std::to_string(error));
  }

  Driver driver_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Side> card_side() { return std::make_unique<Card>(); }

}  // namespace opgate::card
