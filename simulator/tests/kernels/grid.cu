// nvcc -ptx -arch=sm_80
// A cooperative kernel with a mistake, and its right twin.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void grid_right(float* out, const float* in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned n = gridDim.x * blockDim.x;
  out[i] = in[i];
  cg::this_grid().sync();
  const float v = out[n - 1 - i];
  cg::this_grid().sync();
  out[i] = v + 1;
}
extern "C" __global__ void grid_wrong(float* out, const float* in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned n = gridDim.x * blockDim.x;
  out[i] = in[i];
  cg::this_grid().sync();
  const float v = out[n - 1 - i];
  out[i] = v + 1;
}
