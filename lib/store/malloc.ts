/**
 * Settings of the C library, which reads them from the environment when a process starts: what is freed in pieces above 64 KiB
 * goes back to the system at once. By default glibc keeps pieces of up to 32 MiB after it has seen one of that size, in as
 * many arenas as there are threads (mallopt(3)). `package.json` and `Dockerfile` have the same.
 */
export const MALLOC = { MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_ARENA_MAX: '1' } as const;
