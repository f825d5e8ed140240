// An SQLite file, as far as a history needs one. Statements have parameters; no text
// of anybody's becomes SQL.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runner/base/expected.h"

namespace leakgate {

// One SQL statement, prepared once. After an error it does nothing more.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);

  // The next parameter, from the first after Reset.
  Statement& Bind(std::string_view text);
  Statement& Bind(std::int64_t number);
  Statement& BindOptional(const std::optional<std::string>& text);  // nothing: NULL

  // True: a row is there.
  bool Step();
  [[nodiscard]] std::string Text(int column) const;
  [[nodiscard]] std::int64_t Number(int column) const;

  // To be bound and stepped anew.
  Statement& Reset();

  [[nodiscard]] bool failed() const { return failed_; }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  void Check(int code);

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
  bool failed_ = false;
};

class Database {
 public:
  enum class Mode { kRead, kWrite };  // kWrite: made where there is none

  // Regular files only. What others may have put in the way is refused as for reports
  // (util/linux/file_place.h), journals included.
  [[nodiscard]] static Expected<Database> Open(const std::filesystem::path& path, Mode mode);

  [[nodiscard]] Statement Prepare(std::string_view sql) const {
    return Statement(handle_.get(), sql);
  }
  // Without parameters and rows; several statements.
  [[nodiscard]] Expected<void> Run(const char* sql) const;
  // What SQLite says went wrong last.
  [[nodiscard]] Unexpected Failure() const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };

  Database(sqlite3* handle, std::filesystem::path path) : handle_(handle), path_(std::move(path)) {}

  std::unique_ptr<sqlite3, Close> handle_;
  std::filesystem::path path_;
};

}  // namespace leakgate
