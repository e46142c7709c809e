"""The CUDA driver by ctypes: loading and launching a stored binary in torch's context, and events
that become nodes of a CUDA graph. One thread."""

import ctypes

EVENT_DEFAULT = 0
EVENT_RECORD_EXTERNAL = 1
ATTRIBUTE_SHARED_SIZE_BYTES = 1
ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14
LAUNCH_COOPERATIVE = 2
LAUNCH_CLUSTER_DIMENSION = 4
LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION = 6


class DriverError(Exception):
    pass


class LaunchValue(ctypes.Union):
    _fields_ = [("pad", ctypes.c_char * 64), ("cooperative", ctypes.c_int),
                ("programmatic", ctypes.c_int),
                ("cluster", ctypes.c_uint * 3)]


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", LaunchValue)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid_x", ctypes.c_uint), ("grid_y", ctypes.c_uint), ("grid_z", ctypes.c_uint),
                ("block_x", ctypes.c_uint), ("block_y", ctypes.c_uint),
                ("block_z", ctypes.c_uint), ("shared_bytes", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(LaunchAttribute)),
                ("attribute_count", ctypes.c_uint)]


class Driver:
    def __init__(self, path="libcuda.so.1"):
        self.library = ctypes.CDLL(path)
        # The later of two versions where there are two; the signature is the same.
        self.elapsed = getattr(self.library, "cuEventElapsedTime_v2", None) or (
            self.library.cuEventElapsedTime)

    def check(self, result, doing):
        if result == 0:
            return
        name = ctypes.c_char_p()
        self.library.cuGetErrorName(result, ctypes.byref(name))
        raise DriverError(f"{doing}: {name.value.decode() if name.value else result}")

    def version(self):
        number = ctypes.c_int()
        self.check(self.library.cuDriverGetVersion(ctypes.byref(number)), "asking for the version")
        return f"{number.value // 1000}.{number.value % 1000 // 10}"

    def new_event(self):
        event = ctypes.c_void_p()
        self.check(self.library.cuEventCreate(ctypes.byref(event), EVENT_DEFAULT),
                   "creating an event")
        return event

    def destroy_event(self, event):
        self.library.cuEventDestroy_v2(event)

    def record_in_graph(self, event, stream):
        """While `stream` is captured: the event becomes a node, timed on the device."""
        self.check(self.library.cuEventRecordWithFlags(event, ctypes.c_void_p(stream),
                                                       EVENT_RECORD_EXTERNAL),
                   "recording an event")

    def elapsed_ns(self, begin, end):
        milliseconds = ctypes.c_float()
        self.check(self.elapsed(ctypes.byref(milliseconds), begin, end), "reading the time")
        return milliseconds.value * 1e6

    def synchronize(self, stream):
        self.check(self.library.cuStreamSynchronize(ctypes.c_void_p(stream)), "waiting")

    def copy(self, to, source, count, stream):
        self.check(self.library.cuMemcpyDtoDAsync_v2(
            ctypes.c_uint64(to), ctypes.c_uint64(source), ctypes.c_size_t(count),
            ctypes.c_void_p(stream)), "copying")


class StoredKernel:
    """A binary of the store, loaded in the current context, with its Launch."""

    def __init__(self, driver, binary, launch, argument_bytes):
        self.driver = driver
        self.launch = launch
        self.image = ctypes.create_string_buffer(binary, len(binary) + 1)
        self.module = ctypes.c_void_p()
        library = driver.library
        driver.check(library.cuModuleLoadData(ctypes.byref(self.module), self.image),
                     "loading the winner's binary")
        self.functions = [self._function(entry, argument_bytes) for entry in launch.entries]
        self.attributes = (LaunchAttribute * 3)()
        count = 0
        if launch.cluster > 1:
            self.attributes[count].id = LAUNCH_CLUSTER_DIMENSION
            self.attributes[count].value.cluster[:] = [launch.cluster, 1, 1]
            count += 1
        if launch.cooperative:
            self.attributes[count].id = LAUNCH_COOPERATIVE
            self.attributes[count].value.cooperative = 1
            count += 1
        if launch.programmatic:
            self.attributes[count].id = LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION
            self.attributes[count].value.programmatic = 1
            count += 1
        self.config = LaunchConfig(
            grid_x=1, grid_y=1, grid_z=1, block_x=launch.block, block_y=1, block_z=1,
            shared_bytes=launch.shared_bytes, stream=None,
            attributes=ctypes.cast(self.attributes, ctypes.POINTER(LaunchAttribute)),
            attribute_count=count)

    def _function(self, entry, argument_bytes):
        library = self.driver.library
        function = ctypes.c_void_p()
        self.driver.check(library.cuModuleGetFunction(ctypes.byref(function), self.module,
                                                      entry.encode()), f"looking for {entry}")
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        if hasattr(library, "cuFuncGetParamInfo"):
            library.cuFuncGetParamInfo(function, ctypes.c_size_t(0), ctypes.byref(offset),
                                       ctypes.byref(size))
            if size.value not in (0, argument_bytes):
                raise DriverError(f"{entry} takes an argument of {size.value} bytes, not of "
                                  f"{argument_bytes}: this program is older than the kernel")
        fixed = ctypes.c_int()
        self.driver.check(library.cuFuncGetAttribute(
            ctypes.byref(fixed), ATTRIBUTE_SHARED_SIZE_BYTES, function), "reading resources")
        if fixed.value + self.launch.shared_bytes > 48 * 1024:
            self._allow(function, ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                        self.launch.shared_bytes)
        if self.launch.cluster > 8:
            self._allow(function, ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
        return function

    def blocks_held(self, multiprocessors):
        """Blocks of the first entry that the device holds at once."""
        library, held = self.driver.library, ctypes.c_int()
        if self.launch.cluster > 1:
            self.config.grid_x = self.launch.cluster
            self.driver.check(library.cuOccupancyMaxActiveClusters(
                ctypes.byref(held), self.functions[0], ctypes.byref(self.config)),
                "asking how many clusters fit")
            return held.value * self.launch.cluster
        self.driver.check(library.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            ctypes.byref(held), self.functions[0], self.launch.block,
            ctypes.c_size_t(self.launch.shared_bytes)), "asking how many blocks fit")
        return held.value * multiprocessors

    def _allow(self, function, attribute, value):
        self.driver.check(self.driver.library.cuFuncSetAttribute(function, attribute, value),
                          f"setting attribute {attribute} of a kernel to {value}")

    def enqueue(self, arguments, blocks, stream):
        self.config.grid_x = blocks
        self.config.stream = stream
        parameters = (ctypes.c_void_p * 1)(ctypes.addressof(arguments))
        for function in self.functions:
            self.driver.check(self.driver.library.cuLaunchKernelEx(
                ctypes.byref(self.config), function, parameters, None), "launching the winner")

    def unload(self):
        self.driver.library.cuModuleUnload(self.module)


def management_version():
    """The driver's own version, such as 580.159.04; empty where NVML is absent."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return ""
    text = ctypes.create_string_buffer(80)
    if library.nvmlInit_v2() != 0 or library.nvmlSystemGetDriverVersion(text, 80) != 0:
        return ""
    return text.value.decode()
