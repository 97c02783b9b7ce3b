#include "run/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "base/errors.h"
#include "base/files/files.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "judging/calls/call_facts.h"
#include "judging/verdict.h"
#include "spec/subject_facts.h"

namespace opgate {

using nlohmann::json;

static void to_json(json& text, const Shard& shard) { text = to_string(shard); }
static void from_json(const json& text, Shard& shard) { shard = shard_from_string(text.get<std::string>()); }

OPGATE_JSON_FIELDS(ModulesRead, listed, files)

namespace {

constexpr size_t kFlushBytes = 1 << 16;

constexpr std::string_view kRemedy = "give another folder with --output";

// A value of the first line. What is not compared with the results of a base may be missing: they may come
// from a version that did not record it.
template <class Value>
struct HeaderField {
  const char* key;
  Value RunHeader::*value;
  bool may_be_missing = false;
};

constexpr std::tuple kHeader{HeaderField{"opgate", &RunHeader::opgate},
                             HeaderField{"engine", &RunHeader::engine},
                             HeaderField{"torch", &RunHeader::torch},
                             HeaderField{"plan", &RunHeader::plan},
                             HeaderField{"cases", &RunHeader::cases},
                             HeaderField{"started", &RunHeader::started},
                             HeaderField{"libraries", &RunHeader::libraries},
                             HeaderField{"shard", &RunHeader::shard},
                             HeaderField{"filter", &RunHeader::filter},
                             HeaderField{"capability", &RunHeader::capability},
                             HeaderField{"subjects", &RunHeader::subjects},
                             HeaderField{"sources", &RunHeader::sources},
                             HeaderField{"revisions", &RunHeader::revisions, true},
                             HeaderField{"devices", &RunHeader::devices},
                             HeaderField{"costs", &RunHeader::costs},
                             HeaderField{"samples", &RunHeader::samples},
                             HeaderField{"files", &RunHeader::files},
                             HeaderField{"coverage", &RunHeader::coverage, true},
                             HeaderField{"folder", &RunHeader::folder, true},
                             HeaderField{"modules", &RunHeader::modules, true},
                             HeaderField{"inputs", &RunHeader::inputs, true}};

void each_field(const auto& act) {
  std::apply([&](const auto&... field) { (act(field), ...); }, kHeader);
}

json to_line(const RunHeader& header) {
  json line;
  each_field([&](const auto& field) { line[field.key] = header.*field.value; });
  return line;
}

// Throws OtherVersion if the line lacks the word.
void demand_word(const json& line, const std::string& word, const std::filesystem::path& file) {
  if (!line.contains(word)) {
    throw OtherVersion(fmt::format(
        "{} was written by another version of OpGate: its first line has no \"{}\"", file.string(), word));
  }
}

RunHeader header_from(const json& line, const std::filesystem::path& file) {
  RunHeader header;
  each_field([&](const auto& field) {
    if (field.may_be_missing && !line.contains(field.key)) return;
    if (line.contains("opgate")) demand_word(line, field.key, file);
    line.at(field.key).get_to(header.*field.value);
  });
  const json facts = SubjectFacts();
  for (const json& subject : line.at("subjects")) {
    for (const auto& [word, value] : facts.items()) demand_word(subject, word, file);
  }
  return header;
}

// True for text that needs no escaping in JSON: printable ASCII without quotes and backslashes.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text,
                             [](unsigned char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; });
}

// Writes the line of a case that passes without building a JSON object: almost every line is such a line,
// and the object would cost more than the case itself.
void append_pass(std::string& buffer, std::string_view case_id, double worst_ulps) {
  buffer += R"({"case":")";
  buffer += case_id;
  if (worst_ulps > 0) {
    fmt::format_to(std::back_inserter(buffer), R"(","ulps":{},"verdict":"pass"}})", worst_ulps);
  } else {
    buffer += R"(","verdict":"pass"})";
  }
  buffer += '\n';
}

