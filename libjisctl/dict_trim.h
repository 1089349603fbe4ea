/* SPDX-License-Identifier: MIT */
/*
 * What a flight recorder need not remember of a dictionary: threads that ended, and names that
 * threads had, before all that it still has. Else it would grow for as long as threads come and go.
 * Knows no files. Private to libjisctl.
 */
#ifndef JISCTL_DICT_TRIM_H
#define JISCTL_DICT_TRIM_H

#include "history.h"

/**
 * dict_trim - leaves out of a process's dictionary, where nothing kept needs it: starts, ends,
 * names and waits for classes of threads that have ended, and names that a thread has given up
 * since. A thread or a name is needed where a record that is kept has the thread while it was so,
 * give or take @slack: what has not gone yet of @process, and of @kernel if it has any. All records
 * of threads that had ended @slack ago must be in there.
 * @process: its packets that are kept for ever are its dictionary.
 * @slack: ticks; a thread goes on for a moment after it has said that it ends.
 * Returns 0; -EAGAIN: nothing has gone yet, so all is needed; -ENOMEM: nothing is left out.
 */
int dict_trim(struct history *process, const struct history *kernel, uint64_t slack);

#endif /* JISCTL_DICT_TRIM_H */
