import { isIPv6 } from 'node:net';

/** One server of a list in DATABASE_URL. */
export type ListedServer = {
  /** A host name, an address without brackets, or the folder of a Unix socket. */
  host: string;
  /** Undefined: pg's default. */
  port: number | undefined;
  /** The list's URL with this server alone, for pg. */
  url: string;
};

/** `problem` completes a sentence that begins with the variable's name, and repeats nothing of the URL. */
export type ParsedList = { servers: ListedServer[] } | { problem: string };

const PARTS = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)([^?#]*)(\?[^#]*)?/i;
const HOST_NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?$/;
const MAX_SERVERS = 16;
/** Baton always looks for the server that can write, so these mean the same; libpq knows others. */
const WRITABLE = ['read-write', 'primary', 'any'];

/**
 * Parses a list of servers as libpq writes it: `user@db1:5432,[::1]:5433/name`, or `?host=db1,db2&port=5432`. A host has its own
 * port, or that of the parameter `port`: one for all, or one for each. Returns undefined for the URL of one server.
 */
export function parseServerList(url: string): ParsedList | undefined {
  const [, scheme, authority = '', path = '', query = ''] = PARTS.exec(url) ?? [];
  if (scheme === undefined) return undefined;
  const parameters = new URLSearchParams(query);
  const wanted = parameters.get('target_session_attrs');
  if (wanted !== null && !WRITABLE.includes(wanted))
    return { problem: `its target_session_attrs must be one of ${WRITABLE.join(', ')}: Baton writes to its database` };
  const at = authority.lastIndexOf('@') + 1;
  const inQuery = parameters.get('host');
  const hosts = authority.slice(at);
  if (!(inQuery ?? hosts).includes(',')) return undefined;

  const entries = (inQuery ?? hosts).split(',');
  const ports = parameters.get('port')?.split(',') ?? [];
  if (entries.length > MAX_SERVERS) return { problem: `its list has more than ${MAX_SERVERS} hosts` };
  if (ports.length > 1 && ports.length !== entries.length)
    return { problem: `its list has ${entries.length} hosts and ${ports.length} ports` };
  for (const name of ['host', 'port', 'target_session_attrs']) parameters.delete(name);
  const servers: ListedServer[] = [];
  for (const [index, entry] of entries.entries()) {
    const own = inQuery === null ? splitPort(entry) : { host: entry, port: splitPort(hosts)?.port };
    const host = own === undefined ? undefined : validHost(own.host);
    if (own === undefined || host === undefined)
      return { problem: `host ${index + 1} of its list is not a host name or an address (IPv6 in brackets)` };
    const written = (ports.length === 1 ? ports[0] : ports[index]) || own.port;
    const port = written === undefined ? undefined : validPort(written);
    if (port === null) return { problem: `host ${index + 1} of its list has a port that is not from 1 to 65535` };
    const same = servers.findIndex(other => other.host === host && (other.port ?? 5432) === (port ?? 5432));
    if (same >= 0) return { problem: `hosts ${same + 1} and ${index + 1} of its list are the same` };
    servers.push({ host, port, url: `${scheme}${authority.slice(0, at)}${place(host, port, path, parameters)}` });
  }
  return { servers };
}

/** Returns the URL of the first server; the URL itself if there is one, or if the list cannot be used. */
export function firstServerUrl(url: string): string {
  const list = parseServerList(url);
  return (list !== undefined && 'servers' in list ? list.servers[0]?.url : undefined) ?? url;
}

/** Returns how a server is named in messages. */
export function serverName({ host, port }: Pick<ListedServer, 'host' | 'port'>): string {
  const name = isIPv6(host) ? `[${host}]` : host;
  return port === undefined ? name : `${name}:${port}`;
}

function place(host: string, port: number | undefined, path: string, parameters: URLSearchParams): string {
  const query = new URLSearchParams(parameters);
  const isSocket = host.startsWith('/');
  if (isSocket) query.set('host', host);
  const name = serverName({ host: isSocket ? 'localhost' : host, port });
  return `${name}${path}${query.size === 0 ? '' : `?${query}`}`;
}

/** Returns undefined for an address whose brackets do not match; `port` is undefined where there is none. */
function splitPort(entry: string): { host: string; port: string | undefined } | undefined {
  const found = /^(?:\[([^[\]]*)\]|([^:[\]]*))(?::([^:]*))?$/.exec(entry);
  if (found === null) return undefined;
  const [, address, name = '', port] = found;
  if (address !== undefined && !isIPv6(address)) return undefined;
  return { host: address ?? name, port };
}

function validHost(written: string): string | undefined {
  let host: string;
  try {
    host = decodeURIComponent(written);
  } catch {
    return undefined;
  }
  const isValid = HOST_NAME.test(host) || isIPv6(host) || /^\/[^?#]*$/.test(host);
  return isValid && host.length <= 255 ? host : undefined;
}

function validPort(written: string): number | null {
  const port = /^\d{1,5}$/.test(written) ? Number(written) : 0;
  return port > 0 && port < 65_536 ? port : null;
}
