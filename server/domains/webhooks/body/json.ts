import type { JsonMap, JsonValue } from '../../../orchestrator/core/index.ts';
import { AppError, badRequest, invalid } from '../../../platform/errors.ts';
import { JsonNumberError, parseRequestJson } from '../../../platform/json-text.ts';
import { MAX_JSON_DEPTH } from '../../../platform/storable-json.ts';

/** Returns whether a text begins like a JSON object or list. */
export const startsAsJson = (text: string) => /^\s*[{[]/.test(text);

/** Returns whether bytes begin like a JSON object or list, after a byte order mark. */
export function bytesStartAsJson(bytes: Uint8Array): boolean {
  return startsAsJson(new TextDecoder().decode(bytes.subarray(0, 64)));
}

/**
 * Parses the JSON of a delivery. Throws AppError 400 with the reason, for other text and for JSON that is nested too
 * deeply; 422 with the path for a number that could only be rounded.
 */
export function readJson(text: string): JsonValue {
  const value = parse(text);
  if (isDeeperThan(value, MAX_JSON_DEPTH)) {
    throw badRequest(`The request body is nested deeper than ${MAX_JSON_DEPTH} levels.`, 'too_deep');
  }
  return value;
}

function parse(text: string): JsonValue {
  try {
    return parseRequestJson(text);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    if (cause instanceof JsonNumberError) {
      const details = [{ path: cause.path, message: cause.problem }];
      throw invalid('The request body has a number that cannot be kept.', details, 'validation_error');
    }
    throw new AppError(400, 'malformed_body', `The request body is not valid JSON${reasonOf(cause)}.`, { cause });
  }
}

/**
 * Returns where and why parsing failed. Omits a message with a quotation mark, because it quotes the body, which no log
 * may contain.
 */
function reasonOf(cause: unknown): string {
  const { message } = cause instanceof Error ? cause : { message: '' };
  return message === '' || message.includes('"') ? '' : `: ${message.replace(/\.$/, '')}`;
}

/** Iterates level by level, because the value may be nested deeper than the stack. */
function isDeeperThan(root: JsonValue, levels: number): boolean {
  let level: JsonValue[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    const containers = level.filter(value => typeof value === 'object' && value !== null);
    if (depth >= levels && containers.length > 0) return true;
    level = containers.flatMap(value => Object.values(value as JsonMap));
  }
  return false;
}
