// What is compared: an instruction, or a few, with types of sources from which values are drawn.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace opgate::card {

/// How far a result may lie from the exact one, as the manual of PTX documents it: absolute, for a value of
/// the source and the exact result. A negative number: nothing is promised.
using Allowed = double (*)(double value, double result);

/// A text over the registers %r1 to %r3, %rd1 to %rd3, %f.., %fd.., %h.. and %p.., which hold the sources. It
/// writes the register 0 of a kind, and perhaps register 4. %rd20 is the address of 16 bytes of the thread's
/// own in global memory, %r20 of 16 bytes in shared memory.
struct Form {
  std::string group;                   ///< "integers", for the report
  std::string text;                    ///< "add.s32 %r0, %r1, %r2;"
  std::array<std::string, 3> sources;  ///< their types: "f32"; empty: none
  std::string result;                  ///< the type of register 0
  std::string second;                  ///< that of register 4; empty if it is not written
  Allowed allowed = nullptr;           ///< null: every bit counts
  bool whole_warps = false;            ///< lanes take part in each other's results
};

/// The letter of registers that hold a type: "r" for s32.
std::string letter_of(const std::string& type);

/// "%r1" for a type of 32 bits and 1.
std::string register_of(const std::string& type, int index);

/// `opcode %d0, %a1, %b2, %c3;` for these types.
Form plain_form(const std::string& group, const std::string& opcode, const std::string& result,
                const std::vector<std::string>& sources, Allowed allowed = nullptr);

void add_integer_forms(std::vector<Form>& forms);
void add_bit_forms(std::vector<Form>& forms);
void add_float_forms(std::vector<Form>& forms);
void add_small_float_forms(std::vector<Form>& forms);
void add_function_forms(std::vector<Form>& forms);
void add_comparison_forms(std::vector<Form>& forms);
void add_conversion_forms(std::vector<Form>& forms);
void add_memory_forms(std::vector<Form>& forms);
void add_warp_forms(std::vector<Form>& forms);

std::vector<Form> all_forms();

/// Values of each source of so many executions.
std::vector<std::array<std::uint64_t, 3>> sources_of(const Form& form);

/// A module whose kernel executes the form once in each thread. A thread has kRecord bytes: three sources of
/// 8 bytes, two results of 8 bytes, and 16 bytes of its own.
std::string kernel_of_form(const Form& form);

constexpr std::size_t kRecord = 64;
constexpr std::size_t kResults = 24;
constexpr std::size_t kOwn = 40;

}  // namespace opgate::card
