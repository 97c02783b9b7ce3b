// A fat binary: what nvcc puts into a library, with the same kernels as PTX and as machine code for several
// architectures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace opgate::simulator {

/// The header of one entry. It is not documented; this is what nvcc 12 and 13 write. The payload follows
/// `header_bytes` after the start of the header.
struct FatEntryHeader {
  std::uint16_t kind;  ///< `kPtx`, or machine code (2)
  std::uint16_t version;
  std::uint32_t header_bytes;
  std::uint64_t padded_bytes;      ///< of the payload
  std::uint32_t compressed_bytes;  ///< of the payload without its padding, where it is compressed
  std::uint32_t options_offset;
  std::uint16_t minor;
  std::uint16_t major;
  std::uint32_t architecture;
  std::uint32_t name_offset;
  std::uint32_t name_bytes;
  std::uint64_t flags;  ///< `kZstd` or `kLz4`
  std::uint64_t reserved;
  std::uint64_t plain_bytes;  ///< of the payload when it is decompressed

  static constexpr std::uint16_t kPtx = 1;
  static constexpr std::uint64_t kLz4 = 0x2000;
  static constexpr std::uint64_t kZstd = 0x8000;
};
static_assert(sizeof(FatEntryHeader) == 64);

/// The header of the whole.
struct FatHeader {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t entries_bytes;

  static constexpr std::uint32_t kMagic = 0xBA55ED50;
};
static_assert(sizeof(FatHeader) == 16);

class FatBinary {
 public:
  /// Throws std::runtime_error if the data is no fat binary. The data must outlive this object.
  explicit FatBinary(const unsigned char* data);

  /// The PTX with the highest target that a device of this architecture can run. Where there is only PTX for
  /// later ones, but machine code for this one, the oldest of the later ones, which nvcc made of the same
  /// kernels: what is published holds machine code for each architecture and PTX for the last. Empty if there
  /// is neither. Throws std::runtime_error where it cannot be decompressed.
  std::string ptx_for(unsigned architecture) const;

  /// Whether OpGate's stand-in for ptxas has made machine code that is in it.
  bool keeps_ptx_beside_machine_code() const;

  /// "PTX 80, machine code 90", for messages.
  std::string contents() const;

 private:
  struct Entry {
    FatEntryHeader header;
    const unsigned char* payload;
  };

  static std::string payload_of(const Entry& entry);
  static std::string text_of(const Entry& entry);
  static std::optional<std::string> kept_in(const Entry& machine_code);
  static bool runs_on(const Entry& machine_code, unsigned architecture);

  /// What OpGate's stand-in for ptxas has kept; empty if there is none.
  std::string kept_beside_machine_code(unsigned architecture) const;
  bool has_machine_code_for(unsigned architecture) const;
  /// The first of these that is not for its target alone, unless this is its target.
  static std::string first_general(const std::vector<Entry>& candidates, unsigned architecture);

  std::vector<Entry> entries_;
};

}  // namespace opgate::simulator
