#include "runner/host/message_socket.h"

namespace leakgate {

nlohmann::json ToJson(const Error& error) {
  return {{"error", error.message}, {"exit_code", static_cast<int>(error.exit_code)}};
}

std::optional<Error> ErrorFromJson(const nlohmann::json& body) {
  Error error{"", ExitCode::kInconclusive};
  ReadMember(body, "error", error.message);
  if (error.message.empty()) return std::nullopt;
  int code = 0;
  ReadMember(body, "exit_code", code);
  if (code == static_cast<int>(ExitCode::kUsage)) error.exit_code = ExitCode::kUsage;
  return error;
}

}  // namespace leakgate
