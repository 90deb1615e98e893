import type { JsonMap, JsonValue } from '../../../orchestrator/core/index.ts';

/** The prefix of the headers of an event in the binary mode (CloudEvents HTTP protocol binding, 3.1.3). */
export const CLOUD_EVENT_PREFIX = 'ce-';
const ATTRIBUTE = /^ce-([a-z0-9]{1,64})$/;
/** These attributes are not read from `ce-…` headers, because their values come from the body and its Content-Type. */
const reserved = new Set(['data', 'datacontenttype']);

/**
 * Returns the event of the binary mode in the form of the structured one, so that a workflow need not know the mode.
 * The attributes come from headers `ce-…`, and the body becomes `data`, which is absent for an event without a body.
 * Returns null if the headers are not those of an event. `headers`: by their lower-case names.
 */
export function cloudEventOf(
  headers: readonly (readonly [name: string, value: string])[],
  contentType: string | undefined,
  data: JsonValue | undefined,
): JsonMap | null {
  const attributes = new Map<string, JsonValue>();
  for (const [header, value] of headers) {
    const name = ATTRIBUTE.exec(header)?.[1];
    if (name !== undefined && !reserved.has(name)) attributes.set(name, attributeOf(value));
  }
  if (!['specversion', 'id', 'source', 'type'].every(name => attributes.has(name))) return null;
  if (contentType !== undefined && data !== undefined) attributes.set('datacontenttype', contentType);
  if (data !== undefined) attributes.set('data', data);
  return Object.fromEntries(attributes);
}

/** Returns the value of a header: without quotation marks around it, and percent-decoded if it is encoded UTF-8. */
function attributeOf(value: string): string {
  const bare = /^"(.*)"$/s.exec(value)?.[1]?.replace(/\\(.)/gs, '$1') ?? value;
  try {
    return decodeURIComponent(bare);
  } catch {
    return bare;
  }
}
