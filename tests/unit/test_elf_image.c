/* SPDX-License-Identifier: MIT */
/*
 * Probes, functions and texts are found in a made ELF file; damaged and hostile ones give nothing
 * that is not in them.
 */
#include <check.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libjisctl/elf_image.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define OTHER_MACHINE EM_AARCH64
#else
#define MACHINE EM_AARCH64
#define OTHER_MACHINE EM_X86_64
#endif

#define CODE 0x1000u /* both in the file and, a page higher, in memory */
#define CONSTANTS 0x2000u
#define DATA 0x3000u
#define MOVED 0x1000u
#define BASE (CONSTANTS + MOVED + 0x800u)
#define SECTIONS 0x4000u
#define FILE_BYTES 0x5000u
#define PROBE (CODE + MOVED + 0x10u)
#define FUNCTION (CODE + MOVED + 0x40u)

/* A note tells of a base 0x100 lower than where it is. */
#define PRELINK 0x100u

enum { S_NULL, S_NOTES, S_BASE, S_SYMBOLS, S_STRINGS, S_NAMES, NR_SECTIONS };

static const char names[] = "\0.note.stapsdt\0.stapsdt.base\0.symtab\0.strtab\0.shstrtab";
static const char strings[] = "\0wanted\0other";

struct made {
	uint8_t bytes[FILE_BYTES];
	size_t notes; /* bytes of them */
};

static Elf64_Ehdr *header(struct made *m)
{
	return (Elf64_Ehdr *)m->bytes;
}

static Elf64_Phdr *loads(struct made *m)
{
	return (Elf64_Phdr *)(m->bytes + sizeof(Elf64_Ehdr));
}

static Elf64_Shdr *sections(struct made *m)
{
	return (Elf64_Shdr *)(m->bytes + SECTIONS);
}

static void note_add(struct made *m, uint64_t pc, uint64_t semaphore, const char *text, size_t n)
{
	uint8_t *p = m->bytes + SECTIONS + 0x800 + m->notes;
	uint64_t addresses[3] = {pc - PRELINK, BASE - PRELINK, semaphore};
	Elf64_Nhdr h = {8, (Elf64_Word)(sizeof(addresses) + n), 3};

	memcpy(p, &h, sizeof(h));
	memcpy(p + 12, "stapsdt", 8);
	memcpy(p + 20, addresses, sizeof(addresses));
	memcpy(p + 20 + sizeof(addresses), text, n);
	m->notes += (20 + sizeof(addresses) + n + 3) & ~3ul;
	sections(m)[S_NOTES].sh_size = m->notes;
}

#define NOTE(m, pc, semaphore, text) note_add(m, pc, semaphore, text, sizeof(text))

static void section(struct made *m, int i, uint32_t name, uint32_t type, uint64_t offset,
		    uint64_t size)
{
	sections(m)[i] = (Elf64_Shdr){.sh_name = name,
				      .sh_type = type,
				      .sh_offset = offset,
				      .sh_size = size,
				      .sh_addralign = 4};
}

