import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/cfworker';
import { newId } from '../../platform/ids.ts';
import { registerDemoTools } from './tools.ts';

const MAX_BODY_BYTES = 64 * 1024;

export type DemoSession = { transport: StreamableHTTPServerTransport; server: McpServer };

/** Opens a session; `opened` gets it with its id once the client has initialized it, `closed` when the client ends it. */
export async function openDemoSession({
  opened,
  closed,
}: {
  opened(id: string, session: DemoSession): void;
  closed(id: string): void;
}): Promise<DemoSession> {
  const server = new McpServer(
    { name: 'baton-demo', title: 'Baton demo', version: '1' },
    {
      instructions: 'Tools for trying workflows. They store nothing and call no other service.',
      jsonSchemaValidator: new CfWorkerJsonSchemaValidator(),
    },
  );
  registerDemoTools(server);
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: newId,
    maxRequestBodySize: MAX_BODY_BYTES,
    onsessioninitialized: id => opened(id, { transport, server }),
    onsessionclosed: closed,
  });
  await server.connect(transport);
  return { transport, server };
}
