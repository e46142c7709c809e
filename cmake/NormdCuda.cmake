# Finds cuda.h and nvrtc.h, which only the doors to the driver and to NVRTC include, and libnvrtc,
# which compiles the fallback while the project is built. All three come from an installed toolkit
# or from NVIDIA's Python wheels (scripts/prepare puts those under .setup/cuda). Nothing links
# against CUDA: programs open the libraries when they run.
set(normd_cuda_roots ${PROJECT_SOURCE_DIR}/.setup/cuda $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda)
find_path(NORMD_CUDA_INCLUDE cuda.h PATHS ${normd_cuda_roots} PATH_SUFFIXES include
          targets/x86_64-linux/include)
find_path(NORMD_NVRTC_INCLUDE nvrtc.h PATHS ${normd_cuda_roots} PATH_SUFFIXES include
          targets/x86_64-linux/include)
find_library(NORMD_NVRTC_LIBRARY NAMES nvrtc libnvrtc.so.13 libnvrtc.so.12
             PATHS ${normd_cuda_roots} PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib)
foreach(needed NORMD_CUDA_INCLUDE NORMD_NVRTC_INCLUDE NORMD_NVRTC_LIBRARY)
  if(NOT ${needed})
    message(FATAL_ERROR "${needed} not found: install the CUDA toolkit, or run scripts/prepare, "
                        "which fetches what is needed, and configure again")
  endif()
endforeach()
add_library(normd_cuda_headers INTERFACE)
target_include_directories(normd_cuda_headers SYSTEM INTERFACE ${NORMD_CUDA_INCLUDE} ${NORMD_NVRTC_INCLUDE})
