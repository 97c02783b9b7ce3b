// What translated kernels need of the interpreter: the context of a thread, and memory. Before this text come
// those of the headers numbers/c_types.h and numbers/*_semantics.h, and behind it the kernel.
struct window {
  u64 begin;
  u64 last;
  u64 to_host;
};
struct context {
  u64* registers;
  u8* shared;
  u8* local;
  u8* parameters;
  struct window* windows;
  const u64* initial;
  const u64* frame_values;
  u64 shared_bytes;
  u64 local_bytes;
  u64 parameter_bytes;
  u64 thread_index[3];
  u64 linear_index;
  u64 end_index;
  u64 block_extent[2];
  u64 budget;
  u64 reserve;
  u64 is_spread;
  u64 together;
  u64* stops;
  u64** registers_of;
  s64 turn;
  s64 left;
  u64 next;
  u64 calls;
  u64 settled;
  u64 local_base;
  u64 fill;
  const u64* end_of_registers;
  u64 local_room;
  u64 frames_left;
  const void* function;
  const void** functions;
  const u64** initials;
  u64 pending[64];
  u64* (*begin)(struct context*);
  void (*execute)(struct context*, u64, s64);
  u64 (*call)(struct context*, u64, s64);
  void (*unsettle)(struct context*);
  u8* (*locate)(struct context*, u64, s64, u64, u64, u64);
  u64 (*compute)(struct context*, u64, u64, u64, u64);
  f64 (*exp2)(f64);
  f64 (*log2)(f64);
  f64 (*tanh)(f64);
  void* thread;
};

#define UNLIKELY(condition) __builtin_expect((condition), 0)
#define OPGATE_FUNCTION static __attribute__((noinline, unused))
#define RETURNS 0xfffffffcu

OPGATE_INLINE void next_thread(struct context* c) {
  ++c->linear_index;
  if (++c->thread_index[0] != c->block_extent[0]) return;
  c->thread_index[0] = 0;
  if (++c->thread_index[1] != c->block_extent[1]) return;
  c->thread_index[1] = 0;
  ++c->thread_index[2];
}
OPGATE_INLINE u8* global_at(struct context* c, u64 site, u64 index, s64 left, u64 address, u64 bytes,
                            u64 how) {
  const struct window* const window = c->windows + site;
  // What is not a multiple becomes a large number.
  const u64 distance = address - window->begin;
  const u64 multiple =
      bytes == 1 ? distance : distance >> __builtin_ctzll(bytes) | distance << (64 - __builtin_ctzll(bytes));
  if (UNLIKELY(multiple >= window->last)) return c->locate(c, index, left, address, bytes, how);
  return (u8*)(address + window->to_host);
}
OPGATE_INLINE u8* own_at(struct context* c, u8* begin, u64 size, u64 index, s64 left, u64 address, u64 bytes,
                         u64 how) {
  const u64 offset = address & 0xffffffffu;
  if (UNLIKELY((address & (bytes - 1)) != 0 || offset + bytes > size))
    return c->locate(c, index, left, address, bytes, how);
  return begin + offset;
}
// What is the same in all calls of a function by another one.
struct call {
  u64 caller;  ///< their indices in the program
  u64 callee;
  u64 slots;  ///< of their frames
  u64 callee_slots;
  u64 bytes;  ///< of local memory, and where that of the callee begins
  u64 callee_bytes;
  u64 callee_begins;
};
// Begins a frame for the callee, if there is room for it; null if there is none. It is no part of each call,
// because compilers take long for code that is repeated. A turn may end where a function begins.
OPGATE_FUNCTION u64* begin_call(struct context* c, s64 left, u64* registers, u64 index,
                                const struct call* of) {
  if (c->thread == 0) c->begin(c);
  const u64 base = c->local_base + of->callee_begins, size = c->local_bytes, end = base + of->callee_bytes;
  u64* const frame = registers + of->slots;
  if (left <= 0 || c->calls == sizeof(c->pending) / sizeof(c->pending[0]) || c->frames_left == 0 ||
      frame + of->callee_slots > c->end_of_registers || end > c->local_room)
    return 0;
  if (end != size) __builtin_memset(c->local + size, (int)c->fill, end - size);
  c->local_bytes = end;
  c->local_base = base;
  c->pending[c->calls++] = of->callee << 32 | index;
  --c->frames_left;
  c->function = c->functions[of->callee];
  c->initial = c->initials[of->callee];
  return c->registers = frame;
}
// Gives the frame of the caller, whose `calls` there were; null if the callee has not come back.
OPGATE_FUNCTION u64* end_call(struct context* c, u64 calls, const struct call* of) {
  if (c->next != RETURNS || c->calls != calls + 1) return 0;
  if (c->settled > calls) c->unsettle(c);
  c->calls = calls;
  ++c->frames_left;
  c->function = c->functions[of->caller];
  c->initial = c->initials[of->caller];
  c->local_base -= of->callee_begins;
  c->local_bytes = c->local_base + of->bytes;
  return c->registers -= of->slots;
}
#define LOADS(T)                               \
  OPGATE_INLINE T load_##T(const u8* from) {   \
    T value;                                   \
    __builtin_memcpy(&value, from, sizeof(T)); \
    return value;                              \
  }                                            \
  OPGATE_INLINE void store_##T(u8* to, T value) { __builtin_memcpy(to, &value, sizeof(T)); }
LOADS(u8)
LOADS(u16)
LOADS(u32)
LOADS(u64)
LOADS(s8)
LOADS(s16)
LOADS(s32)
LOADS(s64)
LOADS(f32)
LOADS(f64)
