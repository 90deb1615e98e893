import type { DragEvent } from 'react';

const TYPE = 'application/x-baton-workflows';

/** Puts ids of workflows into what is dragged. */
export function dragWorkflows(event: DragEvent, ids: readonly string[]): void {
  event.dataTransfer.setData(TYPE, JSON.stringify(ids));
  event.dataTransfer.effectAllowed = 'move';
}

/** Whether workflows are dragged: what it is, the browser says only when it is dropped. */
export const dragsWorkflows = (event: DragEvent): boolean => event.dataTransfer.types.includes(TYPE);

/** Returns the ids of the workflows that are dropped. */
export function droppedWorkflows(event: DragEvent): string[] {
  const ids: unknown = JSON.parse(event.dataTransfer.getData(TYPE) || '[]');
  return Array.isArray(ids) ? ids.filter(id => typeof id === 'string') : [];
}
