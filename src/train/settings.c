/* settings.c - checks our own settings before anything is opened: a misspelt word or a
 * number out of range fails even where this run would not use it. */
#include "train/settings.h"

#include <string.h>

#include "base/log.h"
#include "base/text/text.h"
#include "comm/algo/algo.h"
#include "comm/codec/codec.h"
#include "solver/solver.h"
#include "train/lanes.h"
#include "train/trainer_state.h"

static const char *word_at(const void *words, int i)
{
    return ((const char *const *)words)[i];
}

static fire_status_t check_word(const char *setting, const char *word,
                                const char *const *known)
{
    char list[256];

    for (int i = 0; known[i] != NULL; i++)
        if (strcmp(known[i], word) == 0) return FIRE_OK;
    fire_name_list(word_at, known, list, sizeof(list));
    return FIRE_FAIL(FIRE_ERR_INVALID, "unknown %s \"%s\"; known are %s", setting, word,
                     list);
}

static fire_status_t check_words(const Caffe__FireParameter *f)
{
    static const char *const batch[]   = {"global", "per-worker", NULL};
    static const char *const overlap[] = {"auto", "thread", "poll", "off", NULL};
    static const char *const update[]  = {"replicated", "sharded", NULL};
    static const char *const store[]   = {"file", "memory", NULL};
    static const char *const rng[]     = {"fire", "caffe", NULL};
    static const char *const numbers[] = {"fp32", "tf32", "bf16", "fp16", NULL};
    static const char *const best_is[] = {"auto", "max", "min", NULL};
    static const char *const average[] = {"none", "ema", "swa", NULL};
    static const char *const on_nan[]  = {"warn", "stop", "skip", "rollback", NULL};
    fire_adapt_t             adapt;

    FIRE_TRY(check_word("batch", f->batch, batch));
    FIRE_TRY(check_word("overlap", f->overlap, overlap));
    FIRE_TRY(check_word("update", f->update, update));
    FIRE_TRY(check_word("data_store", f->data_store, store));
    FIRE_TRY(check_word("rng", f->rng, rng));
    FIRE_TRY(check_word("precision", f->precision, numbers));
    FIRE_TRY(check_word("best_is", f->best_is, best_is));
    FIRE_TRY(check_word("average", f->average, average));
    FIRE_TRY(check_word("on_nan", f->on_nan, on_nan));
    return fire_adapt_find(f->adapt, &adapt);
}

/* "auto" and "nccl" are no algorithms of comm: the reducer handles them. */
static fire_status_t check_comm(const Caffe__FireParameter *f)
{
    const fire_algo_t  *algo;
    const fire_codec_t *codec;
    float               arg;

    if (strcmp(f->comm, "auto") != 0 && strcmp(f->comm, "nccl") != 0)
        FIRE_TRY(fire_algo_find(f->comm, &algo));
    return fire_codec_find(f->compress, &codec, &arg);
}

/* NaN fails too: it compares false with everything. */
static fire_status_t check_range(const char *setting, double value, double least,
                                 double most)
{
    if (value >= least && value <= most) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID, "%s must be %g to %g, not %g", setting, least,
                     most, value);
}

static fire_status_t check_weights(const char *text)
{
    int n;

    if (text[0] == '\0' || strcmp(text, "auto") == 0) return FIRE_OK;
    return fire_lane_weights_parse(text, NULL, 0, &n);
}

static fire_status_t check_numbers(const Caffe__FireParameter *f)
{
    FIRE_TRY(check_weights(f->lane_weights));
    FIRE_TRY(check_range("lanes", f->lanes, 0, 1 << 20));
    FIRE_TRY(check_range("bucket_mb", (double)f->bucket_mb, 0, 1e6));
    FIRE_TRY(check_range("deadline", (double)f->deadline, 0, 1e9));
    FIRE_TRY(check_range("compress_from", f->compress_from, 0, INT32_MAX));
    FIRE_TRY(check_range("scale_lr", (double)f->scale_lr, 0, 1e9));
    FIRE_TRY(check_range("warmup_iter", f->warmup_iter, 0, INT32_MAX));
    FIRE_TRY(check_range("warmup_ratio", (double)f->warmup_ratio, 0, 1));
    FIRE_TRY(check_range("best_delta", (double)f->best_delta, 0, 1e30));
    FIRE_TRY(check_range("early_stop", f->early_stop, 0, INT32_MAX));
    FIRE_TRY(check_range("patience", f->patience, 1, INT32_MAX));
    FIRE_TRY(check_range("average_decay", (double)f->average_decay, 0, 1));
    FIRE_TRY(check_range("average_from", f->average_from, 0, INT32_MAX));
    FIRE_TRY(check_range("average_every", f->average_every, 1, INT32_MAX));
    FIRE_TRY(check_range("keep", f->keep, 0, INT32_MAX));
    FIRE_TRY(check_range("memory_snapshot", f->memory_snapshot, -1, INT32_MAX));
    FIRE_TRY(check_range("snapshot_patience", (double)f->snapshot_patience, 0, 1e9));
    return check_range("adapt_eta", (double)f->adapt_eta, 0, 1e9);
}

fire_status_t fire_settings_check(const Caffe__FireParameter *fire)
{
    if (fire == NULL) return FIRE_OK;
    FIRE_TRY(check_words(fire));
    FIRE_TRY(check_comm(fire));
    return check_numbers(fire);
}

int fire_settings_threads(const Caffe__FireParameter *fire, int wanted)
{
    if (wanted > 0 || fire == NULL || fire->lanes == 0) return wanted;
    FIRE_LOG(INFO,
             "One thread per worker, as lanes are set; --threads N for more, with "
             "results that depend on N");
    return 1;
}

static fire_status_t check_all(const Caffe__SolverParameter *param)
{
    FIRE_TRY(fire_settings_check(param->fire));
    FIRE_TRY(fire_solver_check(param));
    return fire_trainer_check_nets(param);
}

fire_status_t fire_settings_check_file(const Caffe__SolverParameter *param,
                                       const char                   *file)
{
    fire_status_t st = check_all(param);

    return st < 0 ? fire_error_prefix(st, "%s", file) : FIRE_OK;
}
