// The names and texts of errors, as the real runtime and the real driver give them.
#include <algorithm>
#include <array>

#include "runtime/findings/errors.h"

namespace opgate::simulator {
namespace error_texts {

struct ErrorText {
  cudaError_t code;
  const char* name;       // null if it is one of the driver alone
  const char* of_driver;  // null if the driver has no such error
  const char* text;
};

// clang-format off
#define OPGATE_SIM_ERROR(name, of_driver, text) ErrorText{name, #name, of_driver, text}
constexpr std::array kTexts{
    OPGATE_SIM_ERROR(cudaSuccess, "CUDA_SUCCESS", "no error"),
    OPGATE_SIM_ERROR(cudaErrorInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"),
    OPGATE_SIM_ERROR(cudaErrorMemoryAllocation, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"),
    OPGATE_SIM_ERROR(cudaErrorInitializationError, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"),
    OPGATE_SIM_ERROR(cudaErrorCudartUnloading, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"),
    OPGATE_SIM_ERROR(cudaErrorProfilerDisabled, "CUDA_ERROR_PROFILER_DISABLED", "profiler disabled while using external profiling tool"),
    OPGATE_SIM_ERROR(cudaErrorProfilerNotInitialized, "CUDA_ERROR_PROFILER_NOT_INITIALIZED", "profiler not initialized: call cudaProfilerInitialize()"),
    OPGATE_SIM_ERROR(cudaErrorProfilerAlreadyStarted, "CUDA_ERROR_PROFILER_ALREADY_STARTED", "profiler already started"),
    OPGATE_SIM_ERROR(cudaErrorProfilerAlreadyStopped, "CUDA_ERROR_PROFILER_ALREADY_STOPPED", "profiler already stopped"),
    OPGATE_SIM_ERROR(cudaErrorInvalidConfiguration, nullptr, "invalid configuration argument"),
    OPGATE_SIM_ERROR(cudaErrorInvalidPitchValue, nullptr, "invalid pitch argument"),
    OPGATE_SIM_ERROR(cudaErrorInvalidSymbol, nullptr, "invalid device symbol"),
    OPGATE_SIM_ERROR(cudaErrorInvalidHostPointer, nullptr, "invalid host pointer"),
    OPGATE_SIM_ERROR(cudaErrorInvalidDevicePointer, nullptr, "invalid device pointer"),
    OPGATE_SIM_ERROR(cudaErrorInvalidTexture, nullptr, "invalid texture reference"),
    OPGATE_SIM_ERROR(cudaErrorInvalidTextureBinding, nullptr, "texture is not bound to a pointer"),
    OPGATE_SIM_ERROR(cudaErrorInvalidChannelDescriptor, nullptr, "invalid channel descriptor"),
    OPGATE_SIM_ERROR(cudaErrorInvalidMemcpyDirection, nullptr, "invalid copy direction for memcpy"),
    OPGATE_SIM_ERROR(cudaErrorAddressOfConstant, nullptr, "invalid address of constant"),
    OPGATE_SIM_ERROR(cudaErrorTextureFetchFailed, nullptr, "fetch from texture failed"),
    OPGATE_SIM_ERROR(cudaErrorTextureNotBound, nullptr, "cannot fetch from a texture that is not bound"),
    OPGATE_SIM_ERROR(cudaErrorSynchronizationError, nullptr, "incorrect use of __syncthreads()"),
    OPGATE_SIM_ERROR(cudaErrorInvalidFilterSetting, nullptr, "linear filtering not supported for non-float type"),
    OPGATE_SIM_ERROR(cudaErrorInvalidNormSetting, nullptr, "read as normalized float not supported for data type"),
    OPGATE_SIM_ERROR(cudaErrorMixedDeviceExecution, nullptr, "device emulation mode and device execution mode cannot be mixed"),
    OPGATE_SIM_ERROR(cudaErrorNotYetImplemented, nullptr, "feature not yet implemented"),
    OPGATE_SIM_ERROR(cudaErrorMemoryValueTooLarge, nullptr, "memory size or pointer value too large to fit in 32 bit"),
    OPGATE_SIM_ERROR(cudaErrorStubLibrary, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"),
    OPGATE_SIM_ERROR(cudaErrorInsufficientDriver, nullptr, "CUDA driver version is insufficient for CUDA runtime version"),
    OPGATE_SIM_ERROR(cudaErrorCallRequiresNewerDriver, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "API call is not supported in the installed CUDA driver"),
    OPGATE_SIM_ERROR(cudaErrorInvalidSurface, nullptr, "invalid surface reference"),
    OPGATE_SIM_ERROR(cudaErrorDuplicateVariableName, nullptr, "duplicate global variable looked up by string name"),
    OPGATE_SIM_ERROR(cudaErrorDuplicateTextureName, nullptr, "duplicate texture looked up by string name"),
    OPGATE_SIM_ERROR(cudaErrorDuplicateSurfaceName, nullptr, "duplicate surface looked up by string name"),
    OPGATE_SIM_ERROR(cudaErrorDevicesUnavailable, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"),
    OPGATE_SIM_ERROR(cudaErrorIncompatibleDriverContext, nullptr, "incompatible driver context"),
    OPGATE_SIM_ERROR(cudaErrorMissingConfiguration, nullptr, "__global__ function call is not configured"),
    OPGATE_SIM_ERROR(cudaErrorPriorLaunchFailure, nullptr, "unspecified launch failure in prior launch"),
    OPGATE_SIM_ERROR(cudaErrorLaunchMaxDepthExceeded, nullptr, "launch would exceed maximum depth of nested launches"),
    OPGATE_SIM_ERROR(cudaErrorLaunchFileScopedTex, nullptr, "launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)"),
    OPGATE_SIM_ERROR(cudaErrorLaunchFileScopedSurf, nullptr, "launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)"),
    OPGATE_SIM_ERROR(cudaErrorSyncDepthExceeded, nullptr, "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth"),
    OPGATE_SIM_ERROR(cudaErrorLaunchPendingCountExceeded, nullptr, "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"),
    OPGATE_SIM_ERROR(cudaErrorInvalidDeviceFunction, nullptr, "invalid device function"),
    OPGATE_SIM_ERROR(cudaErrorNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"),
    OPGATE_SIM_ERROR(cudaErrorInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"),
    OPGATE_SIM_ERROR(cudaErrorDeviceNotLicensed, "CUDA_ERROR_DEVICE_NOT_LICENSED", "device doesn't have valid Grid license"),
    OPGATE_SIM_ERROR(cudaErrorSoftwareValidityNotEstablished, nullptr, "integrity checks failed"),
    OPGATE_SIM_ERROR(cudaErrorStartupFailure, nullptr, "startup failure in cuda runtime"),
    OPGATE_SIM_ERROR(cudaErrorInvalidKernelImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"),
    OPGATE_SIM_ERROR(cudaErrorDeviceUninitialized, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"),
    OPGATE_SIM_ERROR(cudaErrorMapBufferObjectFailed, "CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed"),
    OPGATE_SIM_ERROR(cudaErrorUnmapBufferObjectFailed, "CUDA_ERROR_UNMAP_FAILED", "unmapping of buffer object failed"),
    OPGATE_SIM_ERROR(cudaErrorArrayIsMapped, "CUDA_ERROR_ARRAY_IS_MAPPED", "array is mapped"),
    OPGATE_SIM_ERROR(cudaErrorAlreadyMapped, "CUDA_ERROR_ALREADY_MAPPED", "resource already mapped"),
    OPGATE_SIM_ERROR(cudaErrorNoKernelImageForDevice, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"),
    OPGATE_SIM_ERROR(cudaErrorAlreadyAcquired, "CUDA_ERROR_ALREADY_ACQUIRED", "resource already acquired"),
    OPGATE_SIM_ERROR(cudaErrorNotMapped, "CUDA_ERROR_NOT_MAPPED", "resource not mapped"),
    OPGATE_SIM_ERROR(cudaErrorNotMappedAsArray, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY", "resource not mapped as array"),
    OPGATE_SIM_ERROR(cudaErrorNotMappedAsPointer, "CUDA_ERROR_NOT_MAPPED_AS_POINTER", "resource not mapped as pointer"),
    OPGATE_SIM_ERROR(cudaErrorECCUncorrectable, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"),
    OPGATE_SIM_ERROR(cudaErrorUnsupportedLimit, "CUDA_ERROR_UNSUPPORTED_LIMIT", "limit is not supported on this architecture"),
    OPGATE_SIM_ERROR(cudaErrorDeviceAlreadyInUse, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE", "exclusive-thread device already in use by a different thread"),
    OPGATE_SIM_ERROR(cudaErrorPeerAccessUnsupported, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported between these two devices"),
    OPGATE_SIM_ERROR(cudaErrorInvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"),
    OPGATE_SIM_ERROR(cudaErrorInvalidGraphicsContext, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT", "invalid OpenGL or DirectX context"),
    OPGATE_SIM_ERROR(cudaErrorNvlinkUncorrectable, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "uncorrectable NVLink error detected during the execution"),
    OPGATE_SIM_ERROR(cudaErrorJitCompilerNotFound, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"),
    OPGATE_SIM_ERROR(cudaErrorUnsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."),
    OPGATE_SIM_ERROR(cudaErrorJitCompilationDisabled, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "PTX JIT compilation was disabled"),
    OPGATE_SIM_ERROR(cudaErrorUnsupportedExecAffinity, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY", "the provided execution affinity is not supported"),
    OPGATE_SIM_ERROR(cudaErrorUnsupportedDevSideSync, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC", "the provided PTX contains unsupported call to cudaDeviceSynchronize"),
    OPGATE_SIM_ERROR(cudaErrorContained, "CUDA_ERROR_CONTAINED", "Invalid access of peer GPU memory over nvlink or a hardware error"),
    OPGATE_SIM_ERROR(cudaErrorInvalidSource, "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"),
    OPGATE_SIM_ERROR(cudaErrorFileNotFound, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"),
    OPGATE_SIM_ERROR(cudaErrorSharedObjectSymbolNotFound, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", "shared object symbol not found"),
    OPGATE_SIM_ERROR(cudaErrorSharedObjectInitFailed, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "shared object initialization failed"),
    OPGATE_SIM_ERROR(cudaErrorOperatingSystem, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"),
    OPGATE_SIM_ERROR(cudaErrorInvalidResourceHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"),
    OPGATE_SIM_ERROR(cudaErrorIllegalState, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"),
    OPGATE_SIM_ERROR(cudaErrorLossyQuery, "CUDA_ERROR_LOSSY_QUERY", "attempted introspection would be semantically lossy"),
    OPGATE_SIM_ERROR(cudaErrorSymbolNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"),
    OPGATE_SIM_ERROR(cudaErrorNotReady, "CUDA_ERROR_NOT_READY", "device not ready"),
    OPGATE_SIM_ERROR(cudaErrorIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"),
    OPGATE_SIM_ERROR(cudaErrorLaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"),
    OPGATE_SIM_ERROR(cudaErrorLaunchTimeout, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"),
    OPGATE_SIM_ERROR(cudaErrorLaunchIncompatibleTexturing, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING", "launch uses incompatible texturing mode"),
    OPGATE_SIM_ERROR(cudaErrorPeerAccessAlreadyEnabled, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"),
    OPGATE_SIM_ERROR(cudaErrorPeerAccessNotEnabled, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"),
    OPGATE_SIM_ERROR(cudaErrorSetOnActiveProcess, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "cannot set while device is active in this process"),
    OPGATE_SIM_ERROR(cudaErrorContextIsDestroyed, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"),
    OPGATE_SIM_ERROR(cudaErrorAssert, "CUDA_ERROR_ASSERT", "device-side assert triggered"),
    OPGATE_SIM_ERROR(cudaErrorTooManyPeers, "CUDA_ERROR_TOO_MANY_PEERS", "peer mapping resources exhausted"),
    OPGATE_SIM_ERROR(cudaErrorHostMemoryAlreadyRegistered, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "part or all of the requested memory range is already mapped"),
    OPGATE_SIM_ERROR(cudaErrorHostMemoryNotRegistered, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "pointer does not correspond to a registered memory region"),
    OPGATE_SIM_ERROR(cudaErrorHardwareStackError, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"),
    OPGATE_SIM_ERROR(cudaErrorIllegalInstruction, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"),
    OPGATE_SIM_ERROR(cudaErrorMisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"),
    OPGATE_SIM_ERROR(cudaErrorInvalidAddressSpace, "CUDA_ERROR_INVALID_ADDRESS_SPACE", "operation not supported on global/shared address space"),
    OPGATE_SIM_ERROR(cudaErrorInvalidPc, "CUDA_ERROR_INVALID_PC", "invalid program counter"),
    OPGATE_SIM_ERROR(cudaErrorLaunchFailure, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"),
    OPGATE_SIM_ERROR(cudaErrorCooperativeLaunchTooLarge, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"),
    OPGATE_SIM_ERROR(cudaErrorTensorMemoryLeak, "CUDA_ERROR_TENSOR_MEMORY_LEAK", "tensor memory not completely freed"),
    OPGATE_SIM_ERROR(cudaErrorNotPermitted, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"),
    OPGATE_SIM_ERROR(cudaErrorNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"),
    OPGATE_SIM_ERROR(cudaErrorSystemNotReady, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"),
    OPGATE_SIM_ERROR(cudaErrorSystemDriverMismatch, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"),
    OPGATE_SIM_ERROR(cudaErrorCompatNotSupportedOnDevice, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility was attempted on non supported HW"),
    OPGATE_SIM_ERROR(cudaErrorMpsConnectionFailed, "CUDA_ERROR_MPS_CONNECTION_FAILED", "MPS client failed to connect to the MPS control daemon or the MPS server"),
    OPGATE_SIM_ERROR(cudaErrorMpsRpcFailure, "CUDA_ERROR_MPS_RPC_FAILURE", "the remote procedural call between the MPS server and the MPS client failed"),
    OPGATE_SIM_ERROR(cudaErrorMpsServerNotReady, "CUDA_ERROR_MPS_SERVER_NOT_READY", "MPS server is not ready to accept new MPS client requests"),
    OPGATE_SIM_ERROR(cudaErrorMpsMaxClientsReached, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", "the hardware resources required to create MPS client have been exhausted"),
    OPGATE_SIM_ERROR(cudaErrorMpsMaxConnectionsReached, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", "the hardware resources required to support device connections have been exhausted"),
    OPGATE_SIM_ERROR(cudaErrorMpsClientTerminated, "CUDA_ERROR_MPS_CLIENT_TERMINATED", "the MPS client has been terminated by the server"),
    OPGATE_SIM_ERROR(cudaErrorCdpNotSupported, "CUDA_ERROR_CDP_NOT_SUPPORTED", "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support it"),
    OPGATE_SIM_ERROR(cudaErrorCdpVersionMismatch, "CUDA_ERROR_CDP_VERSION_MISMATCH", "unsupported interaction between different versions of CUDA Dynamic Parallelism"),
    OPGATE_SIM_ERROR(cudaErrorStreamCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"),
    OPGATE_SIM_ERROR(cudaErrorStreamCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"),
    OPGATE_SIM_ERROR(cudaErrorStreamCaptureMerge, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "operation would result in a merge of separate capture sequences"),
    OPGATE_SIM_ERROR(cudaErrorStreamCaptureUnmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not ended in the same stream as it began"),
    OPGATE_SIM_ERROR(cudaErrorStreamCaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"),
    OPGATE_SIM_ERROR(cudaErrorStreamCaptureIsolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work in another stream"),
    OPGATE_SIM_ERROR(cudaErrorStreamCaptureImplicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "operation would make the legacy stream depend on a capturing blocking stream"),
    OPGATE_SIM_ERROR(cudaErrorCapturedEvent, "CUDA_ERROR_CAPTURED_EVENT", "operation not permitted on an event last recorded in a capturing stream"),
    OPGATE_SIM_ERROR(cudaErrorStreamCaptureWrongThread, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "attempt to terminate a thread-local capture sequence from another thread"),
    OPGATE_SIM_ERROR(cudaErrorTimeout, "CUDA_ERROR_TIMEOUT", "wait operation timed out"),
    OPGATE_SIM_ERROR(cudaErrorGraphExecUpdateFailure, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"),
    OPGATE_SIM_ERROR(cudaErrorExternalDevice, "CUDA_ERROR_EXTERNAL_DEVICE", "an async error has occured in external entity outside of CUDA"),
    OPGATE_SIM_ERROR(cudaErrorInvalidClusterSize, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "a kernel launch error has occurred due to cluster misconfiguration"),
    OPGATE_SIM_ERROR(cudaErrorFunctionNotLoaded, "CUDA_ERROR_FUNCTION_NOT_LOADED", "the function handle is not loaded when calling an API that requires a loaded function"),
    OPGATE_SIM_ERROR(cudaErrorInvalidResourceType, "CUDA_ERROR_INVALID_RESOURCE_TYPE", "one or more resources passed in are not valid resource types for the operation"),
    OPGATE_SIM_ERROR(cudaErrorInvalidResourceConfiguration, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", "one or more resources are insufficient or non-applicable for the operation"),
    ErrorText{static_cast<cudaError_t>(202), nullptr, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT", nullptr},
    ErrorText{static_cast<cudaError_t>(916), nullptr, "CUDA_ERROR_KEY_ROTATION", nullptr},
    OPGATE_SIM_ERROR(cudaErrorUnknown, "CUDA_ERROR_UNKNOWN", "unknown error"),
};
#undef OPGATE_SIM_ERROR
// clang-format on

const ErrorText* find(cudaError_t code) {
  const auto* const found = std::ranges::find(kTexts, code, &ErrorText::code);
  return found == kTexts.end() ? nullptr : found;
}

const char* known(const char* ErrorText::*text, cudaError_t code) {
  const auto* const found = find(code);
  return found == nullptr || found->*text == nullptr ? "unrecognized error code" : found->*text;
}

}  // namespace error_texts

const char* error_name(cudaError_t code) { return error_texts::known(&error_texts::ErrorText::name, code); }

const char* error_text(cudaError_t code) { return error_texts::known(&error_texts::ErrorText::text, code); }

const char* driver_error_name(cudaError_t code) {
  const auto* const found = error_texts::find(code);
  return found == nullptr ? nullptr : found->of_driver;
}

}  // namespace opgate::simulator
