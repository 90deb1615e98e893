import { ownAddresses, ownOrigin } from './demo-address.ts';

/** Where the demo MCP server answers in this process. */
export const demoMcpPath = '/demo/mcp';

type Http = Parameters<typeof ownOrigin>[0];

/** Returns the address to register the demo under. */
export const demoMcpUrl = (http: Http): string => `${ownOrigin(http)}${demoMcpPath}`;

/** Returns the exact addresses that may be called though they are not on the public network. */
export const demoMcpAddresses = (http: Http): string[] => ownAddresses(http, demoMcpPath);
