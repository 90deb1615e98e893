import { type DraftGraph, parseGraph } from './graph-text.ts';

/** JSON that does not parse yet, and the draft that it was typed over. */
export type Unfinished = { text: string; etag: string; graph: DraftGraph };

const keyOf = (workflowId: string) => `baton:unfinished:${workflowId}`;

/** Keeps unfinished JSON in this tab. Where the browser has no room for it, leaving the page still asks first. */
export function keepUnfinished(workflowId: string, unfinished: Unfinished): void {
  try {
    window.sessionStorage.setItem(keyOf(workflowId), JSON.stringify(unfinished));
  } catch {
    forgetUnfinished(workflowId);
  }
}

/** Removes what `keepUnfinished` kept. */
export function forgetUnfinished(workflowId: string): void {
  try {
    window.sessionStorage.removeItem(keyOf(workflowId));
  } catch {
    // A browser that refuses storage has kept nothing.
  }
}

/** Returns what was kept for a workflow; null where there is nothing, or nothing that can be used. */
export function readUnfinished(workflowId: string): Unfinished | null {
  try {
    const kept: unknown = JSON.parse(window.sessionStorage.getItem(keyOf(workflowId)) ?? 'null');
    if (typeof kept !== 'object' || kept === null || !('text' in kept) || !('etag' in kept) || !('graph' in kept)) {
      return null;
    }
    const parsed = parseGraph(JSON.stringify(kept.graph));
    if (typeof kept.text !== 'string' || typeof kept.etag !== 'string' || 'problem' in parsed) return null;
    return { text: kept.text, etag: kept.etag, graph: parsed.graph };
  } catch {
    return null;
  }
}
