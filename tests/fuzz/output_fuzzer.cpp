// What a test binary prints and writes: its list of tests, its own results, and what the
// owner of a session is told. None of it is trusted.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "runner/host/message_socket.h"
#include "runner/run/gtest_output.h"
#include "runner/run/test_listing.h"
#include "runner/sessions/session_messages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace leakgate;
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  (void)ParseTestList(text);
  (void)ParseGtestOutput(GtestOutputFormat::kXml, text);
  (void)ParseGtestOutput(GtestOutputFormat::kJson, text);
  const auto body = nlohmann::json::parse(text, nullptr, false);
  if (!body.is_discarded()) {
    (void)StatusFromJson(body);
    (void)ProcessFromJson(body);
    (void)ScopeFromJson(body);
    (void)ErrorFromJson(body);
  }
  return 0;
}
