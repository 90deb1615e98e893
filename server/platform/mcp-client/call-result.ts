import { isObject, type Json, type JsonObject } from '../json.ts';
import { jsonText } from './message.ts';

/** A block of content. The protocol knows text, images, audio and resources; a block of any other type is kept as it is. */
export type ContentBlock = JsonObject;

/** The answer of a tool. `structuredContent` may be any JSON but null, although the protocol wants an object. */
export type CallToolResult = { content: ContentBlock[]; structuredContent?: Json; isError: boolean };

/** The members that identify the result of a tool call. `toolResult` is from protocol version 2024-10-07. */
const MEMBERS = ['content', 'structuredContent', 'toolResult', 'isError'];
/** The members of any result of the protocol. */
const ENVELOPE = new Set(['_meta', 'resultType']);

/** Reads a server's result of a call. The tool has already run, so no result is refused. */
export function readCallResult(result: Json): CallToolResult {
  if (!isObject(result)) {
    if (typeof result === 'string') return { content: [textBlock(result)], isError: false };
    return { content: [], isError: false, ...structured(result) };
  }
  if (!MEMBERS.some(name => Object.hasOwn(result, name))) {
    const own = Object.entries(result).filter(([name]) => !ENVELOPE.has(name));
    return { content: [], isError: false, ...(own.length === 0 ? {} : structured(Object.fromEntries(own))) };
  }
  const { content, structuredContent, toolResult, isError } = result;
  const given = structuredContent ?? (content === undefined || content === null ? toolResult : undefined);
  return { content: blocksOf(content), ...structured(given), isError: isError === true || isError === 'true' };
}

const structured = (value: Json | undefined): { structuredContent?: Json } =>
  value === undefined || value === null ? {} : { structuredContent: value };

/** Returns the content as a list of blocks: some servers send a single block, or plain text. */
function blocksOf(content: Json | undefined): ContentBlock[] {
  if (content === undefined || content === null) return [];
  const blocks: readonly Json[] = Array.isArray(content) ? content : [content];
  return blocks.map(blockOf).filter(block => block !== null);
}

function blockOf(block: Json): ContentBlock | null {
  if (block === null) return null;
  if (!isObject(block)) return textBlock(typeof block === 'string' ? block : textOf(block));
  if (block.type !== 'text' || typeof block.text === 'string') return block;
  return { ...block, text: block.text === undefined || block.text === null ? '' : textOf(block.text) };
}

const textOf = (value: Json): string => jsonText(value) ?? 'Nested too deeply.';
const textBlock = (text: string): ContentBlock => ({ type: 'text', text });
