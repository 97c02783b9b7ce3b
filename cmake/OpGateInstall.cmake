# The files that `cmake --install` and `pip install .` install. Component `engine`: programs in bin/, libraries in lib/, headers in
# include/, the CMake package in share/cmake/OpGate/, and the binding for Python in OPGATE_PYTHON_FOLDER. Component `package`:
# the files in Python, in OPGATE_PYTHON_FOLDER. In a wheel everything is in the package `opgate`, and an engine is in a folder of
# its own, because there may be one for each torch.
include(CMakePackageConfigHelpers)
set(OPGATE_PYTHON_FOLDER "python/opgate" CACHE STRING "Where the Python package is installed, below the prefix")
option(OPGATE_WHEEL "Install as in a wheel: below the package, with torch beside it" OFF)
set(_torch "${OPGATE_TORCH_DIR}/lib")
set(_engine "")
set(_binding "${OPGATE_PYTHON_FOLDER}")
if(OPGATE_WHEEL)
  set(_engine "built/torch-${OPGATE_TORCH_RELEASE}/")
  set(_binding "${_engine}.")
endif()
# Where a library finds torch and the engine, from its folder below the engine's.
function(opgate_install_paths depth)
  string(REPEAT "../" ${depth} _up)
  set(_torch_here "${_torch}")
  if(OPGATE_WHEEL)
    set(_torch_here "$ORIGIN/${_up}../../../torch/lib")  # site-packages/opgate/built/torch-2.15/
  endif()
  set_target_properties(${ARGN} PROPERTIES INSTALL_RPATH "$ORIGIN/${_up}lib;${_torch_here}")
endfunction()
set(_parts opgate opgate_engine opgate_record opgate_preload)
if(OPGATE_CUDA)
  list(APPEND _parts opgate_cuda)
endif()
opgate_install_paths(1 ${_parts})
install(TARGETS ${_parts} RUNTIME DESTINATION "${_engine}bin" COMPONENT engine LIBRARY DESTINATION "${_engine}lib" COMPONENT engine)
if(TARGET opgate_simulator_aten)
  set(_simulator opgate_simulator_runtime opgate_simulator_driver opgate_simulator_nvml opgate_simulator_nvrtc_12
      opgate_simulator_nvrtc_13 opgate_simulator_runtime_12
      opgate_simulator_aten)
  opgate_install_paths(2 opgate_simulator_aten)
  set_target_properties(opgate_simulator_driver PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS ${_simulator} LIBRARY DESTINATION "${_engine}lib/simulator" NAMELINK_SKIP COMPONENT engine)
  # A copy and no link, because wheels have none.
  install(TARGETS opgate_simulator_ptxas RUNTIME DESTINATION "${_engine}lib/simulator" COMPONENT engine)
  install(TARGETS opgate_simulator_nvidia_smi RUNTIME DESTINATION "${_engine}lib/simulator/bin" COMPONENT engine)
  install(PROGRAMS "$<TARGET_FILE:opgate_simulator_ptxas>" DESTINATION "${_engine}lib/simulator" RENAME ptxas-blackwell
          COMPONENT engine)
endif()
if(OPGATE_WHEEL)
  opgate_install_paths(0 ${OPGATE_BINDINGS})
else()
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}/${OPGATE_PYTHON_FOLDER}" OUTPUT_VARIABLE _up)
  set_target_properties(${OPGATE_BINDINGS} PROPERTIES INSTALL_RPATH "$ORIGIN/${_up}/lib;${_torch}")
endif()
install(TARGETS ${OPGATE_BINDINGS} LIBRARY DESTINATION "${_binding}" COMPONENT engine)
install(DIRECTORY conformance/python/opgate/ DESTINATION "${OPGATE_PYTHON_FOLDER}" COMPONENT package
        FILES_MATCHING PATTERN "*.py" PATTERN "*.md" PATTERN "*.jinja" PATTERN "*.h" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY conformance/include/opgate DESTINATION "${_engine}include" COMPONENT engine)
install(FILES cmake/OpGateTorch.cmake cmake/OpGateDiscoverTests.cmake cmake/OpGateWriteTests.cmake
        DESTINATION "${_engine}share/cmake/OpGate" COMPONENT engine)

if(OPGATE_WHEEL)
  # What `opgate engine build` compiles for a torch that this wheel does not know.
  foreach(_folder IN ITEMS cmake conformance simulator/include simulator/src)
    cmake_path(GET _folder PARENT_PATH _parent)
    install(DIRECTORY "${_folder}" DESTINATION "sources/${_parent}" COMPONENT package PATTERN "__pycache__" EXCLUDE)
  endforeach()
  install(FILES CMakeLists.txt LICENSE DESTINATION sources COMPONENT package)
  install(FILES simulator/CMakeLists.txt DESTINATION sources/simulator COMPONENT package)
  find_path(_cli11 CLI/CLI.hpp NO_CACHE REQUIRED)
  find_path(_nlohmann nlohmann/json.hpp NO_CACHE REQUIRED)
  install(DIRECTORY "${_cli11}/CLI" "${_nlohmann}/nlohmann" "${OPGATE_TOMLPP_INCLUDE}/toml++" DESTINATION sources/headers
          COMPONENT package)
endif()

# opgate_config(FILE CMAKE LIBRARIES INCLUDE PROGRAM OPTIONS...): writes OpGateConfig.cmake for these folders. OPTIONS are
# passed to configure_package_config_file.
function(opgate_config file OPGATE_CMAKE_FOLDER OPGATE_LIBRARY_FOLDER OPGATE_INCLUDE_FOLDER OPGATE_PROGRAM_FOLDER)
  configure_package_config_file(
    cmake/OpGateConfig.cmake.in "${file}" ${ARGN}
    PATH_VARS OPGATE_CMAKE_FOLDER OPGATE_LIBRARY_FOLDER OPGATE_INCLUDE_FOLDER OPGATE_PROGRAM_FOLDER)
endfunction()
set(_installed "${PROJECT_BINARY_DIR}/installed/OpGateConfig.cmake")
set(_places share/cmake/OpGate lib include bin)
list(TRANSFORM _places PREPEND "${_engine}")
opgate_config("${_installed}" ${_places} INSTALL_DESTINATION "${_engine}share/cmake/OpGate")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/OpGateConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${_installed}" "${PROJECT_BINARY_DIR}/OpGateConfigVersion.cmake"
        DESTINATION "${_engine}share/cmake/OpGate" COMPONENT engine)
# The same from the build tree: -DOpGate_DIR=BUILD.
opgate_config("${PROJECT_BINARY_DIR}/OpGateConfig.cmake" "${PROJECT_SOURCE_DIR}/cmake" "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}"
              "${PROJECT_SOURCE_DIR}/conformance/include" "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}"
              INSTALL_DESTINATION "${PROJECT_BINARY_DIR}" INSTALL_PREFIX "${PROJECT_BINARY_DIR}")
