# Text that goes into CMake code, and into file names, whatever is in it.

# `text` as one bracket argument.
function(_leakgate_quote out_quoted text)
  set(equals "==")
  string(FIND "${text}]" "]${equals}]" found)
  while(NOT found EQUAL -1)
    string(APPEND equals "=")
    string(FIND "${text}]" "]${equals}]" found)
  endwhile()
  set(${out_quoted} "[${equals}[${text}]${equals}]" PARENT_SCOPE)
endfunction()

# Each element of a list as one, with a blank in front.
function(_leakgate_quote_list out_quoted list)
  set(all "")
  foreach(element IN LISTS list)
    _leakgate_quote(quoted "${element}")
    string(APPEND all " ${quoted}")
  endforeach()
  set(${out_quoted} "${all}" PARENT_SCOPE)
endfunction()

# `name` as a file name of its own: as it is where that will do, else with what is
# no letter or digit replaced, cut, and told apart by a hash of it and of `salt`.
function(_leakgate_file_name out_file name salt)
  string(REGEX REPLACE "[^A-Za-z0-9_.-]" "_" file "${name}")
  string(LENGTH "${file}" length)
  if(NOT "${file}" STREQUAL "${name}" OR NOT "${salt}" STREQUAL "" OR length GREATER 150)
    string(MD5 hash "${salt}/${name}")
    string(SUBSTRING "${hash}" 0 8 hash)
    string(SUBSTRING "${file}" 0 150 file)
    string(APPEND file "-${hash}")
  endif()
  set(${out_file} "${file}" PARENT_SCOPE)
endfunction()
