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
    set_target_properties(${target} PROPERTIES INSTALL_RPATH ${rpath})
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
install(DIRECTORY examples/data examples/shapes DESTINATION ${normd_share})
install(PROGRAMS scripts/show DESTINATION scripts)
install(FILES README.md CHANGELOG.md SECURITY.md LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/normd)
if(EXISTS ${PROJECT_SOURCE_DIR}/service/daemon/normd.service)
  install(FILES service/daemon/normd.service DESTINATION lib/systemd/system)
endif()

# The tests are a part of their own: only the tarball takes them.
if(EXISTS ${PROJECT_SOURCE_DIR}/tests/CMakeLists.txt)
  normd_executables(${PROJECT_SOURCE_DIR}/tests normd_test_programs)
endif()
if(normd_test_programs)
  normd_set_rpath("$ORIGIN/../../../lib" ${normd_test_programs})
  install(TARGETS ${normd_test_programs} DESTINATION libexec/normd/tests
          COMPONENT tests EXCLUDE_FROM_ALL)
  install(PROGRAMS scripts/run-packaged-tests DESTINATION scripts COMPONENT tests EXCLUDE_FROM_ALL)
endif()

set(normd_tarball_folder normd-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
add_custom_target(tarball
  COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR}
          -DFOLDER=${normd_tarball_folder} -DSTRIP=${CMAKE_STRIP} -DCTEST=${CMAKE_CTEST_COMMAND}
          -P ${CMAKE_CURRENT_LIST_DIR}/tarball.cmake
  COMMENT "Packing ${normd_tarball_folder}.tar.gz" VERBATIM)
foreach(program normd normctl ${normd_test_programs})
  if(TARGET ${program})
    add_dependencies(tarball ${program})
  endif()
endforeach()
