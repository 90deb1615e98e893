import { ownAddresses, ownOrigin } from './demo-address.ts';

/** The path of the demo MCP server in this process. */
export const demoMcpPath = '/demo/mcp';

type Http = Parameters<typeof ownOrigin>[0];

/** Returns the address under which to register the demo. */
export const demoMcpUrl = (http: Http): string => `${ownOrigin(http)}${demoMcpPath}`;

/** Returns the exact addresses that may be called although they are not public. */
export const demoMcpAddresses = (http: Http): string[] => ownAddresses(http, demoMcpPath);
