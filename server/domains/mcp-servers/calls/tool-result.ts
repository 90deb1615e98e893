import { isDeepStrictEqual } from 'node:util';
import type { JsonMap, JsonValue } from '../../../orchestrator/core/index.ts';
import type { ToolAnswer } from '../../../orchestrator/steps/mcp-call/tool-caller.ts';
import { cleanJson } from '../../../platform/clean-json.ts';
import { isObject } from '../../../platform/json.ts';
import { parseAnswerJson } from '../../../platform/json-text.ts';
import type { CallToolResult, ContentBlock } from '../../../platform/mcp-client/index.ts';
import { storageProblem } from '../../../platform/storable-json.ts';

/** The largest result of a step (docs/specification/limits.md#sizes). */
const MAX_RESULT_BYTES = 1024 * 1024;

type Note = (line: string) => void;

const failed = (code: string, message: string, retryable: boolean) =>
  ({ kind: 'failed', code, message, retryable }) as const;

/**
 * Converts a tool's answer to a step's result (docs/specification/steps.md#tool-results): `structuredContent` if given, with the
 * text beside it as `text`; else its single text block parsed if it is a JSON object or list; else `{content: […]}` with all
 * blocks. `isError` is a failure that may be temporary: tools report an unavailable service and an impossible request in the
 * same way. `note` is told what the result has no place for.
 */
export function answerOf(result: CallToolResult, note: Note = () => undefined): ToolAnswer {
  if (result.isError) return failureOf(result);
  const value = cleanJson(resultValue(result, note));
  const problem = storageProblem(value);
  if (problem) {
    const where = problem.path === '' ? 'The tool’s result' : `${problem.path} of the tool’s result`;
    return failed('result_not_storable', `${where} ${problem.message}.`, false);
  }
  const bytes = bytesOf(value);
  if (bytes > MAX_RESULT_BYTES) {
    return failed('result_too_large', `The tool's result has ${bytes} bytes of JSON; at most 1 MiB is kept.`, false);
  }
  return { kind: 'result', result: value };
}

const bytesOf = (value: JsonValue): number => Buffer.byteLength(JSON.stringify(value));

function resultValue({ structuredContent, content }: CallToolResult, note: Note): JsonValue {
  if (structuredContent !== undefined) return withText(structuredContent as JsonValue, content, note);
  const [only] = content;
  const parsed = content.length === 1 && only?.type === 'text' ? parsedText(String(only.text), note) : undefined;
  return parsed ?? { content };
}

/**
 * Parses a text that is a JSON object or list. Any other text stays text: a tool that returns `1e5` or `true` may mean
 * a name. JSON that cannot be stored unchanged also stays text.
 */
function parsedText(text: string, note: Note): JsonValue | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  let value: JsonValue;
  try {
    value = parseAnswerJson(text);
  } catch {
    return undefined;
  }
  const problem = storageProblem(cleanJson(value));
  if (problem === null) return value;
  note(
    `The tool's text stays text, since ${problem.path === '' ? 'its JSON' : `${problem.path} in it`} ${problem.message}.`,
  );
  return undefined;
}

/** Servers repeat structured content as text, for older clients. Text that says something else is kept. */
function withText(structured: JsonValue, content: readonly ContentBlock[], note: Note): JsonValue {
  const texts = textsOf(content);
  if (storageProblem(cleanJson(structured)) !== null || repeatsStructured(texts, structured)) return structured;
  const text = texts.join('\n');
  const isFree = isObject(structured) && !Object.hasOwn(structured, 'text');
  const value = isFree ? { ...(structured as JsonMap), text } : structured;
  if (isFree && bytesOf(value) <= MAX_RESULT_BYTES) return value;
  note(text);
  return structured;
}

/**
 * Returns whether texts only repeat a value: as JSON, or wrapped in an object, as libraries do with a single value or
 * the items of a list.
 */
function repeatsStructured(texts: readonly string[], structured: JsonValue): boolean {
  if (texts.length === 0) return true;
  const [wrapped, ...others] = isObject(structured) ? Object.values(structured) : [];
  const values = [structured, ...(wrapped !== undefined && others.length === 0 ? [wrapped] : [])] as JsonValue[];
  return values.some(
    value =>
      (texts.length === 1 && texts.every(text => isTextOf(text, value))) ||
      (Array.isArray(value) && value.length === texts.length && value.every((item, at) => isTextOf(texts[at], item))),
  );
}

function isTextOf(text: string | undefined, value: JsonValue): boolean {
  if (text === undefined || text === value) return text !== undefined;
  try {
    return isDeepStrictEqual(parseAnswerJson(text), value);
  } catch {
    return false;
  }
}

const textsOf = (content: readonly ContentBlock[]): string[] =>
  content.flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' && text.trim() !== '' ? [text] : [],
  );

/** Returns the failure of a tool, with the text of its content and its structured details if it has any. */
function failureOf({ content, structuredContent }: CallToolResult): ToolAnswer {
  const texts = textsOf(content);
  const [only = ''] = texts;
  const given = structuredContent ?? (texts.length === 1 ? parsedText(only, () => undefined) : undefined);
  const cleaned = given === undefined ? undefined : cleanJson(given as JsonValue);
  const details = cleaned === undefined || storageProblem(cleaned) !== null ? undefined : cleaned;
  const message =
    texts.length > 0
      ? texts.join('\n').replaceAll('\0', '').toWellFormed()
      : details === undefined
        ? 'The tool failed without saying why.'
        : JSON.stringify(details);
  return {
    ...failed('tool_failed', message, true),
    ...(details === undefined ? {} : { details }),
  };
}
