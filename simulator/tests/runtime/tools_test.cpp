// The tools of OPGATE_SIM_TOOLS: which memory counts as written, and how findings are reported. Each test is
// a process of its own, because the environment is read once.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include <opgate_sim.h>
#include "device_code.h"
#include "take_finding.h"

using namespace simulated;

namespace {

void use_tools(const char* names) { setenv("OPGATE_SIM_TOOLS", names, 1); }

float* new_floats(unsigned count) {
  float* data = nullptr;
  EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), count * sizeof(float)), cudaSuccess);
  return data;
}

void copy_four(float* to, const float* from) {
  EXPECT_EQ(cudaMemcpy(to, from, 4 * sizeof(float), cudaMemcpyDefault), cudaSuccess);
}

std::string found_by_reading(const float* data) {
  std::array<float, 4> results{};
  copy_four(results.data(), data);
  return take_finding();
}

// What is found of memory whose content matters to `add`, whose results are copied to the host.
std::string found_by_add(float* data) {
  add(data, 1, 4);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return found_by_reading(data);
}

// One that stands for a kernel of ATen.
void launch_operation(const char* name, const float* read, const float* written) {
  const std::array<OpgateSimAccess, 2> accesses{{{read, 16, 0}, {written, 16, 1}}};
  EXPECT_EQ(opgate_sim_launch(
                nullptr, [](void*) {}, nullptr, name, accesses.data(), accesses.size()),
            cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
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

TEST(SimulatedToolsDeathTest, ResultsThatNobodyReadsDoNotMatter) {
  EXPECT_IN_CHILD("", {
    use_tools("init");
    float* const data = new_floats(8);
    float* const copied = new_floats(8);
    add(data, 1, 4);
    copy_four(copied + 4, data);
    EXPECT_EQ(found_by_reading(copied), "");
    EXPECT_EQ(cudaMemset(data, 0, 16), cudaSuccess);
    EXPECT_EQ(found_by_reading(data), "");
    // What was copied is as unwritten as its source was, and the load is named.
    const std::string found = found_by_reading(copied + 4);
    EXPECT_NE(found.find("ld.global.f32 reads 4 bytes"), std::string::npos) << found;
    EXPECT_NE(found.find("\"instruction\":\"a copy to the host\""), std::string::npos) << found;
    EXPECT_NE(found.find("byte 0 of argument 1 of the launch"), std::string::npos) << found;
  });
}

TEST(SimulatedToolsDeathTest, OperationsInThePlaceOfKernelsReadResults) {
  EXPECT_IN_CHILD("", {
    use_tools("init");
    float* const read = new_floats(4);
    float* const written = new_floats(4);
    add(read, 1, 4);
    add(written, 1, 4);
    launch_operation("aten::add", read, written);
    const std::string found = take_finding();
    EXPECT_NE(found.find("\"instruction\":\"aten::add\""), std::string::npos) << found;
    EXPECT_EQ(found_by_reading(written), "");
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
    unsetenv("PYTEST_CURRENT_TEST");  // pytest may run this program, and the file would name its test
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
    float* const data = new_floats(4);
    add(data, 1, 4);
    launch_operation("aten::add", data, data);
    const std::size_t length = opgate_sim_take_finding(nullptr, 0);
    EXPECT_GT(length, 100u);
    std::string line(length + 1, '\0');
    EXPECT_EQ(opgate_sim_take_finding(line.data(), length), length);
    EXPECT_EQ(opgate_sim_take_finding(line.data(), length + 1), length);
    EXPECT_EQ(line[length - 1], '}');
    EXPECT_EQ(opgate_sim_take_finding(line.data(), length + 1), 0u);
  });
}
