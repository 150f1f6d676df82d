/* text.c - growing strings, numbers, edit distances. */
#include "base/text/text.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

enum { WORD_MAX = 64, DIGITS_MAX = 1024 };

fire_status_t fire_str_add(fire_str_t *s, const void *bytes, size_t n)
{
    if (n >= (size_t)(INT64_MAX - s->n))
        return FIRE_FAIL(FIRE_ERR_NOMEM, "text of %zu bytes is too long", n);
    FIRE_TRY(fire_grow(&s->text, &s->cap, s->n + (int64_t)n + 1, 1));
    if (n > 0) memcpy(s->text + s->n, bytes, n);
    s->n += (int64_t)n;
    s->text[s->n] = '\0';
    return FIRE_OK;
}

fire_status_t fire_str_printf(fire_str_t *s, const char *format, ...)
{
    va_list ap;
    int     n;

    va_start(ap, format);
    n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (n < 0) return FIRE_FAIL(FIRE_ERR_INVALID, "bad format \"%s\"", format);
    FIRE_TRY(fire_grow(&s->text, &s->cap, s->n + n + 1, 1));
    va_start(ap, format);
    vsnprintf(s->text + s->n, (size_t)n + 1, format, ap);
    va_end(ap);
    s->n += n;
    return FIRE_OK;
}

fire_status_t fire_str_add_utf8(fire_str_t *s, uint32_t code)
{
    char   b[4];
    size_t n = 0;

    if (code < 0x80) {
        b[n++] = (char)code;
    } else if (code < 0x800) {
        b[n++] = (char)(0xC0 | code >> 6);
    } else if (code < 0x10000) {
        b[n++] = (char)(0xE0 | code >> 12);
        b[n++] = (char)(0x80 | (code >> 6 & 0x3F));
    } else {
        b[n++] = (char)(0xF0 | code >> 18);
        b[n++] = (char)(0x80 | (code >> 12 & 0x3F));
        b[n++] = (char)(0x80 | (code >> 6 & 0x3F));
    }
    if (code >= 0x80) b[n++] = (char)(0x80 | (code & 0x3F));
    return fire_str_add(s, b, n);
}

void fire_str_fini(fire_str_t *s)
{
    fire_free(s->text);
    *s = (fire_str_t){0};
}

fire_status_t fire_str_take(fire_str_t *s, char **text_p)
{
    if (s->text == NULL) FIRE_TRY(fire_str_add(s, "", 0));
    *text_p = s->text;
    *s      = (fire_str_t){0};
    return FIRE_OK;
}

/* C0 and DEL; C1, whose UTF-8 is C2 80 to C2 9F. A lone byte 80 to 9F is C1 for a
 * terminal that does not read UTF-8, but also part of longer characters: it stays if a
 * byte of such a character is before it. */
static bool is_control(const unsigned char *text, bool inside)
{
    if (text[0] == '\n' || text[0] == '\t') return false;
    if (text[0] < 0x20 || text[0] == 0x7f) return true;
    if (text[0] == 0xc2) return text[1] >= 0x80 && text[1] < 0xa0;
    return text[0] >= 0x80 && text[0] < 0xa0 && !inside;
}

char *fire_text_make_plain(char *text)
{
    unsigned char *c      = (unsigned char *)text;
    bool           inside = false; /* the byte before was part of a UTF-8 character */

    for (; *c != '\0'; c++) {
        bool bad = is_control(c, inside);

        inside = !bad && *c >= 0x80;
        if (!bad) continue;
        if (*c == 0xc2) *c++ = '?';
        *c = '?';
    }
    return text;
}

int fire_hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* strtod and printf use the decimal point of the program's locale, which may be a
 * comma. It is one byte in every locale that C libraries have. */
static char decimal_point(void)
{
    return localeconv()->decimal_point[0];
}

bool fire_number_parse(const char *text, size_t n, double *value_p)
{
    char   copy[DIGITS_MAX], *end, point = decimal_point();
    double value;

    if (n == 0 || n >= sizeof(copy)) return false;
    for (size_t i = 0; i < n; i++) {
        if (strchr("+-.eE0123456789", text[i]) == NULL || text[i] == '\0') return false;
        copy[i] = text[i] == '.' ? point : text[i];
    }
    copy[n] = '\0';
    value   = strtod(copy, &end);
    if (end != copy + n) return false;
    *value_p = value;
    return true;
}

static void print_digits(double value, int digits, char out[FIRE_NUMBER_MAX])
{
    char point = decimal_point(), *at;

    snprintf(out, FIRE_NUMBER_MAX, "%.*g", digits, value);
    at = strchr(out, point);
    if (at != NULL) *at = '.';
}

static bool print_special(double value, char out[FIRE_NUMBER_MAX])
{
    if (isfinite(value)) return false;
    strcpy(out, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    return true;
}

void fire_number_print_rounded(double value, int digits, char out[FIRE_NUMBER_MAX])
{
    if (!print_special(value, out)) print_digits(value, digits, out);
}

void fire_number_print(double value, char out[FIRE_NUMBER_MAX])
{
    double back = 0;

    if (print_special(value, out)) return;
    for (int digits = 15; digits <= 17; digits++) {
        print_digits(value, digits, out);
        if (fire_number_parse(out, strlen(out), &back) && back == value) return;
    }
}

void fire_number_print_float(float value, char out[FIRE_NUMBER_MAX])
{
    double back = 0;

    if (print_special(value, out)) return;
    for (int digits = 6; digits <= 9; digits++) {
        print_digits(value, digits, out);
        if (fire_number_parse(out, strlen(out), &back) && (float)back == value) return;
    }
}

static int least(int a, int b, int c)
{
    int ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* The least number of insertions, deletions, replacements and swaps of neighbours that
 * turn a into b. Three rows of the usual table are enough. */
static int edit_distance(const char *a, int na, const char *b, int nb)
{
    int row[3][WORD_MAX + 1];

    for (int j = 0; j <= nb; j++)
        row[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            now[j] = least(last[j] + 1, now[j - 1] + 1,
                           last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
    }
    return row[na % 3][nb];
}

const char *fire_name_nearest(const char *word, fire_name_at_t name_at,
                              const void *list)
{
    const char *best = NULL, *name;
    size_t      n    = strlen(word);
    int         near = (int)n / 3 + 1; /* farther away it is another word */

    if (n > WORD_MAX) return NULL;
    for (int i = 0; (name = name_at(list, i)) != NULL; i++) {
        size_t len = strlen(name);
        int    d;

        if (len > WORD_MAX) continue;
        d = edit_distance(word, (int)n, name, (int)len);
        if (d < near || (d == near && best == NULL)) {
            near = d;
            best = name;
        }
    }
    return best;
}

void fire_name_list(fire_name_at_t name_at, const void *list, char *out, size_t size)
{
    const char *name;
    size_t      n = 0;

    out[0] = '\0';
    for (int i = 0; (name = name_at(list, i)) != NULL; i++) {
        if (n + strlen(name) + sizeof(", , ...") > size) {
            snprintf(out + n, size - n, ", ...");
            return;
        }
        n += (size_t)snprintf(out + n, size - n, "%s%s", i > 0 ? ", " : "", name);
    }
}
