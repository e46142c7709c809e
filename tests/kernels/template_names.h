// The names of the catalog's templates, for suites with a case for each. Included by tests.
#pragma once

#include <string>
#include <vector>

#include "kernels/catalog.h"

namespace normd {

inline std::vector<std::string> template_names() {
  std::vector<std::string> names;
  for (const Template& entry : catalog()) names.emplace_back(entry.name);
  return names;
}

inline std::vector<std::string> exact_template_names() {
  std::vector<std::string> names;
  for (const Template& entry : catalog()) {
    if (entry.grade == Grade::exact) names.emplace_back(entry.name);
  }
  return names;
}

}  // namespace normd
