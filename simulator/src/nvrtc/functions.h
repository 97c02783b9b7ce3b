// The functions of NVRTC that pass to the real library as they are called: those of nvrtc.h for CUDA 12 and
// 13, but for the four that libnvrtc.cpp has itself.
#pragma once

#define OPGATE_NVRTC_FUNCTIONS(F) \
  F(nvrtcAddNameExpression)       \
  F(nvrtcCreateProgram)           \
  F(nvrtcDestroyProgram)          \
  F(nvrtcGetLTOIR)                \
  F(nvrtcGetLTOIRSize)            \
  F(nvrtcGetLoweredName)          \
  F(nvrtcGetNVVM)                 \
  F(nvrtcGetNVVMSize)             \
  F(nvrtcGetNumSupportedArchs)    \
  F(nvrtcGetOptiXIR)              \
  F(nvrtcGetOptiXIRSize)          \
  F(nvrtcGetPCHCreateStatus)      \
  F(nvrtcGetPCHHeapSize)          \
  F(nvrtcGetPCHHeapSizeRequired)  \
  F(nvrtcGetPTX)                  \
  F(nvrtcGetPTXSize)              \
  F(nvrtcGetProgramLog)           \
  F(nvrtcGetProgramLogSize)       \
  F(nvrtcGetSupportedArchs)       \
  F(nvrtcGetTileIR)               \
  F(nvrtcGetTileIRSize)           \
  F(nvrtcSetFlowCallback)         \
  F(nvrtcSetPCHHeapSize)          \
  F(nvrtcVersion)
