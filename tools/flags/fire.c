/* fire.c - flags for FireParameter: each value is parsed as the solver file's text
 * would be. */
#include "flags/fire.h"

#include <fire/layer.h>
#include "model/load.h"
#include "model/text.h"
#include "train/settings.h"

/* A text per field of FireParameter, spelled as the field; NULL: not given. */
struct fire_flags {
    const char *lanes, *batch, *comm, *colors, *bucket_mb, *overlap, *compress, *update;
    const char *compress_from, *deadline, *tuning, *lane_weights;
    const char *scale_lr, *warmup_iter, *warmup_ratio, *adapt, *adapt_eta;
    const char *shuffle, *data_store, *precision, *deterministic, *tune, *rng;
    const char *best, *best_is, *best_delta, *early_stop, *patience, *average;
    const char *average_decay, *average_from, *average_every, *decoupled_decay;
    const char *grad_norm, *on_nan, *keep, *snapshot_patience, *memory_snapshot;
};

fire_flags_t fire_flags;

#define ROW(name, arg, help) FIRE_OPTION(fire_flags_t, name, STRING, NULL, arg, help)
#define ROW_OF(name, arg, words, help) \
    FIRE_OPTION_OF(fire_flags_t, name, STRING, NULL, arg, words, help)

const fire_option_t fire_flag_options[] = {
    ROW(lanes, "N",
        "divide the batch into N slices; results depend on N, not on the number of "
        "workers (default: one per worker)"),
    ROW(lane_weights, "W,...",
        "speeds of the workers, as 3,2,3, or auto: they are measured; faster ones get "
        "more slices, results do not depend on it (default: all are equal)"),
    ROW_OF(
        batch, "RULE", "global per-worker",
        "batch_size counts the samples of all workers: global (default), or of each: "
        "per-worker, as in BVLC Caffe"),
    ROW_OF(comm, "NAME",
           "auto ps tree multicolor ring rhd direct onesided hier mpi nccl",
           "algorithm that sums gradients over workers: auto (default), ps, tree, "
           "multicolor, ring, rhd, direct, onesided, hier, mpi, nccl"),
    ROW(colors, "N", "trees of the multicolor algorithm (default: 4)"),
    ROW(bucket_mb, "X", "sum gradients in buckets of X MB (default: 4)"),
    ROW_OF(overlap, "HOW", "auto thread poll off",
           "sum gradients during backward: auto (default), thread, poll, off"),
    ROW_OF(compress, "HOW", "none fp16 bf16 1bit threshold=",
           "compress gradients on the network: none (default), fp16, bf16, 1bit, "
           "threshold=T"),
    ROW(compress_from, "N",
        "first iteration with compression (default: 0; 500 for 1bit)"),
    ROW_OF(update, "HOW", "replicated sharded",
           "where weights are updated: replicated (default), all on every worker; "
           "sharded, a part on each"),
    ROW(deadline, "S",
        "give up a worker after S seconds without a sign of life; 0: never (default: "
        "120)"),
    ROW(tuning, "FILE", "table of `firecaffe bench allreduce --tune`, for --comm auto"),
    ROW(scale_lr, "X", "multiply base_lr by X, for larger batches"),
    ROW(warmup_iter, "N", "raise the learning rate slowly over the first N iterations"),
    ROW(warmup_ratio, "X",
        "fraction of base_lr at the start of warm-up (default: 0.1)"),
    ROW_OF(adapt, "HOW", "none lars larc",
           "scale the learning rate of each layer: none (default), lars, larc"),
    ROW(adapt_eta, "X", "LARS/LARC trust coefficient (default: 0.001)"),
    ROW_OF(shuffle, "BOOL", "true false",
           "shuffle the records of Data layers in each epoch"),
    ROW_OF(data_store, "WHERE", "file memory",
           "keep records in file (default) or memory"),
    ROW_OF(precision, "TYPE", "fp32 tf32 bf16 fp16",
           "type of activations: fp32 (default), tf32, bf16, fp16"),
    ROW_OF(deterministic, "BOOL", "true false",
           "compute the same bits on every run (default: true)"),
    ROW_OF(tune, "BOOL", "true false",
           "on a GPU, time the algorithms of each layer once and use the fastest"),
    ROW_OF(rng, "WHOSE", "fire caffe",
           "random numbers: fire (default); caffe: the ones that Caffe draws"),
    ROW(best, "OUTPUT", "keep the snapshot with the best value of this test output"),
    ROW_OF(best_is, "WHICH", "auto max min",
           "which value is best: max, min; auto (default): the min of a loss, else the "
           "max"),
    ROW(best_delta, "X", "a value is better if it is so by more than X (default: 0)"),
    ROW(early_stop, "N", "stop after N tests without a better value; 0: never"),
    ROW(patience, "N",
        "lr_policy plateau: lower the rate after N tests without a better value "
        "(default: 5)"),
    ROW_OF(
        average, "HOW", "none ema swa",
        "test with means of the weights: none (default), ema (decaying), swa (equal)"),
    ROW(average_decay, "X", "what ema keeps of the mean each time (default: 0.999)"),
    ROW(average_from, "N", "first iteration whose weights are averaged (default: 0)"),
    ROW(average_every, "N", "average the weights of every N-th iteration (default: 1)"),
    ROW_OF(decoupled_decay, "BOOL", "true false",
           "let weight_decay act on weights, not on gradients, as AdamW does"),
    ROW_OF(grad_norm, "BOOL", "true false", "log the L2 norm of the gradients"),
    ROW_OF(
        on_nan, "WHAT", "warn stop skip rollback",
        "if loss or gradients are not finite: warn (default), stop, skip the update, "
        "rollback to the last snapshot"),
    ROW(keep, "N", "keep the N newest snapshots only; 0 (default): all"),
    ROW(memory_snapshot, "N",
        "keep the state in shared memory every N iterations, for restarts; 0: never "
        "(default without --restarts); -1: as often as costs 1 % of the time"),
    ROW(snapshot_patience, "S",
        "end training if snapshots cannot be written for S seconds, as the disk is "
        "full "
        "or slow; 0: never (default: 3600)"),
    {0},
};

