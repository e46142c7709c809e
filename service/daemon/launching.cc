#include "service/daemon/launching.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "kernels/check.h"

namespace normd {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t ns_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count();
}

// A measuring slice of a tuning is this long at most. A request that has waited for a whole one
// goes ahead without the turn: a spoiled sample is taken again, a late answer is not.
constexpr std::chrono::milliseconds turn_wait_max{5};
constexpr std::chrono::microseconds turn_poll{100};

// Whether the turn was got.
bool wait_for_turn(DeviceTurn& turn) {
  const auto until = Clock::now() + turn_wait_max;
  while (!turn.try_take()) {
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(turn_poll);
  }
  return true;
}

// The scratch memory that this launch needs, zeroed when it is new; then each launch of the kernel
// finds what the one before left.
Result<void*> workspace_for(Device& device, ServedKernel& kernel, std::int64_t rows) {
  const std::size_t wanted = workspace_bytes(kernel.kernel->launch(), rows);
  if (wanted == 0) return nullptr;
  if (!kernel.workspace || kernel.workspace->bytes() < wanted) {
    const std::size_t doubled = kernel.workspace ? 2 * kernel.workspace->bytes() : 0;
    kernel.workspace.reset();
    auto memory = device.allocate(std::max(wanted, doubled));
    if (!memory) return fail(std::move(memory.error()));
    if (auto filled = device.fill((*memory)->address(), 0, (*memory)->bytes()); !filled) {
      return fail(std::move(filled.error()));
    }
    kernel.workspace = std::move(*memory);
  }
  return kernel.workspace->address();
}

Result<std::int64_t> launch_and_wait(Device& device, DeviceTurn& turn, Kernel& kernel,
                                     const NormArguments& arguments) {
  const bool taken = wait_for_turn(turn);
  const auto begin = Clock::now();
  auto launched = device.launch(KernelCall{&kernel, bytes_of(arguments), arguments.rows});
  if (launched) launched = device.synchronize();
  const std::int64_t kernel_ns = ns_between(begin, Clock::now());
  if (taken) turn.give();
  if (!launched) return fail(std::move(launched.error()));
  return kernel_ns;
}

}  // namespace

Result<ServeTimes> serve(Device& device, DeviceTurn& turn, TransferArea& area,
                         const ServeJob& job) {
  NORMD_CHECK(job.problem.rows > 0 && job.kernel != nullptr);
  const auto begin = Clock::now();
  if (auto sent = area.send(job.tensors); !sent) return fail(std::move(sent.error()));
  const auto sent_at = Clock::now();
  NormArguments arguments = area.arguments(job);
  auto workspace = workspace_for(device, *job.kernel, job.problem.rows);
  if (!workspace) return fail(std::move(workspace.error()));
  arguments.workspace = *workspace;
  auto kernel_ns = launch_and_wait(device, turn, *job.kernel->kernel, arguments);
  if (!kernel_ns) return fail(std::move(kernel_ns.error()));
  const auto launched_at = Clock::now();
  if (auto received = area.receive(job.tensors); !received) {
    return fail(std::move(received.error()));
  }
  return ServeTimes{
      .kernel_ns = *kernel_ns,
      .copies_ns = ns_between(begin, sent_at) + ns_between(launched_at, Clock::now())};
}

Result<std::unique_ptr<ServedKernel>> load_kernel(Device& device, const LoadOrder& order) {
  auto kernel = device.load(order.binary, order.launch);
  if (!kernel) return fail(std::move(kernel.error()));
  auto served = std::make_unique<ServedKernel>();
  served->candidate = order.candidate;
  served->key = order.key;
  served->binary_digest = order.binary.digest;
  served->fallback = order.fallback;
  served->kernel = std::move(*kernel);
  return served;
}

}  // namespace normd
