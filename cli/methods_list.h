/* SPDX-License-Identifier: MIT */
/*
 * What --methods, --mark and `jis methods` say: a list of rules as agents read it.
 */
#ifndef JIS_CLI_METHODS_LIST_H
#define JIS_CLI_METHODS_LIST_H

#include <stdio.h>

/**
 * methods_list_add - appends LIST to the rules in *@rules (allocated, NULL at first): patterns,
 * presets (app, web, all, none) and @FILE, separated by commas; see docs/methods.md. @prefix is put
 * before each pattern; NULL: nothing is.
 * @option: what it was given by, for messages. Returns 0, or -1 after a message.
 */
int methods_list_add(char **rules, const char *option, const char *list, const char *prefix);

/**
 * arguments_list_add - the same for --arguments: CLASS.METHOD(VALUE,...), separated by commas;
 * VALUE is the number of an argument from 0 on, `this`, or * for all arguments.
 */
int arguments_list_add(char **rules, const char *list);
/* The same for --argument-strings N, the characters of texts that are told. */
int argument_strings_add(char **rules, const char *value);

/**
 * methods_rule_not - writes the rule that leaves the method out, as lists are read again: what in
 * its name would end the rule, or mean something in it, is a ? there. @name with its class, dotted;
 * @descriptor may be "".
 */
void methods_rule_not(FILE *out, const char *name, const char *descriptor);

/* Prints the traced methods of the trace in @directory; the exit status. */
int methods_print(const char *directory);
/* Writes the methods that the guard switched off, if any, to methods.off there, as rules. */
void methods_save(const char *directory);

#endif /* JIS_CLI_METHODS_LIST_H */