static const char *value_of(const fire_option_t *o)
{
    return *(const char **)((char *)&fire_flags + o->offset);
}

/* Parse a value as the text format does, which checks it; a string needs no parsing. */
static fire_status_t apply(const char *name, const char *value,
                           Caffe__FireParameter *into)
{
    const fire_field_t *field =
        fire_field_find(&caffe__fire_parameter__descriptor, name);
    ProtobufCMessage *given = NULL;
    fire_str_t        flag = {0}, text = {0};
    fire_status_t     st;

    if (field != NULL && field->type == PROTOBUF_C_TYPE_STRING)
        return fire_message_add_string(into, name, value);
    FIRE_TRY_GOTO(st, fire_str_printf(&flag, "--%s", name), done);
    FIRE_TRY_GOTO(st, fire_str_printf(&text, "%s: %s", name, value), done);
    FIRE_TRY_GOTO(st,
                  fire_text_parse(text.text, (size_t)text.n, flag.text,
                                  &caffe__fire_parameter__descriptor, &given),
                  done);
    st = fire_message_merge(given, into);
done:
    fire_message_free(given);
    fire_str_fini(&flag);
    fire_str_fini(&text);
    return st;
}

/* Plug-ins that are loaded already, of --plugin and FIRE_PLUGINS: with their absolute
 * paths, so that who reads the solver of a run directory finds them. */
static fire_status_t add_plugins(Caffe__SolverParameter *solver)
{
    Caffe__FireParameter *into;

    for (int i = 0; i < fire_plugin_count(); i++) {
        FIRE_TRY(fire_message_add_message(solver, "fire", &into));
        FIRE_TRY(fire_message_add_string(into, "plugin", fire_plugin_path(i)));
    }
    return FIRE_OK;
}

static fire_status_t apply_all(Caffe__SolverParameter *solver)
{
    Caffe__FireParameter *into;

    FIRE_TRY(add_plugins(solver));
    for (const fire_option_t *o = fire_flag_options; o->name != NULL; o++) {
        if (value_of(o) == NULL) continue;
        FIRE_TRY(fire_message_add_message(solver, "fire", &into));
        FIRE_TRY(apply(o->name, value_of(o), into));
    }
    return FIRE_OK;
}

fire_status_t fire_flags_load_solver(const char              *path,
                                     Caffe__SolverParameter **solver_p)
{
    Caffe__SolverParameter *solver;
    fire_status_t           st;

    FIRE_TRY(fire_solver_param_load(path, &solver));
    st = fire_settings_check_file(solver, path);
    if (st >= 0) st = apply_all(solver);
    if (st >= 0) st = fire_settings_check(solver->fire);
    if (st < 0)
        fire_message_free(solver);
    else
        *solver_p = solver;
    return st;
}