// One line of a results file, taken apart.
struct Line {
  std::string id;  // of the case, or of the call
  std::optional<Judgement> judgement;
  std::optional<CallFacts> facts;
  bool finished = false;
  bool is_row = false;
  json defect;  // null in other lines
  Costs costs;
  std::vector<std::string> written;
};

template <class Read>
auto parsed(const std::filesystem::path& file, const std::string& number, const std::string& text,
            Read read) {
  try {
    return read(json::parse(text));
  } catch (const OtherVersion&) {
    throw;
  } catch (const std::exception& error) {  // from JSON or from an unknown verdict: OpGate did not write this
    throw setup_error("{}:{}: not a line of OpGate's results: {}", file.string(), number, error.what());
  }
}

RunHeader first_line(const std::filesystem::path& file, const std::string& text) {
  return parsed(file, "1", text, [&](const json& line) { return header_from(line, file); });
}

Line later_line(const std::filesystem::path& file, const std::string& number, const std::string& text) {
  return parsed(file, number, text, [](const json& line) {
    Line read;
    read.finished = line.contains("finished");
    if (read.finished) {
      read.costs = line.value("costs", Costs());
      read.written = line.value("written", std::vector<std::string>());
    }
    read.is_row = line.contains("row");
    if (read.is_row) return read;
    if (line.contains("defect")) {
      read.defect = line;
    } else if (line.contains("call")) {
      line.at("call").get_to(read.id);
      read.facts = line.get<CallFacts>();
    } else if (!read.finished) {
      line.at("case").get_to(read.id);
      read.judgement = line.get<Judgement>();
    }
    return read;
  });
}

std::ifstream open_results(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw setup_error("cannot read {}: {}", file.string(), std::strerror(errno));
  return stream;
}

SetupError no_first_line(const std::filesystem::path& file) {
  return setup_error("{} is no results file of OpGate: it has no first line", file.string());
}

}  // namespace

ReadJournal read_journal(const std::filesystem::path& file, const JournalLines& take) {
  std::ifstream stream = open_results(file);
  ReadJournal journal;
  size_t number = 0;
  for (std::string text; std::getline(stream, text);) {
    ++number;
    if (stream.eof()) break;  // no newline: the run was interrupted while it wrote this line
    if (number == 1) {
      journal.header = first_line(file, text);
      if (take.header) take.header(journal.header);
    } else if (Line line = later_line(file, std::to_string(number), text); line.finished) {
      journal.finished = true;
      journal.costs = std::move(line.costs);
      for (const std::string& name : line.written) journal.header.inputs.files.erase(name);
    } else if (line.is_row || !line.defect.is_null()) {
      if (take.defect && !line.is_row) take.defect(line.defect);
      continue;  // not counted among the whole lines: a run that is resumed writes these anew
    } else if (line.facts) {
      if (take.facts) take.facts(line.id, *line.facts);
    } else {
      ++journal.entries;
      if (take.verdict) take.verdict(line.id, *line.judgement);
    }
    journal.whole_bytes += text.size() + 1;
  }
  if (journal.whole_bytes == 0) throw no_first_line(file);
  return journal;
}

namespace {

// Reads only the first and the last line; none if no complete line follows the first.
std::optional<Line> last_line(const std::filesystem::path& file) {
  std::ifstream stream = open_results(file);
  std::string text;
  if (!std::getline(stream, text) || stream.eof()) throw no_first_line(file);
  static_cast<void>(first_line(file, text));
  const std::streamoff behind_header = stream.tellg();
  stream.seekg(0, std::ios::end);
  // Reads backwards, piece by piece, up to the newline before the last line.
  std::string tail;
  constexpr std::streamoff kPiece = 1 << 16;
  for (std::streamoff at = stream.tellg(); at > behind_header;) {
    const std::streamoff begin = std::max(behind_header, at - kPiece);
    std::string piece(static_cast<size_t>(at - begin), '\0');
    stream.seekg(begin);
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    tail.insert(0, piece);
    at = begin;
    if (tail.find('\n') < tail.size() - 1) break;
  }
  if (tail.empty() || tail.back() != '\n') return std::nullopt;
  tail.pop_back();
  const auto newline = tail.rfind('\n');
  return later_line(file, "last line", newline == std::string::npos ? tail : tail.substr(newline + 1));
}

}  // namespace

