# Small helpers that every folder of this project uses.

# opgate_warnings(TARGET): our warnings, as errors, on the target's own C++ and CUDA sources.
function(opgate_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Werror;-Wno-unknown-pragmas>
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Wall>)
endfunction()

# opgate_reuse_headers(TARGET): compiles TARGET with torch's headers precompiled, once for the whole build. They cost
# seconds a file otherwise. GCC takes them only where options and macros are those they were made with.
function(opgate_reuse_headers target)
  if(NOT TARGET opgate_headers)
    file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/headers.cpp" CONTENT "// Only its precompiled headers matter.\n")
    add_library(opgate_headers OBJECT "${PROJECT_BINARY_DIR}/headers.cpp")
    target_link_libraries(opgate_headers PRIVATE OpGate::torch)
    target_precompile_headers(opgate_headers PRIVATE <torch/library.h> <fmt/format.h> <fmt/ranges.h> <filesystem> <functional>
                              <map> <memory> <optional> <string> <vector>)
    opgate_warnings(opgate_headers)
  endif()
  # -fPIC for executables too: -fPIE would not match. No <target>_EXPORTS macro.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF DEFINE_SYMBOL "")
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fPIC> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fPIC>)
  target_precompile_headers(${target} REUSE_FROM opgate_headers)
endfunction()

# opgate_stage_python(PACKAGE SOURCE_DIR): makes SOURCE_DIR importable as PACKAGE from ${CMAKE_BINARY_DIR}/python by
# linking each file, so that compiled modules and libraries can lie beside them as they do in a wheel.
function(opgate_stage_python package source_dir)
  file(GLOB_RECURSE _files CONFIGURE_DEPENDS RELATIVE "${source_dir}" "${source_dir}/*.py" "${source_dir}/py.typed")
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