static void made_init(struct made *m)
{
	Elf64_Sym symbols[] = {
		{0},
		{.st_name = 8,
		 .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
		 .st_shndx = 1,
		 .st_value = FUNCTION + 8},
		{.st_name = 1,
		 .st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT),
		 .st_shndx = 1,
		 .st_value = FUNCTION + 4},
		{.st_name = 1,
		 .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
		 .st_shndx = 1,
		 .st_value = FUNCTION},
	};
	uint32_t at[3] = {CODE, CONSTANTS, DATA}, flags[3] = {PF_R | PF_X, PF_R, PF_R | PF_W};
	Elf64_Ehdr *h = header(m);
	int i;

	memset(m, 0, sizeof(*m));
	memcpy(h->e_ident, ELFMAG, SELFMAG);
	h->e_ident[EI_CLASS] = ELFCLASS64;
	h->e_ident[EI_DATA] = ELFDATA2LSB;
	h->e_ident[EI_VERSION] = h->e_version = EV_CURRENT;
	h->e_type = ET_DYN;
	h->e_machine = MACHINE;
	h->e_ehsize = sizeof(*h);
	h->e_phoff = sizeof(*h);
	h->e_phentsize = sizeof(Elf64_Phdr);
	h->e_phnum = 3;
	h->e_shoff = SECTIONS;
	h->e_shentsize = sizeof(Elf64_Shdr);
	h->e_shnum = NR_SECTIONS;
	h->e_shstrndx = S_NAMES;
	for (i = 0; i < 3; i++)
		loads(m)[i] = (Elf64_Phdr){.p_type = PT_LOAD,
					   .p_flags = flags[i],
					   .p_offset = at[i],
					   .p_vaddr = at[i] + MOVED,
					   .p_filesz = 0x1000,
					   .p_memsz = 0x1000};
	section(m, S_NOTES, 1, SHT_NOTE, SECTIONS + 0x800, 0);
	section(m, S_BASE, 15, SHT_PROGBITS, CONSTANTS + 0x800, 1);
	sections(m)[S_BASE].sh_addr = BASE;
	section(m, S_SYMBOLS, 29, SHT_SYMTAB, SECTIONS + 0x400, sizeof(symbols));
	sections(m)[S_SYMBOLS].sh_link = S_STRINGS;
	sections(m)[S_SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
	section(m, S_STRINGS, 37, SHT_STRTAB, SECTIONS + 0x600, sizeof(strings));
	section(m, S_NAMES, 45, SHT_STRTAB, SECTIONS + 0x700, sizeof(names));
	memcpy(m->bytes + SECTIONS + 0x400, symbols, sizeof(symbols));
	memcpy(m->bytes + SECTIONS + 0x600, strings, sizeof(strings));
	memcpy(m->bytes + SECTIONS + 0x700, names, sizeof(names));
	memcpy(m->bytes + CONSTANTS + 0x20, "G1CollectForAllocation", 23);
	memset(m->bytes + CONSTANTS + 0xf00, 'x', 0x100);
	memcpy(m->bytes + DATA, "changes", 8);
	NOTE(m, PROBE + 1, 0, "hotspot\0another\0");
	NOTE(m, PROBE, 0, "hotspot\0probe\08@%r12 8@%rdx -4@%eax");
	NOTE(m, PROBE + 2, 0, "other\0probe\0");
}

struct found {
	struct elf_image image;
	struct elf_want wants[2];
	int opened, n;
	int fd;
};

/* Looks for both in the first @bytes of it. The descriptor stays open, for texts. */
static struct found find(const struct made *m, size_t bytes)
{
	struct found f = {.wants = {{.provider = "hotspot", .name = "probe"}, {.name = "wanted"}}};

	f.fd = memfd_create("made", MFD_CLOEXEC);
	ck_assert_int_ge(f.fd, 0);
	ck_assert_int_eq(write(f.fd, m->bytes, bytes), (ssize_t)bytes);
	f.opened = elf_image_open(&f.image, f.fd);
	f.n = f.opened ? 0 : elf_image_find(&f.image, f.wants, 2);
	return f;
}

/* Whatever was found is code of the file. */
static void found_sound(const struct found *f, size_t bytes)
{
	int i, n = 0;

	for (i = 0; !f->opened && f->n >= 0 && i < 2; i++) {
		if (!f->wants[i].found)
			continue;
		n++;
		ck_assert_uint_lt(f->wants[i].site.offset, bytes);
		ck_assert_uint_lt(strlen(f->wants[i].site.arguments), ELF_IMAGE_ARGUMENTS_MAX);
	}
	ck_assert_int_eq(n, f->n < 0 ? 0 : f->n);
}

static struct made made;

START_TEST(places_and_texts_are_found)
{
	struct found f;
	char text[32];

	made_init(&made);
	f = find(&made, FILE_BYTES);
	ck_assert_int_eq(f.opened, 0);
	ck_assert_int_eq(f.n, 2);
	ck_assert_uint_eq(f.wants[0].site.address, PROBE);
	ck_assert_uint_eq(f.wants[0].site.offset, PROBE - MOVED);
	ck_assert_str_eq(f.wants[0].site.arguments, "8@%r12 8@%rdx -4@%eax");
	ck_assert_uint_eq(f.wants[1].site.address, FUNCTION);
	ck_assert_uint_eq(f.wants[1].site.offset, FUNCTION - MOVED);
	ck_assert_int_eq(elf_image_text(&f.image, CONSTANTS + MOVED + 0x20, text, sizeof(text)),
			 22);
	ck_assert_str_eq(text, "G1CollectForAllocation");
	/* Longer than there is room, without an end, not constant, nowhere. */
	ck_assert_int_eq(elf_image_text(&f.image, CONSTANTS + MOVED + 0x20, text, 22), -EINVAL);
	ck_assert_int_eq(elf_image_text(&f.image, CONSTANTS + MOVED + 0xff0, text, sizeof(text)),
			 -EINVAL);
	ck_assert_int_eq(elf_image_text(&f.image, DATA + MOVED, text, sizeof(text)), -EINVAL);
	ck_assert_int_eq(elf_image_text(&f.image, 0, text, sizeof(text)), -EINVAL);
	ck_assert_int_eq(elf_image_text(&f.image, UINT64_MAX, text, sizeof(text)), -EINVAL);
	close(f.fd);
}
END_TEST

