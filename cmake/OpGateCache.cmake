# Compiles through ccache where it is installed, also across folders: a fresh clone reuses what another clone compiled.
# -DOPGATE_CACHE=OFF switches this off.
option(OPGATE_CACHE "Compile through ccache where it is installed" ON)
find_program(OPGATE_CCACHE ccache)
mark_as_advanced(OPGATE_CCACHE)
if(OPGATE_CACHE AND OPGATE_CCACHE)
  # Precompiled headers and freshly checked out sources need these kinds of sloppiness. Without -fpch-preprocess GCC does not
  # tell ccache which precompiled header it used.
  set(_environment "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime" CCACHE_NOHASHDIR=1)
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  set(OPGATE_CCACHE_HERE "${CMAKE_COMMAND}" -E env ${_environment} "${OPGATE_CCACHE}")
  cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH _root)
  # ccache passes paths below the source folder to the compiler as relative paths, so that they are the same in each clone.
  set(OPGATE_CCACHE_ANYWHERE "${CMAKE_COMMAND}" -E env ${_environment} "CCACHE_BASEDIR=${_root}" "${OPGATE_CCACHE}")
  # Where a header has changed, the preprocessor would read the old precompiled headers, and ccache would take the result for
  # unchanged. In this mode it asks the compiler for the headers instead.
  set(OPGATE_CCACHE_HEADERS "${CMAKE_COMMAND}" -E env ${_environment} CCACHE_DEPEND=1 "CCACHE_BASEDIR=${_root}"
      "${OPGATE_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${OPGATE_CCACHE_ANYWHERE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${OPGATE_CCACHE_ANYWHERE})
  set(CMAKE_UNITY_BUILD_RELOCATABLE ON)
  message(STATUS "OpGate: compiling through ${OPGATE_CCACHE}")
endif()

# opgate_keep_paths(TARGET): keeps __FILE__ an absolute path, which specs report as their location. The cached results are
# then valid for this folder only.
function(opgate_keep_paths target)
  if(OPGATE_CCACHE_HERE)
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${OPGATE_CCACHE_HERE}" UNITY_BUILD_RELOCATABLE OFF)
  endif()
endfunction()
