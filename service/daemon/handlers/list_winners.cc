#include "service/daemon/handlers/list_winners.h"

#include "service/daemon/core.h"
#include "service/daemon/wire.h"

namespace normd {
namespace {

constexpr int page_size_max = 1000;
constexpr int page_size_unless_given = 100;
constexpr std::size_t text_bytes_max = 1024;

Result<WinnerQuery> read_query(const v1::ListWinnersRequest& request) {
  if (request.page_size() < 0 || request.page_size() > page_size_max) {
    return fail(ErrorCode::invalid_argument,
                "page_size must be 0 to " + std::to_string(page_size_max) + ", got " +
                    std::to_string(request.page_size()),
                "page_size");
  }
  if (auto ok = check_text(request.page_token(), text_bytes_max, "page_token"); !ok) {
    return fail(ok.error());
  }
  if (auto ok = check_text(request.contains(), text_bytes_max, "contains"); !ok) {
    return fail(ok.error());
  }
  return WinnerQuery{
      .after = request.page_token(),
      .limit = request.page_size() == 0 ? page_size_unless_given : request.page_size(),
      .contains = request.contains()};
}

}  // namespace

Result<v1::ListWinnersResponse> list_winners(Core& core, const v1::ListWinnersRequest& request) {
  auto query = read_query(request);
  if (!query) return fail(std::move(query.error()));
  auto winners = core.store().list_winners(*query);
  if (!winners) return fail(std::move(winners.error()));
  v1::ListWinnersResponse response;
  for (const Winner& winner : *winners) *response.add_winners() = write_winner(winner);
  // A full page may be the last; then the next one is empty.
  if (static_cast<int>(winners->size()) == query->limit) {
    response.set_next_page_token(to_text(winners->back().key));
  }
  return response;
}

}  // namespace normd
