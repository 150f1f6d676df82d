/* trainer.h - the object of the type _Trainer, and its methods, for the files trainer*.c */
#ifndef CAFFE_TRAINER_H
#define CAFFE_TRAINER_H
#include "module.h"

typedef struct trainer_object {
    PyObject_HEAD fire_trainer_t *trainer; /* NULL before _open() */
    PyObject                     *comm;    /* that the trainer uses, or NULL */
    caffe_gate_t                 *gate;    /* of the trainer and its nets */
    int                           wants;   /* events that Python wants: 1 << kind */
    fire_recorder_t              *record;  /* of rank 0, or NULL */
    double                        looked;  /* when signals were looked at, in seconds */
} trainer_object_t;

/* The object if its trainer was created; NULL: ValueError is set. */
trainer_object_t *trainer_open_of(PyObject *self);

/* Methods: trainer_run.c and trainer_events.c. */
PyObject *trainer_step(PyObject *self, PyObject *args);
PyObject *trainer_solve(PyObject *self, PyObject *args);
PyObject *trainer_test(PyObject *self, PyObject *args);
PyObject *trainer_gradients(PyObject *self, PyObject *args);
PyObject *trainer_update(PyObject *self, PyObject *args);
PyObject *trainer_snapshot(PyObject *self, PyObject *args);
PyObject *trainer_restore(PyObject *self, PyObject *args);
PyObject *trainer_resume(PyObject *self, PyObject *args);
PyObject *trainer_load(PyObject *self, PyObject *args);
PyObject *trainer_share(PyObject *self, PyObject *net);
PyObject *trainer_set(PyObject *self, PyObject *args);
PyObject *trainer_number(PyObject *self, PyObject *args);
PyObject *trainer_text(PyObject *self, PyObject *args);
PyObject *trainer_set_rate(PyObject *self, PyObject *args);
PyObject *trainer_set_iter(PyObject *self, PyObject *args);
PyObject *trainer_request(PyObject *self, PyObject *args);
PyObject *trainer_look(PyObject *self, PyObject *args);
PyObject *trainer_plot(PyObject *self, PyObject *args);
PyObject *trainer_watch(PyObject *self, PyObject *args);
#endif
