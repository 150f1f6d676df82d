/* launch.cc - runs the threads of a block as fibers of one host thread, blocks one
 * after another.
 *
 * A fiber runs one CUDA thread after another, until one of them waits at a barrier or
 * in a shuffle; then another fiber continues with the next thread. So a kernel without
 * barriers is a plain loop in one fiber. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "kernel.h"
#ifdef __SANITIZE_ADDRESS__
#    include <sanitizer/common_interface_defs.h>
#endif

thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace
{
enum { WARP = 32, STACK = 256 << 10, MOST_THREADS = 1024 };

enum wait_t { RUNNING, AT_WARP, AT_BLOCK, DONE };

struct fiber {
    ucontext_t context;
    char      *stack;
    int        thread; /* that it runs now; -1: none */
};

/* The running block of a host thread. */
struct block {
    emulator_body *body;
    int            nthread, next;   /* threads; the first not yet started */
    int            nfiber, current; /* current: the running fiber */
    wait_t         state[MOST_THREADS];
    int            fiber_of[MOST_THREADS];
    uint64_t       slot[MOST_THREADS]; /* what threads pass in a shuffle */
    fiber          fibers[MOST_THREADS];
    ucontext_t     home;
    const void    *home_stack;
    size_t         home_bytes;
};

thread_local block *here;

void set_index(int thread)
{
    threadIdx.x = (unsigned)thread % blockDim.x;
    threadIdx.y = (unsigned)thread / blockDim.x % blockDim.y;
    threadIdx.z = (unsigned)thread / blockDim.x / blockDim.y;
}

/* Switch fibers; AddressSanitizer must be told which stack is in use. */
void switch_to(ucontext_t *from, ucontext_t *to, const void *stack, size_t bytes)
{
#ifdef __SANITIZE_ADDRESS__
    void *fake;

    __sanitizer_start_switch_fiber(&fake, stack, bytes);
    swapcontext(from, to);
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#else
    (void)stack, (void)bytes;
    swapcontext(from, to);
#endif
}

void go_home(fiber *f)
{
    switch_to(&f->context, &here->home, here->home_stack, here->home_bytes);
}

void fiber_main()
{
    block *b = here;
    fiber *f = &b->fibers[b->current];

#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(nullptr, &b->home_stack, &b->home_bytes);
#endif
    for (;;) { /* fibers are kept for later blocks */
        while (b->next < b->nthread) {
            int t = b->next++;

            f->thread      = t;
            b->fiber_of[t] = (int)(f - b->fibers);
            b->state[t]    = RUNNING;
            set_index(t);
            b->body->run();
            b->state[t] = DONE;
        }
        f->thread = -1;
        go_home(f);
    }
}

void make_fiber(fiber *f)
{
    f->thread = -1;
    f->stack  = static_cast<char *>(malloc(STACK));
    getcontext(&f->context);
    f->context.uc_stack.ss_sp   = f->stack;
    f->context.uc_stack.ss_size = STACK;
    f->context.uc_link          = nullptr;
    makecontext(&f->context, fiber_main, 0);
}

void resume(block *b, int number)
{
    fiber *f = &b->fibers[number];

    b->current = number;
    if (f->stack == nullptr) make_fiber(f);
    if (f->thread >= 0) {
        b->state[f->thread] = RUNNING;
        set_index(f->thread);
    }
    switch_to(&b->home, &f->context, f->stack, STACK);
}

/* Called by a thread: wait, and let others run. */
void wait_as(wait_t how)
{
    fiber *f = &here->fibers[here->current];

    here->state[f->thread] = how;
    go_home(f);
}

/* Resume threads first ... end - 1 if all of them that are not done wait in this
 * way. */
bool release(block *b, int first, int end, wait_t how)
{
    bool any = false;

    for (int t = first; t < end; t++) {
        if (b->state[t] != how && b->state[t] != DONE) return false;
        any |= b->state[t] == how;
    }
    for (int t = first; t < end && any; t++)
        if (b->state[t] == how) resume(b, b->fiber_of[t]);
    return any;
}

/* A fiber that runs no thread; made if there is none. */
int idle_fiber(const block *b)
{
    for (int i = 0; i < MOST_THREADS; i++)
        if (b->fibers[i].stack == nullptr || b->fibers[i].thread < 0) return i;
    abort();
}

bool release_any(block *b)
{
    bool any = false;

    for (int t = 0; t < b->nthread; t += WARP)
        any |= release(b, t, t + WARP < b->nthread ? t + WARP : b->nthread, AT_WARP);
    return any || release(b, 0, b->nthread, AT_BLOCK);
}

void run_block(block *b)
{
    b->next = 0;
    for (int t = 0; t < b->nthread; t++)
        b->state[t] = RUNNING;
    while (b->next < b->nthread)
        resume(b, idle_fiber(b));
    while (release_any(b)) {
    }
    for (int t = 0; t < b->nthread; t++)
        if (b->state[t] != DONE) {
            fprintf(stderr, "emulator: thread %d of block %u waits for ever\n", t,
                    blockIdx.x);
            abort();
        }
}

block *this_block()
{
    if (here == nullptr) here = static_cast<block *>(calloc(1, sizeof(block)));
    return here;
}
} // namespace

void __syncthreads()
{
    wait_as(AT_BLOCK);
}

void __syncwarp(unsigned)
{
    wait_as(AT_WARP);
}

int emulator_lane()
{
    return here->fibers[here->current].thread % WARP;
}

uint64_t emulator_exchange(uint64_t bits, int from)
{
    int me = here->fibers[here->current].thread, other = me / WARP * WARP + from;

    here->slot[me] = bits;
    wait_as(AT_WARP);
    if (from >= 0 && from < WARP && other < here->nthread) bits = here->slot[other];
    wait_as(AT_WARP);
    return bits;
}

void emulator_launch(dim3 grid, dim3 dims, emulator_body &body)
{
    block *b = this_block();

    b->body    = &body;
    b->nthread = (int)(dims.x * dims.y * dims.z);
    gridDim    = grid;
    blockDim   = dims;
    if (b->nthread < 1 || b->nthread > MOST_THREADS || grid.x * grid.y * grid.z == 0) {
        fprintf(stderr, "emulator: a grid of %u x %u x %u blocks of %d threads\n",
                grid.x, grid.y, grid.z, b->nthread);
        abort();
    }
    emulator_enter();
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                blockIdx = dim3(x, y, z);
                run_block(b);
            }
    emulator_leave();
}
