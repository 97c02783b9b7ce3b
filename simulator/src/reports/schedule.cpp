#include <opgate_sim/schedule.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

#include <opgate_sim/function_name.h>

namespace opgate::simulator {
namespace schedules {

constexpr std::string_view kForm =
    "write `launch 2 of KERNEL: blocks 3 1 and warps 1 of block 0`, with `;` between launches; the kernel, "
    "the blocks or the warps may be left out, and a block is `X`, `X,Y` or `X,Y,Z`";

// The words of a text. A `;` and the `:` after the launch are words of their own; those in the name of a
// kernel are not.
class Words {
 public:
  explicit Words(std::string_view text) {
    std::string word;
    const auto keep = [&] {
      if (!word.empty()) words_.push_back(std::move(word));
      word.clear();
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool ends = i + 1 == text.size() || text[i + 1] == ' ';
      const bool is_mark = text[i] == ';' || (text[i] == ':' && ends);
      if (text[i] == ' ' || is_mark) keep();
      if (is_mark) words_.emplace_back(1, text[i]);
      if (text[i] != ' ' && !is_mark) word += text[i];
    }
    keep();
  }

  bool at_end() const { return next_ == words_.size(); }
  bool take(std::string_view word) {
    if (at_end() || words_[next_] != word) return false;
    ++next_;
    return true;
  }
  void demand(std::string_view word) {
    if (!take(word)) refuse();
  }
  /// A word that is refused is not taken, so that the message names the one before it.
  const std::string& peek() const {
    if (at_end()) refuse();
    return words_[next_];
  }
  std::string any() {
    std::string word = peek();
    ++next_;
    return word;
  }
  /// Whether the next word begins with a digit.
  bool is_at_number() const { return !at_end() && words_[next_][0] >= '0' && words_[next_][0] <= '9'; }
  std::uint64_t number() {
    const std::uint64_t read = number_in(peek());
    ++next_;
    return read;
  }
  Extent block() {
    const std::string& word = peek();
    std::array<unsigned, 3> index{};
    std::size_t begin = 0;
    for (unsigned& each : index) {
      const std::size_t end = std::min(word.find(',', begin), word.size());
      const std::uint64_t read = number_in(std::string_view(word).substr(begin, end - begin));
      if (read > UINT32_MAX) refuse();
      each = static_cast<unsigned>(read);
      begin = end + 1;
      if (end == word.size()) {
        ++next_;
        return {index[0], index[1], index[2]};
      }
    }
    refuse();
  }

  [[noreturn]] void refuse() const {
    const std::string where =
        next_ == 0 ? "" : "the text ends or goes on otherwise behind `" + words_[next_ - 1] + "`; ";
    throw std::runtime_error(where + std::string(kForm));
  }

 private:
  std::uint64_t number_in(std::string_view word) const {
    std::uint64_t read = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), read);
    if (error != std::errc{} || end != word.data() + word.size()) refuse();
    return read;
  }

  std::vector<std::string> words_;
  std::size_t next_ = 0;
};

void read_part(Words& words, LaunchSchedule& launch) {
  if (words.take("blocks")) {
    do launch.first.push_back(words.block());
    while (words.is_at_number());
    return;
  }
  words.demand("warps");
  WarpsOfBlock warps{};
  do warps.first.push_back(static_cast<unsigned>(std::min<std::uint64_t>(words.number(), UINT32_MAX)));
  while (words.is_at_number());
  words.demand("of");
  words.demand("block");
  warps.block = words.block();
  launch.warps.push_back(std::move(warps));
}

LaunchSchedule read_launch(Words& words) {
  LaunchSchedule launch;
  words.demand("launch");
  launch.number = words.number();
  if (words.take("of")) launch.kernel = words.any();
  words.demand(":");
  do read_part(words, launch);
  while (words.take("and"));
  return launch;
}

std::string to_text(const LaunchSchedule& launch) {
  std::string text = "launch " + std::to_string(launch.number);
  if (!launch.kernel.empty()) text += " of " + launch.kernel;
  text += ":";
  if (!launch.first.empty()) text += " blocks";
  for (const Extent& block : launch.first) text += " " + block_in_schedule(block);
  bool is_first = launch.first.empty();
  for (const WarpsOfBlock& warps : launch.warps) {
    text += std::exchange(is_first, false) ? " warps" : " and warps";
    for (const unsigned warp : warps.first) text += " " + std::to_string(warp);
    text += " of block " + block_in_schedule(warps.block);
  }
  return text;
}

// "block 3 begins first, then block 1, then the others by index"
std::string in_order(const std::string& what, const std::string& goes,
                     const std::vector<std::string>& first) {
  std::string text;
  for (const std::string& each : first)
    text += (text.empty() ? "" : ", then ") + what + " " + each + (text.empty() ? " " + goes + " first" : "");
  return text + ", then the others by index";
}

}  // namespace schedules

std::string name_in_schedule(const std::string& readable_name) {
  std::string name = short_function_name(readable_name);
  std::erase(name, ' ');
  std::erase(name, ';');
  return name;
}

std::string block_in_schedule(const Extent& block) {
  std::string text = std::to_string(block.x);
  if (block.y != 0 || block.z != 0) text += "," + std::to_string(block.y);
  if (block.z != 0) text += "," + std::to_string(block.z);
  return text;
}

std::string to_text(const std::vector<LaunchSchedule>& schedule) {
  std::string text;
  for (const LaunchSchedule& launch : schedule)
    text += (text.empty() ? "" : "; ") + schedules::to_text(launch);
  return text;
}

std::vector<LaunchSchedule> schedule_from_text(std::string_view text) {
  schedules::Words words(text);
  std::vector<LaunchSchedule> schedule;
  do schedule.push_back(schedules::read_launch(words));
  while (words.take(";"));
  if (!words.at_end()) words.refuse();
  return schedule;
}

std::string in_plain_words(const LaunchSchedule& launch) {
  std::string text = "in launch " + std::to_string(launch.number);
  if (!launch.kernel.empty()) text += " of " + launch.kernel;
  std::vector<std::string> parts;
  if (!launch.first.empty()) {
    std::vector<std::string> blocks;
    for (const Extent& block : launch.first) blocks.push_back(block_in_schedule(block));
    parts.push_back(", " + schedules::in_order("block", "begins", blocks));
  }
  for (const WarpsOfBlock& warps : launch.warps) {
    std::vector<std::string> numbers;
    for (const unsigned warp : warps.first) numbers.push_back(std::to_string(warp));
    parts.push_back((parts.empty() ? " in block " : "; in block ") + block_in_schedule(warps.block) + ", " +
                    schedules::in_order("warp", "goes", numbers));
  }
  for (const std::string& part : parts) text += part;
  return text;
}

}  // namespace opgate::simulator
