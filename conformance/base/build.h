// Facts of this build. CMake writes their values into one small file, so that a compiler cache serves all
// other files in other folders, too.
#pragma once

namespace opgate {

extern const char* const kVersion;       ///< of OpGate
extern const char* const kTorchVersion;  ///< of the torch that OpGate was built with
extern const char* const kPython;        ///< the interpreter that runs the Python half

}  // namespace opgate
