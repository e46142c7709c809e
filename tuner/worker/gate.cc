#include "tuner/worker/gate.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "kernels/check.h"
#include "tuner/worker/input_data.h"

namespace normd {
namespace {

// Enough for all blocks of a device, and small enough to cost a fraction of a millisecond. Wide
// rows take more, so that every kind lies there at once; and the widest lie there a few at a time.
constexpr std::int64_t kinds_bytes_max = std::int64_t{8} << 20;
constexpr std::int64_t wide_kinds_bytes_max = std::int64_t{64} << 20;

// Elements from which on the average rounding error is what it is in the limit, to a few percent.
constexpr std::int64_t averaging_elements = 1 << 14;

Verdict refused(Reason reason, std::string detail) {
  return Verdict{.kind = VerdictKind::refused, .reason = reason, .detail = std::move(detail)};
}

// A failed device call during a gate: the candidate's own fault unless memory ran out.
Verdict from_error(const Error& error) {
  if (error.code == ErrorCode::resource_exhausted) {
    return Verdict{
        .kind = VerdictKind::not_tried, .reason = Reason::out_of_memory, .detail = error.message};
  }
  const Reason reason = error.code == ErrorCode::unavailable ? Reason::fault : Reason::launch_error;
  return refused(reason, error.message);
}

std::string describe(const CheckRecord& record, std::string_view where) {
  std::ostringstream text;
  text.precision(9);
  const char* output = record.column == -1 ? "mean" : record.column == -2 ? "rstd" : "y";
  text << output << " of row " << record.row;
  if (record.column >= 0) text << " column " << record.column;
  text << " is " << record.got << ", expected " << record.expected << " within " << record.bound
       << " (" << where << ", " << record.failures << " values outside)";
  return text.str();
}

// One candidate going through; each step returns false once the verdict is set.
class Passage {
 public:
  Passage(const GateParts& parts, Kernel& kernel, Kernel* on_few_blocks, const Tolerance& tolerance)
      : parts_(parts), kernel_(kernel), on_few_blocks_(on_few_blocks), tolerance_(tolerance) {}

  Verdict run() {
    verdict_.kind = VerdictKind::measured;
    (void)(mixed_rows() && sizes() && far_rows());
    // What a refused candidate spoilt must not be laid at the next one's door. Where this fails the
    // device is lost, and the next call says so.
    if (verdict_.kind != VerdictKind::measured) {
      (void)parts_.kinds->restore();
      (void)parts_.sized->restore();
    }
    return verdict_;
  }

 private:
  // Two waves of this candidate's blocks and a partial one, as far as the workload reaches.
  std::int64_t rows_for_kinds() const {
    const Launch& launch = kernel_.launch();
    const std::int64_t resident = parts_.device->spec().sm_count *
                                  std::max<std::int64_t>(1, kernel_.resources().blocks_per_sm);
    const std::int64_t wanted = 2 * resident * launch.rows_per_block / launch.blocks_per_row +
                                launch.rows_per_block / 2 + 1;
    return std::min(wanted, parts_.kinds->problem().rows);
  }

  bool set(Verdict verdict) {
    verdict.error_over_bound = std::max(verdict.error_over_bound, verdict_.error_over_bound);
    verdict_ = std::move(verdict);
    return false;
  }
  bool ok(const Result<void>& done) { return done ? true : set(from_error(done.error())); }

  bool launch(Kernel& kernel, NormArguments arguments) {
    if (parts_.workspace != nullptr) arguments.workspace = parts_.workspace->address();
    return ok(parts_.device->launch({&kernel, bytes_of(arguments), arguments.rows})) &&
           ok(parts_.device->synchronize());
  }
  bool launch(const NormArguments& arguments) { return launch(kernel_, arguments); }

  bool matches(const Workload& workload, std::int64_t rows, std::string_view where) {
    const auto record = workload.check(*parts_.checker, rows, tolerance_);
    return within_bounds(record, where) &&
           (&workload != parts_.sized || relative_l2_holds(*record, workload.problem(), rows));
  }

  bool within_bounds(const Result<CheckRecord>& record, std::string_view where) {
    if (!record) return set(from_error(record.error()));
    verdict_.error_over_bound = std::max(verdict_.error_over_bound, record->error_over_bound);
    if (record->failures == 0) return true;
    // Poison is a NaN: a NaN where a number belongs was most likely never written.
    const bool unwritten = std::isnan(record->got) && !std::isnan(record->expected);
    return set(refused(unwritten ? Reason::unwritten_output : Reason::wrong_result,
                       describe(*record, where)));
  }

  // A bound for the whole of y speaks of averages: it is for normal data and many elements. For
  // 16-bit outputs it would only repeat what each element's own bound says, half a unit in the last
  // place, and correct rounding alone can pass it.
  bool relative_l2_holds(const CheckRecord& record, const Problem& problem, std::int64_t rows) {
    if (tolerance_.grade != Grade::exact || problem.y != DType::fp32 ||
        rows * problem.columns < averaging_elements) {
      return true;
    }
    const double relative = std::sqrt(record.error_square_sum / record.square_sum);
    const double bound = relative_l2_bound(problem.y);
    if (!(relative > bound)) return true;
    std::ostringstream text;
    text << "relative L2 error of y is " << relative << ", allowed " << bound << " (" << rows
         << " rows of normal data)";
    return set(refused(Reason::wrong_result, text.str()));
  }

  bool mixed_rows() {
    const std::int64_t rows = rows_for_kinds();
    for (int laying = 0; laying < parts_.kinds->layings(); ++laying) {
      if (!ok(parts_.kinds->lay(laying)) || !out_of_place(rows) || !repeat(rows) ||
          !on_few_blocks(rows) || !in_place(rows) || !guards_hold(*parts_.kinds, "mixed rows")) {
        return false;
      }
    }
    return true;
  }

