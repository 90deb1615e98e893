import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { isJson, type Json } from '../json.ts';
import { invalid, McpFailure, networkFailure, refusal } from './failure.ts';

/** Returns the failure of a rejected request of the SDK. */
export function failureOf(error: unknown): McpFailure {
  if (error instanceof McpFailure) return error;
  if (error instanceof McpError) return protocolFailure(error);
  if (refusal(error) || error instanceof TypeError) return networkFailure(error);
  if (error instanceof Error && 'code' in error && typeof error.code === 'number') {
    // The SDK's StreamableHTTPError: a redirect to another origin, or a content type outside of the protocol.
    const text = error.message.replace('Streamable HTTP error: ', '');
    if (error.code >= 300 && error.code < 400) return new McpFailure('mcp_redirect_refused', text, false);
    return new McpFailure('mcp_invalid_response', text, false);
  }
  return invalid(isDump(error) ? 'is not what the protocol says' : `is not valid: ${wordsOf(error)}`);
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Whether an error's message is the dump of a schema's issues, or about JSON's syntax, which helps nobody. */
function isDump(error: unknown): boolean {
  return (
    error instanceof SyntaxError || (error instanceof Error && 'issues' in error) || /^\s*[[{]/.test(wordsOf(error))
  );
}

function protocolFailure(error: McpError): McpFailure {
  if (error.data instanceof McpFailure) return error.data;
  const said = error.message.replace(/^MCP error -?\d+: /, '');
  const of = { data: isJson(error.data) ? (error.data as Json) : undefined };
  switch (error.code) {
    case ErrorCode.RequestTimeout:
      return new McpFailure('mcp_timeout', `The MCP server did not answer in time: ${said}`, true);
    case ErrorCode.ConnectionClosed:
      return new McpFailure('mcp_connection_lost', 'The connection to the MCP server was closed', true);
    case ErrorCode.InternalError:
      return new McpFailure('mcp_internal_error', `The MCP server failed: ${said}`, true, of);
    case ErrorCode.InvalidParams:
      return new McpFailure('mcp_invalid_params', `The MCP server refused the arguments: ${said}`, false, of);
    case ErrorCode.UrlElicitationRequired:
      return new McpFailure('mcp_elicitation_required', `The MCP server wants to ask a person: ${said}`, false, of);
    default:
      return new McpFailure('mcp_error', `The MCP server answered with error ${error.code}: ${said}`, false, of);
  }
}
