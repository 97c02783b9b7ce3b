// A schedule: which blocks of a launch begin before the others, and which warps of a block go first. All that
// it does not name goes by index. It is a line of text that people can read, write, and give to a program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <opgate_sim/notation.h>

namespace opgate::simulator {

struct WarpsOfBlock {
  Extent block;
  std::vector<unsigned> first;  ///< go before the others whenever the block has its turn, in this order
};

struct LaunchSchedule {
  std::uint64_t number = 0;   ///< of the launches of a process, from 1, as it issues them
  std::string kernel = {};    ///< as `name_in_schedule` has it; empty: whichever it is
  std::vector<Extent> first;  ///< blocks that begin before the others, in this order
  std::vector<WarpsOfBlock> warps;
};

/// "twice<float>" of "void twice<float>(float*, unsigned int)": a name without spaces.
std::string name_in_schedule(const std::string& readable_name);

/// "1" of 1,0,0 and "0,2" of 0,2,0
std::string block_in_schedule(const Extent& block);

/// "launch 2 of twice: blocks 3 1 and warps 1 of block 0; launch 3: blocks 0,1"
std::string to_text(const std::vector<LaunchSchedule>& schedule);

/// Reads such a text. Throws std::runtime_error with what is wrong with it.
std::vector<LaunchSchedule> schedule_from_text(std::string_view text);

/// For people: "in launch 2 of twice, block 3 begins first, then block 1, then the others by index".
std::string in_plain_words(const LaunchSchedule& launch);

}  // namespace opgate::simulator
