import { hash } from 'node:crypto';

/** The fields of the W3C `traceparent` header (https://www.w3.org/TR/trace-context/). */
export type TraceParent = { traceId: string; spanId: string; traceFlags: number };

const pattern = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Reads the header; undefined if it is absent or not in the form of version 00, as the standard requires. */
export function parseTraceparent(header: string | undefined): TraceParent | undefined {
  const [, traceId, spanId, flags] = pattern.exec(header ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

export function formatTraceparent({ traceId, spanId, traceFlags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** Returns a run's trace id, which is the run's own id, so it is one trace in every process and at any time. */
export function traceIdOf(runId: string): string {
  return runId.replaceAll('-', '');
}

/**
 * Returns the same span id for the same parts in every process: of a run's root (no parts),
 * or of one attempt of a step.
 */
export function spanIdOf(runId: string, ...parts: (string | number)[]): string {
  return hash('sha256', [runId, ...parts].join('/')).slice(0, 16);
}