  bool out_of_place(std::int64_t rows) {
    Workload& kinds = *parts_.kinds;
    if (!ok(kinds.poison_outputs()) || !launch(kinds.arguments(rows))) return false;
    // Before the values: a changed input would make the answer look wrong in another way.
    if (!guards_hold(kinds, "mixed rows") || !inputs_hold(kinds, "mixed rows")) return false;
    if (!matches(kinds, rows, "mixed rows")) return false;
    const auto untouched = kinds.gaps_untouched(rows);
    if (!untouched) return set(from_error(untouched.error()));
    if (!*untouched)
      return set(refused(Reason::guard_overwritten, "bytes between the rows of y changed"));
    return ok(kinds.keep_outputs());
  }

  bool same_bits(std::int64_t rows, bool in_place, std::string_view what) {
    const auto change = parts_.kinds->change_of_outputs(rows, in_place);
    if (!change) return set(from_error(change.error()));
    if (!*change) return true;
    return set(refused(Reason::not_repeatable, std::string(what) +
                                                   " gave other bits from output byte " +
                                                   std::to_string(**change) + " on"));
  }

  bool repeat(std::int64_t rows) {
    return ok(parts_.kinds->poison_outputs()) && launch(parts_.kinds->arguments(rows)) &&
           same_bits(rows, false, "a second run on the same data");
  }

  bool on_few_blocks(std::int64_t rows) {
    if (on_few_blocks_ == nullptr) return true;
    return ok(parts_.kinds->poison_outputs()) &&
           launch(*on_few_blocks_, parts_.kinds->arguments(rows)) &&
           same_bits(rows, false,
                     "a run on " + std::to_string(on_few_blocks_->launch().blocks_max) + " blocks");
  }

  bool in_place(std::int64_t rows) {
    Workload& kinds = *parts_.kinds;
    if (!kinds.can_run_in_place()) return true;
    return ok(kinds.poison_outputs()) && ok(kinds.copy_x_into_y()) &&
           launch(kinds.in_place_arguments(rows)) && same_bits(rows, true, "a run in place");
  }

  bool guards_hold(const Workload& workload, const std::string& where) {
    auto guard = workload.damaged_guard();
    if (!guard) return set(from_error(guard.error()));
    if (parts_.workspace != nullptr) {
      const auto intact = parts_.workspace->intact();
      if (!intact) return set(from_error(intact.error()));
      if (!*intact) *guard = "the workspace";
    }
    if (guard->empty()) return true;
    return set(
        refused(Reason::guard_overwritten, "bytes outside " + *guard + " changed (" + where + ")"));
  }

  bool inputs_hold(const Workload& workload, const std::string& where) {
    const auto input = workload.changed_input();
    if (!input) return set(from_error(input.error()));
    if (input->empty()) return true;
    return set(
        refused(Reason::input_overwritten, *input + " changed out of place (" + where + ")"));
  }

  // One launch at each of the real row counts, every element checked.
  bool sizes() {
    Workload& sized = *parts_.sized;
    for (const std::int64_t rows : parts_.sized_rows) {
      const std::string where = std::to_string(rows) + " rows";
      if (!ok(sized.poison_outputs()) || !launch(sized.arguments(rows))) return false;
      if (!guards_hold(sized, where) || !inputs_hold(sized, where)) return false;
      if (!matches(sized, rows, where)) return false;
    }
    return true;
  }

  // Also on few blocks, for there a block goes on from row to row by itself.
  bool far_rows() {
    if (parts_.far == nullptr) return true;
    for (Kernel* kernel : {&kernel_, on_few_blocks_}) {
      if (kernel == nullptr) continue;
      if (!ok(parts_.far->lay()) || !launch(*kernel, parts_.far->arguments())) return false;
      if (!within_bounds(parts_.far->check(*parts_.checker, tolerance_),
                         "rows 2^32 elements apart")) {
        return false;
      }
    }
    return true;
  }

  const GateParts& parts_;
  Kernel& kernel_;
  Kernel* on_few_blocks_;
  const Tolerance& tolerance_;
  Verdict verdict_;
};

}  // namespace

std::int64_t kinds_rows(const Problem& problem, const DeviceSpec& spec) {
  const auto row_bytes =
      problem.columns * static_cast<std::int64_t>(size_bytes(problem.x) + size_bytes(problem.y));
  const std::int64_t fitting = kinds_bytes_max / row_bytes;
  // Every kind with neighbours on both sides; at the widest, three rows of different kinds.
  const std::int64_t least =
      std::clamp<std::int64_t>(wide_kinds_bytes_max / row_bytes, 3, mixed_rows_period);
  const std::int64_t host_most = spec.kind == DeviceKind::host ? 67 : std::int64_t{1} << 20;
  return std::clamp(std::min(fitting, host_most), least, std::int64_t{1} << 20);
}

Launch few_blocks(const Launch& launch, std::int64_t rows) {
  const std::int64_t groups = std::clamp<std::int64_t>(rows / (4 * launch.rows_per_block), 1, 3);
  if (!launch.strides) return launch;
  Launch few = launch;
  few.blocks_max = std::min(launch.blocks_max, groups * launch.blocks_per_row);
  return few;
}

Verdict run_gate(const GateParts& parts, Kernel& kernel, Kernel* on_few_blocks,
                 const Tolerance& tolerance) {
  return Passage(parts, kernel, on_few_blocks, tolerance).run();
}

}  // namespace normd
