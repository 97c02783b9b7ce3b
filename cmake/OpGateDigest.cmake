# The build runs this script. It writes HEADER with a digest of the files that LIST names, one per line, relative to FOLDER.
file(STRINGS "${LIST}" _files)
set(_lines)
foreach(_file IN LISTS _files)
  file(SHA1 "${FOLDER}/${_file}" _digest)
  string(APPEND _lines "${_file} ${_digest}\n")
endforeach()
string(SHA1 _digest "${_lines}")
file(WRITE "${HEADER}" "#pragma once\n\nnamespace opgate {\n\ninline constexpr const char* kEngineSources = \"${_digest}\";\n\n}  // namespace opgate\n")
