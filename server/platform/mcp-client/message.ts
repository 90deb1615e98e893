import { isObject, type Json, type JsonObject } from '../json.ts';
import { parseAnswerJson } from '../json-text.ts';

/** An error as a server gave it. `data`: its structured details. */
export type WireError = { code: number; message: string; data?: Json };

/** A JSON-RPC message from a server. `id` is null in an answer that does not say which request it answers. */
export type Incoming =
  | { kind: 'result'; id: string | number | null; result: Json }
  | { kind: 'error'; id: string | number | null; error: WireError }
  | { kind: 'request'; id: string | number; method: string; params: JsonObject | undefined }
  | { kind: 'notification'; method: string; params: JsonObject | undefined };

/** Returns the JSON of a value; undefined for one that is nested deeper than the stack. */
export function jsonText(value: Json): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** JSON-RPC 2.0: the code of an error that the server itself cannot explain. */
const INTERNAL_ERROR = -32_603;

/** Parses JSON of a server. Throws a SyntaxError. Everything that servers send passes through here. */
export function parseServerJson(text: string): Json {
  return parseAnswerJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
}

/**
 * Returns the messages in a value that a server sent: one, or a batch. Servers are read leniently, because a tool may have run
 * already: `jsonrpc` may be missing, members next to a result may be null or unknown, and what is no message is left out.
 */
export function messagesIn(value: Json): Incoming[] {
  const values = Array.isArray(value) ? value : [value];
  return values.flatMap(one => messageOf(one) ?? []);
}

function messageOf(value: Json): Incoming | undefined {
  if (!isObject(value)) return undefined;
  const { method, params, result, error } = value;
  const id = typeof value.id === 'string' || typeof value.id === 'number' ? value.id : null;
  if (typeof method === 'string' && result === undefined && !isError(error)) {
    const given = isObject(params) ? params : undefined;
    if (id !== null) return { kind: 'request', id, method, params: given };
    return { kind: 'notification', method, params: method === 'notifications/progress' ? progressOf(given) : given };
  }
  if (isError(error)) return { kind: 'error', id, error: errorOf(error) };
  return result === undefined ? undefined : { kind: 'result', id, result };
}

/** Servers that write every member send an empty error next to a result. */
function isError(error: Json | undefined): error is Json {
  if (error === undefined || error === null || error === false || error === '') return false;
  return !isObject(error) || Object.values(error).some(member => member !== null && member !== '');
}

function errorOf(error: Json): WireError {
  if (!isObject(error))
    return { code: INTERNAL_ERROR, message: typeof error === 'string' ? error : JSON.stringify(error) };
  const { code, message, data } = error;
  const number = typeof code === 'string' ? Number(code) : code;
  return {
    code: typeof number === 'number' && Number.isSafeInteger(number) ? number : INTERNAL_ERROR,
    message: typeof message === 'string' && message.trim() !== '' ? message : JSON.stringify(error),
    ...(data === undefined || data === null ? {} : { data }),
  };
}

/** Progress with members that the SDK accepts: it would discard the whole message because of `"total": null`. */
function progressOf(params: JsonObject | undefined): JsonObject | undefined {
  if (params === undefined) return undefined;
  const { progressToken, message } = params;
  const [progress, total] = [params.progress, params.total].map(value =>
    typeof value === 'string' && value.trim() !== '' ? Number(value) : value,
  );
  return {
    ...(progressToken === undefined ? {} : { progressToken }),
    progress: typeof progress === 'number' && Number.isFinite(progress) ? progress : 0,
    ...(typeof total === 'number' && Number.isFinite(total) ? { total } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  };
}
