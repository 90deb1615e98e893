import { readJson } from '../../../platform/json-text.ts';
import type { JsonMap } from '../../core/index.ts';
import { type LuaHost, LuaType } from './host.ts';
import { type LuaValues, ValueError } from './values.ts';

/** An error of a script: its message, and the fields of its table. */
export type Raised = { message: string; details: JsonMap | null };

/** Twice the maximum of a message, in bytes of characters outside ASCII. */
const MAX_TEXT_BYTES = 16_000;
/** Together with its message, an error has at most 16 KiB (server/orchestrator/turn/outcome.ts). */
const MAX_DETAILS_BYTES = 12 * 1024;
/** The text that Lua writes for a table without `__tostring`. */
const NAMELESS = /^table: (?:0x)?[0-9a-f]+$/i;

/**
 * Describes the error value at index 1. The fields of a table are kept if they are JSON, and its field `message` is the
 * message. Call this only in a protected call, because it runs `__tostring` of the value.
 */
export function describeRaised(host: LuaHost, values: LuaValues, L: number): Raised {
  const json = host.api.lua_type(L, 1) === LuaType.table ? jsonOf(host, values, L) : null;
  const text = values.toText(L, 1, MAX_TEXT_BYTES);
  if (json === null) return { message: text, details: null };
  const value = readJson(json);
  const details = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  if (!NAMELESS.test(text)) return { message: text, details };
  const raisedMessage = details?.message;
  return { message: typeof raisedMessage === 'string' && raisedMessage !== '' ? raisedMessage : json, details };
}

function jsonOf(host: LuaHost, values: LuaValues, L: number): string | null {
  try {
    return values.encode(L, 1, MAX_DETAILS_BYTES);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    host.api.lua_settop(L, 1);
    return null;
  }
}
