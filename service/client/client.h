// Client: LayerNorm from a C++ program, through a running normd. One Client holds one channel: make
// one per process and share it; every method may be called from any thread, and blocks its caller
// until the answer or its deadline. Do not fork() after the first Client: make it in the child.
// Nothing here throws, compiles, opens a device or reads the environment.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/dtype.h"
#include "kernels/error.h"
#include "kernels/row_bucket.h"
#include "normd/v1/normd.pb.h"

namespace normd {

// Elements in the caller's memory, row-major and without gaps. Null elements: no such tensor.
struct Array {
  DType dtype = DType::fp32;
  const void* elements = nullptr;
  std::int64_t count = 0;  // elements, not bytes
};

// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta over each row of x.
struct RunCall {
  std::int64_t rows = 0;         // leading dimensions folded together; 0 gives an empty answer
  std::int64_t columns = 0;      // normalised dimensions folded together; 1 to 2^24
  Array x;                       // rows * columns
  Array gamma;                   // columns, in a dtype of its own; none: a factor of one
  Array beta;                    // columns, in a dtype of its own; none: nothing added
  std::optional<DType> y_dtype;  // none: as x
  bool want_mean = false;
  bool want_rstd = false;
  float epsilon = 1e-5f;                    // added to the variance: finite, 0 or more
  v1::Policy policy = v1::POLICY_FALLBACK;  // what a shape that is not tuned yet gets
  BucketMode bucket_mode = BucketMode::bucketed;
  std::string device;  // UUID or index, as `normctl devices` lists them; empty: the first
  // 0: ClientOptions::run_ms, or wait_ms when the policy is POLICY_WAIT.
  std::chrono::milliseconds deadline{0};
};

struct RunAnswer {
  std::string y;            // rows * columns elements of the y dtype, row-major
  std::vector<float> mean;  // one per row, if wanted
  std::vector<float> rstd;  // one per row, if wanted: 1 / sqrt(variance + epsilon)
  v1::Origin origin = v1::ORIGIN_UNSPECIFIED;  // where the kernel came from
  std::string candidate;                       // the kernel, as canonical text
  std::string key;                             // of the stored decision, as canonical text
  std::string device;                          // UUID
  std::int64_t kernel_ns = 0;                  // device time of the launch; 0 if none
  std::int64_t daemon_ns = 0;                  // in the daemon, without the kernel and the copies
};

// Milliseconds until a call is given up. No call is without a deadline.
struct ClientOptions {
  std::int64_t connect_ms = 1'000;  // to reach the daemon; longer is patience for one that starts
  bool wait_for_start = false;      // a refused connection is tried again until connect_ms is over
  std::int64_t control_ms = 5'000;  // status, listings, explain, forget
  std::int64_t run_ms = 30'000;
  std::int64_t wait_ms = 120'000;  // POLICY_WAIT
  std::int64_t tune_ms = 120'000;  // beyond the tuning budget that is asked for
};

// Every Error has the gRPC status in its code, the daemon's words in its message, and in `field`
// the request field at fault, as normd.proto spells it ("problem.columns"), when the daemon named
// one. `unavailable` means that no daemon answered, or that it is stopping: the call may be
// repeated.
class Client {
 public:
  // `target` is the path of a Unix socket, with or without "unix:" before it, or "host:port".
  // Fails with `unavailable` if nothing answers there.
  static Result<Client> connect(const std::string& target, const ClientOptions& options = {});
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // Sends the arrays inline; the message must stay within limits::message_bytes_max (64 MiB).
  Result<RunAnswer> run(const RunCall& call);

  // Blocks until the tuning is over and returns the last message, which carries the winner.
  // `progress` is called on this thread. Giving up leaves the tuning running in the daemon.
  Result<v1::TuneResponse> tune(const v1::TuneRequest& request,
                                const std::function<void(const v1::TuneProgress&)>& progress);

  Result<v1::ListWinnersResponse> list_winners(const v1::ListWinnersRequest& request);
  Result<v1::ExplainResponse> explain(const v1::ExplainRequest& request);
  Result<v1::ForgetResponse> forget(const std::string& key);
  Result<v1::GetStatusResponse> status();

 private:
  struct Connection;
  explicit Client(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace normd
