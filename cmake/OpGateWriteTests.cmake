# The build runs this script for opgate_discover_tests. It writes LIST from the output of `opgate list tests` for CONFIG.
execute_process(COMMAND "${OPGATE}" list tests --config "${CONFIG}" --output "${OUTPUT}"
                OUTPUT_VARIABLE _lines ERROR_VARIABLE _error RESULT_VARIABLE _status)
if(NOT _status EQUAL 0)
  message(FATAL_ERROR "opgate list tests --config ${CONFIG} failed:\n${_error}")
endif()
string(STRIP "${_lines}" _lines)
string(REPLACE "\n" ";" _lines "${_lines}")

# A check group is one test, even if its checks need several kinds of worker: then it has several lines.
set(_tests)
foreach(_line IN LISTS _lines)
  separate_arguments(_words UNIX_COMMAND "${_line}")
  list(POP_FRONT _words _op _group _device _worker _cases)
  set(_test "${_op}.${_group}.${_device}")
  list(APPEND _tests "${_test}")
  set(_command_${_test} "--op [==[${_op}]==] --check ${_group} --device ${_device}")
  set(_label "${_device}")
  if(_device STREQUAL "cuda")
    set(_label gpu)
  endif()
  list(APPEND _labels_${_test} ${_label})
  if(NOT _worker STREQUAL "native")
    list(APPEND _labels_${_test} python slow)
    math(EXPR _cases "${_cases} * 100")  # a case that is exported or compiled takes at least 100 times as long
  endif()
  math(EXPR _cost_${_test} "0${_cost_${_test}} + 1 + ${_cases} / 2000")  # about the number of seconds
endforeach()
list(REMOVE_DUPLICATES _tests)

set(_text "# Written by opgate_discover_tests; do not edit.\n")
foreach(_test IN LISTS _tests)
  list(REMOVE_DUPLICATES _labels_${_test})
  set(_full "${NAME}.${_test}")
  set(_resources)
  if(gpu IN_LIST _labels_${_test})
    set(_resources "  RESOURCE_GROUPS gpus:1\n")
  endif()
  string(APPEND _text
    "add_test([==[${_full}]==] [==[${OPGATE}]==] run --config [==[${CONFIG}]==] --output [==[${OUTPUT}/${_test}]==] ${_command_${_test}})\n"
    "set_tests_properties([==[${_full}]==] PROPERTIES LABELS \"${_labels_${_test}}\" TIMEOUT ${TIMEOUT} COST ${_cost_${_test}}\n"
    "${_resources}  SKIP_REGULAR_EXPRESSION \"(^|\\n)0 passed, 0 failed, [1-9][0-9]* owed\")\n")
endforeach()
file(WRITE "${LIST}" "${_text}")
