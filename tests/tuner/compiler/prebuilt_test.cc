#include "tuner/compiler/prebuilt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "kernels/catalog.h"
#include "kernels/digest.h"
#include "kernels/source.h"
#include "tuner/compiler/prebuilt_archive.h"

namespace normd {
namespace {

using testing::AllOf;
using testing::HasSubstr;


DeviceSpec gpu(int capability) {
  return {.kind = DeviceKind::cuda, .capability = capability};
}

TEST(prebuilt, every_architecture_has_its_own_machine_code_of_the_present_text) {
  for (const std::string& target : supported_architectures()) {
    const DeviceSpec spec = *architecture_preset(target);
    const auto any_columns = prebuilt_binary(Prebuilt::any_columns, spec);
    const auto check_rows = prebuilt_binary(Prebuilt::check_rows, spec);
    ASSERT_TRUE(any_columns) << any_columns.error().message;
    ASSERT_TRUE(check_rows) << check_rows.error().message;
    EXPECT_EQ(any_columns->source_digest, render_any_columns(target).digest);
    EXPECT_EQ(check_rows->source_digest, render_check_rows(target).digest);
    EXPECT_EQ(any_columns->entry, any_columns_launch().entries.front());
    EXPECT_EQ(check_rows->entry, check_rows_launch().entries.front());
    for (const Binary& binary : {*any_columns, *check_rows}) {
      EXPECT_EQ(binary.format, BinaryFormat::cubin);
      EXPECT_EQ(binary.target, target);
      EXPECT_EQ(binary.digest, sha256_hex(binary.bytes));
      EXPECT_EQ(binary.bytes.substr(1, 3), "ELF");
      EXPECT_GT(binary.registers, 0);
      EXPECT_GE(binary.spill_bytes, 0);
      EXPECT_THAT(binary.compiler, HasSubstr("NVRTC"));
    }
  }
}

TEST(prebuilt, a_later_minor_version_takes_the_highest_machine_code_below_it) {
  for (const Prebuilt kernel : all_prebuilt) {
    const std::pair<int, const char*> expected[] = {
        {87, "sm_86"}, {88, "sm_86"}, {103, "sm_100"}, {121, "sm_120"}};
    for (const auto& [capability, target] : expected) {
      const auto binary = prebuilt_binary(kernel, gpu(capability));
      ASSERT_TRUE(binary) << binary.error().message;
      EXPECT_EQ(binary->target, target) << capability;
      EXPECT_EQ(binary->format, BinaryFormat::cubin);
    }
  }
}

TEST(prebuilt, a_major_version_without_machine_code_takes_the_newest_ptx_that_it_can_run) {
  for (const Prebuilt kernel : all_prebuilt) {
    const std::pair<int, const char*> expected[] = {
        {110, "compute_100"}, {130, "compute_120"}, {999, "compute_120"}};
    for (const auto& [capability, target] : expected) {
      const auto binary = prebuilt_binary(kernel, gpu(capability));
      ASSERT_TRUE(binary) << binary.error().message;
      EXPECT_EQ(binary->target, target) << capability;
      EXPECT_EQ(binary->format, BinaryFormat::ptx);
      EXPECT_EQ(binary->digest, sha256_hex(binary->bytes));
      EXPECT_THAT(binary->bytes, HasSubstr(".entry " + binary->entry));
    }
  }
}

TEST(prebuilt, an_older_device_is_refused_with_the_list_of_what_there_is) {
  for (const int capability : {70, 60, 0}) {
    const auto binary = prebuilt_binary(Prebuilt::any_columns, gpu(capability));
    ASSERT_FALSE(binary);
    EXPECT_EQ(binary.error().code, ErrorCode::failed_precondition);
    EXPECT_THAT(binary.error().message,
                AllOf(HasSubstr("any_columns"), HasSubstr("sm_" + std::to_string(capability)),
                      HasSubstr("sm_75")));
  }
}

TEST(prebuilt, the_host_takes_the_object_that_the_same_sanitizers_watch) {
  for (const Prebuilt kernel : all_prebuilt) {
    const auto binary = prebuilt_binary(kernel, host_device_spec(architecture_preset("sm_90")));
    ASSERT_TRUE(binary) << binary.error().message;
    EXPECT_EQ(binary->format, BinaryFormat::host_object);
    EXPECT_EQ(binary->target, "host");
    EXPECT_EQ(binary->digest, sha256_hex(binary->bytes));
#ifdef NORMD_SANITIZE
    EXPECT_THAT(binary->compiler, HasSubstr(NORMD_SANITIZE));
#endif
  }
}

PrebuiltEntry some_entry(const std::string& bytes) {
  return {.kernel = Prebuilt::check_rows,
          .binary = {.format = BinaryFormat::ptx,
                     .bytes = bytes,
                     .digest = sha256_hex(bytes),
                     .source_digest = "of a source",
                     .entry = "normd_check_rows",
                     .target = "compute_120",
                     .compiler = "g++ 12.2.0 address,undefined",
                     .registers = -1,
                     .spill_bytes = 7}};
}

TEST(prebuilt_archive, what_is_packed_is_unpacked) {
  PrebuiltEntry entry = some_entry("two\n\nlines");
  entry.binary.source_digest = sha256_hex("of a source");
  const PrebuiltEntry entries[] = {entry, entry};
  const auto unpacked = unpack_prebuilt(pack_prebuilt(entries));
  ASSERT_TRUE(unpacked) << unpacked.error().message;
  ASSERT_EQ(unpacked->size(), 2u);
  for (const PrebuiltEntry& copy : *unpacked) {
    EXPECT_EQ(copy.kernel, entry.kernel);
    EXPECT_EQ(copy.binary.format, entry.binary.format);
    EXPECT_EQ(copy.binary.bytes, entry.binary.bytes);
    EXPECT_EQ(copy.binary.digest, entry.binary.digest);
    EXPECT_EQ(copy.binary.source_digest, entry.binary.source_digest);
    EXPECT_EQ(copy.binary.entry, entry.binary.entry);
    EXPECT_EQ(copy.binary.target, entry.binary.target);
    EXPECT_EQ(copy.binary.compiler, entry.binary.compiler);
    EXPECT_EQ(copy.binary.registers, -1);
    EXPECT_EQ(copy.binary.spill_bytes, 7);
  }
}

TEST(prebuilt_archive, a_damaged_archive_is_data_loss_or_a_bad_field_and_never_a_crash) {
  PrebuiltEntry entry = some_entry("some bytes");
  entry.binary.source_digest = "0";
  const std::string archive = pack_prebuilt(std::span(&entry, 1));
  ASSERT_TRUE(unpack_prebuilt(archive));
  for (std::size_t cut = 0; cut < archive.size(); ++cut) {
    EXPECT_FALSE(unpack_prebuilt(archive.substr(0, cut))) << cut;
  }
}

}  // namespace
}  // namespace normd
