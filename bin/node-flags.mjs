/**
 * The flags of the Node process that serves; benchmarks use the same.
 *
 * V8 allocates objects directly in the old generation where most earlier ones of the same line survived. Runs in flight
 * survive the small heap of a new process, and from then on every entry of the log was garbage that only a full
 * collection found: three times as many bytes (docs/benchmarks.md).
 */
export const nodeFlags = ['--no-allocation-site-pretenuring'];
