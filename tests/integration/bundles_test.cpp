// `leakgate snapshot bundle`: snapshots in one file, and what is made of it on another machine.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/command.h"
#include "tests/support/heap_on_request.h"
#include "tests/support/leakgate_run.h"
#include "tests/support/public_copy.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

class BundlesTest : public testing::Test {
 protected:
  ~BundlesTest() override { Leakgate({"session", "stop", session_}); }

  HeapOnRequest Start(const std::string& image = "heap_on_request") const {
    return HeapOnRequest(HeapOnRequest::InSession{session_, image, {"--image", "stack_events"}});
  }
  std::string Take(const HeapOnRequest& program, const std::string& name) const {
    std::string file = directory_.File(name + ".snapshot");
    EXPECT_EQ(Leakgate({"snapshot", "take", "--pid", std::to_string(program.pid()), "-o", file})
                  .exit_code,
              0);
    return file;
  }
  std::string Bundle(std::vector<std::string> arguments) const {
    std::string file = directory_.File("bundle.zip");
    arguments.insert(arguments.begin(), {"snapshot", "bundle"});
    arguments.insert(arguments.end(), {"-o", file});
    const CommandResult made = Leakgate(arguments);
    EXPECT_EQ(made.exit_code, 0) << made.standard_error;
    return file;
  }
  static CommandResult Show(const std::string& path) {
    return Leakgate({"snapshot", "show", path});
  }

  const TemporaryDirectory directory_;
  const std::string session_ = "bundles-" + std::to_string(::getpid());
};

TEST_F(BundlesTest, HaveSnapshotsThatAreShownAndComparedAsFilesAre) {
  HeapOnRequest program = Start();
  const std::string before = Take(program, "before");
  program.Keep(5, 100);
  const std::string after = Take(program, "after");
  const std::string bundle = Bundle({before, after});

  EXPECT_THAT(Show(bundle).standard_output,
              AllOf(HasSubstr("bundle of 2 snapshots; to see one: leakgate snapshot show " +
                              bundle + "/NAME\n  after.snapshot\n"),
                    HasSubstr("\n  before.snapshot\n"),
                    HasSubstr(", PID " + std::to_string(program.pid()) + ", ")));
  EXPECT_THAT(Show(bundle + "/after.snapshot").standard_output, HasSubstr("Keep"));
  EXPECT_THAT(Leakgate({"snapshot", "diff", bundle + "/before.snapshot", after}).standard_output,
              HasSubstr("\n  appeared   500 B in 5 blocks"));
  const CommandResult exported =
      Leakgate({"snapshot", "export", bundle + "/after.snapshot", "--format", "folded"});
  EXPECT_EQ(exported.exit_code, 0) << exported.standard_error;
}

TEST_F(BundlesTest, TellWhatASessionKnows) {
  HeapOnRequest program = Start();
  program.Keep(5, 100);
  ASSERT_EQ(
      RunCommand({LeakgatePath(), "session", "exec", session_, "--", FixturePath("stack_events")})
          .exit_code,
      0);
  const std::string bundle = Bundle({"--session", session_});
  const Json shown = Json::parse(Leakgate({"snapshot", "show", bundle, "--json"}).standard_output);
  EXPECT_EQ(shown["schema"], "leakgate-bundle-1");
  ASSERT_EQ(shown["snapshots"].size(), 2U);
  EXPECT_EQ(shown["session"]["name"], session_);
  EXPECT_EQ(shown["session"]["processes"].size(), 2U);
  EXPECT_EQ(shown["session"]["missed"].size(), 0U);
  EXPECT_THAT(
      Show(bundle).standard_output,
      AllOf(HasSubstr("\nsession " + session_ + ", owner PID "),
            ContainsRegex("stack_events +ended"), ContainsRegex("heap_on_request +tracing")));
  const std::string name = "heap_on_request-" + std::to_string(program.pid()) + ".snapshot";
  EXPECT_THAT(Show(bundle + "/" + name).standard_output, HasSubstr("Keep"));
}

