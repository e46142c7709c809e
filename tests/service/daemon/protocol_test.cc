// The protocol keeps what earlier releases promised: every message, field, enum value and method of
// a released descriptor set is still there, with its number, type and label. Each release adds its
// set to released/ (protoc --descriptor_set_out).
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <string_view>

#include "normd/v1/normd.pb.h"

namespace normd {

std::string_view released_protocol(std::string_view name);  // embedded

namespace {

namespace pb = google::protobuf;

// What of `old` is missing or different in `now`, one line each.
std::string broken_promises(const pb::Descriptor& old, const pb::Descriptor* now) {
  if (now == nullptr) return "message " + old.full_name() + " is gone\n";
  std::string broken;
  for (int i = 0; i < old.field_count(); ++i) {
    const pb::FieldDescriptor& field = *old.field(i);
    const auto* same = now->FindFieldByNumber(field.number());
    if (same == nullptr || same->name() != field.name() || same->type() != field.type() ||
        same->label() != field.label() || same->has_presence() != field.has_presence()) {
      broken += "field " + field.full_name() + " changed\n";
    }
  }
  return broken;
}

std::string broken_promises(const pb::EnumDescriptor& old, const pb::EnumDescriptor* now) {
  if (now == nullptr) return "enum " + old.full_name() + " is gone\n";
  std::string broken;
  for (int i = 0; i < old.value_count(); ++i) {
    const auto* same = now->FindValueByNumber(old.value(i)->number());
    if (same == nullptr || same->name() != old.value(i)->name()) {
      broken += "value " + old.value(i)->full_name() + " changed\n";
    }
  }
  return broken;
}

std::string broken_promises(const pb::ServiceDescriptor& old, const pb::ServiceDescriptor* now) {
  if (now == nullptr) return "service " + old.full_name() + " is gone\n";
  std::string broken;
  for (int i = 0; i < old.method_count(); ++i) {
    const pb::MethodDescriptor& method = *old.method(i);
    const auto* same = now->FindMethodByName(method.name());
    if (same == nullptr || same->input_type()->full_name() != method.input_type()->full_name() ||
        same->output_type()->full_name() != method.output_type()->full_name() ||
        same->server_streaming() != method.server_streaming() ||
        same->client_streaming() != method.client_streaming()) {
      broken += "method " + method.full_name() + " changed\n";
    }
  }
  return broken;
}

std::string broken_promises(const pb::FileDescriptor& old, const pb::FileDescriptor& now) {
  std::string broken;
  for (int i = 0; i < old.message_type_count(); ++i) {
    const pb::Descriptor& message = *old.message_type(i);
    broken += broken_promises(message, now.FindMessageTypeByName(message.name()));
  }
  for (int i = 0; i < old.enum_type_count(); ++i) {
    broken += broken_promises(*old.enum_type(i), now.FindEnumTypeByName(old.enum_type(i)->name()));
  }
  for (int i = 0; i < old.service_count(); ++i) {
    broken += broken_promises(*old.service(i), now.FindServiceByName(old.service(i)->name()));
  }
  return broken;
}

// A released set; `pool` owns what is returned.
const pb::FileDescriptor* released(std::string_view name, pb::DescriptorPool& pool) {
  pb::FileDescriptorSet set;
  const std::string_view bytes = released_protocol(name);
  EXPECT_FALSE(bytes.empty());
  EXPECT_TRUE(set.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return pool.BuildFile(set.file(0));
}

TEST(Protocol, nothing_that_was_released_has_changed) {
  for (const char* name : {"normd_v1_0.1.0.pb"}) {
    pb::DescriptorPool pool;
    const auto* old = released(name, pool);
    ASSERT_NE(old, nullptr);
    EXPECT_EQ(broken_promises(*old, *v1::Problem::descriptor()->file()), "") << name;
  }
}

TEST(Protocol, a_field_with_another_type_or_a_missing_method_is_noticed) {
  pb::FileDescriptorProto changed;
  v1::Problem::descriptor()->file()->CopyTo(&changed);
  changed.mutable_message_type(0)->mutable_field(1)->set_type(pb::FieldDescriptorProto::TYPE_INT32);
  changed.mutable_service(0)->mutable_method()->RemoveLast();
  changed.mutable_enum_type(0)->mutable_value(1)->set_name("DTYPE_FP32_RENAMED");
  pb::DescriptorPool pool;
  const auto* now = pool.BuildFile(changed);
  ASSERT_NE(now, nullptr);
  const std::string broken = broken_promises(*v1::Problem::descriptor()->file(), *now);
  EXPECT_NE(broken.find("field normd.v1.Problem.rows changed"), std::string::npos) << broken;
  EXPECT_NE(broken.find("method normd.v1.Normd.GetStatus changed"), std::string::npos) << broken;
  EXPECT_NE(broken.find("value normd.v1.DTYPE_FP32 changed"), std::string::npos) << broken;
}

}  // namespace
}  // namespace normd
