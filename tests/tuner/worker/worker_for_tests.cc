// A worker program that also misbehaves when asked to: the verbs of the real one, and before it a
// first argument that makes the process crash, hang, or fall silent.
#include <cstdlib>
#include <string_view>
#include <thread>

#include "tuner/worker/worker_main.h"

int main(int argc, char** argv) {
  const std::string_view behaviour = argc > 1 ? argv[1] : "";
  if (behaviour == "crash") std::abort();
  if (behaviour == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
  normd::StopPoint stop_point;
  if (behaviour == "stop-at" && argc > 2) stop_point.name = argv[2];
  return normd::worker_main(stop_point);
}
