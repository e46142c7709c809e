// GuardedBuffer: device memory with guard bytes before and after it, at an address that lies
// `begin` bytes behind a well-aligned one. Where the address sanitizer watches the host device, the
// guards are closed to it, so that reading them is found out too. Where a GPU's sanitizer watches,
// the memory's own end is the better guard: then there are none. For test programs only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/check.h"
#include "tuner/device/device.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace normd {

// What lies around a buffer: bytes that must not change, or nothing after its last byte.
enum class Guards { bytes, none };

class GuardedBuffer {
 public:
  struct Setting {
    std::size_t begin = 1;
    Guards guards = Guards::bytes;
  };

  // No bytes: no memory, and address() is null.
  GuardedBuffer(Device& device, std::string name, std::size_t bytes, const Setting& setting)
      : device_(device),
        name_(std::move(name)),
        bytes_(bytes),
        guard_bytes_(setting.guards == Guards::bytes ? 256 : 0),
        begin_(guard_bytes_ + setting.begin) {
    if (bytes == 0) return;
    auto memory = device.allocate(begin_ + bytes + guard_bytes_);
    NORMD_CHECK(memory.has_value());
    memory_ = std::move(*memory);
    if (guard_bytes_ == 0) return;
    NORMD_CHECK(device.fill(memory_->address(), guard, memory_->bytes()).has_value());
    close_guards();
  }
  ~GuardedBuffer() { open_guards(); }
  GuardedBuffer(const GuardedBuffer&) = delete;  // the guards are closed once
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  const std::string& name() const { return name_; }
  void* address() const { return memory_ ? base() + begin_ : nullptr; }

  void write(const std::vector<char>& bytes) {
    NORMD_CHECK(bytes.size() == bytes_);
    if (memory_) NORMD_CHECK(device_.copy_in(address(), bytes.data(), bytes_).has_value());
  }
  void fill(unsigned char byte) {
    if (memory_) NORMD_CHECK(device_.fill(address(), byte, bytes_).has_value());
  }
  std::vector<char> read() const {
    std::vector<char> bytes(bytes_);
    if (memory_) NORMD_CHECK(device_.copy_out(bytes.data(), address(), bytes_).has_value());
    return bytes;
  }
  std::vector<float> read_floats() const {
    std::vector<float> values(bytes_ / sizeof(float));
    if (memory_) NORMD_CHECK(device_.copy_out(values.data(), address(), bytes_).has_value());
    return values;
  }
  bool guards_intact() {
    if (!memory_ || guard_bytes_ == 0) return true;
    open_guards();
    std::vector<unsigned char> all(memory_->bytes());
    NORMD_CHECK(device_.copy_out(all.data(), base(), all.size()).has_value());
    close_guards();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool inside = i >= begin_ && i < begin_ + bytes_;
      if (!inside && all[i] != guard) return false;
    }
    return true;
  }

 private:
  static constexpr unsigned char guard = 0xc5;

  char* base() const { return static_cast<char*>(memory_->address()); }

  void close_guards() {
#if defined(__SANITIZE_ADDRESS__)
    ASAN_POISON_MEMORY_REGION(base(), begin_);
    ASAN_POISON_MEMORY_REGION(base() + begin_ + bytes_, guard_bytes_);
#endif
  }
  void open_guards() {
#if defined(__SANITIZE_ADDRESS__)
    if (memory_) ASAN_UNPOISON_MEMORY_REGION(base(), begin_ + bytes_ + guard_bytes_);
#endif
  }

  Device& device_;
  std::string name_;
  std::size_t bytes_;
  std::size_t guard_bytes_;
  std::size_t begin_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace normd
