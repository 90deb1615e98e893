import type { JsonValue } from '../../../orchestrator/core/index.ts';
import { readJson, startsAsJson } from './json.ts';

/**
 * Returns the value of a form (application/x-www-form-urlencoded). It is an object of texts with the field names as
 * keys; a repeated name has the list of its texts, in order. A form that consists of a field `payload` with a JSON
 * object, as GitHub and Slack send it, is that object. JSON that is sent with the type of a form, as `curl -d` does, is
 * read as JSON: a real form always encodes a brace. Throws AppError 400.
 */
export function readForm(text: string): JsonValue {
  if (startsAsJson(text)) return readJson(text);
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const known = fields.get(name);
    if (known === undefined) fields.set(name, value);
    else if (typeof known === 'string') fields.set(name, [known, value]);
    else known.push(value);
  }
  const payload = fields.size === 1 ? fields.get('payload') : undefined;
  if (typeof payload === 'string' && startsAsJson(payload)) return readJson(payload);
  return Object.fromEntries(fields); // as own properties, `__proto__` included
}
