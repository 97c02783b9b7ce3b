// What the simulator says on stderr. Every line begins with "opgate sim: ", so that other programs can find
// it. Where OPGATE_SIM_REPORT names a file, mistakes of the program are appended to it, a line of JSON for
// each.
#pragma once

#include <string>
#include <vector>

#include <opgate_sim/finding.h>

namespace opgate::simulator {

/// Writes it to the file and, the first time, to stderr.
void report(const Finding& finding);

/// Notes in the file, once, that this process uses the devices.
void report_start();

/// Whether OPGATE_SIM_REPORT names a file.
bool has_report_file();

/// Notes in the file that a launch follows this part of the schedule.
void report_followed(const std::string& part);

/// For a signal handler: writes a finding of the tool memory to stderr and to the file. At most
/// 300 bytes of `text`, which may have no quotes and no control characters, are written.
void report_fault_of_host(const char* text);

/// Something that the person who runs the program should know: always written.
void report_notice(const std::string& text);

/// What tools say about a launch of the kernel, line by line. Written unless they have said the same before.
void report_notes(const std::string& kernel, const std::vector<std::string>& notes);

/// What happens, for people who look for a mistake: written where OPGATE_SIM_LOG is set.
void report_progress(const std::string& text);

/// That `function` is not simulated. Written once for each name, and to the file once for each test.
void report_unsupported(const std::string& function);

/// A C++ name as people write it; the name itself where it is none. Parameters, and the result, are left out
/// of a long one: those of a kernel that takes accessors of tensors fill many lines.
std::string readable_name(const std::string& mangled);

}  // namespace opgate::simulator
