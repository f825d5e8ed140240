#include "runner/results/database.h"

#include <fmt/format.h>

#include "runner/base/path_text.h"
#include "runner/results/database_place.h"

namespace leakgate {
namespace {

constexpr int kBusyMilliseconds = 30'000;  // another job may be adding

// The file may come from anywhere, so its schema may run nothing, and read nothing but its tables.
void RestrictSchema(sqlite3* database) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  for (const int trust : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                          SQLITE_DBCONFIG_ENABLE_VIEW}) {
    sqlite3_db_config(database, trust, 0, nullptr);
  }
}

}  // namespace

Statement::Statement(sqlite3* database, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  Check(
      sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement, nullptr));
  statement_.reset(statement);
}

void Statement::Check(int code) {
  if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE) failed_ = true;
}

Statement& Statement::Bind(std::string_view text) {
  if (failed_) return *this;
  Check(sqlite3_bind_text64(statement_.get(), ++bound_, text.data(), text.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
  return *this;
}

Statement& Statement::Bind(std::int64_t number) {
  if (failed_) return *this;
  Check(sqlite3_bind_int64(statement_.get(), ++bound_, number));
  return *this;
}

Statement& Statement::BindOptional(const std::optional<std::string>& text) {
  if (text) return Bind(std::string_view(*text));
  if (!failed_) Check(sqlite3_bind_null(statement_.get(), ++bound_));
  return *this;
}

bool Statement::Step() {
  if (failed_) return false;
  const int code = sqlite3_step(statement_.get());
  Check(code);
  return code == SQLITE_ROW;
}

std::string Statement::Text(int column) const {
  const unsigned char* const text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return "";
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::int64_t Statement::Number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

Statement& Statement::Reset() {
  if (failed_) return *this;
  Check(sqlite3_reset(statement_.get()));
  bound_ = 0;
  return *this;
}

Expected<Database> Database::Open(const std::filesystem::path& path, Mode mode) {
  LEAKGATE_TRY_ASSIGN(
      const std::filesystem::path place,
      PlaceOf(path, mode == Mode::kRead ? DatabaseUse::kRead : DatabaseUse::kWrite));
  const int flags = mode == Mode::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(PathText(place).c_str(), &handle, flags | SQLITE_OPEN_NOFOLLOW, nullptr);
  Database database(handle, path);
  if (code != SQLITE_OK) return Unusable(path, sqlite3_errmsg(handle));
  RestrictSchema(handle);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  return database;
}

Expected<void> Database::Run(const char* sql) const {
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return Failure();
}

Unexpected Database::Failure() const {
  const std::string cause = sqlite3_errmsg(handle_.get());
  if (sqlite3_errcode(handle_.get()) == SQLITE_NOTADB) return Unusable(path_, "not an SQLite file");
  return InconclusiveError(fmt::format("{}: {}; the history is as it was; try again, or make room",
                                       PathText(path_), cause));
}

}  // namespace leakgate
