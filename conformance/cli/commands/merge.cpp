// opgate merge FILE...: merges the results of all shards of a run, as if one machine had run it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <set>
#include <unordered_set>

#include "base/errors.h"
#include "cli/commands/subcommand.h"
#include "cli/results/results.h"
#include "cli/results/tally.h"
#include "cli/terminal/terminal.h"
#include "run/output_folder.h"
#include "values/counter.h"

namespace opgate::merge {
namespace {

namespace fs = std::filesystem;

struct ShardFile {
  fs::path file;
  ReadJournal journal;
};

// Two 64-bit hashes of each case id: whole ids of a large run would fill the memory, and two ids
// practically never share both hashes.
struct SeenHash {
  size_t operator()(const std::pair<uint64_t, uint64_t>& bits) const { return bits.first; }
};
using Seen = std::unordered_set<std::pair<uint64_t, uint64_t>, SeenHash>;

bool is_new(Seen& seen, const std::string& case_id) {
  return seen.emplace(std::hash<std::string>()(case_id), stream_key(case_id)).second;
}

std::vector<ShardFile> read_shards(const std::vector<std::string>& names, const fs::path& output) {
  std::vector<ShardFile> files;
  for (const std::string& name : names) {
    if (fs::exists(output) && fs::exists(name) && fs::equivalent(output, name))
      throw setup_error("{} would be overwritten; give another folder with --output", name);
    files.push_back({name, read_journal(name)});
    const ReadJournal& journal = files.back().journal;
    if (!journal.finished) {
      throw setup_error(
          "{} is unfinished: {} of its {} cases have a verdict; complete it with `opgate run "
          "--shard {} --resume`",
          name, journal.entries, journal.header.cases, to_string(journal.header.shard));
    }
  }
  return files;
}

// Demands that all files are of one run and that each shard is there exactly once. Throws SetupError.
void demand_whole(const std::vector<ShardFile>& files) {
  const RunHeader& first = files.front().journal.header;
  std::vector<const ShardFile*> by_index(first.shard.count);
  for (const ShardFile& file : files) {
    RunHeader header = file.journal.header;
    header.capability = first.capability;  // runners of one CI may have different processors
    if (const std::string difference = first.difference(header); !difference.empty()) {
      throw setup_error("{} and {} are not of one run: they differ in {}; merge only the shards of one run",
                        files.front().file.string(), file.file.string(), difference);
    }
    if (header.shard.count != first.shard.count) {
      throw setup_error(
          "{} is shard {} and {} is shard {}: they cut the plan differently; give all shards the same N",
          files.front().file.string(), to_string(first.shard), file.file.string(), to_string(header.shard));
    }
    const ShardFile*& place = by_index[header.shard.index - 1];
    if (place != nullptr) {
      throw setup_error("{} and {} overlap: both are shard {}; give each shard once", place->file.string(),
                        file.file.string(), to_string(header.shard));
    }
    place = &file;
  }
  std::vector<std::string> missing;
  for (uint32_t i = 0; i < first.shard.count; ++i) {
    if (by_index[i] == nullptr) missing.push_back(to_string(Shard{i + 1, first.shard.count}));
  }
  if (!missing.empty()) {
    throw setup_error("missing: shard {}; give the results.jsonl of every shard",
                      fmt::join(missing, ", shard "));
  }
}

void demand_every_case_once(const std::vector<ShardFile>& files) {
  Seen seen;
  for (const ShardFile& file : files) {
    const auto demand_new = [&](const std::string& case_id, const Judgement&) {
      if (!is_new(seen, case_id))
        throw setup_error("{} has a second verdict on {}; run that shard again", file.file.string(), case_id);
    };
    read_journal(file.file, {.verdict = demand_new});
    if (file.journal.entries != file.journal.header.cases) {
      throw setup_error("{} has verdicts on {} of its {} cases; run that shard again", file.file.string(),
                        file.journal.entries, file.journal.header.cases);
    }
  }
}

// "AVX2", or "AVX2 and AVX512": the gate compares bits and errors only with a state of the same
// capabilities.
std::string capabilities(const std::vector<ShardFile>& files) {
  std::set<std::string> all;
  for (const ShardFile& file : files) all.insert(file.journal.header.capability);
  return fmt::format("{}", fmt::join(all, " and "));
}

int merge(const std::vector<std::string>& names, const fs::path& folder) {
  const fs::path output = results_file(folder);
  const std::vector<ShardFile> files = read_shards(names, output);
  demand_whole(files);
  demand_every_case_once(files);

  RunHeader header = files.front().journal.header;
  header.shard = {};
  header.cases = 0;
  header.costs = "";
  header.capability = capabilities(files);
  for (const ShardFile& file : files) {
    header.cases += file.journal.header.cases;
    header.started = std::min(header.started, file.journal.header.started);
  }
  keep_interrupted(output);
  Journal journal(output, header);
  Tally tally("", header);
  Costs costs;
  for (const ShardFile& file : files) add(file.journal.costs, costs);
  for (const ShardFile& file : files) {
    read_journal(file.file, {.verdict =
                                 [&](const std::string& case_id, const Judgement& judgement) {
                                   journal.add(case_id, judgement);
                                   tally.add(case_id, judgement);
                                 },
                             .facts =
                                 [&](const std::string& call_id, const CallFacts& facts) {
                                   journal.add(call_id, facts);
                                   tally.add(call_id, facts);
                                 }});
  }
  journal.finish(tally.worst(), costs, tally.closing_lines());
  end_where_nobody_reads();
  return print_results(tally, fmt::format("from {} shards", files.size()));
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Merge the results of all shards of a run into one file and say which promises hold; refuse an "
      "incomplete set of shards");
  auto files = std::make_shared<std::vector<std::string>>();
  auto folder = std::make_shared<fs::path>();
  app.add_option("FILE", *files, "the results.jsonl of each shard").required();
  app.add_option("--output FOLDER", *folder, "folder for the merged results.jsonl").required();
  return [=] { return merge(*files, *folder); };
}

OPGATE_REGISTER_SUBCOMMAND(merge, {"merge", &declare});

}  // namespace
}  // namespace opgate::merge
