/* csv.h - writes a run as CSV files for other programs, with the columns of Caffe's log
 * parser: NumIters, Seconds, LearningRate, then the outputs by name. */
#ifndef FIRE_REPORT_CSV_H
#define FIRE_REPORT_CSV_H
#include "report/run.h"

/* Write BASE.train.csv (a row per display), BASE.test.csv (a row per test of the first
 * test net; BASE.test1.csv, ... for others) and BASE.loss.csv (a row per iteration). */
fire_status_t fire_csv_write(const fire_run_t *run, const char *base);
#endif
