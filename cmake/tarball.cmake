# Run by the `tarball` target: installs programs and tests aside, adds the runtime libraries and the
# list of tests, strips, and packs. BUILD, SOURCE, FOLDER, STRIP and CTEST come from the target.
cmake_minimum_required(VERSION 3.25)

set(stage ${BUILD}/${FOLDER})
file(REMOVE_RECURSE ${stage})
foreach(component Unspecified tests)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${stage} --strip
                          --component ${component}
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
# Scripts find examples, programs and the Python client at the same places as in a build.
file(CREATE_LINK share/normd/examples ${stage}/examples SYMBOLIC)
file(CREATE_LINK share/normd/python ${stage}/python SYMBOLIC)

# Everything the programs load at start, except glibc, which belongs to the host. libcuda and
# libnvrtc are opened by name while they run, so they are not seen here: they are the host's too.
set(glibc "libc|libm|libdl|librt|libpthread|libresolv|libutil|ld-linux-x86-64")
file(GLOB programs ${stage}/bin/* ${stage}/libexec/normd/tests/*)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${programs}
     RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR missing
     POST_EXCLUDE_REGEXES "/(${glibc})\\.so\\.[0-9]+$" "^${stage}/")
if(missing)
  message(FATAL_ERROR "libraries that cannot be found: ${missing}")
endif()
file(COPY ${libraries} DESTINATION ${stage}/lib FOLLOW_SYMLINK_CHAIN)
file(GLOB copied ${stage}/lib/*.so*)
foreach(library ${copied})
  if(NOT IS_SYMLINK ${library})
    execute_process(COMMAND ${STRIP} --strip-unneeded ${library} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()

# normd_values(OUT JSON): the strings of a JSON array, parted by spaces; or the one string.
function(normd_values out json)
  string(JSON type ERROR_VARIABLE problem TYPE "${json}")
  set(values "${json}")
  if(type STREQUAL ARRAY)
    set(values "")
    string(JSON count LENGTH "${json}")
    math(EXPR last "${count} - 1")
    foreach(index RANGE ${last})
      string(JSON value GET "${json}" ${index})
      string(APPEND values " ${value}")
    endforeach()
    string(STRIP "${values}" values)
  endif()
  set(${out} "${values}" PARENT_SCOPE)
endfunction()

# normd_property(OUT TEST NAME FALLBACK): one property of a test in CTest's JSON.
function(normd_property out test name fallback)
  set(found "${fallback}")
  string(JSON count LENGTH "${test}" properties)
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON property GET "${test}" properties ${index} name)
    if(property STREQUAL "${name}")
      string(JSON value GET "${test}" properties ${index} value)
      normd_values(found "${value}")
    endif()
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# Paths of the build and the source become paths in the package: test programs lie in one folder.
function(normd_relocate out text)
  string(REGEX REPLACE "${BUILD}/tests/[^ ]*/([^ /]+)" "@DIR@/libexec/normd/tests/\\1" text "${text}")
  string(REPLACE "${BUILD}" "@DIR@" text "${text}")
  string(REPLACE "${SOURCE}" "@DIR@" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

execute_process(COMMAND ${CTEST} --show-only=json-v1 WORKING_DIRECTORY ${BUILD}
                OUTPUT_VARIABLE shown COMMAND_ERROR_IS_FATAL ANY)
string(JSON count LENGTH "${shown}" tests)
math(EXPR last "${count} - 1")
set(lines "")
foreach(index RANGE ${last})
  string(JSON test GET "${shown}" tests ${index})
  string(JSON name GET "${test}" name)
  if(name MATCHES "^tidy_")
    continue()  # checks of the source tree, which is not in the package
  endif()
  string(JSON command GET "${test}" command)
  normd_values(command "${command}")
  normd_property(labels "${test}" LABELS "")
  normd_property(timeout "${test}" TIMEOUT 300)
  normd_property(environment "${test}" ENVIRONMENT "")
  string(REGEX REPLACE "\\..*" "" timeout ${timeout})
  normd_relocate(command "${command}")
  normd_relocate(environment "${environment}")
  string(APPEND lines "${name}|${labels}|${timeout}|${environment}|${command}\n")
endforeach()
file(WRITE ${stage}/share/normd/tests.list "${lines}")

execute_process(COMMAND ${CMAKE_COMMAND} -E tar czf ${BUILD}/${FOLDER}.tar.gz ${FOLDER}
                WORKING_DIRECTORY ${BUILD} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${BUILD}/${FOLDER}.tar.gz bytes)
math(EXPR mib "${bytes} / 1048576")
message(STATUS "${BUILD}/${FOLDER}.tar.gz, ${mib} MiB")
