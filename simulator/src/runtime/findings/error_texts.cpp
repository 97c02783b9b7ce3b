// The names and texts of errors, as the real runtime gives them.
#include <algorithm>
#include <array>

#include "runtime/findings/errors.h"

namespace opgate::simulator {
namespace error_texts {

struct ErrorText {
  cudaError_t code;
  const char* name;
  const char* text;
};

// clang-format off
#define OPGATE_SIM_ERROR(name, text) ErrorText{name, #name, text}
constexpr std::array kTexts{
    OPGATE_SIM_ERROR(cudaSuccess, "no error"),
    OPGATE_SIM_ERROR(cudaErrorInvalidValue, "invalid argument"),
    OPGATE_SIM_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    OPGATE_SIM_ERROR(cudaErrorInitializationError, "initialization error"),
    OPGATE_SIM_ERROR(cudaErrorCudartUnloading, "driver shutting down"),
    OPGATE_SIM_ERROR(cudaErrorProfilerDisabled, "profiler disabled while using external profiling tool"),
    OPGATE_SIM_ERROR(cudaErrorProfilerNotInitialized, "profiler not initialized: call cudaProfilerInitialize()"),
    OPGATE_SIM_ERROR(cudaErrorProfilerAlreadyStarted, "profiler already started"),
    OPGATE_SIM_ERROR(cudaErrorProfilerAlreadyStopped, "profiler already stopped"),
    OPGATE_SIM_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    OPGATE_SIM_ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    OPGATE_SIM_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    OPGATE_SIM_ERROR(cudaErrorInvalidHostPointer, "invalid host pointer"),
    OPGATE_SIM_ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    OPGATE_SIM_ERROR(cudaErrorInvalidTexture, "invalid texture reference"),
    OPGATE_SIM_ERROR(cudaErrorInvalidTextureBinding, "texture is not bound to a pointer"),
    OPGATE_SIM_ERROR(cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    OPGATE_SIM_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    OPGATE_SIM_ERROR(cudaErrorAddressOfConstant, "invalid address of constant"),
    OPGATE_SIM_ERROR(cudaErrorTextureFetchFailed, "fetch from texture failed"),
    OPGATE_SIM_ERROR(cudaErrorTextureNotBound, "cannot fetch from a texture that is not bound"),
    OPGATE_SIM_ERROR(cudaErrorSynchronizationError, "incorrect use of __syncthreads()"),
    OPGATE_SIM_ERROR(cudaErrorInvalidFilterSetting, "linear filtering not supported for non-float type"),
    OPGATE_SIM_ERROR(cudaErrorInvalidNormSetting, "read as normalized float not supported for data type"),
    OPGATE_SIM_ERROR(cudaErrorMixedDeviceExecution, "device emulation mode and device execution mode cannot be mixed"),
    OPGATE_SIM_ERROR(cudaErrorNotYetImplemented, "feature not yet implemented"),
    OPGATE_SIM_ERROR(cudaErrorMemoryValueTooLarge, "memory size or pointer value too large to fit in 32 bit"),
    OPGATE_SIM_ERROR(cudaErrorStubLibrary, "CUDA driver is a stub library"),
    OPGATE_SIM_ERROR(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    OPGATE_SIM_ERROR(cudaErrorCallRequiresNewerDriver, "API call is not supported in the installed CUDA driver"),
    OPGATE_SIM_ERROR(cudaErrorInvalidSurface, "invalid surface reference"),
    OPGATE_SIM_ERROR(cudaErrorDuplicateVariableName, "duplicate global variable looked up by string name"),
    OPGATE_SIM_ERROR(cudaErrorDuplicateTextureName, "duplicate texture looked up by string name"),
    OPGATE_SIM_ERROR(cudaErrorDuplicateSurfaceName, "duplicate surface looked up by string name"),
    OPGATE_SIM_ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    OPGATE_SIM_ERROR(cudaErrorIncompatibleDriverContext, "incompatible driver context"),
    OPGATE_SIM_ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    OPGATE_SIM_ERROR(cudaErrorPriorLaunchFailure, "unspecified launch failure in prior launch"),
    OPGATE_SIM_ERROR(cudaErrorLaunchMaxDepthExceeded, "launch would exceed maximum depth of nested launches"),
    OPGATE_SIM_ERROR(cudaErrorLaunchFileScopedTex, "launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)"),
    OPGATE_SIM_ERROR(cudaErrorLaunchFileScopedSurf, "launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)"),
    OPGATE_SIM_ERROR(cudaErrorSyncDepthExceeded, "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth"),
    OPGATE_SIM_ERROR(cudaErrorLaunchPendingCountExceeded, "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"),
    OPGATE_SIM_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    OPGATE_SIM_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    OPGATE_SIM_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    OPGATE_SIM_ERROR(cudaErrorDeviceNotLicensed, "device doesn't have valid Grid license"),
    OPGATE_SIM_ERROR(cudaErrorSoftwareValidityNotEstablished, "integrity checks failed"),
    OPGATE_SIM_ERROR(cudaErrorStartupFailure, "startup failure in cuda runtime"),
    OPGATE_SIM_ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    OPGATE_SIM_ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    OPGATE_SIM_ERROR(cudaErrorMapBufferObjectFailed, "mapping of buffer object failed"),
    OPGATE_SIM_ERROR(cudaErrorUnmapBufferObjectFailed, "unmapping of buffer object failed"),
    OPGATE_SIM_ERROR(cudaErrorArrayIsMapped, "array is mapped"),
    OPGATE_SIM_ERROR(cudaErrorAlreadyMapped, "resource already mapped"),
    OPGATE_SIM_ERROR(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    OPGATE_SIM_ERROR(cudaErrorAlreadyAcquired, "resource already acquired"),
    OPGATE_SIM_ERROR(cudaErrorNotMapped, "resource not mapped"),
    OPGATE_SIM_ERROR(cudaErrorNotMappedAsArray, "resource not mapped as array"),
    OPGATE_SIM_ERROR(cudaErrorNotMappedAsPointer, "resource not mapped as pointer"),
    OPGATE_SIM_ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    OPGATE_SIM_ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    OPGATE_SIM_ERROR(cudaErrorDeviceAlreadyInUse, "exclusive-thread device already in use by a different thread"),
    OPGATE_SIM_ERROR(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    OPGATE_SIM_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    OPGATE_SIM_ERROR(cudaErrorInvalidGraphicsContext, "invalid OpenGL or DirectX context"),
    OPGATE_SIM_ERROR(cudaErrorNvlinkUncorrectable, "uncorrectable NVLink error detected during the execution"),
    OPGATE_SIM_ERROR(cudaErrorJitCompilerNotFound, "PTX JIT compiler library not found"),
    OPGATE_SIM_ERROR(cudaErrorUnsupportedPtxVersion, "the provided PTX was compiled with an unsupported toolchain."),
    OPGATE_SIM_ERROR(cudaErrorJitCompilationDisabled, "PTX JIT compilation was disabled"),
    OPGATE_SIM_ERROR(cudaErrorUnsupportedExecAffinity, "the provided execution affinity is not supported"),
    OPGATE_SIM_ERROR(cudaErrorUnsupportedDevSideSync, "the provided PTX contains unsupported call to cudaDeviceSynchronize"),
    OPGATE_SIM_ERROR(cudaErrorContained, "Invalid access of peer GPU memory over nvlink or a hardware error"),
    OPGATE_SIM_ERROR(cudaErrorInvalidSource, "device kernel image is invalid"),
    OPGATE_SIM_ERROR(cudaErrorFileNotFound, "file not found"),
    OPGATE_SIM_ERROR(cudaErrorSharedObjectSymbolNotFound, "shared object symbol not found"),
    OPGATE_SIM_ERROR(cudaErrorSharedObjectInitFailed, "shared object initialization failed"),
    OPGATE_SIM_ERROR(cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
    OPGATE_SIM_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    OPGATE_SIM_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    OPGATE_SIM_ERROR(cudaErrorLossyQuery, "attempted introspection would be semantically lossy"),
    OPGATE_SIM_ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    OPGATE_SIM_ERROR(cudaErrorNotReady, "device not ready"),
    OPGATE_SIM_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    OPGATE_SIM_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    OPGATE_SIM_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    OPGATE_SIM_ERROR(cudaErrorLaunchIncompatibleTexturing, "launch uses incompatible texturing mode"),
    OPGATE_SIM_ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    OPGATE_SIM_ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    OPGATE_SIM_ERROR(cudaErrorSetOnActiveProcess, "cannot set while device is active in this process"),
    OPGATE_SIM_ERROR(cudaErrorContextIsDestroyed, "context is destroyed"),
    OPGATE_SIM_ERROR(cudaErrorAssert, "device-side assert triggered"),
    OPGATE_SIM_ERROR(cudaErrorTooManyPeers, "peer mapping resources exhausted"),
    OPGATE_SIM_ERROR(cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
    OPGATE_SIM_ERROR(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    OPGATE_SIM_ERROR(cudaErrorHardwareStackError, "hardware stack error"),
    OPGATE_SIM_ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    OPGATE_SIM_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    OPGATE_SIM_ERROR(cudaErrorInvalidAddressSpace, "operation not supported on global/shared address space"),
    OPGATE_SIM_ERROR(cudaErrorInvalidPc, "invalid program counter"),
    OPGATE_SIM_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    OPGATE_SIM_ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    OPGATE_SIM_ERROR(cudaErrorTensorMemoryLeak, "tensor memory not completely freed"),
    OPGATE_SIM_ERROR(cudaErrorNotPermitted, "operation not permitted"),
    OPGATE_SIM_ERROR(cudaErrorNotSupported, "operation not supported"),
    OPGATE_SIM_ERROR(cudaErrorSystemNotReady, "system not yet initialized"),
    OPGATE_SIM_ERROR(cudaErrorSystemDriverMismatch, "system has unsupported display driver / cuda driver combination"),
    OPGATE_SIM_ERROR(cudaErrorCompatNotSupportedOnDevice, "forward compatibility was attempted on non supported HW"),
    OPGATE_SIM_ERROR(cudaErrorMpsConnectionFailed, "MPS client failed to connect to the MPS control daemon or the MPS server"),
    OPGATE_SIM_ERROR(cudaErrorMpsRpcFailure, "the remote procedural call between the MPS server and the MPS client failed"),
    OPGATE_SIM_ERROR(cudaErrorMpsServerNotReady, "MPS server is not ready to accept new MPS client requests"),
    OPGATE_SIM_ERROR(cudaErrorMpsMaxClientsReached, "the hardware resources required to create MPS client have been exhausted"),
    OPGATE_SIM_ERROR(cudaErrorMpsMaxConnectionsReached, "the hardware resources required to support device connections have been exhausted"),
    OPGATE_SIM_ERROR(cudaErrorMpsClientTerminated, "the MPS client has been terminated by the server"),
    OPGATE_SIM_ERROR(cudaErrorCdpNotSupported, "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support it"),
    OPGATE_SIM_ERROR(cudaErrorCdpVersionMismatch, "unsupported interaction between different versions of CUDA Dynamic Parallelism"),
    OPGATE_SIM_ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    OPGATE_SIM_ERROR(cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"),
    OPGATE_SIM_ERROR(cudaErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences"),
    OPGATE_SIM_ERROR(cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"),
    OPGATE_SIM_ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    OPGATE_SIM_ERROR(cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"),
    OPGATE_SIM_ERROR(cudaErrorStreamCaptureImplicit, "operation would make the legacy stream depend on a capturing blocking stream"),
    OPGATE_SIM_ERROR(cudaErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream"),
    OPGATE_SIM_ERROR(cudaErrorStreamCaptureWrongThread, "attempt to terminate a thread-local capture sequence from another thread"),
    OPGATE_SIM_ERROR(cudaErrorTimeout, "wait operation timed out"),
    OPGATE_SIM_ERROR(cudaErrorGraphExecUpdateFailure, "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"),
    OPGATE_SIM_ERROR(cudaErrorExternalDevice, "an async error has occured in external entity outside of CUDA"),
    OPGATE_SIM_ERROR(cudaErrorInvalidClusterSize, "a kernel launch error has occurred due to cluster misconfiguration"),
    OPGATE_SIM_ERROR(cudaErrorFunctionNotLoaded, "the function handle is not loaded when calling an API that requires a loaded function"),
    OPGATE_SIM_ERROR(cudaErrorInvalidResourceType, "one or more resources passed in are not valid resource types for the operation"),
    OPGATE_SIM_ERROR(cudaErrorInvalidResourceConfiguration, "one or more resources are insufficient or non-applicable for the operation"),
    OPGATE_SIM_ERROR(cudaErrorUnknown, "unknown error"),
};
#undef OPGATE_SIM_ERROR
// clang-format on

const ErrorText* find(cudaError_t code) {
  const auto* const found = std::ranges::find(kTexts, code, &ErrorText::code);
  return found == kTexts.end() ? nullptr : found;
}

}  // namespace error_texts

const char* error_name(cudaError_t code) {
  const auto* const found = error_texts::find(code);
  return found == nullptr ? "unrecognized error code" : found->name;
}

const char* error_text(cudaError_t code) {
  const auto* const found = error_texts::find(code);
  return found == nullptr ? "unrecognized error code" : found->text;
}

}  // namespace opgate::simulator
