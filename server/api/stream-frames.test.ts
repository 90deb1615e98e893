import { describe, expect, test } from 'vitest';
import type { StreamItem } from '../orchestrator/ports/orchestrator.ts';
import { frameOf, framesOf } from './stream-frames.ts';

const item = (seq: number, text: string): StreamItem => ({
  kind: 'event',
  item: {
    seq,
    runId: 'run',
    tenantId: 'acme',
    projectId: 'project',
    workflowId: 'workflow',
    event: { at: 0, type: 'step_log', step: 'a', attempt: 1, data: { lines: [text] } },
  },
});

describe('a publication', () => {
  test('is encoded once for all listeners that get the same array', () => {
    const items = [item(1, 'a'), item(2, 'b')];
    const bytes = framesOf(items);
    expect(framesOf(items)).toBe(bytes);
    expect(bytes).toEqual(Buffer.concat(items.map(frameOf)));
  });

  test('of one item is the item’s own frame, which other arrays reuse', () => {
    const only = item(1, 'a');
    expect(framesOf([only])).toBe(framesOf([only]));
    expect(framesOf([only])).toBe(frameOf(only));
  });
});
