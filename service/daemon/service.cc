#include "service/daemon/service.h"

#include "normd/v1/normd.grpc.pb.h"
#include "service/daemon/core.h"
#include "service/daemon/handlers/explain.h"
#include "service/daemon/handlers/forget.h"
#include "service/daemon/handlers/get_status.h"
#include "service/daemon/handlers/list_winners.h"
#include "service/daemon/handlers/run.h"
#include "service/daemon/handlers/tune.h"
#include "service/daemon/unary_call.h"
#include "service/daemon/wire_bytes.h"

namespace normd {
namespace {

template <typename Base>
using RawRun = v1::Normd::WithRawCallbackMethod_Run<Base>;
template <typename Base>
using RawTune = v1::Normd::WithRawCallbackMethod_Tune<Base>;
template <typename Base>
using RawListWinners = v1::Normd::WithRawCallbackMethod_ListWinners<Base>;
template <typename Base>
using RawExplain = v1::Normd::WithRawCallbackMethod_Explain<Base>;
template <typename Base>
using RawForget = v1::Normd::WithRawCallbackMethod_Forget<Base>;
template <typename Base>
using RawGetStatus = v1::Normd::WithRawCallbackMethod_GetStatus<Base>;
using RawService =
    RawRun<RawTune<RawListWinners<RawExplain<RawForget<RawGetStatus<v1::Normd::Service>>>>>>;

// Parses, has the handler answer on the control thread, serializes.
template <typename Request, typename Response>
grpc::ServerUnaryReactor* answer(Core& core, grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* bytes, grpc::ByteBuffer* response,
                                 Result<Response> (*handler)(Core&, const Request&)) {
  const auto call = UnaryCall::begin(context, response);
  auto request = parse<Request>(*bytes);
  if (!request) {
    call->refuse(request.error());
    return call.get();
  }
  const bool posted = core.control().post([&core, call, handler, parsed = std::move(*request)] {
    if (call->answered()) return;
    const Result<Response> result = handler(core, parsed);
    if (result) {
      call->reply(serialize(*result));
    } else {
      call->refuse(result.error());
    }
  });
  if (!posted) {
    call->refuse({ErrorCode::resource_exhausted,
                  "too many listings are asked for at once; try again in a moment",
                  "control_tasks_max"});
  }
  return call.get();
}

class NormdService final : public RawService {
 public:
  explicit NormdService(Core& core) : core_(core) {}

 private:
  using Context = grpc::CallbackServerContext;
  using Bytes = grpc::ByteBuffer;
  using Reactor = grpc::ServerUnaryReactor;

  Reactor* Run(Context* context, const Bytes* request, Bytes* response) override {
    return run(core_, context, request, response);
  }
  grpc::ServerWriteReactor<Bytes>* Tune(Context* context, const Bytes* request) override {
    return tune(core_, context, request);
  }
  Reactor* ListWinners(Context* context, const Bytes* request, Bytes* response) override {
    return answer(core_, context, request, response, list_winners);
  }
  Reactor* Explain(Context* context, const Bytes* request, Bytes* response) override {
    return answer(core_, context, request, response, explain);
  }
  Reactor* Forget(Context* context, const Bytes* request, Bytes* response) override {
    return answer(core_, context, request, response, forget);
  }
  Reactor* GetStatus(Context* context, const Bytes* request, Bytes* response) override {
    return answer(core_, context, request, response, get_status);
  }

  Core& core_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_normd_service(Core& core) {
  return std::make_unique<NormdService>(core);
}

}  // namespace normd
