/* detections.c - reads and writes tables of windows as CSV. */
#include "data/picture/detections.h"

#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "base/file.h"
#include "base/text/text.h"

/* The columns that are read, in the order in which they are written. */
enum { FILENAME, YMIN, XMIN, YMAX, XMAX, COLUMNS, MAX_FIELDS = 1024 };

static const char *const column_name[COLUMNS] = {"filename", "ymin", "xmin", "ymax",
                                                 "xmax"};

/* ---- reading ---- */

/* Cut the next field out of a line, in place: "" inside of quotes is one quote, blanks
 * around unquoted fields go. Returns the text after its comma; NULL at the end of the
 * line. */
static char *cut_field(char *at, char **field_p)
{
    char *to = at + strspn(at, " \t"), *from = to;
    bool  quoted = *from == '"', last;

    *field_p = to;
    if (quoted)
        for (from++; *from != '\0' && (*from != '"' || from[1] == '"'); from++) {
            from += *from == '"';
            *to++ = *from;
        }
    else
        for (; *from != '\0' && *from != ','; from++)
            *to++ = *from;
    from += strcspn(from, ",");
    last = *from == '\0';
    while (to > *field_p && !quoted && strchr(" \t", to[-1]) != NULL)
        to--;
    *to = '\0';
    return last ? NULL : from + 1;
}

/* The fields of a line; returns their number. */
static int split(char *line, char *field[MAX_FIELDS])
{
    int n = 0;

    while (line != NULL && n < MAX_FIELDS)
        line = cut_field(line, &field[n++]);
    return n;
}

/* place[c] = position of column c in the header line. */
static fire_status_t find_columns(const char *path, char *line, int place[COLUMNS])
{
    char *field[MAX_FIELDS];
    int   n = split(line, field);

    for (int c = 0; c < COLUMNS; c++) {
        place[c] = -1;
        for (int i = 0; i < n; i++)
            if (strcmp(field[i], column_name[c]) == 0) place[c] = i;
        if (place[c] < 0)
            return FIRE_FAIL(FIRE_ERR_PARSE,
                             "%s: no column \"%s\"; the first line must name filename, "
                             "ymin, xmin, ymax and xmax",
                             path, column_name[c]);
    }
    return FIRE_OK;
}

static fire_status_t read_row(const char *path, int number, char *line,
                              const int place[COLUMNS], fire_detection_t *row_p)
{
    static const double most = 1e8;
    char               *field[MAX_FIELDS];
    int                 n = split(line, field), value[COLUMNS] = {0};

    for (int c = 0; c < COLUMNS; c++) {
        double x = 0;

        if (place[c] >= n)
            return FIRE_FAIL(FIRE_ERR_PARSE, "%s:%d: the column \"%s\" is missing",
                             path, number, column_name[c]);
        if (c == FILENAME) continue;
        if (!fire_number_parse(field[place[c]], strlen(field[place[c]]), &x) ||
            !(fabs(x) < most))
            return FIRE_FAIL(FIRE_ERR_PARSE, "%s:%d: %s is \"%s\", not a number", path,
                             number, column_name[c], field[place[c]]);
        value[c] = (int)x;
    }
    row_p->file   = field[place[FILENAME]];
    row_p->window = (fire_rect_t){value[YMIN], value[XMIN], value[YMAX], value[XMAX]};
    return FIRE_OK;
}

static fire_status_t read_rows(const char *path, fire_detections_t *d)
{
    int   place[COLUMNS], number = 0;
    char *line, *end;

    for (line = d->text; line != NULL; line = end) {
        end = strchr(line, '\n');
        if (end != NULL) *end++ = '\0';
        line[strcspn(line, "\r")] = '\0';
        number++;
        if (number == 1) {
            FIRE_TRY(find_columns(path, line, place));
        } else if (line[0] != '\0') {
            FIRE_TRY(fire_grow(&d->row, &d->cap, d->n + 1, sizeof(*d->row)));
            FIRE_TRY(read_row(path, number, line, place, &d->row[d->n]));
            d->n++;
        }
    }
    return FIRE_OK;
}

fire_status_t fire_detections_load(const char *path, fire_detections_t *d_p)
{
    fire_detections_t d  = {0};
    fire_status_t     st = fire_file_read_text(path, &d.text);

    if (st >= 0) st = read_rows(path, &d);
    if (st < 0)
        fire_detections_fini(&d);
    else
        *d_p = d;
    return st;
}

void fire_detections_fini(fire_detections_t *d)
{
    fire_free(d->row);
    fire_free(d->text);
    *d = (fire_detections_t){0};
}

/* ---- writing ---- */

/* A file name, in quotes where CSV needs them. */
static fire_status_t print_name(fire_str_t *out, const char *name)
{
    if (strpbrk(name, ",\"") == NULL) return fire_str_printf(out, "%s", name);
    FIRE_TRY(fire_str_printf(out, "\""));
    for (; *name != '\0'; name++) {
        if (*name == '"') FIRE_TRY(fire_str_add(out, "\"", 1));
        FIRE_TRY(fire_str_add(out, name, 1));
    }
    return fire_str_printf(out, "\"");
}

static fire_status_t print_row(fire_str_t *out, const fire_detection_t *r,
                               int64_t classes, const float *score)
{
    FIRE_TRY(print_name(out, r->file));
    FIRE_TRY(fire_str_printf(out, ",%d,%d,%d,%d", r->window.ymin, r->window.xmin,
                             r->window.ymax, r->window.xmax));
    for (int64_t c = 0; c < classes; c++) {
        char number[FIRE_NUMBER_MAX];

        fire_number_print_float(score[c], number);
        FIRE_TRY(fire_str_printf(out, ",%s", number));
    }
    return fire_str_printf(out, "\n");
}

static fire_status_t print_table(fire_str_t *out, const fire_detections_t *d,
                                 int64_t classes, const float *score)
{
    for (int c = 0; c < COLUMNS; c++)
        FIRE_TRY(fire_str_printf(out, "%s%s", c > 0 ? "," : "", column_name[c]));
    for (int64_t c = 0; c < classes; c++)
        FIRE_TRY(fire_str_printf(out, ",class%lld", (long long)c));
    FIRE_TRY(fire_str_printf(out, "\n"));
    for (int64_t i = 0; i < d->n; i++)
        FIRE_TRY(print_row(out, &d->row[i], classes, score + i * classes));
    return FIRE_OK;
}

static fire_status_t save_csv(const char *path, const fire_detections_t *d,
                              int64_t classes, const float *score)
{
    fire_str_t    out = {0};
    fire_status_t st  = print_table(&out, d, classes, score);

    if (st >= 0) st = fire_file_write(path, out.text, (size_t)out.n);
    fire_str_fini(&out);
    return st;
}

fire_status_t fire_detections_save(const char *path, const fire_detections_t *d,
                                   int64_t classes, const float *score)
{
    if (fire_path_has_suffix(path, ".csv")) return save_csv(path, d, classes, score);
    if (!fire_path_has_suffix(path, ".h5"))
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s: the name must end in .csv or .h5",
                         path);
#ifdef FIRE_HAVE_HDF5
    return fire_detections_save_hdf5(path, d, classes, score);
#else
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                     "%s: this build has no HDF5; write a .csv instead", path);
#endif
}
