/* Status and message of a failure on its way up. */
#include "base/error.h"
#include "test.h"

static fire_status_t detect(int n)
{
    return FIRE_FAIL(FIRE_ERR_PARSE, "line %d is bad", n);
}

static fire_status_t pass_on(int n)
{
    FIRE_TRY(detect(n));
    return FIRE_OK;
}

TEST(the_first_detector_speaks_and_callers_pass_the_status_on)
{
    CHECK_FAILS(pass_on(7), FIRE_ERR_PARSE, "line 7 is bad");
    CHECK(strstr(fire_error_origin(), "test_error.c:") != NULL);
}

TEST(a_prefix_says_where_the_failing_thing_came_from)
{
    CHECK_FAILS(fire_error_prefix(pass_on(3), "layer \"%s\"", "conv1"), FIRE_ERR_PARSE,
                "layer \"conv1\": line 3 is bad");
}

TEST(every_status_has_a_text)
{
    CHECK_STR(fire_status_string(FIRE_OK), "success");
    CHECK_STR(fire_status_string((fire_status_t)-999), "unknown status");
}
