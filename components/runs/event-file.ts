import type { WireEvent } from '@/server/domains/runs/reading/run-state.ts';

export type EventFormat = 'json' | 'ndjson';

/**
 * Returns all events of a run as the parts of a file. `page` reads the events after a sequence number, and returns an empty page after
 * the last event. Each page is serialized before the next page is read, to save memory.
 */
export async function eventFile(
  format: EventFormat,
  page: (after: number) => Promise<readonly WireEvent[]>,
): Promise<{ type: string; parts: string[] }> {
  const isList = format === 'json';
  const parts: string[] = isList ? ['['] : [];
  let last = 0;
  for (;;) {
    const events = await page(last);
    const end = events.at(-1);
    if (end === undefined) break;
    const lines = events.map(event => JSON.stringify(event));
    parts.push(isList ? `${last === 0 ? '\n' : ',\n'}${lines.join(',\n')}` : `${lines.join('\n')}\n`);
    last = end.seq;
  }
  if (isList) parts.push('\n]\n');
  return { type: isList ? 'application/json' : 'application/x-ndjson', parts };
}
