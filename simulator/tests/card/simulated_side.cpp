#include <stdexcept>

#include "card/side.h"
#include "unit/fake_memory.h"

namespace opgate::card {
namespace {

using namespace simulator;

class Simulated : public Side {
 public:
  std::string name() const override { return "simulator"; }

  Result run(const Work& work) override {
    tests::FakeDevice device;
    try {
      const std::unique_ptr<Module> module = Module::parse(work.ptx);
      CompilationSettings settings;
      settings.when = CompilationSettings::When::never;
      module->set_compilation(settings);
      const std::uint64_t memory = device.allocate(work.memory);
      Launch launch = tests::launch_of("k", {work.blocks}, {work.threads}, tests::Arguments(memory));
      launch.cluster = {work.cluster, 1, 1};
      const Signature* const signature = module->find("k");
      launch.has_clusters = signature != nullptr && signature->required_cluster;
      const Outcome outcome = module->run(launch, device);
      return {device.read<unsigned char>(memory), outcome.message};
    } catch (const std::runtime_error& unreadable) {
      return {{}, unreadable.what()};
    }
  }
};

class StandIn final : public Simulated {
 public:
  explicit StandIn(const std::string& planted) {
    const std::size_t equals = planted.find('=');
    if (planted.empty()) return;
    if (equals == 0 || equals == std::string::npos)
      throw std::runtime_error("a planted difference is given as OLD=NEW, and not as '" + planted + "'");
    old_ = planted.substr(0, equals);
    new_ = planted.substr(equals + 1);
  }

  std::string name() const override { return "the simulator, instead of a card"; }

  Result run(const Work& work) override {
    Work changed = work;
    for (std::size_t at = 0; !old_.empty() && (at = changed.ptx.find(old_, at)) != std::string::npos;
         at += new_.size())
      changed.ptx.replace(at, old_.size(), new_);
    return Simulated::run(changed);
  }

 private:
  std::string old_;
  std::string new_;
};

}  // namespace

std::unique_ptr<Side> simulated_side() { return std::make_unique<Simulated>(); }

std::unique_ptr<Side> stand_in_side(const std::string& planted) { return std::make_unique<StandIn>(planted); }

}  // namespace opgate::card
