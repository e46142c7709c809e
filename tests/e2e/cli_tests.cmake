# Tests of the tool and the examples against a real daemon on the host device. They use Python's
# standard library only.
foreach(name cli_lifecycle_test cli_examples_test)
  add_test(NAME ${name} COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/${name}.py)
  set_tests_properties(${name} PROPERTIES LABELS "e2e;host_compiler" TIMEOUT 600 SKIP_RETURN_CODE 77
                       ENVIRONMENT "NORMD_BUILD=${PROJECT_BINARY_DIR}")
endforeach()
