// Answer: rows of fp32 x with the right outputs beside them, for tests to spoil; and the kinds of
// data that the rows are made of. Included by tests only.
#pragma once

#include <random>
#include <vector>

#include "kernels/tolerance.h"
#include "tests/kernels/float_norms.h"

namespace normd {

struct DataKind {
  double mean;
  double spread;
};
inline constexpr DataKind kinds[] = {{0, 1},   {10, 1},     {100, 1}, {1e3, 1},  {1e3, 0.1},
                                     {1e4, 1}, {100, 0.01}, {1e5, 1}, {0, 1e-4}, {-3e4, 7}};

// Half the values one below `middle`, half one above, in no order. The additions of their squares
// round the same way again and again, so that the error of a long sum grows with its length.
inline std::vector<float> make_two_valued_row(double middle, std::size_t columns) {
  std::mt19937 random(7);
  std::vector<float> row;
  for (std::size_t i = 0; i < columns; ++i) {
    row.push_back(static_cast<float>(middle + ((random() & 1) != 0 ? 1.0 : -1.0)));
  }
  return row;
}

inline std::vector<float> make_row(const DataKind& kind, std::size_t columns) {
  std::mt19937 random(42);
  std::normal_distribution<double> normal;
  std::vector<float> row;
  for (std::size_t i = 0; i < columns; ++i) {
    row.push_back(static_cast<float>(kind.mean + kind.spread * normal(random)));
  }
  return row;
}

// Rows of fp32 x with the right answer beside them, to be spoilt by the tests.
class Answer {
 public:
  Answer(std::vector<std::vector<float>> rows, DType y) {
    problem_ = {.rows = static_cast<std::int64_t>(rows.size()),
                .columns = static_cast<std::int64_t>(rows[0].size()),
                .y = y,
                .stats = Stats::mean_rstd,
                .align_bytes = 4};
    for (const auto& row : rows) x_.insert(x_.end(), row.begin(), row.end());
    y_.resize(x_.size() * size_bytes(y));
    ReferenceRow expected;
    for (std::int64_t row = 0; row < problem_.rows; ++row) {
      reference_row(problem_, tensors(), row, expected);
      for (std::int64_t i = 0; i < problem_.columns; ++i) {
        set_y(row, i, expected.y[static_cast<std::size_t>(i)]);
      }
      mean_.push_back(static_cast<float>(expected.mean));
      rstd_.push_back(static_cast<float>(expected.rstd));
    }
  }

  double y(std::int64_t row, std::int64_t column) const {
    return load_element(problem_.y, y_.data(), at(row, column));
  }
  void set_y(std::int64_t row, std::int64_t column, double value) {
    store_element(problem_.y, y_.data(), at(row, column), value);
  }
  void set_row(std::int64_t row, const FloatRow& values) {
    for (std::size_t i = 0; i < values.y.size(); ++i) {
      set_y(row, static_cast<std::int64_t>(i), static_cast<double>(values.y[i]));
    }
    mean_[static_cast<std::size_t>(row)] = values.mean;
    rstd_[static_cast<std::size_t>(row)] = values.rstd;
  }
  std::vector<char>& y_bytes() { return y_; }
  std::vector<float>& mean() { return mean_; }
  std::vector<float>& rstd() { return rstd_; }

  Comparison compare_rows(std::int64_t begin, std::int64_t end, const Tolerance& tolerance) const {
    return compare(problem_, tensors(),
                   {.y = y_.data(),
                    .mean = mean_.data(),
                    .rstd = rstd_.data(),
                    .y_row_stride = problem_.columns},
                   tolerance, begin, end);
  }
  Comparison compare_all(const Tolerance& tolerance = {}) const {
    return compare_rows(0, problem_.rows, tolerance);
  }

 private:
  std::size_t at(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * problem_.columns + column);
  }
  HostTensors tensors() const {
    return {.x = x_.data(), .x_row_stride = problem_.columns, .epsilon = 1e-5f};
  }

  Problem problem_;
  std::vector<float> x_;
  std::vector<char> y_;
  std::vector<float> mean_;
  std::vector<float> rstd_;
};

}  // namespace normd
