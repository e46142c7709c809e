#include "service/cli/inspection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/service/cli/sample_store.h"
#include "tests/service/cli/tool.h"
#include "tests/service/client/fake_daemon.h"

namespace normd {
namespace {

using testing::HasSubstr;
using testing::Not;

// A store with winners for 64, 65 and 66 columns, the first with a race of two trials.
class StoreTool : public testing::Test {
 protected:
  StoreTool() {
    auto store = Store::open(directory_.file("store"), Store::Mode::read_write);
    EXPECT_TRUE(store);
    for (int number = 0; number < 3; ++number) {
      EXPECT_TRUE((*store)->put_binary(stored_binary(number)));
      EXPECT_TRUE((*store)->put_winner(stored_winner(number), stored_race(number)));
    }
    tool_.surroundings.variables.normd_socket = "/nonexistent/normd.sock";
  }

  ToolRun run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--store", directory_.file("store")});
    return tool_(arguments);
  }

  SampleFolder directory_;
  Tool tool_;
};

TEST_F(StoreTool, ls_lists_winners_with_numbers) {
  const ToolRun listed = run({"ls"});
  EXPECT_EQ(listed.status, ExitStatus::ok) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("1  133..264       64  bf16 no-gamma no-beta  bucketed"));
  EXPECT_THAT(listed.out, HasSubstr("3  133..264       66"));
  EXPECT_THAT(listed.out, HasSubstr("block_registers threads=256"));
}

TEST_F(StoreTool, ls_keeps_the_numbers_of_the_whole_list_when_words_choose) {
  const ToolRun listed = run({"ls", "columns=65", "bf16"});
  EXPECT_THAT(listed.out, HasSubstr("2  133..264       65"));
  EXPECT_THAT(listed.out, Not(HasSubstr("       64")));
  const ToolRun none = run({"ls", "columns=9"});
  EXPECT_EQ(none.status, ExitStatus::ok);
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, HasSubstr("no winner is stored whose"));
}

TEST_F(StoreTool, ls_says_how_many_more_there_are) {
  const ToolRun listed = run({"ls", "--limit", "2"});
  EXPECT_THAT(listed.err, HasSubstr("1 more; ask for them by --limit 3"));
}

TEST_F(StoreTool, ls_as_json_has_every_field_of_the_protocol) {
  const nlohmann::json object = nlohmann::json::parse(run({"ls", "--json"}).out);
  EXPECT_EQ(object["format"], 1);
  ASSERT_EQ(object["winners"].size(), 3u);
  EXPECT_EQ(object["winners"][1]["number"], 2);
  EXPECT_EQ(object["winners"][1]["key"], to_text(stored_key(1)));
  EXPECT_EQ(object["winners"][1]["tuning_ms"], 1234);
  EXPECT_EQ(object["winners"][1]["ties"].size(), 2u);
  EXPECT_EQ(object["winners"][1]["measurements"][0]["sm_clock_mhz"], 0);
  EXPECT_EQ(object["winners"][1]["measurements"][2]["sm_clock_mhz"], 1965);
}

TEST_F(StoreTool, show_takes_a_number_words_or_the_whole_key) {
  for (const std::string& name :
       {std::string("2"), std::string("columns=65"), to_text(stored_key(1))}) {
    const ToolRun shown = run({"show", name});
    EXPECT_EQ(shown.status, ExitStatus::ok) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr(to_text(stored_key(1))));
    EXPECT_THAT(shown.out, HasSubstr("128 rows"));
    EXPECT_THAT(shown.out, HasSubstr("256 rows, warm"));
    EXPECT_THAT(shown.out, HasSubstr("1965"));
    EXPECT_THAT(shown.out, HasSubstr("refused wrong_result: row 3, column 5:\\ngot 'nan'"));
  }
}

TEST_F(StoreTool, show_draws_bars_on_a_terminal_only) {
  EXPECT_THAT(run({"show", "1"}).out, Not(HasSubstr("####")));
  tool_.surroundings.out_is_terminal = true;
  EXPECT_THAT(run({"show", "1"}).out, HasSubstr("####################"));
}

