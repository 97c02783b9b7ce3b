#include "watch/tools.h"

#include <algorithm>

namespace opgate::simulator {

Tools Tools::parse(std::string_view words, std::string& unknown) {
  Tools tools;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(','));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    if (word == "init") {
      tools.init = true;
    } else if (word == "race") {
      tools.race = true;
    } else if (word == "sync") {
      tools.sync = true;
    } else if (word == "stream") {
      tools.stream = true;
    } else if (!word.empty()) {
      unknown = word;
    }
  }
  return tools;
}

}  // namespace opgate::simulator
