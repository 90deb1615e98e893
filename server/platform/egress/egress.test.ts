import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { testCertificate } from '../../testing/certificate.ts';
import { startTestDns, type TestDns } from '../../testing/dns.ts';
import { createEgress, type Egress, type EgressOptions, EgressRefused } from './egress.ts';
import { BodyTooLarge, limitBody } from './limit-body.ts';

const publicAddress = '93.184.215.14';
const closing: (() => Promise<unknown> | unknown)[] = [];
let dns: TestDns;

beforeAll(async () => {
  dns = await startTestDns();
});
afterAll(() => dns.close());
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function egress(options: Partial<EgressOptions> = {}): Egress {
  const made = createEgress({ allowPrivate: [], lookup: dns.lookup, ...options });
  closing.push(() => made.close());
  return made;
}

type Seen = { method: string; url: string; headers: IncomingMessage['headers']; body: string };

/** A server on 127.0.0.1 that records the requests that reach it. */
async function serve(answer: (request: Seen, response: ServerResponse) => void, { tls = false } = {}) {
  const seen: Seen[] = [];
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    const noted = { method, url, headers, body: Buffer.concat(chunks).toString() };
    seen.push(noted);
    answer(noted, response);
  };
  const server = tls ? createTlsServer(testCertificate, listener) : createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    return new Promise(done => server.close(done));
  });
  return { seen, port: (server.address() as AddressInfo).port };
}
const answerOk = (_: Seen, response: ServerResponse) => void response.end('ok');

describe('what may be called', () => {
  test.each([
    'http://127.0.0.1:1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://127.0.0.1./',
    'http://１２７.0.0.1/',
    'http://0/',
    'http://[::]/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[fd00:ec2::254]/latest/meta-data',
    'http://169.254.169.254/latest/meta-data',
    'https://10.0.0.1:8443/',
    'http://[fe80::1%25eth0]/',
    'file:///etc/passwd',
    'ftp://1.1.1.1/',
    'data:text/plain,x',
    'http://user:secret@1.1.1.1/',
    'http://user@1.1.1.1/',
    'http://',
    'no url',
    '',
  ])('not %s', async url => {
    const refused = egress();
    await expect(refused.check(url)).rejects.toThrow(EgressRefused);
    await expect(refused.fetch(url)).rejects.toThrow(EgressRefused);
  });

  test.each(['localhost', 'localhost.', 'LOCALHOST'])('not %s, which the system resolves', async host => {
    const refused = egress({ lookup: undefined });
    await expect(refused.check(`http://${host}/`)).rejects.toThrow(EgressRefused);
    await expect(refused.fetch(`http://${host}/`)).rejects.toThrow(EgressRefused);
  });

  test('a private IPv4 address is refused, in any spelling of a URL', async () => {
    const { check } = egress();
    const byte = fc.nat(255);
    const address = fc.oneof(
      fc.tuple(fc.constantFrom(0, 10, 127), byte, byte, byte),
      fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
      fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
    );
    const spelling = fc.constantFrom<(part: number) => string>(
      part => String(part),
      part => `0x${part.toString(16)}`,
      part => `0${part.toString(8)}`,
      part => `0X000${part.toString(16).toUpperCase()}`,
      part => `%3${String(part).charAt(0)}${String(part).slice(1)}`,
    );
    const written = fc.tuple(address, fc.array(spelling, { minLength: 4, maxLength: 4 }), fc.nat(3), fc.boolean());
    await fc.assert(
      fc.asyncProperty(written, async ([parts, spellings, joined, dot]) => {
        // The last `joined + 1` parts as one number, which is how inet_aton reads 127.1.
        const tail = parts.slice(3 - joined).reduce((sum, part) => sum * 256 + part, 0);
        const all = [...parts.slice(0, 3 - joined), tail];
        const host = all.map((part, at) => spellings[at]?.(part)).join('.') + (dot ? '.' : '');
        await expect(check(`http://${host}/`), host).rejects.toThrow(EgressRefused);
        await expect(check(`http://[::ffff:${parts.join('.')}]/`)).rejects.toThrow(EgressRefused);
      }),
      { numRuns: 500 },
    );
  });

  test('a name that has a private address is refused, IPv4 or IPv6', async () => {
    const { check } = egress();
    for (const [at, answer] of [
      ['127.0.0.1'],
      [publicAddress, '10.0.0.1'],
      [publicAddress, 'fd00::1'],
      ['::1'],
    ].entries()) {
      dns.set(`n${at}.test`, answer);
      const refused = check(`https://n${at}.test/`);
      await expect(refused).rejects.toThrow(EgressRefused);
      // The error must not reveal to which address a name in the internal network resolves.
      await expect(refused).rejects.not.toThrow(/10\.0|127\.|fd00|::1/);
    }
    dns.set('fine.test', [publicAddress, '2606:4700::1111']);
    await expect(check('https://fine.test/')).resolves.toBeUndefined();
  });

  test('an unknown name is a network failure, as with fetch', async () => {
    await expect(egress().fetch('http://nowhere.test/')).rejects.toThrow(TypeError);
    await expect(egress().check('http://nowhere.test/')).rejects.toMatchObject({ cause: { code: 'ENOTFOUND' } });
  });

  test('addresses, networks and names on the operator’s list are allowed, whatever the names resolve to', async () => {
    const { port } = await serve(answerOk);
    dns.set('inner.test', ['127.0.0.1']);
    for (const entry of ['127.0.0.1', '127.0.0.0/8', 'inner.test']) {
      const response = await egress({ allowPrivate: [entry] }).fetch(`http://inner.test:${port}/`);
      expect(await response.text()).toBe('ok');
    }
    await expect(egress({ allowPrivate: ['other.test'] }).fetch(`http://inner.test:${port}/`)).rejects.toThrow(
      EgressRefused,
    );
    // The name is allowed, its address is not.
    await expect(egress({ allowPrivate: ['inner.test'] }).fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow(
      EgressRefused,
    );
  });

  test('an exempt URL is allowed, but only directly and only this exact URL', async () => {
    const { port, seen } = await serve(({ url }, response) => {
      if (url.startsWith('/away')) response.writeHead(302, { location: '/mcp' });
      response.end('ok');
    });
    const own = egress({ exempt: () => [`http://127.0.0.1:${port}/mcp`, `http://127.0.0.1:${port}/away`] });
    expect(await (await own.fetch(`http://127.0.0.1:${port}/mcp?session=1`)).text()).toBe('ok');
    await own.check(`http://127.0.0.1:${port}/mcp`);
    for (const other of [
      `127.0.0.1:${port}/`,
      `127.0.0.1:${port}/mcp/`,
      `127.0.0.1:${port}/mcp/../v1`,
      `localhost:${port}/mcp`,
    ]) {
      await expect(own.fetch(`http://${other}`), other).rejects.toThrow();
    }
    await expect(own.fetch(`https://127.0.0.1:${port}/mcp`)).rejects.toThrow(EgressRefused);
    await expect(own.fetch(`http://127.0.0.1:${port}/away`)).rejects.toThrow(EgressRefused);
    expect(seen.map(({ url }) => url)).toEqual(['/mcp?session=1', '/away']);
  });
});

test('a proxy from the environment is not used, because it would resolve the name itself', async () => {
  const target = await serve(answerOk);
  const proxy = await serve(answerOk);
  const script = `
    const { createEgress } = await import('./egress.ts');
    const egress = createEgress({ allowPrivate: ['127.0.0.1'] });
    process.stdout.write(await (await egress.fetch('http://127.0.0.1:${target.port}/')).text());
    await egress.close();`;
  const address = `http://127.0.0.1:${proxy.port}`;
  const env = { ...process.env, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: address, http_proxy: address, ALL_PROXY: address };
  const options = { cwd: import.meta.dirname, env: { ...env, NO_PROXY: '', no_proxy: '' } };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], options);
  expect([stdout, target.seen.length, proxy.seen.length]).toEqual(['ok', 1, 0]);
});

