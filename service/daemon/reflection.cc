#include "service/daemon/reflection.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <set>
#include <string>

#include "grpc/reflection/v1/reflection.grpc.pb.h"
#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"

namespace normd {
namespace {

namespace pb = google::protobuf;

constexpr const char* service_names[] = {"normd.v1.Normd", "grpc.health.v1.Health",
                                         "grpc.reflection.v1.ServerReflection",
                                         "grpc.reflection.v1alpha.ServerReflection"};

// A file and all that it imports, each once.
void add_file(const pb::FileDescriptor& file, std::set<std::string>& seen,
              std::vector<std::string>& serialized) {
  if (!seen.insert(file.name()).second) return;
  pb::FileDescriptorProto message;
  file.CopyTo(&message);
  serialized.push_back(message.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) {
    add_file(*file.dependency(i), seen, serialized);
  }
}

template <typename Response>
void answer_file(const pb::FileDescriptor* file, const std::string& wanted, Response& response) {
  if (file == nullptr) {
    response.mutable_error_response()->set_error_code(grpc::StatusCode::NOT_FOUND);
    response.mutable_error_response()->set_error_message("not found: " + wanted);
    return;
  }
  std::set<std::string> seen;
  std::vector<std::string> serialized;
  add_file(*file, seen, serialized);
  for (std::string& bytes : serialized) {
    response.mutable_file_descriptor_response()->add_file_descriptor_proto(std::move(bytes));
  }
}

// The two versions of the protocol have the same messages in two packages.
template <typename Request, typename Response>
Response answer(const Request& request) {
  const pb::DescriptorPool& pool = *pb::DescriptorPool::generated_pool();
  Response response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case Request::kListServices:
      for (const char* name : service_names) {
        response.mutable_list_services_response()->add_service()->set_name(name);
      }
      break;
    case Request::kFileByFilename:
      answer_file(pool.FindFileByName(request.file_by_filename()), request.file_by_filename(),
                  response);
      break;
    case Request::kFileContainingSymbol:
      answer_file(pool.FindFileContainingSymbol(request.file_containing_symbol()),
                  request.file_containing_symbol(), response);
      break;
    default:  // proto3 messages have no extensions
      response.mutable_error_response()->set_error_code(grpc::StatusCode::NOT_FOUND);
      response.mutable_error_response()->set_error_message("there are no extensions here");
  }
  return response;
}

// One stream of questions: each is answered before the next is read.
template <typename Request, typename Response>
class Questions final : public grpc::ServerBidiReactor<Request, Response> {
 public:
  explicit Questions(bool allowed) {
    if (allowed) {
      this->StartRead(&request_);
    } else {
      this->Finish(
          {grpc::StatusCode::UNIMPLEMENTED,
           "reflection answers on the Unix socket only; --reflection turns it on for TCP"});
    }
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return this->Finish(grpc::Status::OK);
    response_ = answer<Request, Response>(request_);
    this->StartWrite(&response_);
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return this->Finish(grpc::Status::CANCELLED);
    this->StartRead(&request_);
  }
  void OnDone() override { delete this; }

  Request request_;
  Response response_;
};

template <typename Protocol, typename Request, typename Response>
class ReflectionService final : public Protocol::CallbackService {
 public:
  explicit ReflectionService(bool answer_tcp) : answer_tcp_(answer_tcp) {}

 private:
  grpc::ServerBidiReactor<Request, Response>* ServerReflectionInfo(
      grpc::CallbackServerContext* context) override {
    const bool local = context->peer().starts_with("unix:");
    return new Questions<Request, Response>(local || answer_tcp_);
  }

  const bool answer_tcp_;
};

namespace v1 = grpc::reflection::v1;
namespace v1alpha = grpc::reflection::v1alpha;

}  // namespace

std::vector<std::unique_ptr<grpc::Service>> make_reflection_services(bool answer_tcp) {
  std::vector<std::unique_ptr<grpc::Service>> services;
  services.push_back(
      std::make_unique<ReflectionService<v1::ServerReflection, v1::ServerReflectionRequest,
                                         v1::ServerReflectionResponse>>(answer_tcp));
  services.push_back(std::make_unique<
                     ReflectionService<v1alpha::ServerReflection, v1alpha::ServerReflectionRequest,
                                       v1alpha::ServerReflectionResponse>>(answer_tcp));
  return services;
}

}  // namespace normd
