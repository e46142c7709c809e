#include "tuner/store/lease.h"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <fstream>
#include <utility>

#include "kernels/check.h"
#include "tuner/store/sql.h"

namespace normd {
namespace {

std::int64_t clock_ms(clockid_t clock) {
  timespec now{};
  NORMD_CHECK(::clock_gettime(clock, &now) == 0);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// Names this boot of this machine and the namespace in which process numbers mean something; empty
// where the kernel does not say, and then only the wall clock counts.
std::string read_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  char space[64] = {};
  const ssize_t length = ::readlink("/proc/self/ns/pid", space, sizeof space - 1);
  return id.empty() || length <= 0 ? std::string() : id + " " + space;
}

// A holder that was killed need not be waited for: its lease goes as soon as somebody asks.
Result<void> release_of_the_dead(Database& database, const std::string& key,
                                 const std::string& boot_id) {
  std::string dead;
  {
    Use row = database.use(sql::find_lease_here);
    row(key)(boot_id);
    const auto found = row.next();
    if (!found) return fail(found.error());
    if (!*found) return {};
    const auto pid = static_cast<pid_t>(row.integer(1));
    if (pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH) dead = row.text(0);
  }
  if (dead.empty()) return {};
  return database.use(sql::release_lease)(key)(dead).run();
}

}  // namespace

std::string lease_owner() {
  unsigned char bytes[16];
  NORMD_CHECK(::getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string owner;
  for (const unsigned char byte : bytes) owner.append({digits[byte >> 4], digits[byte & 15]});
  return owner;
}

// A row that is gone after it ran out was taken by another, who has let go of it.
Result<bool> Lease::Row::was_anothers(Database& database, std::int64_t now_boot_ms) const {
  if (expires_boot_ms == 0 || now_boot_ms < expires_boot_ms) return false;
  Use row = database.use(sql::find_lease_of);
  row(key)(owner);
  const auto found = row.next();
  if (!found) return fail(found.error());
  return !*found;
}

Result<bool> Lease::Row::take() {
  const auto alive = shared.lock();
  if (alive == nullptr) return fail(ErrorCode::unavailable, "the store was closed");
  const std::string boot_id = read_boot_id();
  bool taken = false;
  std::int64_t now_boot_ms = 0;
  auto done = alive->writer.lock()->write([&](Database& database) -> Result<void> {
    if (auto freed = release_of_the_dead(database, key, boot_id); !freed) return freed;
    // Read here: waiting for the disk may have taken a while.
    now_boot_ms = clock_ms(CLOCK_BOOTTIME);
    const auto lost = was_anothers(database, now_boot_ms);
    if (!lost) return fail(lost.error());
    taken = false;
    if (*lost) return {};
    auto put = database
                   .use(sql::take_lease)(key)(owner)(static_cast<int>(::getpid()))(
                       boot_id)(now_boot_ms)(clock_ms(CLOCK_REALTIME))(ttl_ms)
                   .run();
    taken = put && database.changes() == 1;
    return put;
  });
  if (!done) return fail(std::move(done.error()));
  if (taken) expires_boot_ms = now_boot_ms + ttl_ms;
  return taken;
}

void Lease::Row::release() {
  const auto alive = shared.lock();
  if (alive == nullptr) return;
  // If this fails the row expires.
  static_cast<void>(alive->writer.lock()->write(
      [&](Database& database) { return database.use(sql::release_lease)(key)(owner).run(); }));
}

Lease::Lease(std::unique_ptr<Row> row) : row_(std::move(row)) {}
Lease::Lease(Lease&&) noexcept = default;

Lease& Lease::operator=(Lease&& other) noexcept {
  std::swap(row_, other.row_);
  return *this;
}

Lease::~Lease() {
  if (row_ != nullptr) row_->release();
}

Result<void> Lease::renew() {
  NORMD_CHECK(row_ != nullptr);
  const Result<bool> taken = row_->take();
  if (!taken) return fail(taken.error());
  if (*taken) return {};
  return fail(ErrorCode::not_found, "the lease expired and another process took it: " + row_->key);
}

}  // namespace normd
