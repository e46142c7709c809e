// Which rounds a race throws away for the condition of the device, on made-up times that are all
// alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/race.h"

namespace normd {
namespace {

using testing::HasSubstr;

constexpr std::size_t edges = 2;

// What the device is like in the round of this number, at this edge.
using ConditionOf = std::function<DeviceCondition(int, std::size_t)>;

class MadeUpDevice {
 public:
  explicit MadeUpDevice(ConditionOf condition_of) : condition_of_(std::move(condition_of)) {}

  Race race(const RaceRules& rules = {.narrow = -1}) {  // never content: as many rounds as allowed
    return Race(rules, edges, [this](const std::vector<int>& numbers, std::size_t edge) {
      if (edge == 0) ++round_;
      return Result<Race::Sampled>(Race::Sampled{.ns = std::vector<double>(numbers.size(), 100),
                                                 .condition = condition_of_(round_, edge)});
    });
  }

 private:
  ConditionOf condition_of_;
  int round_ = -1;
};

bool never() {
  return false;
}

// An H200: another clock at each edge, for each is another load, and a little up and down.
DeviceCondition well(int round, std::size_t edge) {
  return {.sm_clock_mhz = (edge == 0 ? 1980 : 1755) - 15 * (round % 4), .memory_clock_mhz = 3201};
}

TEST(RaceCondition, a_device_that_is_well_loses_no_round) {
  MadeUpDevice device(well);
  Race race = device.race();
  ASSERT_TRUE(race.run({0, 1}, 0, never));
  EXPECT_EQ(race.rounds(), RaceRules().rounds_max);
  EXPECT_EQ(race.rounds_discarded(), 0);
}

TEST(RaceCondition, a_device_of_which_nothing_is_known_loses_no_round) {
  MadeUpDevice device([](int, std::size_t) { return DeviceCondition{}; });
  Race race = device.race();
  ASSERT_TRUE(race.run({0, 1}, 0, never));
  EXPECT_EQ(race.rounds_discarded(), 0);
  EXPECT_EQ(race.sm_clock_mhz(0, 0), 0);
}

TEST(RaceCondition, readings_that_fail_cost_no_round_and_count_for_nothing) {
  MadeUpDevice device([](int round, std::size_t edge) {
    return round % 5 > 1 ? DeviceCondition{} : well(round, edge);
  });
  Race race = device.race();
  ASSERT_TRUE(race.run({0, 1}, 0, never));
  EXPECT_EQ(race.rounds_discarded(), 0);
  EXPECT_NEAR(race.sm_clock_mhz(0, 0), 1960, 20);
}

TEST(RaceCondition, a_round_in_which_the_device_was_held_back_is_thrown_away_and_counted) {
  MadeUpDevice device([](int round, std::size_t edge) {
    DeviceCondition condition = well(round, edge);
    if (round % 4 == 0 && edge == 1) condition.held_back = "hw_power_brake";
    return condition;
  });
  Race race = device.race();
  ASSERT_TRUE(race.run({0, 1}, 0, never));
  EXPECT_EQ(race.rounds(), 40);
  EXPECT_EQ(race.rounds_discarded(), 14);
  EXPECT_EQ(race.intervals(1)[0].samples, 40);
}

TEST(RaceCondition, a_device_that_is_held_back_all_the_time_is_busy_for_that_reason) {
  MadeUpDevice device([](int, std::size_t) {
    return DeviceCondition{.sm_clock_mhz = 900, .held_back = "hw_thermal_slowdown"};
  });
  Race race = device.race();
  const auto ran = race.run({0, 1}, 0, never);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, ErrorCode::unavailable);
  EXPECT_EQ(ran.error().message,
            "device busy: 7 of 7 rounds were thrown away (held back: hw_thermal_slowdown x7)");
  EXPECT_EQ(race.rounds(), 0);
}

TEST(RaceCondition, each_cause_is_named_with_its_rounds) {
  int round = -1;
  Race race({}, 1, [&](const std::vector<int>& numbers, std::size_t) {
    const double ns = ++round >= 4 && round < 8 ? 200 : 100;
    const std::string held_back = round >= 8 ? "hw_slowdown" : "";
    return Result<Race::Sampled>(Race::Sampled{.ns = std::vector<double>(numbers.size(), ns),
                                               .condition = {.held_back = held_back}});
  });
  const auto ran = race.run({0, 1}, 0, never);
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.error().message, HasSubstr("held back: hw_slowdown x3; slow control copy x4"));
}

TEST(RaceCondition, a_round_after_which_a_clock_is_far_from_its_median_is_thrown_away) {
  for (const auto clock : {&DeviceCondition::sm_clock_mhz, &DeviceCondition::memory_clock_mhz}) {
    for (const double factor : {0.8, 1.2}) {
      MadeUpDevice device([&](int round, std::size_t edge) {
        DeviceCondition condition = well(round, edge);
        if (round % 8 == 7 && edge == 1) {
          condition.*clock = static_cast<int>(condition.*clock * factor);
        }
        return condition;
      });
      Race race = device.race();
      ASSERT_TRUE(race.run({0, 1}, 0, never));
      EXPECT_EQ(race.rounds_discarded(), 5) << factor;
    }
  }
}

TEST(RaceCondition, a_device_that_is_idle_at_the_first_reading_loses_no_round) {
  MadeUpDevice device([](int round, std::size_t edge) {
    return round == 0 ? DeviceCondition{.sm_clock_mhz = 345} : well(round, edge);
  });
  Race race = device.race();
  ASSERT_TRUE(race.run({0, 1}, 0, never));
  EXPECT_EQ(race.rounds_discarded(), 0);
}

// A small card at its power cap, or one whose clock has changed for good: that is how it runs.
TEST(RaceCondition, a_clock_that_moves_all_the_time_fails_no_race) {
  const auto clock_of = {
      std::function<int(int)>([](int round) { return round % 2 == 0 ? 1590 : 900; }),
      std::function<int(int)>([](int round) { return round < 8 ? 1980 : 1500; }),
      std::function<int(int)>([](int round) { return 2000 * (round % 5 + 1) / 5; }),
  };
  for (const auto& sm_clock_mhz : clock_of) {
    MadeUpDevice device([&](int round, std::size_t) {
      return DeviceCondition{.sm_clock_mhz = sm_clock_mhz(round)};
    });
    Race race = device.race();
    const auto ran = race.run({0, 1}, 0, never);
    ASSERT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(race.rounds(), RaceRules().rounds_max);
    EXPECT_GT(race.rounds_discarded(), 0);
    EXPECT_LE(race.rounds_discarded(), (race.rounds() + race.rounds_discarded()) / 4);
  }
}

TEST(RaceCondition, the_clock_of_a_candidate_is_the_median_over_its_own_rounds) {
  int round = -1;
  Race race({.narrow = -1}, 1, [&](const std::vector<int>& numbers, std::size_t) {
    ++round;
    std::vector<double> ns;
    for (const int number : numbers) ns.push_back(number == 1 ? 200 : 100);
    return Result<Race::Sampled>(
        Race::Sampled{.ns = ns, .condition = {.sm_clock_mhz = round < 6 ? 1900 : 1800}});
  });
  ASSERT_TRUE(race.run({0, 1}, 0, never));
  EXPECT_EQ(race.intervals(1)[0].samples, 6);  // it is hopeless
  EXPECT_EQ(race.sm_clock_mhz(1, 0), 1900);
  EXPECT_EQ(race.sm_clock_mhz(0, 0), 1800);
}

}  // namespace
}  // namespace normd
