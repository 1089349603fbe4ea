/* SPDX-License-Identifier: MIT */
/*
 * Probes, functions and texts of an ELF file, by libelf. The layout of a probe's note is that of
 * SystemTap's sys/sdt.h: three addresses (the probe, the address of .stapsdt.base when it was
 * linked, its semaphore), then provider, name and arguments as texts.
 */
#include "elf_image.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More no library has; so much is read into memory at once. */
#define SECTION_MAX (128u << 20)
#define NOTE_TYPE 3
#define NOTE_NAME "stapsdt"
#define NOTE_BASE ".stapsdt.base"

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_NONE
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ORDER ELFDATA2LSB
#else
#define OWN_ORDER ELFDATA2MSB
#endif

/* libelf keeps its last error to itself; it is of no use to us. */
static Elf *file_open(int fd)
{
	GElf_Ehdr header;
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	/* Read and not mapped: who owns the file may cut it. */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
	    header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == OWN_ORDER &&
	    header.e_machine == OWN_MACHINE)
		return elf;
	elf_end(elf);
	return NULL;
}

static int loads_read(struct elf_image *image, Elf *elf, uint64_t file_bytes)
{
	size_t n, i;
	GElf_Phdr p;

	if (elf_getphdrnum(elf, &n))
		return -EINVAL;
	for (i = 0; i < n && i < INT32_MAX && image->nr_loads < ELF_IMAGE_LOADS_MAX; i++) {
		if (!gelf_getphdr(elf, (int)i, &p))
			return -EINVAL;
		if (p.p_type != PT_LOAD)
			continue;
		if (p.p_offset > file_bytes || p.p_filesz > file_bytes - p.p_offset ||
		    p.p_vaddr > UINT64_MAX - p.p_filesz)
			return -EINVAL;
		image->loads[image->nr_loads++] =
			(struct elf_load){p.p_vaddr, p.p_offset, p.p_filesz, p.p_flags};
	}
	return image->nr_loads ? 0 : -EINVAL;
}

int elf_image_open(struct elf_image *image, int fd)
{
	struct stat st;
	Elf *elf;
	int err;

	memset(image, 0, sizeof(*image));
	image->fd = fd;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	elf = file_open(fd);
	if (!elf)
		return -ENOEXEC;
	err = loads_read(image, elf, (uint64_t)st.st_size);
	elf_end(elf);
	return err;
}

static const struct elf_load *load_at(const struct elf_image *image, uint64_t address)
{
	uint32_t i;

	for (i = 0; i < image->nr_loads; i++) {
		const struct elf_load *l = &image->loads[i];

		if (address >= l->address && address - l->address < l->bytes)
			return l;
	}
	return NULL;
}

/* Takes a place, if it is in code. */
static bool site_take(const struct elf_image *image, struct elf_want *want, uint64_t address)
{
	const struct elf_load *l = load_at(image, address);

	if (!l || !(l->flags & PF_X))
		return false;
	want->site.address = address;
	want->site.offset = l->offset + (address - l->address);
	want->found = 1;
	return true;
}

/* The section's bytes, whole; NULL: it has none, or more than there should be. */
static Elf_Data *section_data(Elf_Scn *section, const GElf_Shdr *header)
{
	if (header->sh_type == SHT_NOBITS || header->sh_size > SECTION_MAX ||
	    header->sh_flags & SHF_COMPRESSED)
		return NULL;
	return elf_getdata(section, NULL);
}

/* Probes ------------------------------------------------------------------------------------- */

struct note {
	uint64_t pc, base, semaphore;
	const char *provider, *name, *arguments;
};

/* The text at *@at, and *@at behind it; NULL: it has no end. */
static const char *text_next(const char **at, const char *end)
{
	const char *text = *at, *nul = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;

	if (nul)
		*at = nul + 1;
	return nul ? text : NULL;
}

static bool note_parse(const char *bytes, size_t n, struct note *note)
{
	const char *at = bytes + 3 * sizeof(uint64_t), *end = bytes + n;

	if (n < 3 * sizeof(uint64_t))
		return false;
	memcpy(&note->pc, bytes, sizeof(note->pc));
	memcpy(&note->base, bytes + 8, sizeof(note->base));
	memcpy(&note->semaphore, bytes + 16, sizeof(note->semaphore));
	note->provider = text_next(&at, end);
	note->name = note->provider ? text_next(&at, end) : NULL;
	note->arguments = note->name ? text_next(&at, end) : NULL;
	return note->arguments != NULL;
}

struct search {
	const struct elf_image *image;
	struct elf_want *wants;
	uint32_t nr_wants;
	int found;
	uint64_t base;	       /* address of .stapsdt.base; 0: there is none */
	int probes, functions; /* what is wanted: the others' sections are not read */
};

/* A probe that is in the code twice (inlined) is not taken: one place would not tell of all. */
static void note_take(struct search *s, const struct note *note)
{
	uint64_t moved = s->base && note->base ? s->base - note->base : 0;
	uint32_t i;

	for (i = 0; i < s->nr_wants; i++) {
		struct elf_want *w = &s->wants[i];

		if (!w->provider || strcmp(w->provider, note->provider) ||
		    strcmp(w->name, note->name) || w->found < 0)
			continue;
		s->found -= w->found;
		if (w->found || note->semaphore || !site_take(s->image, w, note->pc + moved)) {
			w->found = -1;
			continue;
		}
		s->found++;
		if (strlen(note->arguments) < sizeof(w->site.arguments))
			strcpy(w->site.arguments, note->arguments);
	}
}

