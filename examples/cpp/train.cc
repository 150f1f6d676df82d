/* train.cc - trains by hand with libfire, from C++: runs each batch forward and backward,
 * limits the gradients, applies them, and lowers the learning rate when the loss has not
 * become smaller for a while.
 *
 *     train SOLVER.prototxt ITERATIONS
 */
#include <fire/fire.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

namespace
{

/* A failure of the library as an exception. */
void check(fire_status_t status)
{
    if (status < 0) throw std::runtime_error(fire_last_error());
}

struct Destroy {
    void operator()(fire_trainer_t *trainer) const
    {
        fire_trainer_destroy(trainer);
    }
};
using Trainer = std::unique_ptr<fire_trainer_t, Destroy>;

Trainer load(const char *solver)
{
    fire_trainer_t *trainer;

    check(fire_trainer_from_file(solver, nullptr, &trainer));
    return Trainer(trainer);
}

/* Limit every element of the gradients to [-limit, limit]. */
void limit_gradients(fire_net_t *net, float limit)
{
    for (int i = 0; i < fire_net_nparam(net); i++) {
        fire_blob_t *param = fire_net_param_blob(net, i);
        float       *g;

        check(fire_blob_update(param, FIRE_DIFF, FIRE_CPU, &g));
        std::for_each(g, g + fire_blob_count(param),
                      [=](float &x) { x = std::max(-limit, std::min(limit, x)); });
    }
}

/* Says when the mean loss of ten iterations was not below the best one three times. */
class Plateau
{
  public:
    bool add(double loss)
    {
        sum_ += loss;
        if (++n_ % 10 != 0) return false;
        const double mean = sum_ / 10;

        sum_   = 0;
        worse_ = mean < best_ ? 0 : worse_ + 1;
        best_  = std::min(best_, mean);
        if (worse_ < 3) return false;
        worse_ = 0;
        return true;
    }

  private:
    double sum_ = 0, best_ = 1e30;
    int    n_ = 0, worse_ = 0;
};

void train(const char *solver, long iterations)
{
    Trainer trainer = load(solver);
    Plateau plateau;
    double  loss = 0;

    for (long i = 0; i < iterations; i++) {
        check(fire_trainer_gradients(trainer.get(), &loss));
        limit_gradients(fire_trainer_net(trainer.get()), 0.1f);
        check(fire_trainer_update(trainer.get()));
        if (plateau.add(loss)) {
            const float rate = fire_trainer_rate(trainer.get()) / 2;

            check(fire_trainer_set_rate(trainer.get(), rate));
            std::printf("iteration %ld: learning rate %g\n", i + 1, double(rate));
        }
        if (i % 10 == 9) std::printf("iteration %ld: loss %.4g\n", i + 1, loss);
    }
    check(fire_trainer_snapshot(trainer.get()));
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: train SOLVER.prototxt ITERATIONS\n");
        return 2;
    }
    try {
        train(argv[1], std::strtol(argv[2], nullptr, 10));
    } catch (const std::exception &e) {
        std::fprintf(stderr, "error: %s\n", e.what());
        return 1;
    }
    return 0;
}
