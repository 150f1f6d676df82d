/* everywhere.h - marks functions that the CPU and GPU kernels share. */
#ifndef FIRE_BASE_EVERYWHERE_H
#define FIRE_BASE_EVERYWHERE_H
#ifdef __CUDACC__
#    define FIRE_EVERYWHERE static __forceinline__ __host__ __device__
#else /* inlined, so that loops around them are built for several machines */
#    define FIRE_EVERYWHERE __attribute__((always_inline)) static inline
#endif
#endif
