/* coverage_table.h - which layer types there are, and what stands behind each. */
#ifndef FIRE_TOOLS_COVERAGE_TABLE_H
#define FIRE_TOOLS_COVERAGE_TABLE_H

void coverage_print(void);
#endif
