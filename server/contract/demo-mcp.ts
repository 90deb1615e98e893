/** Where the demo MCP server answers in this process. */
export const demoMcpPath = '/demo/mcp';

type Http = { url: string; host: string; port: number };

/** The address to register the demo under: this machine's own, which no proxy in front of the public URL can turn away. */
export function demoMcpUrl({ host, port }: Http): string {
  const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${own.includes(':') ? `[${own}]` : own}:${port}${demoMcpPath}`;
}

/** The exact addresses that may be called though they are not on the public network: the demo's, as people may write it. */
export function demoMcpAddresses(http: Http): string[] {
  const spelt = [`http://127.0.0.1:${http.port}${demoMcpPath}`, `http://localhost:${http.port}${demoMcpPath}`];
  return [...new Set([demoMcpUrl(http), `${http.url}${demoMcpPath}`, ...spelt])];
}
