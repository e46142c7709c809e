#include "kernels/template.h"

#include "kernels/check.h"

namespace normd {

std::string_view grade_name(Grade grade) {
  switch (grade) {
    case Grade::exact:
      return "exact";
    case Grade::taught:
      return "taught";
  }
  NORMD_CHECK(false);
}

}  // namespace normd
