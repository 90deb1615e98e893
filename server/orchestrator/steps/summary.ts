import { stepPreview } from './step-previews.ts';

/** A step as a draft has it: any field may be missing, or be of any type. */
type Step = { readonly type: string } & Readonly<Record<string, unknown>>;
/** Returns the name of a workflow or an agent; undefined where it is not known. */
type NameOf = (id: string) => string | undefined;

const MAX_LENGTH = 120;

/**
 * Returns in one line what a step does, such as “GET api.example.com/orders”; null where its fields do not say it yet, or its
 * type has no line of its own.
 */
export function summaryOf(step: Step, nameOf: NameOf = () => undefined): string | null {
  const line = stepPreview(step.type).summary?.(step, nameOf) ?? null;
  if (line === null) return null;
  const shown = line.replaceAll(/\s+/g, ' ').trim();
  return shown.length > MAX_LENGTH ? `${shown.slice(0, MAX_LENGTH - 1)}…` : shown || null;
}
