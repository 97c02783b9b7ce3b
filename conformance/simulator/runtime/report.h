// What the simulator says on stderr. Every line begins with "opgate sim: ", so that other programs can find it.
#pragma once

#include <string>

namespace opgate::simulator {

/// A mistake of the simulated program, or something that is not simulated: always written.
void report_finding(const std::string& text);

/// What happens, for people who look for a mistake: written where OPGATE_SIM_LOG is set.
void report_progress(const std::string& text);

/// That `function` is not simulated. Written once for each name.
void report_unsupported(const std::string& function);

/// A C++ name as people write it; the name itself where it is none.
std::string readable_name(const std::string& mangled);

}  // namespace opgate::simulator
