// Makes a CPU build of torch accept tensors that say they are on cuda:0: a device guard that guards
// nothing, and hooks that report one GPU. There is no kernel behind it; simulated_gpu.py computes.
// It has to be loaded before torch is imported, which looks for both once.

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace {

const c10::Device ONLY(c10::DeviceType::CUDA, 0);

struct OneDeviceGuard final : c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::CUDA> {
  c10::Device getDevice() const override { return ONLY; }
  c10::Device exchangeDevice(c10::Device) const override { return ONLY; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }

  // every stream is the default one, and its work is done when it is queued
  c10::Stream getStream(c10::Device) const noexcept override { return stream(); }
  c10::Stream getNewStream(c10::Device, int) const override { return stream(); }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return stream(); }
  void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }

 private:
  static c10::Stream stream() { return c10::Stream(c10::Stream::DEFAULT, ONLY); }
};

C10_REGISTER_GUARD_IMPL(CUDA, OneDeviceGuard)

} // namespace

namespace at {

struct CUDAHooks final : CUDAHooksInterface {
  explicit CUDAHooks(CUDAHooksArgs) {}
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex deviceCount() const override { return 1; }
  int getNumGPUs() const override { return 1; }
  DeviceIndex getCurrentDevice() const override { return 0; }
  DeviceIndex current_device() const override { return 0; }
};

REGISTER_CUDA_HOOKS(CUDAHooks)

} // namespace at
