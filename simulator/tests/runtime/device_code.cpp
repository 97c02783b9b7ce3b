#include "device_code.h"

#include <cstring>

#include "runtime/code/fat_binary.h"

namespace simulated {
namespace {

constexpr const char* kPtx = R"(
.version 7.0
.target sm_80
.address_size 64

.visible .global .align 4 .u32 counter = 7;

.visible .entry add(.param .u64 add_data, .param .f32 add_value, .param .u32 add_count)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [add_data];
  ld.param.f32 %f1, [add_value];
  ld.param.u32 %r1, [add_count];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4];
  add.f32 %f3, %f2, %f1;
  st.global.f32 [%rd4], %f3;
DONE:
  ret;
}

.visible .entry store(.param .u64 store_data, .param .u32 store_index, .param .f32 store_value)
{
  .reg .f32 %f<2>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [store_data];
  ld.param.u32 %r1, [store_index];
  ld.param.f32 %f1, [store_value];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.f32 [%rd3], %f1;
  ret;
}

.visible .entry count(.param .u64 count_data)
{
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [count_data];
  red.global.add.f32 [%rd1], 0f3F800000;
  ret;
}

.visible .entry shared(.param .u64 shared_data)
{
  .shared .align 4 .b8 buffer[40000];
  ret;
}

.visible .entry bounded(.param .u64 bounded_data)
.maxntid 128, 1, 1
{
  ret;
}

.visible .entry trapping()
{
  trap;
  ret;
}
)";

void register_function(void** handle, const char& symbol, const char* name) {
  __cudaRegisterFunction(handle, &symbol, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
}

const Symbols& register_all() {
  static Symbols symbols{};
  static const auto code = fat_binary(kPtx, 80);
  void** const handle = register_binary(code);
  register_function(handle, symbols.add, "add");
  register_function(handle, symbols.store, "store");
  register_function(handle, symbols.count, "count");
  register_function(handle, symbols.shared, "shared");
  register_function(handle, symbols.bounded, "bounded");
  register_function(handle, symbols.trap, "trapping");
  register_function(handle, symbols.absent, "absent");
  __cudaRegisterVar(handle, &symbols.counter, nullptr, "counter", 0, 4, 0, 0);
  static const auto machine_code = fat_binary("not PTX", 90, 2);
  register_function(register_binary(machine_code), symbols.machine_code, "machine_code");
  return symbols;
}

}  // namespace

std::vector<unsigned char> fat_binary(const std::string& payload, unsigned architecture, unsigned kind,
                                      std::uint64_t flags, std::size_t plain_bytes) {
  using opgate::simulator::FatEntryHeader;
  using opgate::simulator::FatHeader;
  const std::size_t padded = (payload.size() + 1 + 7) / 8 * 8;
  FatEntryHeader entry{};
  entry.kind = static_cast<std::uint16_t>(kind);
  entry.version = 0x101;
  entry.header_bytes = sizeof entry;
  entry.padded_bytes = padded;
  entry.compressed_bytes = flags == 0 ? 0 : static_cast<std::uint32_t>(payload.size());
  entry.architecture = architecture;
  entry.flags = flags;
  entry.plain_bytes = plain_bytes;
  const FatHeader whole{FatHeader::kMagic, 1, sizeof(FatHeader), sizeof entry + padded};
  std::vector<unsigned char> data(sizeof whole + sizeof entry + padded);
  std::memcpy(data.data(), &whole, sizeof whole);
  std::memcpy(data.data() + sizeof whole, &entry, sizeof entry);
  std::memcpy(data.data() + sizeof whole + sizeof entry, payload.data(), payload.size());
  return data;
}

void** register_binary(const std::vector<unsigned char>& binary) {
  struct Wrapper {
    int magic;
    int version;
    const unsigned char* data;
    void* file_name;
  };
  Wrapper wrapper{0x466243b1, 1, binary.data(), nullptr};
  void** const handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFatBinaryEnd(handle);
  return handle;
}

const Symbols& symbols() {
  static const Symbols& registered = register_all();
  return registered;
}

}  // namespace simulated
