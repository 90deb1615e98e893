import { ErrorCode, LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';
import { isObject } from '../../platform/json.ts';
import { parseRequestJson } from '../../platform/json-text.ts';

type Fields = Record<string, unknown>;

/** A request with only the fields that its method reads, or the reason why the message is not a request. Notifications need no answer. */
export type Message =
  | { kind: 'request'; request: { jsonrpc: '2.0'; id: string | number; method: string; params?: Fields } }
  | { kind: 'notification' }
  | { kind: 'refused'; id: string | number | null; code: ErrorCode; message: string };

/**
 * Reads a JSON-RPC message of a client (docs/specification/mcp.md#messages). Clients write null, or an empty list, for absent
 * fields, and add their own fields. A schema of the whole message would refuse them with an unreadable reason.
 */
export function readMessage(value: unknown): Message {
  if (!isObject(value)) return refused(null, ErrorCode.InvalidRequest, 'The message must be a JSON object.');
  const { jsonrpc, method, params } = value as Fields;
  const id = isId(value.id) ? value.id : null;
  if (jsonrpc !== '2.0') return refused(id, ErrorCode.InvalidRequest, '`jsonrpc` must be "2.0".');
  if (method === undefined || method === null) {
    const isAnswer = value.result !== undefined || value.error !== undefined;
    if (isAnswer) return { kind: 'notification' };
  }
  if (typeof method !== 'string') return refused(id, ErrorCode.InvalidRequest, '`method` must be a string.');
  if (isAbsent(value.id) && (value.id === undefined || method.startsWith('notifications/')))
    return { kind: 'notification' };
  if (id === null) return refused(null, ErrorCode.InvalidRequest, '`id` must be a string or an integer.');
  const fields = readObject(params);
  if (fields === null) return refused(id, ErrorCode.InvalidParams, '`params` must be an object.');
  const read = readParams(method, fields);
  if ('problem' in read) return refused(id, ErrorCode.InvalidParams, read.problem);
  return { kind: 'request', request: { jsonrpc, id, method, params: read.params } };
}

const refused = (id: string | number | null, code: ErrorCode, message: string): Message => ({
  kind: 'refused',
  id,
  code,
  message,
});

const isId = (id: unknown): id is string | number => typeof id === 'string' || Number.isSafeInteger(id);
const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

/** Returns the fields of an object, which may be its JSON; none where it is absent or an empty list; null for any other value. */
function readObject(value: unknown): Fields | null {
  if (isAbsent(value) || value === '' || (Array.isArray(value) && value.length === 0)) return {};
  if (typeof value !== 'string') return isObject(value) ? value : null;
  try {
    const read = parseRequestJson(value);
    return isObject(read) ? read : null;
  } catch {
    return null;
  }
}

type Params = { params: Fields } | { problem: string };

/** `_meta` and `task` are left out, because nothing reads them: progress is not reported, and tasks are not offered. */
function readParams(method: string, fields: Fields): Params {
  switch (method) {
    case 'initialize':
      // Nothing depends on the client or on what it can do.
      return {
        params: {
          protocolVersion:
            typeof fields.protocolVersion === 'string' ? fields.protocolVersion : LATEST_PROTOCOL_VERSION,
          capabilities: {},
          clientInfo: { name: 'client', version: '1' },
        },
      };
    case 'tools/call':
    case 'prompts/get': {
      if (typeof fields.name !== 'string') return { problem: '`params.name` must be a string.' };
      const args = readObject(fields.arguments);
      if (args === null) return { problem: '`params.arguments` must be an object.' };
      return { params: { name: fields.name, arguments: method === 'prompts/get' ? textsOf(args) : args } };
    }
    case 'resources/read':
      if (typeof fields.uri !== 'string') return { problem: '`params.uri` must be a string.' };
      return { params: { uri: fields.uri } };
    case 'tools/list':
    case 'prompts/list':
    case 'resources/list':
    case 'resources/templates/list':
      if (isAbsent(fields.cursor) || fields.cursor === '') return { params: {} };
      if (typeof fields.cursor !== 'string') return { problem: '`params.cursor` must be a string.' };
      return { params: { cursor: fields.cursor } };
    default: {
      const { _meta, task, ...params } = fields;
      return { params };
    }
  }
}

/** The arguments of a prompt are texts. */
function textsOf(args: Fields): Record<string, string> {
  return Object.fromEntries(
    Object.entries(args).flatMap(([name, value]) => {
      if (isAbsent(value)) return [];
      return [[name, typeof value === 'string' ? value : JSON.stringify(value)]];
    }),
  );
}
