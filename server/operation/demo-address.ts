import { networkInterfaces } from 'node:os';

type Http = { url: string; host: string; port: number };

/** Returns this machine's own address; requests to it never go through a proxy in front of the public URL. */
export function ownOrigin({ host, port }: Http): string {
  const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${own.includes(':') ? `[${own}]` : own}:${port}`;
}

/** Returns the origins under which this service is reached: its public one, and those of this machine. */
export function ownOrigins(http: Http): string[] {
  const here = Object.values(networkInterfaces()).flatMap(addresses => addresses ?? []);
  const local = here.map(({ address, family }) => {
    const [bare = ''] = address.split('%');
    return `http://${family === 'IPv6' ? `[${bare}]` : bare}:${http.port}`;
  });
  const origins = [...ownAddresses(http, '/'), `http://[::1]:${http.port}`, ...local];
  return [...new Set(origins.map(origin => new URL(origin).origin))];
}

/** Returns the exact addresses of a path of this service, in each form that people may write. */
export function ownAddresses(http: Http, path: string): string[] {
  const origins = [ownOrigin(http), http.url, `http://127.0.0.1:${http.port}`, `http://localhost:${http.port}`];
  return [...new Set(origins)].map(origin => `${origin}${path}`);
}
