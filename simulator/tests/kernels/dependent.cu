// nvcc -ptx -arch=sm_90 -lineinfo
// Kernels that are launched one after the other with programmatic stream serialization.
// What comes first: it lets the next kernel begin before it stores its results, after them, or never.
extern "C" __global__ void first(int* values, const int* more) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = more[i];
  cudaTriggerProgrammaticLaunchCompletion();
  values[i] = value + 1;
}
extern "C" __global__ void first_that_ends(int* values, const int* more) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] = more[i] + 1;
}
// Right: all threads wait; one thread of each block waits; and a kernel that needs nothing of those before.
extern "C" __global__ void waits(int* out, const int* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 7;
  cudaGridDependencySynchronize();
  out[i] = 2 * values[i];
}
extern "C" __global__ void waits_in_one_thread(int* out, const int* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
  __syncthreads();
  out[i] = 2 * values[i];
}
extern "C" __global__ void never_waits(int* out, const int* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * values[i];
}
extern "C" __global__ void waits_and_triggers(int* out, const int* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  out[i] = 2 * values[i];
}
extern "C" __global__ void triggers_and_waits(int* out, const int* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  out[i] = 2 * values[i];
}
// Wrong.
extern "C" __global__ void reads_too_early(int* out, const int* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = values[i];
  cudaGridDependencySynchronize();
  out[i] = 2 * value;
}
extern "C" __global__ void waits_in_some_threads(int* out, const int* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < 16) cudaGridDependencySynchronize();
  out[i] = 2 * values[i];
}
extern "C" __global__ void waits_in_some_blocks(int* out, const int* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x == 0) cudaGridDependencySynchronize();
  out[i] = 2 * values[i];
}
