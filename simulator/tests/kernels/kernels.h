// The PTX of the kernels in this folder: the build makes a text of each file. kernels/remake.py makes the
// files, of NAME.cu.
#pragma once

namespace opgate::simulator::tests::ptx {

extern const char* const barrier;
extern const char* const cluster;
extern const char* const dependent;
extern const char* const floats;
extern const char* const grid;
extern const char* const matrix;
extern const char* const mistaken;
extern const char* const pipeline;
extern const char* const reductions;
extern const char* const whole;
extern const char* const whole_of_cuda_12;

}  // namespace opgate::simulator::tests::ptx
