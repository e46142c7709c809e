#include "service/cli/message_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "kernels/check.h"

namespace normd {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

nlohmann::json element(const Message& message, const FieldDescriptor* field, int index) {
  const Reflection* reflection = message.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection->GetRepeatedString(message, field, index);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return to_json(reflection->GetRepeatedMessage(message, field, index));
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection->GetRepeatedInt32(message, field, index);
    default:
      NORMD_CHECK(false);  // the protocol repeats no other type
  }
}

nlohmann::json single(const Message& message, const FieldDescriptor* field) {
  const Reflection* reflection = message.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection->GetString(message, field);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (!reflection->HasField(message, field)) return nullptr;
      return to_json(reflection->GetMessage(message, field));
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection->GetInt32(message, field);
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection->GetInt64(message, field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection->GetDouble(message, field);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection->GetFloat(message, field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection->GetBool(message, field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return enum_word(*reflection->GetEnum(message, field));
    default:
      NORMD_CHECK(false);  // the protocol has no other type
  }
}

}  // namespace

std::string enum_word(const google::protobuf::EnumValueDescriptor& value) {
  // Every enum of the protocol begins with PREFIX_UNSPECIFIED.
  constexpr std::string_view zero = "UNSPECIFIED";
  const std::string& first = value.type()->value(0)->name();
  const std::size_t prefix = first.size() - std::min(first.size(), zero.size());
  std::string word = value.name();
  if (word.compare(0, prefix, first, 0, prefix) != 0) return std::to_string(value.number());
  word.erase(0, prefix);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

nlohmann::json to_json(const Message& message) {
  nlohmann::json object = nlohmann::json::object();
  const google::protobuf::Descriptor* descriptor = message.GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    if (!field->is_repeated()) {
      object[field->name()] = single(message, field);
      continue;
    }
    nlohmann::json list = nlohmann::json::array();
    const int count = message.GetReflection()->FieldSize(message, field);
    for (int k = 0; k < count; ++k) list.push_back(element(message, field, k));
    object[field->name()] = std::move(list);
  }
  return object;
}

}  // namespace normd
