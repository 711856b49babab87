"""NVIDIA's driver library by `ctypes`: memory and modules of one GPU, and nothing of torch.

Runs in a candidate's box, whose Python needs this file and its neighbours alone. Functions and numbers are those of NVIDIA's reference
(https://docs.nvidia.com/cuda/cuda-driver-api/). Invariant: whatever the driver refuses raises `DriverError`; everything happens on one stream."""

import ctypes
from typing import Any

LIBRARY = "libcuda.so.1"
_MULTIPROCESSORS, _CLOCK_KHZ, _L2_BYTES, _MAJOR, _MINOR = 16, 13, 38, 75, 76
_REGISTERS, _SPILLED, _STATIC_SHARED = 4, 3, 1
_NON_BLOCKING = 1


class DriverError(Exception):
    """What the driver has refused, by the name of the function and the driver's word for it."""


class Driver:
    """The first GPU that this process sees. `library` stands in for the driver's in a test."""

    def __init__(self, library: Any = None) -> None:
        self.library = ctypes.CDLL(LIBRARY) if library is None else library
        self.call("cuInit", 0)
        device, context, stream = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.call("cuStreamCreate", ctypes.byref(stream), _NON_BLOCKING)
        self._device, self.stream = device, stream

    def facts(self) -> dict[str, int]:
        """`l2` in bytes, `multiprocessors`, `clock` in kHz, and `arch`, such as 90."""
        read = self._attribute
        return {
            "l2": read(_L2_BYTES),
            "multiprocessors": read(_MULTIPROCESSORS),
            "clock": read(_CLOCK_KHZ),
            "arch": 10 * read(_MAJOR) + read(_MINOR),
        }

    def wait(self) -> None:
        """Until all is done that was asked for."""
        self.call("cuStreamSynchronize", self.stream)

    def module(self, binary: bytes) -> int:
        """The handle of a compiled module, loaded: its variables are as they were compiled."""
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(binary))
        return int(module.value or 0)

    def function(self, module: int, name: str) -> int:
        """The handle of a function of a module."""
        found = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(found), ctypes.c_void_p(module), ctypes.c_char_p(name.encode()))
        return int(found.value or 0)

    def unload(self, module: int) -> None:
        """Gives a module back, with its variables."""
        self.call("cuModuleUnload", ctypes.c_void_p(module))

    def resources(self, function: int) -> dict[str, int]:
        """What a function takes: `registers` of a thread, bytes that a thread has `spilled`, static `shared` memory."""
        wanted = {"registers": _REGISTERS, "spilled": _SPILLED, "shared": _STATIC_SHARED}
        found = {}
        for name, attribute in wanted.items():
            value = ctypes.c_int()
            self.call("cuFuncGetAttribute", ctypes.byref(value), attribute, ctypes.c_void_p(function))
            found[name] = value.value
        return found

    def _attribute(self, attribute: int) -> int:
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), attribute, self._device)
        return value.value

    def call(self, name: str, *arguments: Any) -> None:
        """One function of the library, which must succeed."""
        code = getattr(self.library, name)(*arguments)
        if code:
            raise DriverError(f"{name}: {self._word(code)}")

    def _word(self, code: int) -> str:
        word = ctypes.c_char_p()
        if self.library.cuGetErrorName(code, ctypes.byref(word)) or not word.value:
            return f"error {code}"
        return word.value.decode("ascii", "replace")


class Memory:
    """The memory of the GPU of one driver, by addresses."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def allocate(self, size: int) -> int:
        """The address of so many bytes, which live as long as the process."""
        address = ctypes.c_uint64()
        self._driver.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return int(address.value)

    def put(self, address: int, host: int, size: int) -> None:
        """Copies from the host to the device, and waits for it."""
        self._driver.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), ctypes.c_void_p(host), ctypes.c_size_t(size))

    def get(self, host: int, address: int, size: int) -> None:
        """Copies from the device to the host, and waits for it."""
        self._driver.call("cuMemcpyDtoH_v2", ctypes.c_void_p(host), ctypes.c_uint64(address), ctypes.c_size_t(size))

    def fill(self, address: int, byte: int, size: int) -> None:
        """Has a range filled; does not wait for it."""
        told = ctypes.c_uint64(address), ctypes.c_ubyte(byte), ctypes.c_size_t(size)
        self._driver.call("cuMemsetD8Async", *told, self._driver.stream)

    def copy(self, to: int, address: int, size: int) -> None:
        """Has a range copied on the device; does not wait for it."""
        places = ctypes.c_uint64(to), ctypes.c_uint64(address)
        self._driver.call("cuMemcpyDtoDAsync_v2", *places, ctypes.c_size_t(size), self._driver.stream)
