/**
 * The flags of the Node process that serves; benchmarks use the same.
 *
 * V8 allocates objects directly in the old generation where most earlier ones of the same line survived. Runs in flight
 * survive the small heap of a new process, and from then on every entry of the log was garbage that only a full
 * collection found: three times as many bytes (docs/benchmarks.md).
 *
 * The young generation begins at 16 MB, to which it would grow anyway: from 1 MB it was collected eight times until the
 * service was ready, and nearly everything that a start allocates survives.
 */
export const nodeFlags = ['--no-allocation-site-pretenuring', '--min-semi-space-size=16'];
