// StoreTurn: the lock that every writer and every checkpoint of a store file holds, over all
// processes, because two that write or checkpoint at nearly the same moment can damage a file under
// SQLite before 3.51.3. An flock on a file beside the store, let go by the kernel if its holder
// dies. One thread at a time.
#pragma once

#include <chrono>
#include <string>

#include "kernels/error.h"

namespace normd {

class StoreTurn {
 public:
  static Result<StoreTurn> open(const std::string& path);
  StoreTurn(StoreTurn&& other) noexcept;
  StoreTurn& operator=(StoreTurn&& other) noexcept;
  ~StoreTurn();

  // Holding the turn; lets go when destroyed. The StoreTurn must outlive it.
  class Held {
   public:
    explicit Held(int descriptor) : descriptor_(descriptor) {}
    Held(Held&& other) noexcept;
    Held& operator=(Held&&) = delete;
    ~Held();

   private:
    int descriptor_;
  };

  // unavailable: another process held it for all that time.
  Result<Held> take(std::chrono::milliseconds limit);

 private:
  StoreTurn(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  bool is_current() const;  // whether the name still stands for the file that is open

  std::string path_;
  int descriptor_;
};

}  // namespace normd
