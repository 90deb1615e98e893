import type { GraphStep } from '../core/index.ts';
import { collectReferences } from './templates.ts';

/** Ids of the steps that the templates of a step refer to. */
export function stepsInTemplates(step: GraphStep): Set<string> {
  const steps = new Set<string>();
  for (const found of collectReferences({ ...step } as Parameters<typeof collectReferences>[0])) {
    if ('reference' in found && found.reference.step !== null) steps.add(found.reference.step);
  }
  return steps;
}
