// Digests of what was tested, and of the engine that tested it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "plan/config.h"

namespace opgate {

/// SHA-1 over `python_sources` (a digest of the files of the Python half; see PythonCatalog) and the digests
/// of the operator and spec libraries. Throws SetupError if a library is not found.
std::string libraries_digest(const Config& config, const std::string& python_sources = "");

/// The files with samples in the folders of recorded calls and regressions.
std::vector<std::filesystem::path> sample_files(const std::filesystem::path& recorded,
                                                const std::filesystem::path& regressions);

/// By path: SHA-1 of each file that the tested operators and their specs come from: the libraries of
/// operators and specs, those that they load, the sample_files(), and `others`, such as Python modules. Call
/// it after the libraries were loaded.
std::map<std::string, std::string> digests_of_files(const Config& config,
                                                    const std::vector<std::string>& others);

/// SHA-1 over the bytes of the library that holds this engine.
std::string engine_digest();

}  // namespace opgate
