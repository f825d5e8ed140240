#include <gmock/gmock.h>

#include "runner/sessions/session_messages.h"

namespace leakgate {
namespace {

using testing::HasSubstr;

bool Selected(std::string_view selector, const ExecutedProgram& program) {
  return Selects(ParseImageSelector(selector).value(), program);
}

const ExecutedProgram kServer = {"/usr/bin/python3.11", {"python3", "/srv/server.py", "--port=1"}};

TEST(ImageSelectorTest, SelectsByTheFilesName) {
  EXPECT_TRUE(Selected("python3.11", kServer));
  EXPECT_TRUE(Selected("python3*", kServer));
  EXPECT_FALSE(Selected("python", kServer));
  EXPECT_FALSE(Selected("ython3.11", kServer));
}

TEST(ImageSelectorTest, SelectsByTheNameThatWasExecuted) {
  EXPECT_TRUE(Selected("python3", kServer));
}

TEST(ImageSelectorTest, SelectsByTheWholePath) {
  EXPECT_TRUE(Selected("/usr/bin/python3.11", kServer));
  EXPECT_TRUE(Selected("/usr/*", kServer));
  EXPECT_FALSE(Selected("/opt/*", kServer));
}

TEST(ImageSelectorTest, SelectsAllByAStar) {
  EXPECT_TRUE(Selected("*", kServer));
  EXPECT_TRUE(Selected("*", {"/bin/true", {}}));
}

TEST(ImageSelectorTest, TellsHostedProgramsApartByAnArgument) {
  EXPECT_TRUE(Selected("python3:server.py", kServer));
  EXPECT_TRUE(Selected("python3:/srv/*.py", kServer));
  EXPECT_TRUE(Selected("python3:--port=?", kServer));
  EXPECT_FALSE(Selected("python3:client.py", kServer));
  EXPECT_FALSE(Selected("perl:server.py", kServer));
}

TEST(ImageSelectorTest, TakesTheProgramsOwnNameForNoArgument) {
  EXPECT_FALSE(Selected("python3:python3", kServer));
  EXPECT_FALSE(Selected("true:x", {"/bin/true", {}}));
}

TEST(ImageSelectorTest, KeepsColonsOfTheArgument) {
  const ImageSelector selector = ParseImageSelector("qemu-arm:a:b").value();
  EXPECT_EQ(selector, (ImageSelector{"qemu-arm", "a:b"}));
  EXPECT_EQ(TextOf(selector), "qemu-arm:a:b");
}

TEST(ImageSelectorTest, RefusesWhatNamesNoImage) {
  for (const char* const text : {"", ":x", "python3:"}) {
    const Expected<ImageSelector> selector = ParseImageSelector(text);
    ASSERT_FALSE(selector) << text;
    EXPECT_EQ(selector.error().exit_code, ExitCode::kUsage);
    EXPECT_THAT(selector.error().message,
                HasSubstr("--image '" + std::string(text) + "': not an image"));
  }
}

}  // namespace
}  // namespace leakgate
