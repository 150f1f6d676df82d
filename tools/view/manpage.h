/* manpage.h - man pages, in roff, from the tables that --help prints. */
#ifndef FIRE_TOOLS_VIEW_MANPAGE_H
#define FIRE_TOOLS_VIEW_MANPAGE_H
#include "command.h"

/* Append firecaffe(1): all commands, the syntax of flags, variables, exit codes. */
fire_status_t manpage_of_program(fire_str_t *out);

/* Append the page of one command, for instance firecaffe-convert-mnist(1). */
fire_status_t manpage_of_command(const command_t *c, fire_str_t *out);

/* Append a page that is another name of the page of the tool's command, for instance
 * convert_imageset(1) of firecaffe-convert-imageset(1). */
fire_status_t manpage_of_tool(const tool_name_t *t, fire_str_t *out);

/* Append the page's name: the command's words with - between them. */
fire_status_t manpage_name(const command_t *c, fire_str_t *out);
#endif
