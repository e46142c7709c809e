// first_request SOCKET: asks a running normd for the LayerNorm of two rows and prints the answer.
#include <cstring>
#include <iostream>
#include <vector>

#include "service/client/client.h"

int main(int argc, char** argv) {
  if (argc != 2) return std::cerr << "usage: first_request SOCKET\n", 2;
  normd::Result<normd::Client> client = normd::Client::connect(argv[1]);
  if (!client) return std::cerr << client.error().message << "\n", 1;

  const std::vector<float> x = {1, 2, 3, 4, 4, 3, 2, 1};
  const normd::Result<normd::RunAnswer> answer = client->run({
      .rows = 2,
      .columns = 4,
      .x = {.dtype = normd::DType::fp32, .elements = x.data(), .count = 8},
      .want_mean = true,
  });
  if (!answer) return std::cerr << answer.error().message << "\n", 1;

  std::vector<float> y(x.size());
  std::memcpy(y.data(), answer->y.data(), answer->y.size());
  for (const float value : y) std::cout << value << " ";
  std::cout << "\nmeans " << answer->mean[0] << " " << answer->mean[1] << ", by "
            << answer->candidate << " in " << answer->kernel_ns << " ns\n";
}