START_TEST(what_would_mislead_is_not_taken)
{
	struct found f;
	int i;

	for (i = 0; i < 5; i++) {
		made_init(&made);
		if (i == 0) /* it is there twice */
			NOTE(&made, PROBE + 4, 0, "hotspot\0probe\0");
		else if (i == 1) /* it counts its users */
			memset(made.bytes + SECTIONS + 0x800 + 64 + 36, 1, 8);
		else if (i == 2) /* outside of code */
			loads(&made)[0].p_flags = PF_R;
		else if (i == 3) /* no end of its text */
			sections(&made)[S_NOTES].sh_size = 64 + 20 + 24 + 10;
		else /* compressed */
			sections(&made)[S_NOTES].sh_flags = SHF_COMPRESSED;
		f = find(&made, FILE_BYTES);
		ck_assert_int_eq(f.opened, 0);
		ck_assert_msg(!f.wants[0].found, "case %d", i);
		ck_assert_int_eq(f.wants[1].found, i != 2);
		close(f.fd);
	}
}
END_TEST

START_TEST(other_files_are_refused)
{
	int pipes[2], i;
	struct found f;
	struct elf_image image;

	for (i = 0; i < 5; i++) {
		made_init(&made);
		if (i == 0)
			header(&made)->e_ident[EI_DATA] = ELFDATA2MSB;
		else if (i == 1)
			header(&made)->e_ident[EI_CLASS] = ELFCLASS32;
		else if (i == 2)
			header(&made)->e_machine = OTHER_MACHINE;
		else if (i == 3)
			memcpy(made.bytes, "!<arch>\n", 8);
		f = find(&made, i == 4 ? 0 : FILE_BYTES);
		ck_assert_int_eq(f.opened, -ENOEXEC);
		close(f.fd);
	}
	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(elf_image_open(&image, pipes[0]), -ENOEXEC);
	ck_assert_int_eq(elf_image_open(&image, -1), -EBADF);
}
END_TEST

START_TEST(cut_files_give_nothing_that_is_not_there)
{
	size_t n;

	made_init(&made);
	for (n = 0; n < FILE_BYTES; n += n < 0x100 || n > SECTIONS ? 1 : 61) {
		struct found f = find(&made, n);

		found_sound(&f, n);
		close(f.fd);
	}
}
END_TEST

/* Each byte that says where something is or how large: as large as can be, and a bit off. */
START_TEST(hostile_headers_do_no_harm)
{
	static const struct {
		size_t from, to;
	} parts[] = {{0, 0x100},
		     {SECTIONS, SECTIONS + NR_SECTIONS * sizeof(Elf64_Shdr)},
		     {SECTIONS + 0x400, SECTIONS + 0x600},
		     {SECTIONS + 0x800, SECTIONS + 0x8c0}};
	static const uint8_t values[] = {0xff, 0x7f, 0x80, 0x01};
	unsigned int i, v;
	size_t at;

	made_init(&made);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		for (at = parts[i].from; at < parts[i].to; at++)
			for (v = 0; v < sizeof(values); v++) {
				uint8_t was = made.bytes[at];
				struct found f;

				made.bytes[at] = values[v];
				f = find(&made, FILE_BYTES);
				found_sound(&f, FILE_BYTES);
				close(f.fd);
				made.bytes[at] = was;
			}
}
END_TEST

START_TEST(mutated_files_do_no_harm)
{
	unsigned int round, k;

	srandom(4711);
	for (round = 0; round < 3000; round++) {
		struct found f;

		made_init(&made);
		for (k = 0; k < 1 + round % 7; k++) {
			size_t at = (size_t)random() % 0x1000;

			at = at < 0x100 ? at : SECTIONS + at - 0x100;
			memset(made.bytes + at, (int)random(), 1 + (size_t)random() % 8);
		}
		f = find(&made, FILE_BYTES);
		found_sound(&f, FILE_BYTES);
		close(f.fd);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("elf_image");
	TCase *t = tcase_create("elf_image");
	SRunner *r;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, places_and_texts_are_found);
	tcase_add_test(t, what_would_mislead_is_not_taken);
	tcase_add_test(t, other_files_are_refused);
	tcase_add_test(t, cut_files_give_nothing_that_is_not_there);
	tcase_add_test(t, hostile_headers_do_no_harm);
	tcase_add_test(t, mutated_files_do_no_harm);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
