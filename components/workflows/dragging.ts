import type { DragEvent } from 'react';

const TYPE = 'application/x-baton-workflows';

/** Adds ids of workflows to the dragged data. */
export function dragWorkflows(event: DragEvent, ids: readonly string[]): void {
  event.dataTransfer.setData(TYPE, JSON.stringify(ids));
  event.dataTransfer.effectAllowed = 'move';
}

/** Returns true if workflows are dragged. The browser reveals their ids only on drop. */
export const dragsWorkflows = (event: DragEvent): boolean => event.dataTransfer.types.includes(TYPE);

/** Returns the ids of the dropped workflows. */
export function droppedWorkflows(event: DragEvent): string[] {
  const ids: unknown = JSON.parse(event.dataTransfer.getData(TYPE) || '[]');
  return Array.isArray(ids) ? ids.filter(id => typeof id === 'string') : [];
}
