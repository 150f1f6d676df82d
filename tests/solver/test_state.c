/* test_state.c - a solver's state, saved and loaded. */
#include "rig.h"

#include "model/message.h"

#define ADAM "type: 'Adam' momentum: 0.9"

TEST(a_loaded_solver_goes_on_as_the_saved_one_does)
{
    rig_t               a = rig_open(ADAM), b = rig_open(ADAM);
    Caffe__SolverState *state;

    rig_step(&a, 2);
    rig_step(&a, -1);
    CHECK_OK(fire_solver_save(a.solver, &state));
    CHECK_EQ(state->iter, 2);
    CHECK_EQ(state->n_history, 4); /* two of weights, two of biases */
    CHECK_OK(fire_solver_load(b.solver, state, "state"));
    CHECK_EQ(b.solver->iter, 2);
    memcpy(rig_weights(&b, 0), rig_weights(&a, 0), 4 * sizeof(float));
    for (int i = 0; i < 5; i++)
        CHECK(rig_step(&a, (float)i) == rig_step(&b, (float)i));
    fire_message_free(state);
    rig_close(&a);
    rig_close(&b);
}

TEST(multistep_goes_on_from_the_step_it_had_reached)
{
    static const char   solver[] = "base_lr: 1 lr_policy: 'multistep' gamma: 0.1 "
                                   "stepvalue: 1 stepvalue: 2";
    rig_t               a = rig_open(solver), b = rig_open(solver);
    Caffe__SolverState *state;

    for (int i = 0; i < 4; i++)
        rig_step(&a, 1);
    CHECK_OK(fire_solver_save(a.solver, &state));
    CHECK_EQ(state->current_step, 2);
    CHECK_OK(fire_solver_load(b.solver, state, "state"));
    CHECK_NEAR(fire_solver_rate(b.solver), 0.01, 1e-9);
    fire_message_free(state);
    rig_close(&a);
    rig_close(&b);
}

TEST(the_state_of_another_rule_is_refused)
{
    rig_t               adam = rig_open(ADAM), sgd = rig_open("momentum: 0.9");
    Caffe__SolverState *state;

    CHECK_OK(fire_solver_save(adam.solver, &state));
    CHECK_FAILS(fire_solver_load(sgd.solver, state, "a.solverstate"), FIRE_ERR_INVALID,
                "a.solverstate holds 4 history blobs, this net and solver type SGD "
                "need 2");
    fire_message_free(state);
    rig_close(&adam);
    rig_close(&sgd);
}
