/* laws.h - the checks of check.h, one function each. A check works on nets of its own. It
 * fails if a net cannot run; what it finds is in the finding. */
#ifndef FIRE_NET_CHECK_LAWS_H
#define FIRE_NET_CHECK_LAWS_H
#include "net/check/rig.h"

/* What a check needs to make its nets. */
typedef struct fire_subject {
    const fire_check_options_t *options;
    const Caffe__NetParameter  *param;
    const char                 *kernel;  /* under test */
    const char                 *ref;     /* the kernel to compare it with */
    fire_check_options_t        on_host; /* the options, to run `ref` on the CPU */
} fire_subject_t;

typedef struct fire_finding {
    bool wrong, noted, left_out;
    char text[320]; /* why */
} fire_finding_t;

void fire_finding_wrong(fire_finding_t *f, const char *format, ...) FIRE_PRINTF(2, 3);
void fire_finding_left_out(fire_finding_t *f, const char *why);

typedef fire_status_t (*fire_law_t)(const fire_subject_t *s, fire_finding_t *f);

/* laws.c: forward */
fire_status_t fire_law_repeats(const fire_subject_t *s, fire_finding_t *f);
fire_status_t fire_law_overwrites_tops(const fire_subject_t *s, fire_finding_t *f);
fire_status_t fire_law_threads(const fire_subject_t *s, fire_finding_t *f);
fire_status_t fire_law_agrees_with_ref(const fire_subject_t *s, fire_finding_t *f);
fire_status_t fire_law_reshapes(const fire_subject_t *s, fire_finding_t *f);
fire_status_t fire_law_in_place(const fire_subject_t *s, fire_finding_t *f);
fire_status_t fire_law_survives_saving(const fire_subject_t *s, fire_finding_t *f);
fire_status_t fire_law_lean(const fire_subject_t *s, fire_finding_t *f);

/* backward.c */
fire_status_t fire_law_gradients(const fire_subject_t *s, fire_finding_t *f);
fire_status_t fire_law_overwrites_diffs(const fire_subject_t *s, fire_finding_t *f);
fire_status_t fire_law_adds_to_params(const fire_subject_t *s, fire_finding_t *f);
fire_status_t fire_law_unwanted(const fire_subject_t *s, fire_finding_t *f);
fire_status_t fire_law_reads(const fire_subject_t *s, fire_finding_t *f);
#endif
