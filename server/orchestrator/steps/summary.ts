import { stepPreview } from './step-previews.ts';

/** A step of a draft: any field may be missing or have any type. */
type Step = { readonly type: string } & Readonly<Record<string, unknown>>;
/** Returns the name of a workflow or an agent; undefined if it is unknown. */
type NameOf = (id: string) => string | undefined;

const MAX_LENGTH = 120;

/**
 * Returns a one-line summary of a step, such as “GET api.example.com/orders”; null if fields for it are still missing,
 * or its type has no summary.
 */
export function summaryOf(step: Step, nameOf: NameOf = () => undefined): string | null {
  const line = stepPreview(step.type).summary?.(step, nameOf) ?? null;
  if (line === null) return null;
  const shown = line.replaceAll(/\s+/g, ' ').trim();
  return shown.length > MAX_LENGTH ? `${shown.slice(0, MAX_LENGTH - 1)}…` : shown || null;
}
