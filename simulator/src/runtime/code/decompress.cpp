#include "runtime/code/decompress.h"

#include <dlfcn.h>

#include <stdexcept>

namespace opgate::simulator {
namespace decompression {

// Reads LZ4's block format: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
class Lz4Reader {
 public:
  explicit Lz4Reader(std::span<const unsigned char> data) : data_(data) {}

  bool at_end() const { return at_ == data_.size(); }

  unsigned byte() {
    if (at_end()) throw std::runtime_error("LZ4 data that ends too early");
    return data_[at_++];
  }

  // A length of 15 is followed by bytes that are added to it, up to the first that is not 255.
  std::size_t length(unsigned first) {
    std::size_t length = first;
    if (first != 15) return length;
    unsigned more = 0;
    do {
      more = byte();
      length += more;
    } while (more == 255);
    return length;
  }

  std::span<const unsigned char> take(std::size_t bytes) {
    if (bytes > data_.size() - at_) throw std::runtime_error("LZ4 data that ends too early");
    at_ += bytes;
    return data_.subspan(at_ - bytes, bytes);
  }

 private:
  std::span<const unsigned char> data_;
  std::size_t at_ = 0;
};

}  // namespace decompression

std::string decompress_lz4(std::span<const unsigned char> data, std::size_t bytes) {
  constexpr std::size_t kShortestMatch = 4;
  decompression::Lz4Reader reader(data);
  std::string text;
  text.reserve(bytes);
  // The last sequence has literals only. Padding may follow it, which is why the size ends the loop.
  while (!reader.at_end() && text.size() < bytes) {
    const unsigned token = reader.byte();
    const auto literals = reader.take(reader.length(token >> 4));
    text.append(literals.begin(), literals.end());
    if (reader.at_end() || text.size() >= bytes) break;
    const std::size_t low = reader.byte();
    const std::size_t distance = low | static_cast<std::size_t>(reader.byte()) << 8;
    if (distance == 0 || distance > text.size()) throw std::runtime_error("LZ4 data with a wrong distance");
    const std::size_t length = reader.length(token & 15) + kShortestMatch;
    // A match may reach into what it appends itself.
    for (std::size_t i = 0; i < length; ++i) text.push_back(text[text.size() - distance]);
  }
  if (text.size() != bytes) throw std::runtime_error("LZ4 data of another size than its header says");
  return text;
}

std::string decompress_zstd(std::span<const unsigned char> data, std::size_t bytes) {
  using Decompress = std::size_t (*)(void*, std::size_t, const void*, std::size_t);
  static void* const library = dlopen("libzstd.so.1", RTLD_NOW);
  static const auto decompress =
      library == nullptr ? nullptr : reinterpret_cast<Decompress>(dlsym(library, "ZSTD_decompress"));
  if (decompress == nullptr)
    throw std::runtime_error("a fat binary is compressed with zstd, and libzstd.so.1 cannot be loaded");
  std::string text(bytes, '\0');
  if (decompress(text.data(), bytes, data.data(), data.size()) != bytes)
    throw std::runtime_error("zstd data that cannot be decompressed");
  return text;
}

}  // namespace opgate::simulator