test('a closed guard sends nothing, whether or not it sent a request before', async () => {
  const { port, seen } = await serve(answerOk);
  const url = `http://127.0.0.1:${port}/`;
  const used = egress({ allowPrivate: ['127.0.0.1'] });
  await (await used.fetch(url)).text();
  const unused = egress({ allowPrivate: ['127.0.0.1'] });
  for (const ended of [used, unused]) {
    await ended.close();
    await expect(ended.fetch(url)).rejects.toThrow();
  }
  expect(seen).toHaveLength(1);
});

describe('a rebound name', () => {
  test('does not get through between the check and the connection', async () => {
    const { port, seen } = await serve(answerOk);
    dns.set('rebind.test', [publicAddress], ['127.0.0.1']);
    await expect(egress().fetch(`http://rebind.test:${port}/`)).rejects.toThrow(EgressRefused);
    expect(dns.asked('rebind.test')).toBe(2);
    expect(seen).toEqual([]);
  });

  test('is refused after a connection, even while one is kept open', async () => {
    const { port, seen } = await serve(answerOk);
    dns.set('later.test', ['127.0.0.1'], ['127.0.0.1'], ['10.0.0.1']);
    const { fetch } = egress({ allowPrivate: ['127.0.0.1'] });
    expect(await (await fetch(`http://later.test:${port}/`)).text()).toBe('ok');
    await expect(fetch(`http://later.test:${port}/`)).rejects.toThrow(EgressRefused);
    expect(seen).toHaveLength(1);
  });

  test('cannot use the connection of an allowed name', async () => {
    const { port, seen } = await serve(answerOk);
    dns.set('allowed.test', ['127.0.0.1']);
    dns.set('foreign.test', ['127.0.0.1']);
    const { fetch } = egress({ allowPrivate: ['allowed.test'] });
    expect(await (await fetch(`http://allowed.test:${port}/`)).text()).toBe('ok');
    await expect(fetch(`http://foreign.test:${port}/`)).rejects.toThrow(EgressRefused);
    expect(seen.map(({ headers }) => headers.host)).toEqual([`allowed.test:${port}`]);
  });
});

