import { reason } from '../platform/postgres/startup-error.ts';
import { endConnection, type Frontend } from './edge.ts';
import { FORWARDED_HEADER } from './forward/signature.ts';

/** Returns whether this server answers a path itself; everything else belongs to the console. */
export function isApiPath(url: string | undefined): boolean {
  return /^\/(v1|mcp|healthz|readyz|metrics)(?=[/?#]|$)/.test(url ?? '');
}

/** Returns the operator's message when `listen` rejected. */
export function listenFailure(error: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use: stop what listens there, or set PORT.`;
    case 'EACCES':
      return `Port ${port} may not be opened by this user: set PORT to 1024 or more.`;
    case 'EADDRNOTAVAIL':
      return `HOST=${host} is not an address of this machine: set HOST to 127.0.0.1, to 0.0.0.0 for every network, or to one of its addresses.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST=${host} is a name that does not resolve (${error.code}): set HOST to an address of this machine, such as 127.0.0.1.`;
    default:
      return `The server cannot listen on ${host}:${port}: ${reason(error)}`;
  }
}

const json = { 'Content-Type': 'application/json; charset=utf-8' };

/**
 * Answers while the database and the orchestrator start: the port is taken, so a second process
 * fails before it does anything.
 */
export const starting: Frontend = {
  request(request, response) {
    const alive = request.url?.startsWith('/healthz') === true;
    // Another node may send a forwarded request again: nothing was done.
    const refused = request.headers[FORWARDED_HEADER] === undefined ? {} : { [FORWARDED_HEADER]: 'refused' };
    response.writeHead(alive ? 200 : 503, alive ? json : { ...json, ...refused, 'Retry-After': '1' });
    response.end(alive ? '{"status":"ok"}' : '{"error":"The service is starting.","code":"starting"}');
  },
  upgrade(_, socket) {
    endConnection(
      socket,
      'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
    );
    return true;
  },
};
