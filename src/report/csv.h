/* csv.h - a run as tables for other programs, in the columns of Caffe's log parser:
 * NumIters, Seconds, LearningRate, then the outputs by name. */
#ifndef FIRE_REPORT_CSV_H
#define FIRE_REPORT_CSV_H
#include "report/run.h"

/* Write BASE.train.csv (a line per display), BASE.test.csv (per test of the first test
 * net; BASE.test1.csv and so on for others) and BASE.loss.csv (per iteration). */
fire_status_t fire_csv_write(const fire_run_t *run, const char *base);
#endif
