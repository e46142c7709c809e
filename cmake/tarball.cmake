# Run by the `tarball` target: installs programs and tests aside, adds the runtime libraries and the
# list of tests, strips, and packs. BUILD, SOURCE, FOLDER, STRIP and CTEST come from the target.
cmake_minimum_required(VERSION 3.25)

set(stage ${BUILD}/${FOLDER})
file(REMOVE_RECURSE ${stage})
foreach(component "" tests)
  set(chosen "")
  if(component)
    set(chosen --component ${component})
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${stage} --strip ${chosen}
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# Everything the programs load at start, except glibc, which belongs to the host. libcuda and
# libnvrtc are opened by name while they run, so they are not seen here: they are the host's too.
file(GLOB programs ${stage}/bin/* ${stage}/libexec/normd/tests/*)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${programs}
     RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR missing
     POST_EXCLUDE_REGEXES "/(libc|libm|libdl|librt|libpthread|libresolv|libutil|ld-linux-x86-64)\\.so\\.[0-9]+$")
if(missing)
  message(FATAL_ERROR "libraries that cannot be found: ${missing}")
endif()
foreach(library ${libraries})
  file(COPY ${library} DESTINATION ${stage}/lib FOLLOW_SYMLINK_CHAIN)
endforeach()
file(GLOB copied ${stage}/lib/*.so*)
foreach(library ${copied})
  if(NOT IS_SYMLINK ${library})
    execute_process(COMMAND ${STRIP} --strip-unneeded ${library} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()

# The list of tests, from CTest's own. Paths of this build become paths in the package.
execute_process(COMMAND ${CTEST} --show-only=json-v1 WORKING_DIRECTORY ${BUILD}
                OUTPUT_VARIABLE shown COMMAND_ERROR_IS_FATAL ANY)
string(JSON count LENGTH ${shown} tests)
math(EXPR last "${count} - 1")
set(lines "")
foreach(index RANGE ${last})
  string(JSON name GET ${shown} tests ${index} name)
  if(NOT EXISTS ${stage}/libexec/normd/tests/${name})
    continue()  # checks of the source tree, which has none here
  endif()
  set(LABELS "")
  set(TIMEOUT 300)
  set(ENVIRONMENT "")
  string(JSON properties GET ${shown} tests ${index} properties)
  string(JSON property_count LENGTH ${properties})
  math(EXPR property_last "${property_count} - 1")
  foreach(property_index RANGE ${property_last})
    string(JSON property GET ${properties} ${property_index} name)
    if(property MATCHES "^(LABELS|ENVIRONMENT)$")
      set(values "")
      string(JSON value_count LENGTH ${properties} ${property_index} value)
      math(EXPR value_last "${value_count} - 1")
      foreach(value_index RANGE ${value_last})
        string(JSON value GET ${properties} ${property_index} value ${value_index})
        string(APPEND values " ${value}")
      endforeach()
      string(STRIP "${values}" ${property})
    elseif(property STREQUAL TIMEOUT)
      string(JSON TIMEOUT GET ${properties} ${property_index} value)
      string(REGEX REPLACE "\\..*" "" TIMEOUT ${TIMEOUT})
    endif()
  endforeach()
  string(REGEX REPLACE "${BUILD}/[^ :]*/(normd|normctl)( |$)" "@DIR@/bin/\\1\\2" ENVIRONMENT "${ENVIRONMENT}")
  string(REGEX REPLACE "${BUILD}/tests/[^ :]*/([^ /:]+)" "@DIR@/libexec/normd/tests/\\1" ENVIRONMENT "${ENVIRONMENT}")
  string(REPLACE "${SOURCE}/examples/" "@DIR@/share/normd/" ENVIRONMENT "${ENVIRONMENT}")
  string(APPEND lines "${name}|${LABELS}|${TIMEOUT}|${ENVIRONMENT}\n")
endforeach()
file(WRITE ${stage}/share/normd/tests.list "${lines}")

execute_process(COMMAND ${CMAKE_COMMAND} -E tar czf ${BUILD}/${FOLDER}.tar.gz ${FOLDER}
                WORKING_DIRECTORY ${BUILD} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${BUILD}/${FOLDER}.tar.gz bytes)
math(EXPR mib "${bytes} / 1048576")
message(STATUS "${BUILD}/${FOLDER}.tar.gz, ${mib} MiB")
