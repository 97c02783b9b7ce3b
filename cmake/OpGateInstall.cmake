# The files that `cmake --install` and `pip install .` install: programs in bin/, libraries in lib/, headers in include/, the
# CMake package in share/cmake/OpGate/, and Python in OPGATE_PYTHON_FOLDER ("." in a wheel, where everything is in the package
# `opgate`).
include(CMakePackageConfigHelpers)
set(OPGATE_PYTHON_FOLDER "python/opgate" CACHE STRING "Where the Python package is installed, below the prefix")
# In a wheel torch is beside the package, in site-packages; elsewhere it is the torch that OpGate was built with.
set(_torch "${OPGATE_TORCH_DIR}/lib")
set(_torch_of_python "${OPGATE_TORCH_DIR}/lib")
if(SKBUILD)
  set(_torch "$ORIGIN/../../torch/lib")
  set(_torch_of_python "$ORIGIN/../torch/lib")
endif()
set(_parts opgate opgate_engine opgate_record opgate_preload)
if(OPGATE_CUDA)
  list(APPEND _parts opgate_cuda)
endif()
set_target_properties(${_parts} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib;${_torch}")
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}/${OPGATE_PYTHON_FOLDER}" OUTPUT_VARIABLE _up)
set_target_properties(opgate_python PROPERTIES INSTALL_RPATH "$ORIGIN/${_up}/lib;${_torch_of_python}")
install(TARGETS ${_parts} RUNTIME DESTINATION bin LIBRARY DESTINATION lib)
if(TARGET opgate_simulator_aten)
  set(_simulator opgate_simulator_runtime opgate_simulator_driver opgate_simulator_nvml opgate_simulator_nvrtc
      opgate_simulator_aten)
  set_target_properties(opgate_simulator_aten PROPERTIES INSTALL_RPATH "$ORIGIN/..;${_torch}")
  set_target_properties(opgate_simulator_driver PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS ${_simulator} LIBRARY DESTINATION lib/simulator NAMELINK_SKIP)
  # A copy and no link, because wheels have none.
  install(TARGETS opgate_simulator_ptxas RUNTIME DESTINATION lib/simulator)
  install(TARGETS opgate_simulator_nvidia_smi RUNTIME DESTINATION lib/simulator/bin)
  install(PROGRAMS "$<TARGET_FILE:opgate_simulator_ptxas>" DESTINATION lib/simulator RENAME ptxas-blackwell)
endif()
install(TARGETS opgate_python LIBRARY DESTINATION "${OPGATE_PYTHON_FOLDER}")
install(DIRECTORY conformance/python/opgate/ DESTINATION "${OPGATE_PYTHON_FOLDER}"
        FILES_MATCHING PATTERN "*.py" PATTERN "*.md" PATTERN "*.jinja" PATTERN "*.h" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/installed/torch-version" CONTENT "${OPGATE_TORCH_VERSION}\n")
install(FILES "${PROJECT_BINARY_DIR}/installed/torch-version" DESTINATION "${OPGATE_PYTHON_FOLDER}")
install(DIRECTORY conformance/include/opgate DESTINATION include)
install(FILES cmake/OpGateTorch.cmake cmake/OpGateDiscoverTests.cmake cmake/OpGateWriteTests.cmake
        DESTINATION share/cmake/OpGate)

# opgate_config(FILE CMAKE LIBRARIES INCLUDE PROGRAM OPTIONS...): writes OpGateConfig.cmake for these folders. OPTIONS are
# passed to configure_package_config_file.
function(opgate_config file OPGATE_CMAKE_FOLDER OPGATE_LIBRARY_FOLDER OPGATE_INCLUDE_FOLDER OPGATE_PROGRAM_FOLDER)
  configure_package_config_file(
    cmake/OpGateConfig.cmake.in "${file}" ${ARGN}
    PATH_VARS OPGATE_CMAKE_FOLDER OPGATE_LIBRARY_FOLDER OPGATE_INCLUDE_FOLDER OPGATE_PROGRAM_FOLDER)
endfunction()
set(_installed "${PROJECT_BINARY_DIR}/installed/OpGateConfig.cmake")
opgate_config("${_installed}" share/cmake/OpGate lib include bin INSTALL_DESTINATION share/cmake/OpGate)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/OpGateConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${_installed}" "${PROJECT_BINARY_DIR}/OpGateConfigVersion.cmake" DESTINATION share/cmake/OpGate)
# The same from the build tree: -DOpGate_DIR=BUILD.
opgate_config("${PROJECT_BINARY_DIR}/OpGateConfig.cmake" "${PROJECT_SOURCE_DIR}/cmake" "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}"
              "${PROJECT_SOURCE_DIR}/conformance/include" "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}"
              INSTALL_DESTINATION "${PROJECT_BINARY_DIR}" INSTALL_PREFIX "${PROJECT_BINARY_DIR}")
