#include "layers/layer.h"
#include "test.h"

TEST(a_layer_is_found_by_its_type)
{
    const fire_layer_ops_t *ops;

    CHECK_OK(fire_layer_find("ReLU", &ops));
    CHECK_STR(ops->type, "ReLU");
}

TEST(a_mistyped_type_gets_the_nearest_one_as_advice)
{
    const fire_layer_ops_t *ops;

    CHECK_FAILS(fire_layer_find("Relu", &ops), FIRE_ERR_UNSUPPORTED,
                "unknown layer type \"Relu\"; did you mean \"ReLU\"?");
    CHECK_FAILS(fire_layer_find("QuantumEntanglement", &ops), FIRE_ERR_UNSUPPORTED,
                "`firecaffe net --coverage`");
}

TEST(the_list_of_types_has_an_end_and_no_type_twice)
{
    int n = 0;

    CHECK(fire_layer_at(-1) == NULL);
    while (fire_layer_at(n) != NULL)
        n++;
    CHECK(n > 50);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            CHECK(strcmp(fire_layer_at(i)->type, fire_layer_at(k)->type) != 0);
}