TEST_F(StoreTool, a_key_that_fits_none_or_several_is_said) {
  const ToolRun none = run({"show", "columns=7"});
  EXPECT_EQ(none.status, ExitStatus::not_found);
  EXPECT_THAT(none.err, HasSubstr("lists all 3"));
  EXPECT_EQ(run({"show", "4"}).status, ExitStatus::not_found);
  const ToolRun several = run({"show", "x=bf16"});
  EXPECT_EQ(several.status, ExitStatus::usage);
  EXPECT_THAT(several.err, HasSubstr("fits 3 keys"));
  EXPECT_THAT(several.err, HasSubstr("\n    1  layer_norm"));
}

TEST_F(StoreTool, explain_tells_a_hit_from_a_miss_without_a_daemon) {
  const ToolRun hit = run({"explain", "200x64", "--dtype", "bf16", "--affine", "none"});
  EXPECT_EQ(hit.status, ExitStatus::ok) << hit.err;
  // The sample's digest is that of no text: a daemon would not take it.
  EXPECT_THAT(hit.out, HasSubstr("stale      number 1"));
  const ToolRun miss = run({"explain", "200x66", "--dtype", "fp16", "--affine", "none"});
  EXPECT_THAT(miss.out, HasSubstr("miss"));
  EXPECT_THAT(miss.out, HasSubstr("differs in x: fp16, stored bf16; y: fp16, stored bf16\n"));
  EXPECT_THAT(run({"explain", "2"}).out, HasSubstr("columns=65"));
}

TEST_F(StoreTool, forget_asks_first_and_removes_the_key) {
  EXPECT_EQ(run({"forget", "2"}).status, ExitStatus::usage);  // no terminal to ask on
  tool_.surroundings.in_is_terminal = true;
  tool_.input = "n\n";
  EXPECT_EQ(run({"forget", "2"}).status, ExitStatus::failed);
  tool_.input = "y\n";
  const ToolRun forgotten = run({"forget", "2"});
  EXPECT_EQ(forgotten.status, ExitStatus::ok) << forgotten.err;
  EXPECT_THAT(forgotten.out, HasSubstr("forgotten: "));
  EXPECT_EQ(run({"show", "columns=65"}).status, ExitStatus::not_found);
  EXPECT_EQ(run({"forget", "columns=66", "--yes"}).status, ExitStatus::ok);
  EXPECT_EQ(nlohmann::json::parse(run({"ls", "--json"}).out)["winners"].size(), 1u);
}

TEST_F(StoreTool, a_store_that_is_not_there_is_named_and_not_made) {
  const ToolRun listed = tool_({"ls", "--store", directory_.file("none")});
  EXPECT_EQ(listed.status, ExitStatus::not_found);
  EXPECT_THAT(listed.err, HasSubstr(directory_.file("none")));
  EXPECT_FALSE(std::filesystem::exists(directory_.file("none")));
}

TEST_F(StoreTool, verbose_says_which_store_is_used_and_why) {
  EXPECT_THAT(run({"-v", "ls"}).err, HasSubstr("store " + directory_.file("store") + " (--store)"));
}

TEST_F(StoreTool, the_running_daemons_store_comes_before_the_usual_place) {
  FakeDaemon daemon;
  daemon.status.mutable_store()->set_persistent(true);
  daemon.status.mutable_store()->set_path(directory_.file("store") + "/normd.db");
  daemon.start();
  const ToolRun listed = tool_({"-v", "ls", "--socket", daemon.socket()});
  EXPECT_EQ(listed.status, ExitStatus::ok) << listed.err;
  EXPECT_THAT(listed.err, HasSubstr("the running daemon"));
  EXPECT_THAT(listed.out, HasSubstr("columns"));
}

TEST_F(StoreTool, forget_goes_through_a_running_daemon) {
  FakeDaemon daemon;
  daemon.status.mutable_store()->set_persistent(true);
  daemon.status.mutable_store()->set_path(directory_.file("store") + "/normd.db");
  std::string asked;
  daemon.on_forget = [&](const v1::ForgetRequest& request, v1::ForgetResponse* response) {
    asked = request.key();
    response->set_rows_removed(5);
    return grpc::Status::OK;
  };
  daemon.start();
  const ToolRun forgotten = tool_({"forget", "1", "--yes", "--socket", daemon.socket()});
  EXPECT_EQ(forgotten.status, ExitStatus::ok) << forgotten.err;
  EXPECT_EQ(asked, to_text(stored_key(0)));
  EXPECT_THAT(forgotten.out, HasSubstr("forgotten: 5 rows"));
}

}  // namespace
}  // namespace normd
