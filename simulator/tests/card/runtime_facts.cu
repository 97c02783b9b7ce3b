// Prints what the CUDA runtime says of limits, attributes and errors, a line "name<TAB>value" each. ci/card
// compares the lines of a card with those of the simulated device.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

__global__ void add_one(float* data, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) data[i] += 1;
}

__global__ void in_shared(float* data) {
  __shared__ float part[256];
  part[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = part[255 - threadIdx.x];
}

__global__ void __launch_bounds__(128) bounded(float* data) { data[threadIdx.x] = 0; }

extern __shared__ float of_any_size[];
__global__ void dynamic(float* data) {
  of_any_size[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = of_any_size[threadIdx.x] + 1;
}

__global__ void far_away(float* data) { data[size_t{1} << 40] = 1; }
__global__ void misaligned(char* data) { *reinterpret_cast<float*>(data + 1) = 1; }
__global__ void trapped() { __trap(); }

void print(const std::string& name, const std::string& value) {
  std::printf("%s\t%s\n", name.c_str(), value.c_str());
}
void print(const std::string& name, long long value) { print(name, std::to_string(value)); }
void print(const std::string& name, cudaError_t error) { print(name, std::string(cudaGetErrorName(error))); }

// An error of a launch stays until it is asked for.
void print_launch(const std::string& name) {
  print(name, cudaGetLastError());
  print(name + ", afterwards", cudaDeviceSynchronize());
}

void print_attributes() {
  // Not those of the machine and the clock: PCI, NUMA, memory and its errors, rates.
  for (const int attribute : {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 15,  16,  31,  38,  39,  41, 75,
                              76, 79, 80, 81, 82, 83, 86, 89, 95, 97, 98, 99, 100, 101, 106, 111, 115, 120}) {
    int value = -1;
    const cudaError_t error = cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(attribute), 0);
    print("attribute " + std::to_string(attribute),
          error == cudaSuccess ? std::to_string(value) : cudaGetErrorName(error));
  }
  for (const auto& [name, limit] : {std::pair{"stack", cudaLimitStackSize},
                                    {"printf", cudaLimitPrintfFifoSize},
                                    {"heap", cudaLimitMallocHeapSize},
                                    {"depth", cudaLimitDevRuntimeSyncDepth}}) {
    size_t value = 0;
    const cudaError_t error = cudaDeviceGetLimit(&value, limit);
    print(std::string("limit ") + name,
          error == cudaSuccess ? std::to_string(value) : cudaGetErrorName(error));
  }
}

template <class Kernel>
void print_function(const std::string& name, Kernel* kernel) {
  cudaFuncAttributes attributes{};
  print(name + ", attributes", cudaFuncGetAttributes(&attributes, kernel));
  print(name + ", shared bytes", static_cast<long long>(attributes.sharedSizeBytes));
  print(name + ", local bytes", static_cast<long long>(attributes.localSizeBytes));
  print(name + ", most threads", attributes.maxThreadsPerBlock);
  print(name + ", most dynamic shared bytes", attributes.maxDynamicSharedSizeBytes);
}

void print_launches(float* data) {
  const auto launch = [&](const std::string& name, const std::function<void()>& run) {
    run();
    print_launch(name);
  };
  launch("no blocks", [&] { add_one<<<0, 32>>>(data, 0); });
  launch("no threads", [&] { add_one<<<1, 0>>>(data, 0); });
  launch("1024 threads", [&] { add_one<<<1, 1024>>>(data, 0); });
  launch("1025 threads", [&] { add_one<<<1, 1025>>>(data, 0); });
  launch("64 x 16 x 2 threads", [&] { add_one<<<1, dim3(64, 16, 2)>>>(data, 0); });
  launch("1 x 1 x 64 threads", [&] { add_one<<<1, dim3(1, 1, 64)>>>(data, 0); });
  launch("1 x 1 x 65 threads", [&] { add_one<<<1, dim3(1, 1, 65)>>>(data, 0); });
  launch("65535 blocks in y", [&] { add_one<<<dim3(1, 65535), 1>>>(data, 0); });
  launch("65536 blocks in y", [&] { add_one<<<dim3(1, 65536), 1>>>(data, 0); });
  launch("65536 blocks in z", [&] { add_one<<<dim3(1, 1, 65536), 1>>>(data, 0); });
  launch("2^31 blocks", [&] { add_one<<<0x80000000u, 1>>>(data, 0); });
  launch("128 threads of 128", [&] { bounded<<<1, 128>>>(data); });
  launch("129 threads of 128", [&] { bounded<<<1, 129>>>(data); });
  launch("48 KiB dynamic", [&] { dynamic<<<1, 32, 48 * 1024>>>(data); });
  launch("48 KiB + 1 dynamic", [&] { dynamic<<<1, 32, 48 * 1024 + 1>>>(data); });
  print("ask for 227 KiB",
        cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
  launch("227 KiB asked for", [&] { dynamic<<<1, 32, 227 * 1024>>>(data); });
  print("ask for 227 KiB + 1",
        cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024 + 1));
  print("that error is kept", cudaGetLastError());
  launch("48 KiB beside 1 KiB", [&] { in_shared<<<1, 256, 47 * 1024 + 1>>>(data); });
  for (const int threads : {32, 256, 1024}) {
    int blocks = -1;
    print("occupancy", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, threads, 0));
    print("blocks of " + std::to_string(threads), blocks);
  }
}

