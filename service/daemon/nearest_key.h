// Why a key misses: the stored key that is most like it, and the fields in which the two differ.
// Reads the store; for the control thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/store/store.h"

namespace normd {

struct NearestKey {
  std::string key;                            // canonical text; empty if the store has none
  std::vector<std::string> differing_fields;  // "columns: 8192, stored 4096"
};

Result<NearestKey> find_nearest_key(Store& store, const Key& key);

// Word by word over two canonical texts of keys.
std::vector<std::string> differing_fields(std::string_view asked, std::string_view stored);

}  // namespace normd
