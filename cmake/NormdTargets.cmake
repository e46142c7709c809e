# normd_library(), normd_program() and normd_test(): every target is made by one of them, so that
# flags and include roots are the same everywhere.

find_package(Threads REQUIRED)
find_package(tl-expected REQUIRED)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(NORMD_SANITIZE "" CACHE STRING "Value for -fsanitize=, such as address,undefined")

find_program(NORMD_CCACHE ccache)
if(NORMD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${NORMD_CCACHE})
endif()

add_library(normd_flags INTERFACE)
target_include_directories(normd_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/proto)
target_compile_options(normd_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -Wno-missing-field-initializers -Werror)
target_link_libraries(normd_flags INTERFACE tl::expected Threads::Threads)
if(NORMD_SANITIZE)
  target_compile_options(normd_flags INTERFACE
    -fsanitize=${NORMD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(normd_flags INTERFACE -fsanitize=${NORMD_SANITIZE})
  target_compile_definitions(normd_flags INTERFACE NORMD_SANITIZE="${NORMD_SANITIZE}")
endif()

# normd_library(name SOURCES a.cc b.cc LINK other_libraries...)
function(normd_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC normd_flags ${arg_LINK})
endfunction()

# normd_program(name SOURCES main.cc LINK libraries...)
function(normd_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE normd_flags ${arg_LINK})
endfunction()

# normd_test(name LABELS unit|nvrtc|gpu|e2e SOURCES a_test.cc LINK libraries... [TIMEOUT s]
#            [ENVIRONMENT A=b]): one GoogleTest program, one CTest test of the same name. Exit code
# 77 means that the machine lacks what the label needs, and CTest shows it as skipped. A further
# label, threads, marks the tests of what several threads share: the target normd_threads_tests
# builds them alone, for the thread sanitizer.
add_custom_target(normd_threads_tests)
function(normd_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LABELS;SOURCES;LINK;ENVIRONMENT")
  find_package(GTest REQUIRED)
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE normd_flags GTest::gtest GTest::gmock GTest::gtest_main ${arg_LINK})
  add_test(NAME ${name} COMMAND ${name})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if("threads" IN_LIST arg_LABELS)
    add_dependencies(normd_threads_tests ${name})
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
                       SKIP_RETURN_CODE 77 ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()
