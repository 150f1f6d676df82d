/* test_device.c - the CPU as a place for memory and float32 arithmetic. */
#include "device/device.h"
#include "test.h"

TEST(the_cpu_is_always_there)
{
    const fire_device_t *cpu = fire_device_find(FIRE_CPU);

    CHECK(cpu != NULL);
    CHECK_STR(cpu->name, "cpu");
    CHECK_EQ(cpu->place, FIRE_CPU);
}

TEST(memory_of_the_cpu_comes_zeroed_and_is_copied_cleared_and_filled)
{
    const fire_device_t *cpu = fire_device_find(FIRE_CPU);
    float               *x, y[4] = {1, 2, 3, 4};

    CHECK_OK(cpu->alloc(sizeof(y), (void **)&x));
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(x[i], 0, 0);
    CHECK_OK(cpu->from_host(x, y, sizeof(y)));
    CHECK_OK(cpu->fill(x + 2, 7, 2));
    CHECK_OK(cpu->to_host(y, x, sizeof(y)));
    CHECK_NEAR(y[1], 2, 0);
    CHECK_NEAR(y[3], 7, 0);
    CHECK_OK(cpu->clear(x, sizeof(y)));
    CHECK_NEAR(x[3], 0, 0);
    cpu->free(x);
}

/* Operands are in the order of the canonical tree, which has lower lanes on the left. */
TEST(add_left_adds_its_argument_on_the_left)
{
    const fire_device_t *cpu  = fire_device_find(FIRE_CPU);
    float                x[2] = {1, 2}, left[2] = {10, 20};

    CHECK_OK(cpu->add_left(x, left, 2));
    CHECK_NEAR(x[0], 11, 0);
    CHECK_NEAR(x[1], 22, 0);
    CHECK_OK(cpu->add_scaled(x, -0.5f, left, 2));
    CHECK_NEAR(x[0], 6, 0);
    CHECK_NEAR(x[1], 12, 0);
}

static const fire_device_t other = {.name = "other", .place = FIRE_GPU};

TEST(a_back_end_is_found_once_it_is_registered)
{
    fire_device_add(&other);
    CHECK(fire_device_find(FIRE_GPU) == &other);
    CHECK(fire_device_find(FIRE_CPU) != &other);
}
