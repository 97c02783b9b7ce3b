# Compiler results are kept by ccache where it is installed, also across folders: a fresh clone finds what another one
# compiled. -DOPGATE_CACHE=OFF leaves it out.
option(OPGATE_CACHE "Compile through ccache where it is installed" ON)
find_program(OPGATE_CCACHE ccache)
mark_as_advanced(OPGATE_CCACHE)
if(OPGATE_CACHE AND OPGATE_CCACHE)
  # The sloppiness is what precompiled headers need, and sources that were checked out just now. Without the flag GCC
  # hides from ccache which precompiled header it took.
  set(_environment "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime" CCACHE_NOHASHDIR=1)
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  set(OPGATE_CCACHE_HERE "${CMAKE_COMMAND}" -E env ${_environment} "${OPGATE_CCACHE}")
  # Paths below the source folder are handed to the compiler as relative ones, so that they are the same in each clone.
  set(OPGATE_CCACHE_ANYWHERE "${CMAKE_COMMAND}" -E env ${_environment} "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" "${OPGATE_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${OPGATE_CCACHE_ANYWHERE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${OPGATE_CCACHE_ANYWHERE})
  set(CMAKE_UNITY_BUILD_RELOCATABLE ON)
  message(STATUS "OpGate: compiling through ${OPGATE_CCACHE}")
endif()

# opgate_keep_paths(TARGET): its __FILE__ stays the whole path, which a spec gives as its place; it is cached for this
# folder alone.
function(opgate_keep_paths target)
  if(OPGATE_CCACHE_HERE)
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${OPGATE_CCACHE_HERE}" UNITY_BUILD_RELOCATABLE OFF)
  endif()
endfunction()
