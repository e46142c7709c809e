// NORMD_CHECK: an assumption of ours that must hold. It stays on in release builds and aborts with
// the expression and the place, because going on with a broken assumption could serve a wrong
// answer. What a caller or the world can get wrong is a Result (error.h), never a check.
#pragma once

#include <cstdio>
#include <cstdlib>

#define NORMD_CHECK(condition)                                                             \
  do {                                                                                     \
    if (!(condition)) [[unlikely]] {                                                       \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition);   \
      std::abort();                                                                        \
    }                                                                                      \
  } while (false)
