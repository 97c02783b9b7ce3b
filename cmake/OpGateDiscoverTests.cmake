# opgate_discover_tests(NAME CONFIG FILE [DEPENDS targets and files...] [TIMEOUT SECONDS])
#
# Adds one ctest for each operator, check group and device of the configuration FILE: NAME.OP.GROUP.DEVICE. The build makes
# the list again when a dependency was rebuilt, with `opgate list tests`, which runs no case.
#   labels: cpu or gpu; python where the group needs the Python half; slow where it exports, compiles or runs opcheck
# A test is skipped, and never passed, where all of its cases are owed: not run here, because this machine lacks what they
# need. ctest starts the longest tests first, by their number of cases at first and by its own measurements later. A test on
# a GPU takes one of the resources `gpus` where ctest has any (--resource-spec-file), and sees no other GPU. TIMEOUT is in
# seconds, for each test, 900 by default.
function(opgate_discover_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CONFIG;TIMEOUT" "DEPENDS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  cmake_path(ABSOLUTE_PATH arg_CONFIG OUTPUT_VARIABLE _config)
  set(_list "${CMAKE_CURRENT_BINARY_DIR}/${name}_tests.cmake")
  set(_script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/OpGateWriteTests.cmake")
  set(_opgate)
  if(TARGET opgate_python)
    set(_opgate opgate opgate_python)  # in OpGate's own build
  endif()
  add_custom_command(
    OUTPUT "${_list}"
    COMMAND "${CMAKE_COMMAND}" -DNAME=${name} "-DOPGATE=$<TARGET_FILE:OpGate::opgate>" "-DCONFIG=${_config}"
            "-DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/${name}" "-DLIST=${_list}" -DTIMEOUT=${arg_TIMEOUT} -P "${_script}"
    DEPENDS ${_opgate} ${arg_DEPENDS} "${_config}" "${_script}"
    COMMENT "Listing the tests of ${name}"
    VERBATIM)
  add_custom_target(${name}_tests ALL DEPENDS "${_list}")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${_list}")
endfunction()
