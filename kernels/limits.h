// Every bound of the system by name, with its reason. Over a bound is an answer that names it,
// never an accident. GetStatus reports them. Constants only.
#pragma once

#include <cstdint>

namespace normd::limits {

// Elements of x: 2^40 is 2 TiB of bf16, beyond any device; it keeps all byte offsets in 63 bits.
inline constexpr std::int64_t elements_max = std::int64_t{1} << 40;

// Columns: the widest row whose tuning is known to stay within tuning_memory_bytes_max. Tests run
// kernels up to 2^20; at 2^24 the host device takes longer than trial_ms_max. Real models stay
// under 2^18.
inline constexpr std::int64_t columns_max = std::int64_t{1} << 24;

// Rows: bounded through elements_max for real widths; this bounds columns = 1. Templates whose
// blocks do not stride end earlier (covers() in launch.h), where no device holds the tensors.
inline constexpr std::int64_t rows_max = std::int64_t{1} << 36;

// One gRPC message: carries 16 Mi elements of fp32 with room for the header. Larger tensors do not
// belong in a message. Protobuf itself ends at 2 GiB.
inline constexpr std::int64_t message_bytes_max = std::int64_t{64} << 20;

// Bytes of requests being served at once, over all clients; more is RESOURCE_EXHAUSTED.
inline constexpr std::int64_t in_flight_bytes_max = std::int64_t{512} << 20;

// Open connections; each costs a descriptor and gRPC buffers.
inline constexpr int connections_max = 256;

// Jobs waiting for one device's serving thread; beyond it a client gains nothing by queueing.
inline constexpr int serving_queue_max = 1024;

// Distinct keys waiting for one device's tuning queue; at 2 s a shape this is over an hour.
inline constexpr int tuning_queue_max = 2048;

// Calls that wait for a tuning (WAIT and Tune), over all clients. They hold no thread.
inline constexpr int waiting_calls_max = 4096;

// Wall time for one tuning unless the caller says otherwise, and the most a caller may ask for.
inline constexpr std::int64_t tuning_budget_ms = 2'000;
inline constexpr std::int64_t tuning_budget_ms_max = 600'000;

// Seconds without a request or a tuning after which one stored winner is measured again, unless the
// configuration says otherwise; at most a day. A check takes about a tenth of a second.
inline constexpr std::int64_t drift_check_s = 60;
inline constexpr std::int64_t drift_check_s_max = 86'400;

// Wall time of one candidate in the trial process, one gate or one measuring slice. A kernel that
// takes longer is taken for hung: the process is killed and the candidate refused.
inline constexpr std::int64_t trial_ms_max = 10'000;

// Wall time of one compilation. Candidates take 30 to 100 ms; templates are small.
inline constexpr std::int64_t compile_ms_max = 60'000;

// Registers spilled per thread. More is refused before it is launched; a few words kept across the
// call of the rare path cost ordinary rows nothing.
inline constexpr int spill_bytes_max = 16;

// Device memory one tuning may take: rows of mixed data for the gate, and the measured rows with
// their buffer sets.
inline constexpr std::int64_t tuning_memory_bytes_max = std::int64_t{8} << 30;

// Kernels kept loaded in the daemon, per device; the least recently used go first.
inline constexpr int kernels_in_memory_max = 4096;

// The store file; binaries are 10 to 30 KB each.
inline constexpr std::int64_t store_bytes_max = std::int64_t{1} << 30;

// The status message that a client sees: gRPC refuses metadata above 8 KB, and percent-encoding
// can triple the text. The full text is in the log.
inline constexpr int status_message_bytes_max = 1024;
inline constexpr int status_details_bytes_max = 3 * 1024;

}  // namespace normd::limits
