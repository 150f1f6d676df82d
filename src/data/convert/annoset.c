/* annoset.c - images with boxes around objects to a database for AnnotatedData, as SSD's
 * convert_annoset writes it. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/random/rng.h"
#include "caffe.pb-c.h"
#include "data/convert/common.h"
#include "data/convert/voc.h"
#include "data/decode.h"
#include "data/image_list.h"
#include "model/load.h"

typedef struct pair {
    const char *image, *xml; /* paths below the root */
} pair_t;

typedef struct annoset {
    const fire_annoset_options_t *opt;
    Caffe__LabelMap              *map;
    char                         *text; /* of the list */
    pair_t                       *pair;
    int64_t                       n, cap;
    fire_convert_t                out;
    fire_workspace_t              scratch;
    fire_str_t                    file; /* an image encoded again */
} annoset_t;

/* ---- the list and the label map ---- */

static fire_status_t load_list(const char *path, annoset_t *s)
{
    char   *rest, *line;
    int64_t number = 0;

    FIRE_TRY(fire_file_read_text(path, &s->text));
    rest = s->text;
    while ((line = fire_line_cut(&rest)) != NULL) {
        char *space = strrchr(line, ' ');

        number++;
        if (line[0] == '\0') continue;
        if (space == NULL || space == line || space[1] == '\0')
            return FIRE_FAIL(
                FIRE_ERR_PARSE,
                "%s, line %lld: an image and its annotation must stand here, "
                "with a space between them",
                path, (long long)number);
        *space = '\0';
        FIRE_TRY(fire_grow(&s->pair, &s->cap, s->n + 1, sizeof(*s->pair)));
        s->pair[s->n++] = (pair_t){line, space + 1};
    }
    if (s->n > 0) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID, "%s names no images", path);
}

static fire_status_t label_of(const annoset_t *s, const char *name, int *label_p)
{
    for (size_t i = 0; i < s->map->n_item; i++)
        if (s->map->item[i]->name != NULL && strcmp(s->map->item[i]->name, name) == 0) {
            *label_p = s->map->item[i]->label;
            return FIRE_OK;
        }
    return FIRE_FAIL(FIRE_ERR_INVALID, "the label map %s has no class \"%s\"",
                     s->opt->label_map, name);
}

/* Two classes of one name or number (--check_label). */
static fire_status_t check_map(const annoset_t *s)
{
    for (size_t i = 0; s->opt->check_label && i < s->map->n_item; i++)
        for (size_t k = 0; k < i; k++) {
            const Caffe__LabelMapItem *a = s->map->item[k], *b = s->map->item[i];

            if (a->label == b->label ||
                (a->name != NULL && b->name != NULL && strcmp(a->name, b->name) == 0))
                return FIRE_FAIL(FIRE_ERR_INVALID,
                                 "%s: two items have the name \"%s\" or the label %d",
                                 s->opt->label_map, b->name != NULL ? b->name : "",
                                 b->label);
        }
    return FIRE_OK;
}

/* ---- one image ---- */

static fire_status_t set_datum(annoset_t *s, const char *path,
                               const fire_pixels_t *pixels, Caffe__Datum *d)
{
    const char *dot     = strrchr(path, '.');
    const char *kind    = s->opt->encode_type;
    const char *is      = dot != NULL ? dot + 1 : "";
    bool        as_file = s->opt->height == 0 && (kind[0] == '\0' || !strcmp(kind, is));
    size_t      n       = 0;

    if (as_file) {
        FIRE_TRY(fire_buffer_read_file(path, &s->scratch.record, &n));
        d->data = (ProtobufCBinaryData){n, s->scratch.record.bytes};
    } else {
        s->file.n = 0;
        FIRE_TRY(fire_image_encode(pixels, kind[0] != '\0' ? kind : is, &s->file));
        d->data = (ProtobufCBinaryData){(size_t)s->file.n, (uint8_t *)s->file.text};
    }
    d->has_data = d->has_encoded = d->encoded = true;
    d->has_label                              = true;
    d->label                                  = -1; /* the boxes have labels */
    return FIRE_OK;
}

