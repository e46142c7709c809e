// Admission: the daemon-wide caps on bytes in flight and on calls that wait for a tuning. A Hold is
// the right to a share; it gives the share back when it goes. Safe from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "kernels/error.h"

namespace normd {

class Admission {
 public:
  struct Caps {
    std::int64_t in_flight_bytes_max = 0;
    std::int64_t waiting_calls_max = 0;
  };
  explicit Admission(const Caps& caps) : caps_(caps) {}
  Admission(const Admission&) = delete;  // Holds refer to it

  class Hold {
   public:
    Hold() = default;
    Hold(Hold&& other) noexcept
        : total_(std::exchange(other.total_, nullptr)), share_(other.share_) {}
    Hold& operator=(Hold&& other) noexcept {
      std::swap(total_, other.total_);
      std::swap(share_, other.share_);
      return *this;
    }
    ~Hold() {
      if (total_ != nullptr) *total_ -= share_;
    }

   private:
    friend class Admission;
    Hold(std::atomic<std::int64_t>* total, std::int64_t share) : total_(total), share_(share) {}
    std::atomic<std::int64_t>* total_ = nullptr;
    std::int64_t share_ = 0;
  };

  // resource_exhausted names the limit in `field`.
  Result<Hold> admit_bytes(std::int64_t bytes) {
    return take(in_flight_bytes_, bytes, caps_.in_flight_bytes_max, "in_flight_bytes_max");
  }
  Result<Hold> admit_waiting_call() {
    return take(waiting_calls_, 1, caps_.waiting_calls_max, "waiting_calls_max");
  }
  std::int64_t in_flight_bytes() const { return in_flight_bytes_; }
  std::int64_t waiting_calls() const { return waiting_calls_; }

 private:
  static Result<Hold> take(std::atomic<std::int64_t>& total, std::int64_t share, std::int64_t most,
                           const char* limit) {
    if ((total += share) > most) {
      total -= share;
      return fail(ErrorCode::resource_exhausted,
                  std::string("the daemon is at its limit ") + limit + " = " +
                      std::to_string(most) + "; try again in a moment",
                  limit);
    }
    return Hold(&total, share);
  }

  const Caps caps_;
  std::atomic<std::int64_t> in_flight_bytes_{0};
  std::atomic<std::int64_t> waiting_calls_{0};
};

}  // namespace normd
