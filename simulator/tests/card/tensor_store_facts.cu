// Prints what stores and reductions of boxes leave in a tensor, a line "name<TAB>value" each. ci/card
// compares the lines of a card with those of the simulated device. The argument is a group of facts, without
// which the names of the groups are printed.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tensor_facts.h"

namespace {

using namespace tensor_facts;

enum class Operation { none, add, min, max, inc, dec, conjunction, disjunction, exclusive };

#define STORE(instruction, rank, operands)                                                                   \
  asm volatile(instruction ".async.bulk.tensor." rank ".global.shared::cta" operands "}], [%1];" ::"l"(map), \
               "r"(from), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])                         \
               : "memory")

__device__ void store_box(const CUtensorMap* map, const Job& job, Operation operation, unsigned from) {
  const int* const at = job.at;
  switch (operation) {
    case Operation::none:
      if (job.rank == 1) STORE("cp", "1d", ".tile.bulk_group [%0, {%2");
      if (job.rank == 2) STORE("cp", "2d", ".tile.bulk_group [%0, {%2, %3");
      if (job.rank == 3) STORE("cp", "3d", ".tile.bulk_group [%0, {%2, %3, %4");
      if (job.rank == 4) STORE("cp", "4d", ".tile.bulk_group [%0, {%2, %3, %4, %5");
      if (job.rank == 5) STORE("cp", "5d", ".tile.bulk_group [%0, {%2, %3, %4, %5, %6");
      return;
    case Operation::add:
      STORE("cp.reduce", "2d", ".add.tile.bulk_group [%0, {%2, %3");
      return;
    case Operation::min:
      STORE("cp.reduce", "2d", ".min.tile.bulk_group [%0, {%2, %3");
      return;
    case Operation::max:
      STORE("cp.reduce", "2d", ".max.tile.bulk_group [%0, {%2, %3");
      return;
    case Operation::inc:
      STORE("cp.reduce", "2d", ".inc.tile.bulk_group [%0, {%2, %3");
      return;
    case Operation::dec:
      STORE("cp.reduce", "2d", ".dec.tile.bulk_group [%0, {%2, %3");
      return;
    case Operation::conjunction:
      STORE("cp.reduce", "2d", ".and.tile.bulk_group [%0, {%2, %3");
      return;
    case Operation::disjunction:
      STORE("cp.reduce", "2d", ".or.tile.bulk_group [%0, {%2, %3");
      return;
    case Operation::exclusive:
      STORE("cp.reduce", "2d", ".xor.tile.bulk_group [%0, {%2, %3");
      return;
  }
}
#undef STORE

