// A pool of problems and their candidates for tests that cannot take them all, and a seeded sample
// of it in which every feature (template, axis value, dtype, architecture) occurs. Included by
// tests.
#pragma once

#include <random>
#include <set>
#include <string>
#include <vector>

#include "kernels/catalog.h"

namespace normd {

struct Sample {
  Candidate candidate;
  Problem problem;
  DeviceSpec spec;
};

std::string to_text(const Sample& sample);

// One problem with every choice drawn: width, dtypes, statistics, layout, alignment.
Problem drawn_problem(std::mt19937& random);

// The candidates of every template for `problems` drawn problems per device.
std::vector<Sample> drawn_pool(std::mt19937& random, const std::vector<DeviceSpec>& specs,
                               int problems);

// What a sample has that a test wants to have seen: "sub_warp y=fp16", "sub_warp affine_shared=1",
// ...
std::vector<std::string> features(const Sample& sample);

// A small part of the pool, in which each of its features occurs, in random order.
std::vector<Sample> covering(std::mt19937& random, std::vector<Sample> pool);

// NORMD_TEST_SEED if it is set, else a fresh seed, which is printed.
unsigned announced_seed();
bool long_run();  // NORMD_TEST_LONG=1: take all of the pool

}  // namespace normd
