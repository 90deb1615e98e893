'use client';
import { createContext, use } from 'react';
import { addedId, agentStepType } from '@/server/orchestrator/core/step-ids.ts';

type Named = { id: string; name?: unknown; steps?: unknown };
/** Returns the display name of a step. */
export type Called = (id: string) => string;

/**
 * Returns a function from the id of a step to its name. It returns the id for a step without a name and for an unknown step. A step that a
 * loop added to a run has the name of the loop's step, and the number of its item.
 */
export function stepNames(...graphs: readonly (readonly Named[])[]): Called {
  const names = new Map<string, string>();
  const addNames = (steps: readonly Named[], loop: string): void => {
    for (const { id, name, steps: inner } of steps) {
      const path = loop + id;
      if (!names.has(path) && typeof name === 'string' && name.trim() !== '') names.set(path, name);
      if (Array.isArray(inner)) addNames(inner, `${path}.`);
    }
  };
  for (const graph of graphs) addNames(graph, '');
  return id => names.get(id) ?? (id.includes('.') ? nameInLoop(id, names) : id);
}

/**
 * Returns the name of a step of an item, such as "Pay, item 4" (in a nested loop "Pay, item 4.1"), or the id of any
 * other step.
 */
function nameInLoop(step: string, names: ReadonlyMap<string, string>): string {
  const path: string[] = [];
  const items: number[] = [];
  let rest = step;
  for (let id = addedId(rest); id !== null; id = addedId(rest)) {
    if (agentStepType(rest) !== null) return step;
    path.unshift(id.name);
    items.unshift(id.index + 1);
    rest = id.parent;
  }
  const name = path.at(-1);
  return name === undefined ? step : `${names.get([rest, ...path].join('.')) ?? name}, item ${items.join('.')}`;
}

/** The name of a step, with its id on hover. A step without a name is shown by its id, as code. */
export function StepName({ id, name }: { id: string; name: string }) {
  return name === id ? <code>{id}</code> : <span title={id}>{name}</span>;
}

/** Provides the display names of steps to all components inside. */
export const StepNames = createContext<Called>(id => id);

/** The display name of a step from `StepNames`, with its id on hover. */
export function NamedStep({ id }: { id: string }) {
  const called = use(StepNames);
  return <StepName id={id} name={called(id)} />;
}
