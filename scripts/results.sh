# What scripts/test does with a folder of CTest tests: runs them and keeps count. A test program
# that is missing, a label without a test and a run of CTest that ended badly are failures; only a
# test that named what its machine lacks (exit code 77) is left out. Sourced; `setup` is where logs
# go.
# shellcheck shell=bash

passed=0 failed=0
failures=() left_out=()

fail_test() {
  failed=$((failed + 1))
  failures+=("$1")
}

# The value of an attribute of an XML element on one line.
attribute() {
  local rest=${2#*" $1=\""}
  printf '%s' "${rest%%\"*}"
}

# Adds the test cases of a JUnit file of CTest to the totals. The last words of a test that was left
# out say what is lacking.
count_results() {
  local line name='' skipped='' words=''
  while IFS= read -r line; do
    case $line in
      *'<testcase '*)
        name=$(attribute name "$line") skipped='' words=''
        case $line in
          *'status="run"'*) passed=$((passed + 1)) ;;
          *'status="notrun"'*) skipped=unknown ;;
          *'status="fail"'*) fail_test "$name" ;;
          *) fail_test "$name ($(attribute status "$line"))" ;;
        esac
        ;;
      *'<skipped message="'*) [ -z "$skipped" ] || skipped=$(attribute message "$line") ;;
      *'</testcase>'*)
        case $skipped in
          '') ;;
          SKIP_RETURN_CODE=*) left_out+=("$name: ${words:-it does not say what is lacking}") ;;
          *) fail_test "$name ($skipped)" ;;
        esac
        ;;
      *)
        line=${line#*'<system-out>'} line=${line%'</system-out>'*}
        [ -z "${line//[[:space:]]/}" ] || words=$line
        ;;
    esac
  done <"$1"
}

# run_label FOLDER NAME JOBS CTEST_OPTIONS...: runs the tests of a build folder and counts them,
# going on after a failure.
run_label() {
  local folder=$1 name=$2 jobs=$3 results=$setup/log/tests-${2//[^a-z0-9]/-}.xml
  local code=0 failed_before=$failed known_before=$((passed + failed + ${#left_out[@]}))
  shift 3
  heading "Tests: $name"
  mkdir -p "$setup/log"
  rm -f "$results"
  ctest --test-dir "$folder" --output-on-failure -j "$jobs" --output-junit "$results" "$@" ||
    code=$?
  if ! grep -qs '<testsuite' "$results"; then
    fail_test "$name (ctest did not run)"
    return
  fi
  count_results "$results"
  if [ $((passed + failed + ${#left_out[@]})) = "$known_before" ]; then
    fail_test "$name (there is no such test)"
  elif [ "$code" != 0 ] && [ "$failed" = "$failed_before" ]; then
    fail_test "$name (ctest ended with $code)"
  fi
}

# What was left out and what failed. False when a test failed, or when none passed.
report_results() {
  local line
  for line in "${left_out[@]}"; do say "left out: $line"; done
  for line in "${failures[@]}"; do say "failed: $line"; done
  say "$passed passed, $failed failed, ${#left_out[@]} skipped"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}
