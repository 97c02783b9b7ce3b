// The tools of OPGATE_SIM_TOOLS: which memory counts as written, and how findings are told. Each test is a
// process of its own, because the environment is read once.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "device_code.h"
#include "simulator/runtime/simulated_work.h"
#include "take_finding.h"

using namespace simulated;

namespace {

void use_tools(const char* names) { setenv("OPGATE_SIM_TOOLS", names, 1); }

float* new_floats(unsigned count) {
  float* data = nullptr;
  EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), count * sizeof(float)), cudaSuccess);
  return data;
}

// What `add` finds of memory whose content matters to it.
std::string found_by_add(float* data) {
  add(data, 1, 4);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return take_finding();
}

}  // namespace

TEST(SimulatedToolsDeathTest, NewMemoryIsUnwritten) {
  EXPECT_IN_CHILD("", {
    use_tools("init");
    const std::string found = found_by_add(new_floats(4));
    EXPECT_TRUE(
        found.starts_with("{\"tool\":\"init\",\"kernel\":\"add\",\"message\":\"ld.global.f32 reads 4 bytes"))
        << found;
    EXPECT_NE(found.find("not written: byte 0 of argument 1 of the launch, which points to 16 bytes"),
              std::string::npos)
        << found;
    EXPECT_NE(found.find("\"count\":4}"), std::string::npos) << found;
    EXPECT_EQ(take_finding(), "");
  });
}

TEST(SimulatedToolsDeathTest, CopiesAndFillsWrite) {
  EXPECT_IN_CHILD("", {
    use_tools("init");
    EXPECT_EQ(found_by_add(device_floats(4, 1)), "");
    float* const filled = new_floats(4);
    EXPECT_EQ(cudaMemset(filled, 0, 16), cudaSuccess);
    EXPECT_EQ(found_by_add(filled), "");
    float* const copied = new_floats(4);
    EXPECT_EQ(cudaMemcpy(copied, filled, 16, cudaMemcpyDeviceToDevice), cudaSuccess);
    EXPECT_EQ(found_by_add(copied), "");
    float* const half = new_floats(4);
    EXPECT_EQ(cudaMemset(half, 0, 8), cudaSuccess);
    EXPECT_NE(found_by_add(half).find("\"count\":2}"), std::string::npos);
    float* const in_rows = new_floats(8);
    EXPECT_EQ(cudaMemset2D(in_rows, 16, 0, 4, 2), cudaSuccess);
    EXPECT_NE(found_by_add(in_rows).find("\"count\":3}"), std::string::npos);
  });
}

TEST(SimulatedToolsDeathTest, KernelsAndHostCodeWrite) {
  EXPECT_IN_CHILD("", {
    use_tools("init");
    float* const data = new_floats(4);
    for (unsigned i = 0; i < 4; ++i) store(data, i, 1);
    EXPECT_EQ(found_by_add(data), "");
    float* const seen = new_floats(4);
    opgate_sim_host_view(seen + 1);  // as a replacement of one of ATen's kernels does
    EXPECT_EQ(found_by_add(seen), "");
    EXPECT_EQ(found_by_add(pinned_floats(4, 1)), "");
  });
}

TEST(SimulatedToolsDeathTest, MemoryThatIsReusedIsNew) {
  EXPECT_IN_CHILD("", {
    use_tools("init");
    setenv("OPGATE_SIM_MEMORY", "1", 1);  // so that the addresses return
    bool again = false;
    float* const first = device_floats(50000, 1);
    EXPECT_EQ(cudaFree(first), cudaSuccess);
    for (int i = 0; i < 40 && !again; ++i) {
      float* const data = new_floats(50000);
      again = data == first;
      if (again) {
        EXPECT_NE(found_by_add(data), "");
      }
      EXPECT_EQ(cudaFree(data), cudaSuccess);
    }
    EXPECT_TRUE(again);
  });
}

TEST(SimulatedToolsDeathTest, NothingWithoutTools) {
  EXPECT_IN_CHILD("", { EXPECT_EQ(found_by_add(new_floats(4)), ""); });
  EXPECT_IN_CHILD("", {
    use_tools("race,sync");
    EXPECT_EQ(found_by_add(new_floats(4)), "");
  });
}

TEST(SimulatedToolsDeathTest, FindingsGoToAFileAndToTheLog) {
  EXPECT_IN_CHILD("opgate sim: init: kernel add, ld.global.f32", {
    const std::string file = ::testing::TempDir() + "opgate_findings_" + std::to_string(getpid());
    use_tools("init");
    setenv("OPGATE_SIM_LOG", "1", 1);
    setenv("OPGATE_SIM_REPORT", file.c_str(), 1);
    const std::string found = found_by_add(new_floats(4));
    found_by_add(new_floats(4));
    std::ifstream in(file);
    std::string start;
    std::string first;
    std::string second;
    std::string third;
    std::getline(in, start);
    EXPECT_NE(start.find("\"tool\":\"start\""), std::string::npos) << start;
    std::getline(in, first);
    std::getline(in, second);
    EXPECT_EQ(first, found);
    EXPECT_NE(second, "");
    EXPECT_FALSE(std::getline(in, third));
    std::remove(file.c_str());
  });
  EXPECT_IN_CHILD("opgate sim: OPGATE_SIM_REPORT=/dev/null/file cannot be written: Not a directory", {
    use_tools("init");
    setenv("OPGATE_SIM_REPORT", "/dev/null/file", 1);
    EXPECT_NE(found_by_add(new_floats(4)), "");
  });
}

TEST(SimulatedToolsDeathTest, ALineThatDoesNotFitStays) {
  EXPECT_IN_CHILD("", {
    use_tools("init");
    add(new_floats(4), 1, 4);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const std::size_t length = opgate_sim_take_finding(nullptr, 0);
    EXPECT_GT(length, 100u);
    std::string line(length + 1, '\0');
    EXPECT_EQ(opgate_sim_take_finding(line.data(), length), length);
    EXPECT_EQ(opgate_sim_take_finding(line.data(), length + 1), length);
    EXPECT_EQ(line[length - 1], '}');
    EXPECT_EQ(opgate_sim_take_finding(line.data(), length + 1), 0u);
  });
}