void print_errors_of_calls(float* data) {
  std::vector<float> host(64);
  print("copy from nowhere", cudaMemcpy(data, nullptr, 4, cudaMemcpyHostToDevice));
  print("that error is kept", cudaGetLastError());
  print("copy of nothing", cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault));
  print("copy in a wrong direction", cudaMemcpy(host.data(), data, 4, static_cast<cudaMemcpyKind>(9)));
  print("fill nowhere", cudaMemset(nullptr, 0, 4));
  print("free nothing", cudaFree(nullptr));
  print("free what was not allocated", cudaFree(host.data()));
  print("device 99", cudaSetDevice(99));
  print("device -1", cudaSetDevice(-1));
  int value = 0;
  print("attribute 9999", cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0));
  void* much = nullptr;
  print("too much memory", cudaMalloc(&much, size_t{1} << 50));
  print("zero bytes", cudaMalloc(&much, 0));
  print("zero bytes are null", much == nullptr ? 1 : 0);
  cudaEvent_t event = nullptr;
  cudaEvent_t plain = nullptr;
  print("event", cudaEventCreate(&event));
  print("event without time", cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
  print("event that was not recorded", cudaEventQuery(event));
  float seconds = 0;
  print("time of events that were not recorded", cudaEventElapsedTime(&seconds, event, event));
  cudaEventRecord(event);
  cudaEventRecord(plain);
  cudaDeviceSynchronize();
  print("time without time", cudaEventElapsedTime(&seconds, event, plain));
  cudaPointerAttributes attributes{};
  print("pointer of the host", cudaPointerGetAttributes(&attributes, host.data()));
  print("its type", static_cast<long long>(attributes.type));
  print("pointer of the device", cudaPointerGetAttributes(&attributes, data));
  print("its type", static_cast<long long>(attributes.type));
  cudaGetLastError();
}

// What one call does while a stream captures, and how the capture ends.
using Call = std::function<cudaError_t(cudaStream_t)>;

void print_capture(const std::string& name, cudaStreamCaptureMode mode, unsigned flags, const Call& call) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaStreamCreateWithFlags(&stream, flags);
  cudaStreamBeginCapture(stream, mode);
  print(name, call(stream));
  print(name + ", end", cudaStreamEndCapture(stream, &graph));
  cudaGetLastError();
  if (graph != nullptr) cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

