// Made-up keys, winners, trials and binaries for tests of the store, told apart by a number, and a
// directory of a test's own. Plain values; any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/binary.h"
#include "tuner/store/store.h"
#include "tuner/trial.h"

namespace normd {

Key sample_key(int number);
Winner sample_winner(int number);
Trial measured_trial(int number);
Trial refused_trial(int number, const std::string& compiler);
Binary sample_binary(int number);

// Removed when it goes. Everyone may look into it, so that tests can do so as another user.
class StoreDirectory {
 public:
  StoreDirectory();
  StoreDirectory(const StoreDirectory&) = delete;
  ~StoreDirectory();
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  // Names in it that begin so, sorted.
  std::vector<std::string> names(const std::string& beginning) const;

 private:
  std::string path_;
};

std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, const std::string& bytes);

// Stops the test program if the store cannot be opened.
std::unique_ptr<Store> open_store(const std::string& directory,
                                  Store::Mode mode = Store::Mode::read_write);
// Whether the winner with this number is there and is the sample.
bool has_winner(Store& store, int number);
// A store with winners 0 to count - 1, closed again.
void make_store(const std::string& directory, int count);

// Runs SQL on a file by SQLite itself, as a stranger with a shell would; checked.
void run_sql(const std::string& path, const std::string& sql);
// The first column of the first row.
std::string ask_sql(const std::string& path, const std::string& sql);

}  // namespace normd
