// An SQLite file, as far as a history needs one. Values are bound to the parameters of statements,
// so text that comes from outside never becomes SQL.
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

  // Binds the next parameter, which is the first one after construction and after Reset.
  Statement& Bind(std::string_view text);
  Statement& Bind(std::int64_t number);
  Statement& BindOptional(const std::optional<std::string>& text);  // nullopt binds NULL

  // Runs the statement up to its next row. Returns false if there is none, or after an error.
  bool Step();
  [[nodiscard]] std::string Text(int column) const;
  [[nodiscard]] std::int64_t Number(int column) const;

  // Makes the statement ready to be bound and stepped again.
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
  enum class Mode { kRead, kWrite };  // kWrite creates the file if there is none

  // Opens only regular files. It refuses what other users may have put in the way, as reports do
  // (base/linux/file_place.h), journals included.
  [[nodiscard]] static Expected<Database> Open(const std::filesystem::path& path, Mode mode);

  [[nodiscard]] Statement Prepare(std::string_view sql) const {
    return Statement(handle_.get(), sql);
  }
  // Runs one or several statements that have neither parameters nor rows.
  [[nodiscard]] Expected<void> Run(const char* sql) const;
  // Returns the last error that SQLite tells.
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
