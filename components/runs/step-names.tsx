'use client';

type Named = { id: string; name?: unknown };

/** Returns what steps are called, by id: their names, or the id of a step that has none or is not among them. */
export function stepNames(...graphs: readonly (readonly Named[])[]): (id: string) => string {
  const names = new Map<string, string>();
  for (const { id, name } of graphs.flat())
    if (!names.has(id) && typeof name === 'string' && name.trim() !== '') names.set(id, name);
  return id => names.get(id) ?? id;
}

/** The name of a step, with its id on hover; an id without a name looks like an id. */
export function StepName({ id, name }: { id: string; name: string }) {
  return name === id ? <code>{id}</code> : <span title={id}>{name}</span>;
}
