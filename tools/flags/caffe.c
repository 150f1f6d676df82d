/* caffe.c - flags that are accepted and ignored. */
#include "flags/caffe.h"

typedef struct glog {
    bool        h, helpshort, helpfull, helpxml, helppackage;
    bool        colorlogtostderr, log_prefix, stop_logging_if_full_disk;
    bool        drop_log_memory, symbolize_stacktrace;
    const char *helpon, *helpmatch, *stderrthreshold, *vmodule, *max_log_size;
    const char *logbuflevel, *logbufsecs, *log_link, *logfile_mode, *log_backtrace_at;
    const char *logemaillevel, *logmailer;
} glog_t;

static glog_t glog;

#define SWITCH(name) FIRE_OPTION(glog_t, name, BOOL, "false", NULL, "")
#define VALUE(name)  FIRE_OPTION(glog_t, name, STRING, NULL, "X", "")
static const fire_option_t glog_options[] = {
    SWITCH(h), /* for the Python tools */
    SWITCH(helpshort),
    SWITCH(helpfull),
    SWITCH(helpxml),
    SWITCH(helppackage),
    SWITCH(colorlogtostderr),
    SWITCH(log_prefix),
    SWITCH(stop_logging_if_full_disk),
    SWITCH(drop_log_memory),
    SWITCH(symbolize_stacktrace),
    VALUE(helpon),
    VALUE(helpmatch),
    VALUE(stderrthreshold),
    VALUE(vmodule),
    VALUE(max_log_size),
    VALUE(logbuflevel),
    VALUE(logbufsecs),
    VALUE(log_link),
    VALUE(logfile_mode),
    VALUE(log_backtrace_at),
    VALUE(logemaillevel),
    VALUE(logmailer),
    {0},
};
#undef SWITCH
#undef VALUE

fire_option_group_t glog_flags(void)
{
    return (fire_option_group_t){NULL, glog_options, &glog};
}

bool glog_flags_want_help(void)
{
    return glog.h || glog.helpshort || glog.helpfull || glog.helpxml ||
           glog.helppackage || glog.helpon != NULL || glog.helpmatch != NULL;
}

typedef struct unused {
    const char *gpu, *solver, *model, *phase, *level, *stage, *snapshot, *weights;
    const char *iterations, *sigint_effect, *sighup_effect;
} unused_t;

static unused_t unused;

#define VALUE(name) FIRE_OPTION(unused_t, name, STRING, NULL, "X", "")
static const fire_option_t unused_options[] = {
    VALUE(gpu),        VALUE(solver),        VALUE(model),         VALUE(phase),
    VALUE(level),      VALUE(stage),         VALUE(snapshot),      VALUE(weights),
    VALUE(iterations), VALUE(sigint_effect), VALUE(sighup_effect), {0},
};
#undef VALUE

fire_option_group_t caffe_flags(void)
{
    return (fire_option_group_t){NULL, unused_options, &unused};
}