static fire_status_t group_of(Caffe__AnnotatedDatum *a, int label,
                              Caffe__AnnotationGroup **group_p)
{
    for (size_t i = 0; i < a->n_annotation_group; i++)
        if (a->annotation_group[i]->group_label == label) {
            *group_p = a->annotation_group[i];
            return FIRE_OK;
        }
    FIRE_TRY(fire_message_add_message(a, "annotation_group", group_p));
    (*group_p)->has_group_label = true;
    (*group_p)->group_label     = label;
    return FIRE_OK;
}

/* In units of the image; corners beyond it are moved to its border. */
static float part_of(float x, int size)
{
    float part = x / (float)size;

    return part < 0 ? 0 : part > 1 ? 1 : part;
}

static fire_status_t add_object(const annoset_t *s, const fire_voc_t *voc,
                                const fire_voc_object_t *o, Caffe__AnnotatedDatum *a)
{
    Caffe__AnnotationGroup *group = NULL;
    Caffe__Annotation      *one;
    Caffe__NormalizedBBox  *box;
    int                     label;

    if (!(o->xmin < o->xmax) || !(o->ymin < o->ymax))
        return FIRE_FAIL(FIRE_ERR_INVALID, "the box of a \"%s\", %g %g %g %g, is empty",
                         o->name, (double)o->xmin, (double)o->ymin, (double)o->xmax,
                         (double)o->ymax);
    FIRE_TRY(label_of(s, o->name, &label));
    FIRE_TRY(group_of(a, label, &group));
    FIRE_TRY(fire_message_add_message(group, "annotation", &one));
    one->has_instance_id = true;
    one->instance_id     = (int32_t)group->n_annotation - 1;
    FIRE_TRY(fire_message_add_message(one, "bbox", &box));
    box->has_xmin = box->has_ymin = box->has_xmax = box->has_ymax = true;
    box->has_difficult                                            = true;
    box->difficult                                                = o->difficult;
    box->xmin = part_of(o->xmin, voc->width);
    box->ymin = part_of(o->ymin, voc->height);
    box->xmax = part_of(o->xmax, voc->width);
    box->ymax = part_of(o->ymax, voc->height);
    return FIRE_OK;
}

/* Boxes count in the pixels of the file; older tools wrote no size, or 0. */
static fire_status_t add_objects(const annoset_t *s, const char *xml, fire_extent_t e,
                                 Caffe__AnnotatedDatum *a)
{
    char         *text;
    fire_voc_t    voc = {0};
    fire_status_t st;

    FIRE_TRY(fire_file_read_text(xml, &text));
    st = fire_voc_parse(text, strlen(text), xml, &voc);
    if (st >= 0 && (voc.width <= 0 || voc.height <= 0)) {
        voc.width  = e.width;
        voc.height = e.height;
    }
    for (int64_t i = 0; i < voc.nobject && st >= 0; i++) {
        st = add_object(s, &voc, &voc.object[i], a);
        if (st < 0) fire_error_prefix(st, "%s", xml);
    }
    fire_voc_fini(&voc);
    fire_free(text);
    return st;
}

static fire_status_t put(annoset_t *s, int64_t line, const pair_t *p,
                         const Caffe__AnnotatedDatum *a)
{
    size_t        n      = caffe__annotated_datum__get_packed_size(a);
    fire_str_t    record = {0};
    char         *bytes, *key = NULL;
    fire_status_t st;

    FIRE_TRY(fire_alloc(n, 1, "a record", (void **)&bytes));
    caffe__annotated_datum__pack(a, (uint8_t *)bytes);
    record.text = bytes;
    record.n    = (int64_t)n;
    st          = fire_asprintf(&key, "%08lld_%s", (long long)line, p->image);
    if (st >= 0) st = fire_convert_put_record(&s->out, key, &record);
    fire_free(key);
    fire_free(bytes);
    return st;
}

