#include "runtime/code/fat_binary.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <stdexcept>

#include "runtime/code/decompress.h"
#include "runtime/code/device_code.h"

namespace opgate::simulator {
namespace fat_binary {

template <class Header>
Header read(const unsigned char* data) {
  Header header;
  std::memcpy(&header, data, sizeof header);
  return header;
}

// PTX with a target such as sm_90a or sm_100f uses instructions of that architecture alone; other PTX runs on
// all later ones.
bool only_for_its_target(const std::string& ptx) {
  const std::size_t target = ptx.find(".target sm_");
  if (target == std::string::npos) return false;
  const std::size_t end = ptx.find_first_not_of("0123456789", target + std::strlen(".target sm_"));
  return end != std::string::npos && std::isalpha(static_cast<unsigned char>(ptx[end])) != 0;
}

}  // namespace fat_binary

FatBinary::FatBinary(const unsigned char* data) {
  const auto whole = fat_binary::read<FatHeader>(data);
  if (whole.magic != FatHeader::kMagic) throw std::runtime_error("a fat binary in an unknown format");
  const unsigned char* at = data + whole.header_bytes;
  const unsigned char* const end = at + whole.entries_bytes;
  while (at + sizeof(FatEntryHeader) <= end) {
    const auto header = fat_binary::read<FatEntryHeader>(at);
    const unsigned char* const payload = at + header.header_bytes;
    if (header.header_bytes < sizeof(FatEntryHeader) || payload > end ||
        header.padded_bytes > static_cast<std::uint64_t>(end - payload)) {
      throw std::runtime_error("a fat binary with an entry that ends outside of it");
    }
    entries_.push_back({header, payload});
    at = payload + header.padded_bytes;
  }
}

std::string FatBinary::ptx_for(unsigned architecture) const {
  std::vector<Entry> older;  // or of the same age
  std::vector<Entry> later;
  for (const Entry& entry : entries_)
    if (entry.header.kind == FatEntryHeader::kPtx)
      (entry.header.architecture <= architecture ? older : later).push_back(entry);
  const auto target = [](const Entry& entry) { return entry.header.architecture; };
  std::ranges::stable_sort(older, std::ranges::greater{}, target);
  std::ranges::stable_sort(later, std::ranges::less{}, target);
  std::string ptx = first_general(older, architecture);
  if (ptx.empty() && has_machine_code_for(architecture)) ptx = first_general(later, architecture);
  return ptx.empty() ? kept_beside_machine_code(architecture) : ptx;
}

std::string FatBinary::first_general(const std::vector<Entry>& candidates, unsigned architecture) {
  for (const Entry& entry : candidates) {
    std::string ptx = text_of(entry);
    if (entry.header.architecture == architecture || !fat_binary::only_for_its_target(ptx)) return ptx;
  }
  return {};
}

std::string FatBinary::kept_beside_machine_code(unsigned architecture) const {
  for (const Entry& entry : entries_) {
    if (entry.header.kind == FatEntryHeader::kPtx || !runs_on(entry, architecture)) continue;
    if (auto ptx = kept_in(entry)) return *ptx;
  }
  return {};
}

bool FatBinary::keeps_ptx_beside_machine_code() const {
  return std::ranges::any_of(entries_, [](const Entry& entry) {
    return entry.header.kind != FatEntryHeader::kPtx && kept_in(entry).has_value();
  });
}

std::optional<std::string> FatBinary::kept_in(const Entry& machine_code) {
  std::string code;
  try {
    code = payload_of(machine_code);
  } catch (const std::runtime_error&) {  // compressed in another way than PTX is: only nvcc makes this
    return std::nullopt;
  }
  return kept_ptx(reinterpret_cast<const unsigned char*>(code.data()), code.size());
}

// Machine code runs on devices of the same major architecture that are not older.
bool FatBinary::runs_on(const Entry& entry, unsigned architecture) {
  return entry.header.architecture <= architecture && entry.header.architecture / 10 == architecture / 10;
}

bool FatBinary::has_machine_code_for(unsigned architecture) const {
  return std::ranges::any_of(entries_, [architecture](const Entry& entry) {
    return entry.header.kind != FatEntryHeader::kPtx && runs_on(entry, architecture);
  });
}

std::string FatBinary::payload_of(const Entry& entry) {
  const FatEntryHeader& header = entry.header;
  const std::size_t stored =
      header.compressed_bytes != 0 ? header.compressed_bytes : static_cast<std::size_t>(header.padded_bytes);
  const std::span payload(entry.payload, std::min<std::size_t>(stored, header.padded_bytes));
  if ((header.flags & FatEntryHeader::kZstd) != 0) return decompress_zstd(payload, header.plain_bytes);
  if ((header.flags & FatEntryHeader::kLz4) != 0) return decompress_lz4(payload, header.plain_bytes);
  return {payload.begin(), payload.end()};
}

std::string FatBinary::text_of(const Entry& entry) {
  std::string text = payload_of(entry);
  text.resize(std::strlen(text.c_str()));  // without the padding
  return text;
}

std::string FatBinary::contents() const {
  std::string text;
  for (const Entry& entry : entries_) {
    text += text.empty() ? "" : ", ";
    text += entry.header.kind == FatEntryHeader::kPtx ? "PTX " : "machine code ";
    text += std::to_string(entry.header.architecture);
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace opgate::simulator
