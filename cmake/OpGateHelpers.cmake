# Small helpers that every folder of this project uses.

option(OPGATE_WARNINGS_ARE_ERRORS "A warning ends the build" ON)

# opgate_warnings(TARGET): our warnings, as errors by default, on the target's own C++ and CUDA sources.
function(opgate_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;$<$<BOOL:${OPGATE_WARNINGS_ARE_ERRORS}>:-Werror>;-Wno-unknown-pragmas>
    $<$<COMPILE_LANGUAGE:CUDA>:$<$<BOOL:${OPGATE_WARNINGS_ARE_ERRORS}>:-Werror=all-warnings>;-Xcompiler=-Wall>)
endfunction()

# opgate_own_code(TARGET HEADERS): settings for this project's own libraries and programs, which a user's do not have.
#   fmt     its compiled part is linked in (conformance/base/compiled_fmt.cpp); torch has it header-only, which costs two
#           seconds for each file
#   HEADERS engine: the headers of libraries that most of conformance/ includes; tests: the headers of tests and fixtures. Both
#           sets are precompiled once for the whole build. GCC uses a precompiled header only where options and macros are the
#           same as when it was made.
# All of it is compiled at -O1: at -O2 compiling takes a third longer, and the checks of ops/ take the same CPU time. The
# simulator's interpreter and the operators keep the build's level.
function(opgate_own_code target headers)
  set(_from opgate_${headers}_headers)
  set(_optimisation $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)
  if(NOT TARGET ${_from})
    file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/${_from}.cpp" CONTENT "// Only its precompiled headers matter.\n")
    add_library(${_from} OBJECT "${PROJECT_BINARY_DIR}/${_from}.cpp")
    set_target_properties(${_from} PROPERTIES OPGATE_COMPILED_FMT ON)
    if(OPGATE_CCACHE_HEADERS)
      set_target_properties(${_from} PROPERTIES CXX_COMPILER_LAUNCHER "${OPGATE_CCACHE_HEADERS}")
    endif()
    target_link_libraries(${_from} PRIVATE OpGate::torch)
    set(_common <ATen/core/Tensor.h> <ATen/core/dispatch/Dispatcher.h> <ATen/core/function_schema.h> <ATen/core/ivalue.h>
                <fmt/format.h> <fmt/ranges.h> <algorithm> <filesystem> <functional> <map> <memory> <optional> <set> <string>
                <vector>)
    if(headers STREQUAL "tests")
      target_include_directories(${_from} PRIVATE "${PROJECT_SOURCE_DIR}/conformance/include")
      target_precompile_headers(${_from} PRIVATE ${_common} <opgate/spec.h> <torch/library.h> <ATen/Dispatch.h>
                                                 <ATen/TensorOperators.h> <torch/csrc/autograd/custom_function.h>)
    else()
      target_link_libraries(${_from} PRIVATE nlohmann_json::nlohmann_json)
      target_precompile_headers(${_from} PRIVATE ${_common} <ATen/Functions.h> <ATen/TensorOperators.h> <nlohmann/json.hpp>)
    endif()
    target_compile_options(${_from} PRIVATE ${_optimisation})
    opgate_warnings(${_from})
  endif()
  # Executables are compiled with -fPIC, too, and no target defines a <target>_EXPORTS macro: otherwise options and macros
  # would differ from those of the precompiled headers.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF DEFINE_SYMBOL "" OPGATE_COMPILED_FMT ON)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fPIC> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fPIC>)
  target_compile_options(${target} PRIVATE ${_optimisation})
  target_precompile_headers(${target} REUSE_FROM ${_from})
  target_link_libraries(${target} PRIVATE opgate_fmt)
endfunction()

# opgate_unite(TARGET FILES_PER_UNIT [ACROSS_FOLDERS] [CUDA]): where OPGATE_UNITE is on, compiles FILES_PER_UNIT C++ files of
# the target (with CUDA, its CUDA files, which needs CMake 3.31) as one unit, because headers that neighbouring files share take most of the compile time. A unit has files of one
# folder only, unless ACROSS_FOLDERS is given.
option(OPGATE_UNITE "Compile several files of a folder as one unit: a whole build takes half the time" OFF)
function(opgate_unite target files_per_unit)
  cmake_parse_arguments(PARSE_ARGV 2 arg "ACROSS_FOLDERS;CUDA" "" "")
  if(NOT OPGATE_UNITE)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(_sources ${target} SOURCES)
  set(_language cpp)
  if(arg_CUDA)
    set(_language cu)
  endif()
  list(FILTER _sources INCLUDE REGEX "\\.${_language}$")
  set(_folder_before "")
  foreach(_source IN LISTS _sources)
    cmake_path(GET _source PARENT_PATH _folder)
    if(arg_ACROSS_FOLDERS)
      set(_folder "${CMAKE_CURRENT_SOURCE_DIR}")
    endif()
    if(NOT _folder STREQUAL _folder_before)
      set(_count 0)
      set(_folder_before "${_folder}")
    endif()
    math(EXPR _unit "${_count} / ${files_per_unit} + 1")
    math(EXPR _count "${_count} + 1")
    cmake_path(RELATIVE_PATH _folder BASE_DIRECTORY "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.." OUTPUT_VARIABLE _name)
    string(MAKE_C_IDENTIFIER "${_name}_${_language}_${_unit}" _name)
    set_source_files_properties("${_source}" PROPERTIES UNITY_GROUP "${_name}")
  endforeach()
endfunction()

# opgate_stage_python(PACKAGE SOURCE_DIR): makes SOURCE_DIR importable as PACKAGE from ${CMAKE_BINARY_DIR}/python by
# linking each file, so that compiled modules and libraries can lie beside them as they do in a wheel.
function(opgate_stage_python package source_dir)
  file(GLOB_RECURSE _files CONFIGURE_DEPENDS RELATIVE "${source_dir}" "${source_dir}/*.py" "${source_dir}/*.md"
       "${source_dir}/*.jinja" "${source_dir}/*.h" "${source_dir}/py.typed")
  set(_staged "${CMAKE_BINARY_DIR}/python/${package}")
  file(GLOB_RECURSE _old LIST_DIRECTORIES false "${_staged}/*.py" "${_staged}/*.md")
  if(_old)
    file(REMOVE ${_old})  # otherwise links to removed files would stay
  endif()
  foreach(_file IN LISTS _files)
    cmake_path(GET _file PARENT_PATH _folder)
    file(MAKE_DIRECTORY "${_staged}/${_folder}")
    file(CREATE_LINK "${source_dir}/${_file}" "${_staged}/${_file}" SYMBOLIC)
  endforeach()
  file(CREATE_LINK "${CMAKE_BINARY_DIR}/lib" "${_staged}/lib" SYMBOLIC)
endfunction()

# opgate_embed_text(TARGET HEADER NAME FILES...): TARGET defines NAME, which HEADER declares as `extern const char* const`, as the
# texts of the files, one after the other.
function(opgate_embed_text target header name)
  string(MAKE_C_IDENTIFIER "${name}" _file)
  set(_source "${CMAKE_CURRENT_BINARY_DIR}/generated/${_file}.cpp")
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/generated")
  add_custom_command(
    OUTPUT "${_source}"
    COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_text.py" "${_source}" "${header}" "${name}" ${ARGN}
    DEPENDS ${ARGN} "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_text.py"
    VERBATIM)
  set_source_files_properties("${_source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE "${_source}")
endfunction()
