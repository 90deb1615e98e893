import type { JsonMap, JsonValue } from '../../../orchestrator/core/index.ts';
import type { ToolAnswer } from '../../../orchestrator/steps/tool-caller.ts';
import type { CallToolResult } from '../../../platform/mcp-client/index.ts';
import { storageProblem } from '../../../platform/storable-json.ts';

/** docs/specification/limits.md#sizes */
const MAX_RESULT_BYTES = 1024 * 1024;

const failed = (code: string, message: string, retryable: boolean): ToolAnswer => ({
  kind: 'failed',
  code,
  message,
  retryable,
});

/**
 * Converts a tool's answer to a step's result (docs/specification/steps.md#tool-results): `structuredContent` if given,
 * else its single text block parsed as JSON if it is JSON, else `{content: […]}` with all blocks unchanged. `isError`
 * is a failure that may be temporary: tools report an unavailable service and an impossible request in the same way.
 */
export function answerOf(result: CallToolResult): ToolAnswer {
  if (result.isError) return failed('tool_failed', errorText(result), true);
  const value = resultValue(result);
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > MAX_RESULT_BYTES) {
    return failed('result_too_large', `The tool's result has ${bytes} bytes of JSON; at most 1 MiB is kept.`, false);
  }
  const problem = storageProblem(value);
  if (problem) {
    const where = problem.path === '' ? 'The tool’s result' : `${problem.path} of the tool’s result`;
    return failed('result_not_storable', `${where} ${problem.message}.`, false);
  }
  return { kind: 'result', result: value };
}

function resultValue({ structuredContent, content }: CallToolResult): JsonValue {
  // The SDK has parsed it from JSON.
  if (structuredContent !== undefined) return structuredContent as JsonMap;
  const blocks = content as JsonValue[];
  const [only] = content;
  if (content.length !== 1 || only?.type !== 'text') return { content: blocks };
  try {
    return JSON.parse(only.text) as JsonValue;
  } catch {
    return { content: blocks };
  }
}

/** Returns the tool's error message, from its texts. */
function errorText({ content, structuredContent }: CallToolResult): string {
  const texts = content.flatMap(block => (block.type === 'text' && block.text.trim() !== '' ? [block.text] : []));
  if (texts.length > 0) return texts.join('\n').replaceAll('\0', '').toWellFormed();
  if (structuredContent !== undefined) return JSON.stringify(structuredContent);
  return 'The tool failed without saying why.';
}
