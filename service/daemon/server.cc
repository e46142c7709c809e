#include "service/daemon/server.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/service_type.h>

#include <vector>

#include "service/daemon/core.h"
#include "service/daemon/reflection.h"
#include "service/daemon/service.h"

namespace normd {
namespace {

// Beside the tensors: the header, and what unknown fields of newer clients may need.
constexpr std::int64_t header_bytes_max = std::int64_t{1} << 20;

// Pending calls of one connection. Waiting calls are capped over all connections besides.
constexpr int streams_max = 2048;

// A connection that says nothing is closed; gRPC's own default is two minutes.
constexpr int handshake_ms = 5'000;

// Clients may ping this often without being sent away; many ping every ten seconds.
constexpr int ping_interval_ms_min = 5'000;

}  // namespace

struct Server::Parts {
  // The services outlive the server that calls them.
  std::unique_ptr<grpc::Service> service;
  std::vector<std::unique_ptr<grpc::Service>> reflection;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
};

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;
Server::~Server() = default;

Result<Server> Server::start(Core& core) {
  auto parts = std::make_unique<Parts>();
  parts->service = make_normd_service(core);
  parts->reflection = make_reflection_services(core.config().reflection);

  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(static_cast<int>(limits::message_bytes_max + header_bytes_max));
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, streams_max);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, handshake_ms);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             ping_interval_ms_min);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.RegisterService(parts->service.get());
  for (const auto& service : parts->reflection) builder.RegisterService(service.get());
  parts->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  parts->server = builder.BuildAndStart();
  if (!parts->server) return fail(ErrorCode::internal, "gRPC did not start its server");
  Server server(std::move(parts));
  server.set_health(false);
  return server;
}

void Server::take_connection(int descriptor, int listener) {
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
  parameters.listener_fd = listener;
  parameters.fd = descriptor;
  parts_->acceptor->HandleNewConnection(&parameters);
}

void Server::set_health(bool serving) {
  auto* const health = parts_->server->GetHealthCheckService();
  health->SetServingStatus(serving);  // every service that was set before, and ""
  health->SetServingStatus("normd.v1.Normd", serving);
}

void Server::stop(std::chrono::milliseconds grace) {
  parts_->server->Shutdown(std::chrono::system_clock::now() + grace);
}

}  // namespace normd
