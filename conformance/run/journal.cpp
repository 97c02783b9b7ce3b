#include "run/journal.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <opgate/error.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

namespace opgate {
namespace {

using nlohmann::json;

constexpr size_t kFlushBytes = 1 << 16;

SetupError cannot_write(const std::filesystem::path& file) {
  return SetupError(fmt::format("cannot write {}: {}; give another folder with --output", file.string(),
                                std::strerror(errno)));
}

RunHeader header_from(const json& line) {
  return {line.at("opgate"), line.at("torch"),          line.at("plan"),
          line.at("cases"),  line.value("started", ""), line.value("libraries", "")};
}

}  // namespace

std::string timestamp() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

ReadJournal read_journal(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw SetupError(fmt::format("cannot read {}: {}", file.string(), std::strerror(errno)));
  ReadJournal journal;
  size_t number = 0;
  for (std::string text; std::getline(stream, text);) {
    ++number;
    if (stream.eof()) break;  // no newline: the run was cut off while it wrote this line
    try {
      const json line = json::parse(text);
      if (number == 1) {
        journal.header = header_from(line);
      } else if (line.contains("finished")) {
        journal.finished = true;
      } else {
        journal.entries.push_back({line.at("case"), line.get<Judgement>()});
      }
    } catch (
        const std::exception& error) {  // of json, and of verdicts: both mean that the line is none of ours
      throw SetupError(
          fmt::format("{}:{}: not a line of OpGate's results: {}", file.string(), number, error.what()));
    }
    journal.whole_bytes += text.size() + 1;
  }
  if (journal.whole_bytes == 0)
    throw SetupError(fmt::format("{} is no results file of OpGate: it has no first line", file.string()));
  return journal;
}

Journal::Journal(const std::filesystem::path& file, const RunHeader& header) {
  open(file);
  if (ftruncate(descriptor_.get(), 0) != 0) throw cannot_write(file_);
  write_line(json{{"opgate", header.opgate},
                  {"torch", header.torch},
                  {"plan", header.plan},
                  {"cases", header.cases},
                  {"started", header.started},
                  {"libraries", header.libraries}}
                 .dump());
  flush();
}

Journal::Journal(const std::filesystem::path& file, const ReadJournal& interrupted) {
  open(file);
  if (ftruncate(descriptor_.get(), static_cast<off_t>(interrupted.whole_bytes)) != 0)
    throw cannot_write(file_);
}

Journal::~Journal() {
  try {
    flush();
  } catch (const SetupError&) {  // the disk is full; whoever wrote last was told
  }
}

bool Journal::is_being_written(const std::filesystem::path& file) {
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  return descriptor.is_open() && flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0;
}

void Journal::open(const std::filesystem::path& file) {
  file_ = file;
  std::error_code ignored;  // open() says what is wrong
  std::filesystem::create_directories(file.parent_path(), ignored);
  descriptor_.reset(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!descriptor_.is_open()) throw cannot_write(file_);
  if (flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw SetupError(fmt::format(
        "another run is writing {}; wait for it, or give another folder with --output", file.string()));
  }
}

void Journal::add(const std::string& case_id, const Judgement& judgement) {
  json line = judgement;
  line["case"] = case_id;
  write_line(line.dump(-1, ' ', false, json::error_handler_t::replace));
}

void Journal::write_line(const std::string& text) {
  buffer_ += text;
  buffer_ += '\n';
  if (buffer_.size() >= kFlushBytes) flush();
}

void Journal::flush() {
  while (!buffer_.empty()) {
    const ssize_t count = write(descriptor_.get(), buffer_.data(), buffer_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw cannot_write(file_);
    buffer_.erase(0, static_cast<size_t>(count));  // at once: a later flush goes on where this one fails
  }
}

void Journal::finish() {
  write_line(json{{"finished", timestamp()}}.dump());
  flush();
}

}  // namespace opgate
