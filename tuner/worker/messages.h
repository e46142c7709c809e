// The worker's vocabulary: how Source, Binary, Error, Verdict and samples travel in frames. Both
// ends use these functions, so a message has one spelling. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "kernels/error.h"
#include "kernels/source.h"
#include "tuner/binary.h"
#include "tuner/worker/frame.h"
#include "tuner/worker/trial_bench.h"

namespace normd {

Frame frame_of(const Error& error);                   // verb `error`
Frame frame_of(const Source& source);                 // verb `compile`
Frame frame_of(const TrialBench::Tried& tried);       // verb `verdict`
Frame frame_of(const TrialBench::Samples& samples);   // verb `samples`
void put_binary(Frame& frame, const Binary& binary);  // fields `binary_*` and the body

Result<Source> source_of(const Frame& frame);
Result<Binary> binary_of(const Frame& frame);
Result<TrialBench::Tried> tried_of(const Frame& frame);
Result<TrialBench::Samples> samples_of(const Frame& frame);

// The answer itself, or the error that an `error` frame carries, or one for an unexpected verb.
Result<Frame> expect(Result<Frame> answer, std::string_view verb);

std::string join(const std::vector<std::int64_t>& numbers);  // "1,132"
Result<std::vector<std::int64_t>> parse_numbers(std::string_view text);
std::string join(const std::vector<double>& numbers);
std::string to_text(const std::vector<MeasuredEdge>& edges);  // "132:cold,132:warm"
Result<std::vector<MeasuredEdge>> parse_edges(std::string_view text);
Result<std::vector<double>> parse_doubles(std::string_view text);

}  // namespace normd