bool is_finished(const std::filesystem::path& file) {
  const auto line = last_line(file);
  return line && line->finished;
}

Costs read_costs(const std::filesystem::path& file) {
  const auto line = last_line(file);
  if (!line || !line->finished)
    throw setup_error(
        "{} is unfinished, so it does not say what its calls cost; complete it with `opgate run --resume`",
        file.string());
  return line->costs;
}

Journal::Journal(const std::filesystem::path& file, const RunHeader& header) {
  open(file);
  if (ftruncate(descriptor_.get(), 0) != 0) throw cannot_write(file_, kRemedy);
  write_line(to_line(header).dump());
  flush();
}

Journal::Journal(const std::filesystem::path& file, const ReadJournal& interrupted) {
  open(file);
  if (ftruncate(descriptor_.get(), static_cast<off_t>(interrupted.whole_bytes)) != 0)
    throw cannot_write(file_, kRemedy);
}

Journal::~Journal() {
  try {
    flush();
  } catch (const SetupError&) {  // the disk is full; the last add() or flush() has already reported that
  }
}

bool Journal::is_being_written(const std::filesystem::path& file) {
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  return descriptor.is_open() && flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0;
}

void Journal::open(const std::filesystem::path& file) {
  file_ = file;
  std::error_code ignored;  // open() reports the error
  std::filesystem::create_directories(file.parent_path(), ignored);
  descriptor_.reset(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!descriptor_.is_open()) throw cannot_write(file_, kRemedy);
  if (flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw setup_error("another run is writing {}; wait for it, or give another folder with --output",
                      file.string());
  }
}

void Journal::add(std::string_view case_id, const Judgement& judgement) {
  const bool passes = judgement.verdict == Verdict::pass && judgement.reason.empty() && !judgement.finding;
  if (passes && std::isfinite(judgement.worst_ulps) && is_plain(case_id)) {
    append_pass(buffer_, case_id, judgement.worst_ulps);
    if (buffer_.size() >= kFlushBytes) flush();
    return;
  }
  json line = judgement;
  line["case"] = case_id;
  write_line(line.dump(-1, ' ', false, json::error_handler_t::replace));
}

void Journal::add(std::string_view call_id, const CallFacts& facts) {
  json line = facts;
  line["call"] = call_id;
  write_line(line.dump(-1, ' ', false, json::error_handler_t::replace));
}

void Journal::write_line(std::string_view text) {
  buffer_ += text;
  buffer_ += '\n';
  if (buffer_.size() >= kFlushBytes) flush();
}

void Journal::flush() {
  while (!buffer_.empty()) {
    const ssize_t count = write(descriptor_.get(), buffer_.data(), buffer_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw cannot_write(file_, kRemedy);
    buffer_.erase(0, static_cast<size_t>(count));  // so that a later flush continues where this one failed
  }
}

void Journal::finish(const std::vector<WorstError>& worst, const Costs& costs, const std::vector<json>& lines,
                     const std::vector<std::string>& written) {
  for (const json& line : lines) write_line(line.dump(-1, ' ', false, json::error_handler_t::replace));
  json list = json::array();
  for (const WorstError& error : worst) list.push_back({{"case", error.case_id}, {"ulps", error.ulps}});
  json last{{"finished", timestamp()}, {"worst", std::move(list)}, {"costs", costs}};
  if (!written.empty()) last["written"] = written;
  write_line(last.dump(-1, ' ', false, json::error_handler_t::replace));
  flush();
}

void Journal::finish(const std::vector<WorstError>& worst, const Costs& costs) { finish(worst, costs, {}); }

}  // namespace opgate
