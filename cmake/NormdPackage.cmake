# Install rules and the `tarball` target. Included last, when every target exists.
#
# Installed programs find their libraries in ../lib beside themselves. The old DT_RPATH is used on
# purpose: unlike DT_RUNPATH it also serves the libraries' own libraries (Debian's gRPC needs Abseil).

# normd_executables(FOLDER OUT): the executables and modules made in FOLDER and below.
function(normd_executables folder out)
  set(found "")
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(EXECUTABLE|MODULE_LIBRARY|SHARED_LIBRARY)$")
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(subfolders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder ${subfolders})
    normd_executables(${subfolder} more)
    list(APPEND found ${more})
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

function(normd_set_rpath rpath)
  foreach(target ${ARGN})
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "${rpath}")
    target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  endforeach()
endfunction()

set(normd_share ${CMAKE_INSTALL_DATADIR}/normd)
foreach(program normd normctl)
  if(TARGET ${program})
    normd_set_rpath("$ORIGIN/../lib" ${program})
    install(TARGETS ${program} RUNTIME DESTINATION bin)
  endif()
endforeach()
install(DIRECTORY examples DESTINATION ${normd_share} PATTERN CMakeLists.txt EXCLUDE)
if(TARGET normd_python)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/python DESTINATION ${normd_share})
endif()
install(FILES README.md CHANGELOG.md SECURITY.md LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/normd)
if(EXISTS ${PROJECT_SOURCE_DIR}/service/daemon/normd.service)
  install(FILES service/daemon/normd.service DESTINATION lib/systemd/system)
endif()

# The tests, and the programs that they run, are a part of their own: only the tarball takes them.
if(EXISTS ${PROJECT_SOURCE_DIR}/tests/CMakeLists.txt)
  normd_executables(${PROJECT_SOURCE_DIR}/tests normd_test_programs)
endif()
if(normd_test_programs)
  normd_set_rpath("$ORIGIN;$ORIGIN/../../../lib" ${normd_test_programs})
  install(TARGETS ${normd_test_programs} DESTINATION libexec/normd/tests
          COMPONENT tests EXCLUDE_FROM_ALL)
endif()
if(TARGET hit_path_bench)
  normd_set_rpath("$ORIGIN/../lib" hit_path_bench)
  install(TARGETS hit_path_bench RUNTIME DESTINATION bin COMPONENT tests EXCLUDE_FROM_ALL)
endif()
if(TARGET first_request)
  normd_set_rpath("$ORIGIN/../../../lib" first_request)
  install(TARGETS first_request DESTINATION ${normd_share}/examples
          COMPONENT tests EXCLUDE_FROM_ALL)
endif()
install(PROGRAMS scripts/show scripts/run-packaged-tests scripts/sanitize-gpu DESTINATION scripts
        COMPONENT tests EXCLUDE_FROM_ALL)
install(DIRECTORY tests DESTINATION . COMPONENT tests EXCLUDE_FROM_ALL USE_SOURCE_PERMISSIONS
        FILES_MATCHING PATTERN *.py PATTERN *.sh PATTERN tidy EXCLUDE)
install(DIRECTORY bench DESTINATION . COMPONENT tests EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN *.py PATTERN *.md)

set(normd_tarball_folder normd-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
add_custom_target(tarball
  COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR}
          -DFOLDER=${normd_tarball_folder} -DSTRIP=${CMAKE_STRIP} -DCTEST=${CMAKE_CTEST_COMMAND}
          -P ${CMAKE_CURRENT_LIST_DIR}/tarball.cmake
  COMMENT "Packing ${normd_tarball_folder}.tar.gz" VERBATIM)
foreach(program normd normctl normd_python first_request hit_path_bench ${normd_test_programs})
  if(TARGET ${program})
    add_dependencies(tarball ${program})
  endif()
endforeach()