static void notes_search(struct search *s, Elf_Data *data)
{
	size_t at = 0, next, name, desc;
	GElf_Nhdr header;
	struct note note;

	while ((next = gelf_getnote(data, at, &header, &name, &desc)) > 0 && next > at) {
		const char *bytes = data->d_buf;

		if (header.n_type == NOTE_TYPE && header.n_namesz == sizeof(NOTE_NAME) &&
		    !memcmp(bytes + name, NOTE_NAME, sizeof(NOTE_NAME)) &&
		    note_parse(bytes + desc, header.n_descsz, &note))
			note_take(s, &note);
		at = next;
	}
}

/* Functions ---------------------------------------------------------------------------------- */

/* A name may also be the end of others; so many of these are looked at. */
#define NAME_PLACES_MAX 16

/* The strings of a symbol table; NULL: none. */
static Elf_Data *strings_of(Elf *elf, const GElf_Shdr *symbols)
{
	Elf_Scn *section = elf_getscn(elf, symbols->sh_link);
	GElf_Shdr header;
	Elf_Data *data;

	if (!section || !gelf_getshdr(section, &header) || header.sh_type != SHT_STRTAB)
		return NULL;
	data = section_data(section, &header);
	return data && data->d_buf ? data : NULL;
}

/* The function whose name is at @name of the strings. */
static int symbol_take(struct search *s, struct elf_want *want, const Elf_Data *data, size_t name)
{
	const Elf64_Sym *symbols = data->d_buf;
	size_t n = data->d_size / sizeof(*symbols), i;

	for (i = 0; i < n; i++)
		if (symbols[i].st_name == name && ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC &&
		    symbols[i].st_shndx != SHN_UNDEF)
			return site_take(s->image, want, symbols[i].st_value);
	return 0;
}

/* A library has a hundred thousand names: the name is looked for in all at once, then who has it.
 */
static void symbols_search(struct search *s, Elf_Data *data, const Elf_Data *strings)
{
	const char *all = strings->d_buf, *at;
	uint32_t k, places;
	size_t length;

	for (k = 0; k < s->nr_wants; k++) {
		struct elf_want *w = &s->wants[k];

		if (w->provider)
			continue;
		length = strlen(w->name) + 1;
		at = memmem(all, strings->d_size, w->name, length);
		for (places = 0; at && !w->found && places < NAME_PLACES_MAX; places++) {
			s->found += symbol_take(s, w, data, (size_t)(at - all));
			at = memmem(at + 1, strings->d_size - (size_t)(at + 1 - all), w->name,
				    length);
		}
	}
}

/* Sections ----------------------------------------------------------------------------------- */

static void section_search(struct search *s, Elf *elf, Elf_Scn *section)
{
	Elf_Data *data, *strings;
	GElf_Shdr h;

	if (!gelf_getshdr(section, &h))
		return;
	if (h.sh_type == SHT_NOTE
		    ? !s->probes
		    : (h.sh_type != SHT_SYMTAB && h.sh_type != SHT_DYNSYM) || !s->functions)
		return;
	strings = h.sh_type == SHT_NOTE ? NULL : strings_of(elf, &h);
	data = section_data(section, &h);
	if (!data || !data->d_buf)
		return;
	if (h.sh_type == SHT_NOTE)
		notes_search(s, data);
	else if (strings)
		symbols_search(s, data, strings);
}

/* Where .stapsdt.base is: probes have moved as far as it has since the notes were written. */
static uint64_t base_find(Elf *elf)
{
	Elf_Scn *section = NULL, *names;
	const char *name;
	GElf_Shdr h;
	size_t index;

	if (elf_getshdrstrndx(elf, &index))
		return 0;
	names = elf_getscn(elf, index);
	if (!names || !gelf_getshdr(names, &h) || h.sh_size > SECTION_MAX)
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		name = gelf_getshdr(section, &h) ? elf_strptr(elf, index, h.sh_name) : NULL;
		if (name && !strcmp(name, NOTE_BASE))
			return h.sh_addr;
	}
	return 0;
}

int elf_image_find(const struct elf_image *image, struct elf_want *wants, uint32_t n)
{
	struct search s = {.image = image, .wants = wants, .nr_wants = n};
	Elf *elf = file_open(image->fd);
	Elf_Scn *section = NULL;
	uint32_t i;

	if (!elf)
		return -ENOEXEC;
	for (i = 0; i < n; i++) {
		wants[i].found = 0;
		s.probes |= wants[i].provider != NULL;
		s.functions |= wants[i].provider == NULL;
		memset(&wants[i].site, 0, sizeof(wants[i].site));
	}
	s.base = base_find(elf);
	while ((section = elf_nextscn(elf, section)))
		section_search(&s, elf, section);
	elf_end(elf);
	for (i = 0; i < n; i++)
		wants[i].found = wants[i].found > 0;
	return s.found;
}

/* Texts -------------------------------------------------------------------------------------- */

int elf_image_text(const struct elf_image *image, uint64_t address, char *text, size_t n)
{
	const struct elf_load *l = load_at(image, address);
	uint64_t at, left;
	ssize_t got;

	if (!l || l->flags & PF_W || !n)
		return -EINVAL;
	at = address - l->address;
	left = l->bytes - at;
	got = pread(image->fd, text, left < n ? left : n, (off_t)(l->offset + at));
	if (got <= 0 || !memchr(text, 0, (size_t)got)) {
		text[0] = 0;
		return -EINVAL;
	}
	return (int)strlen(text);
}
