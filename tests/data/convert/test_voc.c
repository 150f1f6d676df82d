/* test_voc.c - annotations in VOC's XML, whole and broken. */
#include "data/convert/voc.h"

#include <string.h>

#include "base/alloc.h"
#include "test.h"

#define OBJECT(name, more)                                                 \
    "<object><name>" name "</name>" more "<bndbox><xmin>8.5</xmin><ymin>2" \
    "</ymin><xmax>30</xmax><ymax> 40\n</ymax></bndbox></object>"

static fire_status_t parse(const char *text, fire_voc_t *v)
{
    return fire_voc_parse(text, strlen(text), "a.xml", v);
}

TEST(objects_are_read_and_the_rest_is_skipped)
{
    fire_voc_t v;

    CHECK_OK(parse(
        "<?xml version='1.0'?>\n<!-- <object> --><annotation verified=\"no\">"
        "<folder>VOC2007</folder><size><width>500</width><height>375</height>"
        "<depth>3</depth></size><segmented/>" OBJECT(
            "dog", "<difficult>1</difficult><part><name>head</name><bndbox><xmin>1"
                   "</xmin></bndbox></part>") OBJECT("cat", "") "</annotation>\n",
        &v));
    CHECK_EQ(v.width, 500);
    CHECK_EQ(v.height, 375);
    CHECK_EQ(v.nobject, 2);
    CHECK_STR(v.object[0].name, "dog");
    CHECK(v.object[0].difficult && !v.object[1].difficult);
    CHECK_STR(v.object[1].name, "cat");
    CHECK_NEAR(v.object[0].xmin, 8.5, 0);
    CHECK_NEAR(v.object[0].ymax, 40, 0);
    fire_voc_fini(&v);
}

TEST(an_image_may_have_no_objects)
{
    fire_voc_t v;

    CHECK_OK(parse("<annotation/>", &v));
    CHECK_EQ(v.nobject, 0);
    CHECK_EQ(v.width, 0);
    fire_voc_fini(&v);
}

TEST(what_is_broken_is_told_with_file_and_place)
{
    static const char *const wrong[][2] = {
        {"<annotation><size>", "a.xml: the file ends in annotation/size"},
        {"<annotation></size>",
         "a.xml: an element ends that did not begin in annotation"},
        {"<annotation", "a.xml: a tag has no end"},
        {"<annotation><size><width>wide</width></size></annotation>",
         "a.xml: a number is missing in annotation/size/width"},
        {"<annotation><object><name>dog</name></object></annotation>",
         "a.xml: an object has no name, or no bndbox"},
        {"<annotation><object>" OBJECT("a", "") "</annotation>",
         "a.xml: an element ends that did not begin"},
        {"<>", "a.xml: a tag has no name"},
    };

    for (int i = 0; i < 7; i++) {
        fire_voc_t v;

        CHECK_FAILS(parse(wrong[i][0], &v), FIRE_ERR_PARSE, wrong[i][1]);
    }
}

/* No end of the text is read past, wherever it is cut. */
TEST(every_beginning_of_a_file_is_refused_or_read)
{
    static const char text[] =
        "<annotation><!-- x -->" OBJECT("a", "<b/>") "</annotation>";

    for (size_t n = 1; n < sizeof(text); n++) {
        char      *part;
        fire_voc_t v;

        CHECK_OK(fire_alloc(n, 1, "part", (void **)&part));
        memcpy(part, text, n);
        if (fire_voc_parse(part, n, "a.xml", &v) >= 0) fire_voc_fini(&v);
        fire_free(part);
    }
}
