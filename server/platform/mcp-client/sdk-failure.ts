import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
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

/** Returns whether an error's message lists a schema's issues or is about JSON's syntax, which helps nobody. */
function isDump(error: unknown): boolean {
  return (
    error instanceof SyntaxError || (error instanceof Error && 'issues' in error) || /^\s*[[{]/.test(wordsOf(error))
  );
}

/** Returns the failure for an error of the SDK itself. Errors of the server arrive as failures. */
function protocolFailure(error: McpError): McpFailure {
  if (error.data instanceof McpFailure) return error.data;
  const message = error.message.replace(/^MCP error -?\d+: /, '');
  switch (error.code) {
    case ErrorCode.RequestTimeout:
      return new McpFailure('mcp_timeout', `The MCP server did not answer in time: ${message}`, true);
    case ErrorCode.ConnectionClosed:
      return new McpFailure('mcp_connection_lost', 'The connection to the MCP server was closed', true);
    default:
      return new McpFailure('mcp_error', `The call of the MCP server failed: ${message}`, false);
  }
}
