#include "ptx/program_builder.h"

#include <algorithm>

#include "ptx/body.h"

namespace opgate::simulator {

std::unique_ptr<Program> ProgramBuilder::build(const DeclaredFunction& kernel) {
  program_ = std::make_unique<Program>();
  program_->locations.emplace_back();
  describe(kernel);
  function_index(kernel.name);
  // Reading a body adds the functions that it calls.
  for (std::size_t i = 0; i < declared_.size(); ++i)
    read_body(*this, *declared_[i], i, *program_->functions[i]);
  finish_shared();
  number_instructions();
  return std::move(program_);
}

void ProgramBuilder::describe(const DeclaredFunction& kernel) {
  Signature& signature = program_->signature;
  for (const Formal& formal : kernel.parameters) {
    const std::size_t offset = aligned(signature.parameter_bytes, formal.variable.alignment);
    signature.parameters.push_back({offset, formal.variable.bytes});
    signature.parameter_bytes = offset + formal.variable.bytes;
  }
  constexpr unsigned kMostOfDevice = 1024;
  if (kernel.max_threads != 0) signature.max_threads = std::min(kernel.max_threads, kMostOfDevice);
  signature.required_cluster = kernel.cluster;
  signature.target = declarations_.target;
}

int ProgramBuilder::function_index(const std::string& name) {
  const DeclaredFunction* const function = declarations_.function(name);
  if (function == nullptr || !function->has_body) return -1;
  const auto [known, is_new] = indices_.try_emplace(function->name, static_cast<int>(declared_.size()));
  if (is_new) {
    declared_.push_back(function);
    program_->functions.push_back(std::make_unique<Function>());
    program_->functions.back()->name = function->name;
  }
  return known->second;
}

std::uint64_t ProgramBuilder::function_address(const std::string& name) {
  const int index = function_index(name);
  const std::uint64_t address = declarations_.address_of(*declarations_.function(name));
  program_->addresses[address] = static_cast<std::size_t>(index);
  return address;
}

void ProgramBuilder::add_functions_in_variables() {
  for (const Declared& variable : declarations_.variables) {
    for (const AddressInVariable& place : variable.addresses) {
      if (function_index(place.symbol) >= 0) function_address(place.symbol);
    }
  }
}

std::size_t ProgramBuilder::place_shared(const Declared& variable) {
  std::size_t& top = program_->signature.static_shared_bytes;
  const std::size_t offset = aligned(top, variable.alignment);
  top = offset + variable.bytes;
  return offset;
}

std::size_t ProgramBuilder::place_shared_of_module(const Declared& variable) {
  const auto known = shared_of_module_.find(variable.name);
  if (known != shared_of_module_.end()) return known->second;
  return shared_of_module_[variable.name] = place_shared(variable);
}

void ProgramBuilder::add_dynamic_shared_slot(std::size_t function, Slot slot, std::uint64_t addend,
                                             std::size_t alignment) {
  dynamic_slots_.push_back({function, slot, addend});
  dynamic_alignment_ = std::max(dynamic_alignment_, alignment);
}

void ProgramBuilder::finish_shared() {
  program_->dynamic_shared_offset = aligned(program_->signature.static_shared_bytes, dynamic_alignment_);
  for (const DynamicSlot& dynamic : dynamic_slots_)
    program_->functions[dynamic.function]->initial[static_cast<std::size_t>(dynamic.slot)] =
        program_->dynamic_shared_offset + dynamic.addend;
}

void ProgramBuilder::number_instructions() {
  std::uint32_t first = 1;
  for (const auto& function : program_->functions) {
    function->first_number = first;
    first += static_cast<std::uint32_t>(function->code.size());
  }
}

const std::string* ProgramBuilder::text(std::string_view opcode) {
  return &*program_->texts.emplace(opcode).first;
}

std::uint32_t ProgramBuilder::location(std::uint64_t file, std::uint64_t line) {
  const auto name = declarations_.files.find(file);
  if (name == declarations_.files.end()) return 0;
  const std::string location = name->second + ":" + std::to_string(line);
  const auto [known, is_new] =
      locations_.try_emplace(location, static_cast<std::uint32_t>(program_->locations.size()));
  if (is_new) program_->locations.push_back(location);
  return known->second;
}

}  // namespace opgate::simulator
