# The header-only libraries that OpGate is compiled with. All that are missing are named at once, before anything is
# compiled.
find_package(nlohmann_json 3.11 QUIET)
find_package(CLI11 2 QUIET)
find_path(OPGATE_TOMLPP_INCLUDE toml++/toml.h)  # Debian's package brings no CMake file
mark_as_advanced(OPGATE_TOMLPP_INCLUDE)

macro(opgate_demand_headers found library debian fedora conda)
  if(NOT ${found})
    list(APPEND _missing ${library})
    list(APPEND _debian ${debian})
    list(APPEND _fedora ${fedora})
    list(APPEND _conda ${conda})
  endif()
endmacro()
opgate_demand_headers(CLI11_FOUND CLI11 libcli11-dev cli11-devel cli11)
opgate_demand_headers(nlohmann_json_FOUND nlohmann-json nlohmann-json3-dev json-devel nlohmann_json)
opgate_demand_headers(OPGATE_TOMLPP_INCLUDE toml++ libtomlplusplus-dev tomlplusplus-devel tomlplusplus)
if(_missing)
  foreach(_list IN ITEMS _debian _fedora _conda)
    list(JOIN ${_list} " " ${_list})
  endforeach()
  list(JOIN _missing ", " _missing)
  # A NOTICE is printed as it is, where FATAL_ERROR would break the line.
  message(NOTICE "OpGate: missing are ${_missing}; Debian: apt-get install ${_debian}; Fedora: dnf install ${_fedora}; conda-forge: conda install -c conda-forge ${_conda}")
  message(FATAL_ERROR "header-only libraries are missing; the line above names their packages")
endif()