describe('redirects', () => {
  const allowPrivate = ['127.0.0.1'];
  const redirectTo = (status: number, location: string) =>
    serve((_, response) => void response.writeHead(status, { location }).end('moved'));

  test.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]:80/',
    'http://inner-redirect.test/',
    'file:///etc/passwd',
    'http://user:pass@127.0.0.1/',
    'http://[bad',
  ])('to %s are refused', async location => {
    dns.set('inner-redirect.test', ['10.0.0.1']);
    const { port } = await redirectTo(302, location);
    await expect(egress({ allowPrivate }).fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow(EgressRefused);
  });

  test('are followed five times, and not a sixth', async () => {
    const { port, seen } = await serve(({ url }, response) => {
      const left = Number(url.slice(1));
      if (left === 0) return void response.end('there');
      response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    const { fetch } = egress({ allowPrivate });
    const response = await fetch(`http://127.0.0.1:${port}/5`);
    expect([await response.text(), response.url]).toEqual(['there', `http://127.0.0.1:${port}/0`]);
    await expect(fetch(`http://127.0.0.1:${port}/6`)).rejects.toThrow(TypeError);
    expect(seen).toHaveLength(6 + 6);
  });

  test('send no credential to another origin, under any name, and keep credentials within one origin', async () => {
    const target = await serve(answerOk);
    const { port } = await serve(({ url }, response) =>
      url === '/within'
        ? void response.end('ok')
        : void response
            .writeHead(307, { location: url === '/out' ? `http://127.0.0.1:${target.port}/` : '/within' })
            .end(),
    );
    const { fetch } = egress({ allowPrivate });
    const headers = {
      Authorization: 'S3CRET',
      Cookie: 'S3CRET',
      'X-Api-Key': 'S3CRET',
      'My-Own-Header': 'S3CRET',
      'Mcp-Session-Id': 'S3CRET',
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
    };
    const request = { method: 'POST', headers, body: '{}' };
    await fetch(`http://127.0.0.1:${port}/out`, request);
    expect(JSON.stringify(target.seen)).not.toContain('S3CRET');
    expect(target.seen[0]).toMatchObject({
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', host: `127.0.0.1:${target.port}` },
    });
    const within = await serve(({ url }, response) =>
      url === '/b' ? void response.end() : void response.writeHead(307, { location: '/b' }).end(),
    );
    await fetch(`http://127.0.0.1:${within.port}/a`, request);
    expect(within.seen[1]?.headers).toMatchObject({ authorization: 'S3CRET', 'my-own-header': 'S3CRET' });
  });

  test.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [302, 'PUT', 'PUT', 'body'],
    [303, 'PUT', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [307, 'POST', 'POST', 'body'],
    [308, 'PATCH', 'PATCH', 'body'],
  ])('%i after %s continues as %s', async (status, method, then, body) => {
    const target = await serve(answerOk);
    const { port } = await redirectTo(status, `http://127.0.0.1:${target.port}/`);
    await egress({ allowPrivate }).fetch(new Request(`http://127.0.0.1:${port}/`, { method, body: 'body' }));
    expect(target.seen).toMatchObject([{ method: then, body }]);
    expect(target.seen[0]?.headers['content-type'] === undefined).toBe(body === '');
  });

  test('do not repeat a stream', async () => {
    const target = await serve(answerOk);
    const { port } = await redirectTo(307, `http://127.0.0.1:${target.port}/`);
    const body = new Blob(['streamed']).stream();
    const sent = egress({ allowPrivate }).fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body,
      duplex: 'half',
    } as RequestInit);
    await expect(sent).rejects.toThrow(TypeError);
    expect(target.seen).toEqual([]);
  });

  test('are returned, or are an error, if the caller asks for that', async () => {
    const { port } = await redirectTo(302, 'http://169.254.169.254/');
    const { fetch } = egress({ allowPrivate });
    const response = await fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([302, 'http://169.254.169.254/']);
    await expect(fetch(`http://127.0.0.1:${port}/`, { redirect: 'error' })).rejects.toThrow(TypeError);
  });
});

