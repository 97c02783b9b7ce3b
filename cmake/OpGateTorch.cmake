# Defines link targets for the torch that Python_EXECUTABLE would import.
#
# TorchConfig.cmake of a CUDA wheel fails on a machine without a CUDA toolkit, so this file defines its own targets for the
# wheel's libraries:
#   OpGate::torch         libc10, libtorch_cpu   (enough to run operators on the CPU and load AOTInductor packages)
#   OpGate::torch_cuda    libc10_cuda            (streams and device guards for CUDA kernels; only with nvcc)
#   OpGate::torch_python  libtorch_python        (tensors across the Python boundary)
# Sets OPGATE_TORCH_VERSION, OPGATE_TORCH_DIR, and OPGATE_TORCH_RELEASE: what is built for one torch serves all builds of its
# minor release (2.15); a torch that is no release needs its own.
#
# The version is read from the package's metadata, because `import torch` would cost 2 s in each configure run.
execute_process(
  COMMAND "${Python_EXECUTABLE}" -c "
import importlib.metadata, importlib.util, pathlib
spec = importlib.util.find_spec('torch')
print(importlib.metadata.version('torch') if spec else '')
print(pathlib.Path(spec.origin).parent if spec else '')"
  OUTPUT_VARIABLE _torch_facts
  RESULT_VARIABLE _torch_status
  OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT _torch_status EQUAL 0 OR _torch_facts STREQUAL "")
  message(FATAL_ERROR "OpGate: ${Python_EXECUTABLE} has no torch. Run ci/gate once, or set Python_EXECUTABLE to an "
                      "interpreter that has torch 2.11 or newer.")
endif()
string(REPLACE "\n" ";" _torch_facts "${_torch_facts}")
list(GET _torch_facts 0 OPGATE_TORCH_VERSION)
list(GET _torch_facts 1 OPGATE_TORCH_DIR)
if(NOT OPGATE_OLDEST_TORCH)
  set(OPGATE_OLDEST_TORCH 2.11)
endif()
if(OPGATE_TORCH_VERSION VERSION_LESS OPGATE_OLDEST_TORCH)
  message(FATAL_ERROR "OpGate: torch ${OPGATE_TORCH_VERSION} in ${OPGATE_TORCH_DIR} is older than ${OPGATE_OLDEST_TORCH}, "
                      "the oldest supported.")
endif()
set(OPGATE_TORCH_RELEASE "${OPGATE_TORCH_VERSION}")
if(OPGATE_TORCH_VERSION MATCHES "^([0-9]+\\.[0-9]+)\\.[0-9]+(\\+(cpu|cu[0-9]+|xpu|rocm[0-9.]+))?$")
  set(OPGATE_TORCH_RELEASE "${CMAKE_MATCH_1}")
endif()
message(STATUS "OpGate: torch ${OPGATE_TORCH_VERSION} in ${OPGATE_TORCH_DIR}")

add_library(OpGate::torch INTERFACE IMPORTED)
target_include_directories(OpGate::torch SYSTEM INTERFACE "${OPGATE_TORCH_DIR}/include"
                                                          "${OPGATE_TORCH_DIR}/include/torch/csrc/api/include")
target_link_libraries(OpGate::torch INTERFACE "${OPGATE_TORCH_DIR}/lib/libtorch_cpu.so" "${OPGATE_TORCH_DIR}/lib/libc10.so")
# torch's include path has its own fmt. It is used header-only, so that no other fmt library can be mixed in; OpGate's own
# code links a compiled one (opgate_own_code).
target_compile_definitions(OpGate::torch INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:OPGATE_COMPILED_FMT>>>:FMT_HEADER_ONLY>)
# Some of torch's classes (at::RecordFunction) have more members in a build without NDEBUG; the wheel is built with NDEBUG.
target_compile_definitions(OpGate::torch INTERFACE $<$<NOT:$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>:NDEBUG>)
target_compile_features(OpGate::torch INTERFACE cxx_std_20)  # torch's headers do not compile with less
# at::parallel_for is inline; without -fopenmp it compiles to a serial loop, and no warning says so. libgomp comes from torch.
target_compile_options(OpGate::torch INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp>)
# Libraries that libtorch_cpu.so needs are in the wheel's nvidia folders; the linker must find them when it links an
# executable.
file(GLOB _torch_nvidia_libs "${OPGATE_TORCH_DIR}/../nvidia/*/lib")
foreach(_dir IN LISTS _torch_nvidia_libs)
  target_link_options(OpGate::torch INTERFACE "LINKER:-rpath-link,${_dir}")
endforeach()

add_library(OpGate::torch_python INTERFACE IMPORTED)
target_link_libraries(OpGate::torch_python INTERFACE OpGate::torch "${OPGATE_TORCH_DIR}/lib/libtorch_python.so")

if(OPGATE_CUDA)
  add_library(OpGate::torch_cuda INTERFACE IMPORTED)
  target_link_libraries(OpGate::torch_cuda INTERFACE OpGate::torch CUDA::cudart "${OPGATE_TORCH_DIR}/lib/libc10_cuda.so")
endif()
