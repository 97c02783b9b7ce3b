# Small helpers that every folder of this project uses.

# opgate_warnings(TARGET): our warnings, as errors, on the target's own C++ and CUDA sources.
function(opgate_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Werror;-Wno-unknown-pragmas>
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Wall>)
endfunction()

# opgate_reuse_headers(TARGET [TESTS]): compiles TARGET with torch's headers precompiled, once for the whole build. They
# cost seconds a file otherwise. GCC takes them only where options and macros are those they were made with. TESTS: also
# those that tests and fixtures include, and less optimisation: to compile these takes longer than to run them.
function(opgate_reuse_headers target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TESTS" "" "")
  set(_from opgate_headers)
  set(_optimisation "")
  if(arg_TESTS)
    set(_from opgate_test_headers)
    set(_optimisation $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)
  endif()
  if(NOT TARGET ${_from})
    file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/${_from}.cpp" CONTENT "// Only its precompiled headers matter.\n")
    add_library(${_from} OBJECT "${PROJECT_BINARY_DIR}/${_from}.cpp")
    target_link_libraries(${_from} PRIVATE OpGate::torch)
    target_precompile_headers(${_from} PRIVATE <torch/library.h> <fmt/format.h> <fmt/ranges.h> <filesystem> <functional>
                              <map> <memory> <optional> <string> <vector>)
    if(arg_TESTS)
      target_link_libraries(${_from} PRIVATE OpGate::engine)
      target_precompile_headers(${_from} PRIVATE <opgate/spec.h> <ATen/Dispatch.h> <ATen/TensorOperators.h>
                                                 <torch/csrc/autograd/custom_function.h>)
    endif()
    target_compile_options(${_from} PRIVATE ${_optimisation})
    opgate_warnings(${_from})
  endif()
  # -fPIC for executables too: -fPIE would not match. No <target>_EXPORTS macro.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF DEFINE_SYMBOL "")
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fPIC> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fPIC>)
  target_compile_options(${target} PRIVATE ${_optimisation})
  target_precompile_headers(${target} REUSE_FROM ${_from})
endfunction()

# opgate_stage_python(PACKAGE SOURCE_DIR): makes SOURCE_DIR importable as PACKAGE from ${CMAKE_BINARY_DIR}/python by
# linking each file, so that compiled modules and libraries can lie beside them as they do in a wheel.
function(opgate_stage_python package source_dir)
  file(GLOB_RECURSE _files CONFIGURE_DEPENDS RELATIVE "${source_dir}" "${source_dir}/*.py" "${source_dir}/*.jinja"
       "${source_dir}/py.typed")
  set(_staged "${CMAKE_BINARY_DIR}/python/${package}")
  file(GLOB_RECURSE _old LIST_DIRECTORIES false "${_staged}/*.py")
  if(_old)
    file(REMOVE ${_old})  # links to files that are gone would stay importable
  endif()
  foreach(_file IN LISTS _files)
    cmake_path(GET _file PARENT_PATH _folder)
    file(MAKE_DIRECTORY "${_staged}/${_folder}")
    file(CREATE_LINK "${source_dir}/${_file}" "${_staged}/${_file}" SYMBOLIC)
  endforeach()
  file(CREATE_LINK "${CMAKE_BINARY_DIR}/lib" "${_staged}/lib" SYMBOLIC)
endfunction()
