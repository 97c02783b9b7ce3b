#include "simulator/runtime/stream.h"

namespace opgate::simulator {

bool Mark::reached() const { return stream == nullptr || stream->done >= position; }

Streams::Streams(int devices) {
  for (int device = 0; device < devices; ++device) {
    legacy_.push_back(std::make_shared<Stream>(device, cudaStreamDefault, 0, next_id_++));
    legacy_.back()->legacy = true;
  }
}

cudaStream_t Streams::create(int device, unsigned flags, int priority) {
  if ((flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0) refuse(cudaErrorInvalidValue);
  return created_.add(std::make_shared<Stream>(device, flags, priority, next_id_++));
}

std::shared_ptr<Stream> Streams::resolve(cudaStream_t handle, int device) {
  if (handle == nullptr || handle == cudaStreamLegacy) return legacy_.at(static_cast<std::size_t>(device));
  if (handle != cudaStreamPerThread) return created_.at(handle);
  auto& stream = per_thread_[{std::this_thread::get_id(), device}];
  if (stream == nullptr) stream = std::make_shared<Stream>(device, cudaStreamDefault, 0, next_id_++);
  return stream;
}

void Streams::destroy(cudaStream_t handle) {
  auto stream = created_.remove(handle);
  std::erase_if(destroyed_, [](const auto& former) { return former->idle(); });
  if (!stream->idle()) destroyed_.push_back(std::move(stream));
}

std::vector<std::shared_ptr<Stream>> Streams::of_device(int device) {
  std::vector<std::shared_ptr<Stream>> streams = created_.all();
  for (const auto& [thread, stream] : per_thread_) streams.push_back(stream);
  streams.insert(streams.end(), destroyed_.begin(), destroyed_.end());
  streams.push_back(legacy_.at(static_cast<std::size_t>(device)));
  std::erase_if(streams, [device](const auto& stream) { return stream->device != device; });
  return streams;
}

}  // namespace opgate::simulator