/* The original size is needed for boxes without one, so the file is decoded as it is. */
static fire_status_t convert(annoset_t *s, int64_t line, const pair_t *p,
                             const char *image, const char *xml)
{
    fire_pixels_t          pixels;
    fire_extent_t          before;
    Caffe__Datum           datum = CAFFE__DATUM__INIT;
    Caffe__AnnotatedDatum *a;
    fire_status_t          st;

    FIRE_TRY(fire_image_file_decode(image, FIRE_COLOR_BGR, 0, 0, &s->scratch, &pixels));
    before = pixels.extent;
    if (s->opt->height > 0)
        FIRE_TRY(fire_image_resize(&pixels, s->opt->height, s->opt->width,
                                   &s->scratch.resized, &pixels));
    FIRE_TRY(fire_message_create(&caffe__annotated_datum__descriptor,
                                 (ProtobufCMessage **)&a));
    a->has_type = true;
    a->type     = CAFFE__ANNOTATED_DATUM__ANNOTATION_TYPE__BBOX;
    st          = set_datum(s, image, &pixels, &datum);
    if (st >= 0) st = add_objects(s, xml, before, a);
    a->datum = &datum;
    if (st >= 0) st = put(s, line, p, a);
    a->datum = NULL;
    fire_message_free(a);
    return st;
}

static fire_status_t convert_all(annoset_t *s)
{
    fire_rng_key_t key = fire_rng_key(s->opt->seed, FIRE_RNG_SHUFFLE, 0, 0);

    for (int64_t i = 0; i < s->n; i++) {
        int64_t       at = s->opt->shuffle
                               ? (int64_t)fire_rng_permute(key, (uint64_t)s->n, (uint64_t)i)
                               : i;
        const pair_t *p  = &s->pair[at];
        char         *image, *xml;
        fire_status_t st;

        FIRE_TRY(fire_asprintf(&image, "%s/%s", s->opt->root, p->image));
        st = fire_asprintf(&xml, "%s/%s", s->opt->root, p->xml);
        if (st >= 0) {
            st = convert(s, i, p, image, xml);
            fire_free(xml);
        }
        fire_free(image);
        FIRE_TRY(st);
    }
    return FIRE_OK;
}

fire_status_t fire_convert_annoset(const fire_annoset_options_t *options,
                                   const char *list, const char *db,
                                   const char *backend, const fire_progress_t *progress)
{
    annoset_t     s = {.opt = options};
    fire_status_t st;

    if ((options->height == 0) != (options->width == 0) || options->height < 0 ||
        options->width < 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "to resize images, give both a height and a width");
    st = fire_message_load_text(options->label_map, &caffe__label_map__descriptor,
                                (ProtobufCMessage **)&s.map);
    if (st >= 0) st = check_map(&s);
    if (st >= 0) st = load_list(list, &s);
    if (st >= 0) st = fire_convert_open(&s.out, db, backend, s.n, progress);
    if (st >= 0) st = fire_convert_close(&s.out, convert_all(&s));
    fire_message_free(s.map);
    fire_workspace_fini(&s.scratch);
    fire_str_fini(&s.file);
    fire_free(s.pair);
    fire_free(s.text);
    return st;
}

/* ---- sizes ---- */

/* "dir/000001.jpg" is 000001. */
static fire_status_t put_size(const char *path, fire_extent_t e, fire_str_t *out)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    return fire_str_printf(out, "%.*s %d %d\n",
                           (int)(dot != NULL ? dot - name : (long)strlen(name)), name,
                           e.height, e.width);
}

fire_status_t fire_convert_image_sizes(const char *root, const char *list,
                                       const char *file)
{
    annoset_t     s   = {0};
    fire_str_t    out = {0};
    fire_status_t st  = load_list(list, &s);

    for (int64_t i = 0; i < s.n && st >= 0; i++) {
        fire_pixels_t pixels;
        char         *image;

        st = fire_asprintf(&image, "%s/%s", root, s.pair[i].image);
        if (st < 0) break;
        st = fire_image_file_decode(image, FIRE_COLOR_ASIS, 0, 0, &s.scratch, &pixels);
        fire_free(image);
        if (st >= 0) st = put_size(s.pair[i].image, pixels.extent, &out);
    }
    if (st >= 0) st = fire_file_write(file, out.text, (size_t)out.n);
    fire_str_fini(&out);
    fire_workspace_fini(&s.scratch);
    fire_free(s.pair);
    fire_free(s.text);
    return st;
}
