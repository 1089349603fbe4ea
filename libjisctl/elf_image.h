/* SPDX-License-Identifier: MIT */
/*
 * What is looked up in an ELF file that another process has mapped: where its probes (SystemTap's
 * notes, .note.stapsdt) and functions are, and texts in it. The file is the other process's and may
 * be anything: nothing in it is trusted, and it is read, never mapped. Private to libjisctl.
 */
#ifndef JISCTL_ELF_IMAGE_H
#define JISCTL_ELF_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#define ELF_IMAGE_LOADS_MAX 16
#define ELF_IMAGE_ARGUMENTS_MAX 64

struct elf_load {
	uint64_t address, offset, bytes; /* in memory, in the file; as many as are in the file */
	uint32_t flags;			 /* PF_* */
};

struct elf_image {
	int fd; /* the caller's */
	uint32_t nr_loads;
	struct elf_load loads[ELF_IMAGE_LOADS_MAX];
};

/* A place in the code. */
struct elf_site {
	uint64_t address; /* as the file has it, before the process loaded it anywhere */
	uint64_t offset;  /* in the file */
	char arguments[ELF_IMAGE_ARGUMENTS_MAX]; /* of a probe: "8@%r12 8@%rdx", else "" */
};

/* A place that is looked for. */
struct elf_want {
	const char *provider; /* of a probe; NULL: a function */
	const char *name;     /* of the probe; of the function, mangled */
	int found;
	struct elf_site site;
};

/**
 * elf_image_open - reads the headers of file @fd, which stays the caller's and must live as long.
 * Returns 0; -ENOEXEC: it is no 64-bit ELF file of this machine; -EINVAL: it makes no sense;
 * -errno.
 */
int elf_image_open(struct elf_image *image, int fd);

/**
 * elf_image_find - looks for @n places; those that are in executable code of the file are found.
 * Of probes only those that are there once, and do not count their users (semaphores). Returns how
 * many are found, or -errno.
 */
int elf_image_find(const struct elf_image *image, struct elf_want *wants, uint32_t n);

/**
 * elf_image_text - the text at @address, as the file has it, into @text, @n bytes: up to its NUL.
 * Returns its length, or -EINVAL: there is none in the file's constants, or it is longer.
 */
int elf_image_text(const struct elf_image *image, uint64_t address, char *text, size_t n);

#endif /* JISCTL_ELF_IMAGE_H */