__global__ void store(const __grid_constant__ CUtensorMap map, Job job, Operation operation,
                      const uint4* from) {
  __shared__ alignas(1024) uint4 shared[kSharedBytes / 16];
  for (unsigned i = threadIdx.x; i < kSharedBytes / 16; i += kThreads) shared[i] = from[i];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  store_box(&map, job, operation, address_in_shared(shared) + job.place);
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

// Small numbers, whose sums are exact.
std::vector<unsigned char> numbers(const ElementType& type, std::uint64_t seed) {
  std::vector<unsigned char> bytes(kMemoryBytes);
  for (size_t at = 0; at < bytes.size(); at += type.bytes) {
    const double number = static_cast<double>((at * 37 + seed * 11) % 61) * 0.25 - 7;
    const auto put = [&](auto value) { std::memcpy(&bytes[at], &value, sizeof(value)); };
    if (type.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16) put(__double2half(number));
    if (type.type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16) put(__double2bfloat16(number));
    if (type.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32) put(static_cast<float>(number));
    if (type.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT64) put(number);
  }
  return bytes;
}

// Where boxes do not begin before the tensor.
std::vector<Place> places_of_stores(const Tensor& tensor) {
  std::vector<Place> places = places_of(tensor);
  const auto is_before = [](const Place& place) {
    return std::any_of(place.at.begin(), place.at.end(), [](int at) { return at < 0; });
  };
  places.erase(std::remove_if(places.begin(), places.end(), is_before), places.end());
  places.push_back({"far past", {6250 * unit_of(tensor), 0x7fffffff, 100000, 1, 7}});
  return places;
}

void print_store(const std::string& name, const Memory& memory, const Tensor& tensor, const Job& job,
                 Operation operation, const std::vector<unsigned char>& of_tensor,
                 const std::vector<unsigned char>& of_shared) {
  CUtensorMap map;
  const CUresult result = tensor.encode(map, memory.begin());
  if (result != CUDA_SUCCESS) return print(name, name_of(result));
  memory.put(of_tensor);
  cudaMemcpy(memory.shared, of_shared.data(), kSharedBytes, cudaMemcpyHostToDevice);
  store<<<1, kThreads>>>(map, job, operation, memory.shared);
  print(name, after_launch(cudaGetLastError(), [&] {
          std::vector<unsigned char> bytes(kMemoryBytes);
          cudaMemcpy(bytes.data(), memory.tensor, bytes.size(), cudaMemcpyDeviceToHost);
          return digest(bytes.data(), bytes.size());
        }));
}

void print_stores(const Memory& memory) {
  const std::vector<unsigned char> of_tensor = any_bytes(kMemoryBytes, 1);
  const std::vector<unsigned char> of_shared = any_bytes(kSharedBytes, 2);
  const auto print_all = [&](const std::string& name, const Tensor& tensor, unsigned at_shared) {
    for (const auto& [word, at] : places_of_stores(tensor)) {
      Job job = job_of(tensor, at);
      job.place = at_shared;
      print_store(name + ", " + text_of(tensor) + ", " + word, memory, tensor, job, Operation::none,
                  of_tensor, of_shared);
    }
  };
  for (const auto& [swizzle, row_bytes] : kSwizzles) {
    for (const ElementType& type : kBySize) {
      for (unsigned rank = 1; rank <= 5; ++rank)
        print_all("store", tensor_of(type, rank, row_bytes, swizzle), 0);
      print_all("store from 128", tensor_of(type, 2, row_bytes, swizzle), 128);
      print_all("store of 16 bytes", tensor_of(type, 3, 16, swizzle), 0);
    }
    Tensor tensor = tensor_of(kU16, 3, row_bytes, swizzle);
    tensor.steps = {1, 2, 3, 1, 1};
    print_all("store in steps of 1 2 3", tensor, 0);
  }
  for (const ElementType& type : kAllTypes) print_all("store", tensor_of(type, 2, 64), 0);
}

void print_reductions(const Memory& memory) {
  using enum Operation;
  constexpr std::array kNames{"store", "add", "min", "max", "inc", "dec", "and", "or", "xor"};
  struct Row {
    ElementType type;
    std::vector<Operation> operations;
  };
  const std::vector<Row> rows{
      {kU32, {add, min, max, inc, dec, conjunction, disjunction, exclusive}},
      {kF16, {add, min, max}},
      {kBf16, {add, min, max}},
      {kF32, {add}},
      {kS32, {add, min, max, conjunction, disjunction, exclusive}},
      {kU64, {add, min, max, conjunction, disjunction, exclusive}},
      {kF64, {add}},
      {kS64, {min, max, conjunction, disjunction, exclusive}},
  };
  for (const auto& [type, operations] : rows) {
    const bool is_float = type.type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    for (const Operation operation : operations) {
      for (const auto& [swizzle, row_bytes] : kSwizzles) {
        const Tensor tensor = tensor_of(type, 2, row_bytes, swizzle);
        for (const auto& [word, at] : places_of_stores(tensor)) {
          Job job = job_of(tensor, at);
          const std::string name =
              std::string(kNames[static_cast<size_t>(operation)]) + ", " + text_of(tensor) + ", " + word;
          if (is_float)
            print_store(name + ", numbers", memory, tensor, job, operation, numbers(type, 1),
                        numbers(type, 2));
          print_store(name, memory, tensor, job, operation, any_bytes(kMemoryBytes, 1),
                      any_bytes(kSharedBytes, 2));
        }
      }
    }
  }
}

// Each place before the tensor is a group of its own: a card that ends there with an illegal instruction
// tells nothing more in that process.
void add_groups_before(std::vector<Group>& groups, const std::string& name, const ElementType& type,
                       unsigned rank, Operation operation) {
  for (unsigned dimension = 0; dimension < rank; ++dimension) {
    const auto print_one = [=](const Memory& memory) {
      const Tensor tensor = tensor_of(type, rank, 64);
      std::array<int, 5> at = inside(tensor);
      at[dimension] = dimension == 0 ? -unit_of(tensor) : -1;
      print_store(name, memory, tensor, job_of(tensor, at), operation, any_bytes(kMemoryBytes, 1),
                  any_bytes(kSharedBytes, 2));
    };
    groups.push_back({name + " of " + type.name + " before dimension " + std::to_string(dimension) + " of " +
                          std::to_string(rank),
                      print_one});
  }
}

std::vector<Group> all_groups() {
  std::vector<Group> groups{{"stores", print_stores}, {"reductions", print_reductions}};
  for (unsigned rank = 1; rank <= 5; ++rank) add_groups_before(groups, "store", kU32, rank, Operation::none);
  for (const ElementType& type : {kU8, kU64}) add_groups_before(groups, "store", type, 2, Operation::none);
  add_groups_before(groups, "add", kU32, 2, Operation::add);
  return groups;
}

}  // namespace

int main(int argc, char** argv) { return print_group(all_groups(), argc, argv); }