// The program is not there any more, as on another machine.
TEST_F(BundlesTest, HaveSymbolsOnRequest) {
  PublicCopy copies;
  const std::string image = copies.Add(FixturePath("heap_on_request"));
  HeapOnRequest program = Start(image);
  program.Keep(5, 100);
  const std::string file = Take(program, "of");
  const std::string with = Bundle({file, "--with-symbols"});
  const std::string here = Show(file).standard_output;
  std::filesystem::remove(image);

  EXPECT_THAT(Show(file).standard_output, HasSubstr("no symbols " + image));
  EXPECT_THAT(
      Show(with + "/of.snapshot").standard_output,
      AllOf(HasSubstr("Keep"), HasSubstr("heap_on_request.cpp:"), Not(HasSubstr("no symbols"))));
  EXPECT_EQ(Show(with + "/of.snapshot").standard_output, here);
}

TEST_F(BundlesTest, SayWhatIsWrongWithThem) {
  HeapOnRequest program = Start();
  const std::string file = Take(program, "a");
  const std::string bundle = Bundle({file, Take(program, "b")});
  const auto error = [](const std::vector<std::string>& arguments) {
    const CommandResult result = Leakgate(arguments);
    EXPECT_EQ(result.exit_code, 2);
    return result.standard_error;
  };
  EXPECT_THAT(error({"snapshot", "diff", bundle, file}),
              HasSubstr(bundle + ": a bundle of 2 snapshots; name one, as leakgate snapshot show"));
  EXPECT_THAT(error({"snapshot", "show", bundle, "--mapped"}),
              HasSubstr(bundle + ": a bundle of 2 snapshots; name one"));
  EXPECT_THAT(error({"snapshot", "show", bundle + "/c.snapshot"}),
              HasSubstr("no such snapshot in this bundle"));
  EXPECT_THAT(error({"snapshot", "bundle", file, "-o", bundle}),
              HasSubstr("-o " + bundle + ": exists already; remove it, or name another file"));
  EXPECT_THAT(error({"snapshot", "bundle", "-o", bundle}), HasSubstr("nothing to bundle; name"));
  EXPECT_THAT(error({"snapshot", "bundle", file}), HasSubstr("no bundle to write; name it"));
  const std::string other = directory_.File("other.zip");
  EXPECT_THAT(error({"snapshot", "bundle", file, "--symbols", "/tmp", "-o", other}),
              HasSubstr("--symbols is for --with-symbols"));
  EXPECT_THAT(error({"snapshot", "bundle", "--session", "nobody-has-it", "-o", other}),
              HasSubstr("nobody-has-it"));
  const std::string text = directory_.Write("text.snapshot", "no snapshot");
  EXPECT_THAT(error({"snapshot", "bundle", text, "-o", other}),
              HasSubstr(text + ": not a snapshot"));
  std::filesystem::create_directory(directory_.File("empty"));
  EXPECT_THAT(error({"snapshot", "bundle", directory_.File("empty"), "-o", other}),
              HasSubstr("there is no *.snapshot in this directory"));
  EXPECT_FALSE(std::filesystem::exists(other));
}

// One that was damaged on its way is told, or is as it was.
TEST_F(BundlesTest, AreNotShownWhereTheyAreDamaged) {
  HeapOnRequest program = Start();
  program.Keep(50, 100);
  const std::string bundle = Bundle({Take(program, "a")});
  const std::string bytes = ReadFile(bundle);
  const std::string shown = Show(bundle + "/a.snapshot").standard_output;
  for (std::size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 40) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const std::string file = directory_.Write("damaged.zip", damaged);
    const CommandResult result = Show(file + "/a.snapshot");
    if (result.exit_code == 0) {
      EXPECT_EQ(result.standard_output, shown) << at;
    } else {
      EXPECT_EQ(result.exit_code, 2) << at << result.standard_error;
    }
    EXPECT_THAT(Show(directory_.Write("cut.zip", bytes.substr(0, at))).exit_code, AnyOf(0, 2))
        << at;
  }
}

}  // namespace
}  // namespace leakgate::test
