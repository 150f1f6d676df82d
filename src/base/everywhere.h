/* everywhere.h - FIRE_EVERYWHERE marks a function that both CPU and GPU code call, so
 * that there is one formula for both. */
#ifndef FIRE_BASE_EVERYWHERE_H
#define FIRE_BASE_EVERYWHERE_H
#ifdef __CUDACC__
#    define FIRE_EVERYWHERE static __forceinline__ __host__ __device__
#else /* always inlined: FIRE_VECTOR loops around it use their instruction set in it */
#    define FIRE_EVERYWHERE __attribute__((always_inline)) static inline
#endif
#endif