void print_captures(float* data) {
  static float host[64];
  float* const other = data + 512;
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  const std::vector<std::pair<const char*, Call>> calls{
      {"kernel",
       [&](cudaStream_t stream) { return add_one<<<1, 1, 0, stream>>>(data, 0), cudaGetLastError(); }},
      {"kernel on the default stream",
       [&](cudaStream_t) { return add_one<<<1, 1>>>(data, 0), cudaGetLastError(); }},
      {"wait for the stream", [](cudaStream_t stream) { return cudaStreamSynchronize(stream); }},
      {"wait for the device", [](cudaStream_t) { return cudaDeviceSynchronize(); }},
      {"query", [](cudaStream_t stream) { return cudaStreamQuery(stream); }},
      {"query of the default stream", [](cudaStream_t) { return cudaStreamQuery(nullptr); }},
      {"query of an event", [&](cudaStream_t) { return cudaEventQuery(event); }},
      {"wait for an event", [&](cudaStream_t) { return cudaEventSynchronize(event); }},
      {"copy to the host", [&](cudaStream_t) { return cudaMemcpy(host, data, 4, cudaMemcpyDeviceToHost); }},
      {"copy to the device", [&](cudaStream_t) { return cudaMemcpy(data, host, 4, cudaMemcpyHostToDevice); }},
      {"copy on the device",
       [&](cudaStream_t) { return cudaMemcpy(other, data, 4, cudaMemcpyDeviceToDevice); }},
      {"fill", [&](cudaStream_t) { return cudaMemset(data, 0, 4); }},
      {"copy to pageable memory in the stream",
       [&](cudaStream_t stream) { return cudaMemcpyAsync(host, data, 4, cudaMemcpyDeviceToHost, stream); }},
      {"allocate",
       [](cudaStream_t) {
         void* memory = nullptr;
         const cudaError_t error = cudaMalloc(&memory, 4);
         if (error == cudaSuccess) cudaFree(memory);
         return error;
       }},
      {"make a stream",
       [](cudaStream_t) {
         cudaStream_t made = nullptr;
         const cudaError_t error = cudaStreamCreate(&made);
         if (error == cudaSuccess) cudaStreamDestroy(made);
         return error;
       }},
      {"make an event", [](cudaStream_t) {
         cudaEvent_t made = nullptr;
         const cudaError_t error = cudaEventCreate(&made);
         if (error == cudaSuccess) cudaEventDestroy(made);
         return error;
       }}};
  for (const auto& [word, mode] : {std::pair{"global", cudaStreamCaptureModeGlobal},
                                   {"thread local", cudaStreamCaptureModeThreadLocal},
                                   {"relaxed", cudaStreamCaptureModeRelaxed}}) {
    for (const auto& [kind, flags] :
         {std::pair{"non-blocking", cudaStreamNonBlocking}, {"blocking", cudaStreamDefault}}) {
      for (const auto& [what, call] : calls)
        print_capture(std::string("capture, ") + word + ", " + kind + ", " + what, mode, flags, call);
    }
  }
  cudaEventDestroy(event);
}

// The process ends with what each of these leaves behind.
int print_fault(const std::string& which, float* data) {
  if (which == "address") far_away<<<1, 1>>>(data);
  if (which == "alignment") misaligned<<<1, 1>>>(reinterpret_cast<char*>(data));
  if (which == "trap") trapped<<<1, 1>>>();
  print("launch", cudaGetLastError());
  print("wait", cudaDeviceSynchronize());
  print("last error", cudaGetLastError());
  print("last error again", cudaGetLastError());
  void* memory = nullptr;
  print("allocation afterwards", cudaMalloc(&memory, 4));
  print("free afterwards", cudaFree(data));
  add_one<<<1, 1>>>(data, 0);
  print("launch afterwards", cudaGetLastError());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 4096);  // a crash loses nothing
  float* data = nullptr;
  if (cudaMalloc(&data, 4096) != cudaSuccess) {
    std::puts("no device");
    return 4;
  }
  cudaMemset(data, 0, 4096);
  if (argc > 1) return print_fault(argv[1], data);
  print_attributes();
  print_function("add_one", add_one);
  print_function("in_shared", in_shared);
  print_function("bounded", bounded);
  print_function("dynamic", dynamic);
  print_launches(data);
  print_errors_of_calls(data);
  print_captures(data);
  for (int code = 0; code < 1000; ++code) {
    const auto error = static_cast<cudaError_t>(code);
    if (std::string(cudaGetErrorName(error)) != "unrecognized error code")
      print("error " + std::to_string(code),
            std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error));
  }
  return 0;
}
