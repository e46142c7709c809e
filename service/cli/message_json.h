// JSON of a protocol message: the same field names as normd.proto, numbers as numbers, enum values
// as their words in lower case ("memory"), absent messages as null. Pure function.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace google::protobuf {
class Message;
class EnumValueDescriptor;
}  // namespace google::protobuf

namespace normd {

nlohmann::json to_json(const google::protobuf::Message& message);

// "memory" for ORIGIN_MEMORY; the number for one that this program does not know.
std::string enum_word(const google::protobuf::EnumValueDescriptor& value);

}  // namespace normd
