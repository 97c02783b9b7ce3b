// Functions of the driver.
#include "simulator/runtime/api.h"
#include "simulator/runtime/driver_functions.h"
#include "simulator/runtime/report.h"

using namespace opgate::simulator;

OPGATE_SIM_API cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                                            unsigned /*version*/,
                                                            unsigned long long /*flags*/,
                                                            cudaDriverEntryPointQueryResult* status) {
  return api_answer([&](Simulator&) {
    require(name);
    require(function);
    *function = driver_function(name);
    if (*function == nullptr) report_unsupported(name);
    if (status != nullptr)
      *status = *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  });
}
