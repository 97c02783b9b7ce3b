# How all of this project is compiled: the simulator, which is a project of its own, and everything else.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(OPGATE_OPTIMISATION -O2 CACHE STRING "Optimisation of release builds; -O3 gains nothing that a benchmark shows")
set(CMAKE_CXX_FLAGS_RELEASE "${OPGATE_OPTIMISATION} -DNDEBUG")
# A fused multiply-add exists on some machines only; without it, values have the same bits on every machine.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
# The build tree and the wheel have the same folders: programs in bin/, libraries in lib/, Python packages in python/.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