describe('https', () => {
  const before = getCACertificates();
  beforeAll(() => setDefaultCACertificates([...before, testCertificate.cert]));
  afterAll(() => setDefaultCACertificates(before));
  const allowPrivate = ['127.0.0.1'];

  test('the certificate is checked against the name, though the connection goes to a pinned address', async () => {
    const { port, seen } = await serve(answerOk, { tls: true });
    dns.set('secure.test', ['127.0.0.1']);
    dns.set('insecure.test', ['127.0.0.1']);
    const { fetch } = egress({ allowPrivate });
    expect(await (await fetch(`https://secure.test:${port}/`)).text()).toBe('ok');
    await expect(fetch(`https://insecure.test:${port}/`)).rejects.toMatchObject({
      cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    });
    expect(seen).toHaveLength(1);
  });

  test('no redirect leads from https to http', async () => {
    const plain = await serve(answerOk);
    const to = { location: `http://127.0.0.1:${plain.port}/` };
    const { port } = await serve((_, response) => void response.writeHead(302, to).end(), { tls: true });
    dns.set('secure.test', ['127.0.0.1']);
    await expect(egress({ allowPrivate }).fetch(`https://secure.test:${port}/`)).rejects.toThrow(/https to http/);
    expect(plain.seen).toEqual([]);
  });
});

describe('responses', () => {
  const allowPrivate = ['127.0.0.1'];

  test('stream, and a cancelled one ends the connection', async () => {
    let ended: Promise<unknown> | undefined;
    const { port } = await serve((_, response) => {
      ended = once(response, 'close');
      response.write('first');
    });
    const abort = new AbortController();
    const response = await egress({ allowPrivate }).fetch(`http://127.0.0.1:${port}/`, { signal: abort.signal });
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('first');
    abort.abort(new Error('stopped'));
    await expect(reader?.read()).rejects.toThrow('stopped');
    await ended;
  });

  test('that never begin, or stop midway, time out; so does a look-up', async () => {
    const { port } = await serve(({ url }, response) => {
      if (url === '/begin') response.write('first');
    });
    const silentFirst = egress({ allowPrivate, timeouts: { headers: 100 } });
    await expect(silentFirst.fetch(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({
      cause: { code: 'UND_ERR_HEADERS_TIMEOUT' },
    });
    const silentThen = egress({ allowPrivate, timeouts: { body: 100 } });
    const begun = await silentThen.fetch(`http://127.0.0.1:${port}/begin`);
    await expect(begun.text()).rejects.toMatchObject({ cause: { code: 'UND_ERR_BODY_TIMEOUT' } });

    const silent = egress({ lookup: () => new Promise(() => {}), timeouts: { connect: 100 } });
    await expect(silent.fetch('http://silent.test/')).rejects.toMatchObject({ cause: { name: 'TimeoutError' } });
  });

  test('a signal ends a look-up too', async () => {
    const { fetch } = egress({ lookup: () => new Promise(() => {}) });
    const abort = new AbortController();
    const sent = fetch('http://silent.test/', { signal: abort.signal });
    abort.abort(new Error('stopped'));
    await expect(sent).rejects.toThrow('stopped');
  });

  test('of every kind of body arrive as sent', async () => {
    const { port, seen } = await serve(answerOk);
    const { fetch } = egress({ allowPrivate });
    const form = new FormData();
    form.set('field', 'value');
    for (const body of [
      'text',
      new URLSearchParams({ a: 'ä b' }),
      new TextEncoder().encode('bytes'),
      new Blob(['blob']),
      form,
    ]) {
      await fetch(new URL(`http://127.0.0.1:${port}/`), { method: 'POST', body });
    }
    expect(seen.map(({ body }) => body).slice(0, 4)).toEqual(['text', 'a=%C3%A4+b', 'bytes', 'blob']);
    expect(seen[4]?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(seen[4]?.body).toContain('name="field"\r\n\r\nvalue');
    for (const { headers } of seen) expect(headers['content-length']).toBeDefined();
  });

  test('are cut off beyond their reader’s limit, even if they were small when compressed', async () => {
    const bomb = gzipSync(Buffer.alloc(5_000_000));
    const { port } = await serve(
      (_, response) => void response.writeHead(201, { 'content-encoding': 'gzip', 'x-a': 'b' }).end(bomb),
    );
    const { fetch } = egress({ allowPrivate });
    const limited = limitBody(await fetch(`http://127.0.0.1:${port}/`), 1_000_000);
    expect([limited.status, limited.headers.get('x-a'), limited.url]).toEqual([201, 'b', `http://127.0.0.1:${port}/`]);
    await expect(limited.text()).rejects.toThrow(BodyTooLarge);
    expect((await limitBody(await fetch(`http://127.0.0.1:${port}/`), 5_000_000).arrayBuffer()).byteLength).toBe(
      5_000_000,
    );
    expect(limitBody(new Response(null, { status: 204 }), 0).status).toBe(204);
  });
});
