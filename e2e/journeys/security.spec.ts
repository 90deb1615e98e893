import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, publishApproval, settled, startApproval, test } from '../fixtures/console.ts';

/** Attacks on a browser through other users' data and through other sites (docs/security.md). */

/** Each text would run a script in a page that inserts it as HTML; a page that escapes it runs none. */
const scripts = [
  '<img src=x onerror="window.pwned=1">',
  '<script>window.pwned=1</script>',
  '<svg onload="window.pwned=1"></svg>',
  '<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>',
  '[click](javascript:window.pwned=1)',
  '[click](data:text/html,<script>opener.pwned=1</script>)',
  '![x](https://tracker.example.com/pixel.png)',
  '<a href="javascript:window.pwned=1">click</a>',
];
const hostile = scripts.join('\n\n');

test('data of workflows, runs and tasks is shown, never run', async ({ api, context, member }) => {
  const graph = {
    steps: [
      {
        id: 'say',
        type: 'lua_script',
        name: scripts[0],
        script: 'log(input.text) return {text = input.text, html = "<b>" .. input.text}',
      },
      {
        id: 'ask',
        type: 'human_task',
        name: scripts[1],
        instructions: `{{input.text}}\n\n${hostile}`,
        depends_on: ['say'],
      },
    ],
  };
  const { id } = await api.call('POST', '/v1/workflows', { name: scripts[2], description: hostile, graph });
  await api.call('POST', `/v1/workflows/${id}/versions`, { changelog: hostile });
  const started = {
    command: 'start',
    params: { trigger_type: 'x"><img src=x onerror=window.pwned=1>', text: hostile },
  };
  const { run_id } = await api.call('POST', `/v1/workflows/${id}/command`, started);
  await expect
    .poll(async () => (await api.call('GET', `/v1/workflows/${id}/runs/${run_id}/summary`)).pending_tasks)
    .toBe(1);

  // The content is drawn in a new page, because the browser's console reports each script that the policy stops.
  await member.close();
  const page = await context.newPage();
  const outside: string[] = [];
  page.on('request', request => {
    if (request.url().includes('tracker.example.com')) outside.push(request.url());
  });
  for (const path of [
    '/workflows',
    `/workflows/${id}`,
    '/runs',
    `/workflows/${id}/runs/${run_id}`,
    `/inbox/${run_id}/ask`,
  ]) {
    await page.goto(path);
    await settled(page);
    expect(await page.evaluate(() => 'pwned' in window), path).toBe(false);
    // Links from data lead only to http, and no element from data is executable.
    expect(
      await page.locator('a[href^="javascript:"], a[href^="data:"], iframe, img[onerror], svg[onload]').count(),
      path,
    ).toBe(0);
  }
  await expect(page.getByText('window.pwned=1').first()).toBeVisible();
  expect(outside).toEqual([]);
});

test('the content security policy of a page blocks injected code and foreign requests', async ({ context, member }) => {
  await member.close();
  const page = await context.newPage();
  const response = await page.goto('/workflows');
  const policy = response?.headers()['content-security-policy'] ?? '';
  expect(policy).toMatch(/script-src 'self' 'nonce-[0-9a-f]{32}' 'strict-dynamic'(;|$)/);
  expect(policy).not.toContain('unsafe-eval');
  for (const directive of ["object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "connect-src 'self'"]) {
    expect(policy).toContain(directive);
  }
  await settled(page);
  const blocked = page.waitForEvent('console', message => message.text().includes('Content Security Policy'));
  await page.evaluate(() => document.body.insertAdjacentHTML('beforeend', '<img src="x" onerror="window.pwned=1">'));
  await blocked;
  const evaluated = page.evaluate(
    () =>
      new Promise(resolve => {
        addEventListener('securitypolicyviolation', event => resolve(event.effectiveDirective), { once: true });
        void fetch('https://tracker.example.com/').catch(() => undefined);
      }),
  );
  expect(await evaluated).toBe('connect-src');
  expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
});

test('another site can neither decide, nor start, nor read with the cookie of a browser', async ({
  api,
  context,
  member,
  server,
}) => {
  const workflow = await publishApproval(api, 'Forged');
  const run = await startApproval(api, workflow, 'this');
  const complete = `/v1/workflows/${workflow}/runs/${run}/tasks/ask/complete`;
  const target = server.url.replace('127.0.0.1', 'localhost');
  const attack = `<form id="f" method="post" enctype="text/plain" action="${server.url}${complete}"><input name='{"approved":true,"x":"' value='"}'></form>
    <img src="${server.url}${complete}?approved=true"><img src="${target}/inbox/${run}/ask?approved=true">`;
  const evil = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(attack));
  await new Promise<void>(resolve => evil.listen(0, '127.0.0.1', resolve));
  try {
    await member.close();
    const page = await context.newPage();
    // The other site is opened by its name: cookies are separate for each host, and localhost is not 127.0.0.1.
    await page.goto(`http://localhost:${(evil.address() as AddressInfo).port}/`);
    const outcomes = await page.evaluate(
      async ({ url, path, id }) => {
        const attempt = async (init: RequestInit) =>
          await fetch(url + path, { mode: 'cors', credentials: 'include', ...init }).then(
            response => response.status,
            () => 'blocked',
          );
        const socket = new Promise(resolve => {
          const opened = new WebSocket(`${url.replace('http', 'ws')}/v1/workflows/${id}/stream`);
          opened.onopen = () => resolve('open');
          opened.onerror = () => resolve('refused');
        });
        return [
          await attempt({ method: 'POST', body: '{"approved":true}' }),
          await attempt({ method: 'POST', body: '{"approved":true}', headers: { 'Content-Type': 'application/json' } }),
          await attempt({}),
          await socket,
        ];
      },
      { url: server.url, path: complete, id: workflow },
    );
    expect(outcomes).toEqual(['blocked', 'blocked', 'blocked', 'refused']);
    const answered = page.waitForResponse(
      response => response.url().endsWith('/complete') && response.request().method() === 'POST',
    );
    await page.evaluate(() => document.querySelector('form')?.submit());
    expect([401, 403, 415]).toContain((await answered).status());
  } finally {
    evil.close();
  }
  const summary = await api.call('GET', `/v1/workflows/${workflow}/runs/${run}/summary`);
  expect(summary).toMatchObject({ orchestration_phase: 'blocked', pending_tasks: 1 });
});

test('a scanner that opens every link, with or without the cookie, decides nothing', async ({
  api,
  context,
  member,
  server,
}) => {
  const workflow = await publishApproval(api, 'Scanned');
  const run = await startApproval(api, workflow, 'this');
  await member.goto(`/inbox/${run}/ask`);
  await settled(member);
  const links = await member.locator('a[href]').evaluateAll(all => all.map(link => (link as HTMLAnchorElement).href));
  const own = [...new Set(links)].filter(link => link.startsWith(server.url) && !link.includes('/api/auth/'));
  expect(own.length).toBeGreaterThan(3);
  const complete = `${server.url}/v1/workflows/${workflow}/runs/${run}/tasks/ask/complete`;
  for (const link of [...own, complete, `${complete}?approved=true`]) {
    for (const request of [context.request, null]) {
      const status = request ? (await request.get(link)).status() : (await fetch(link)).status;
      expect(status, link).toBeLessThan(500);
      if (link.startsWith(complete)) expect(status).toBe(405);
    }
  }
  const summary = await api.call('GET', `/v1/workflows/${workflow}/runs/${run}/summary`);
  expect(summary).toMatchObject({ orchestration_phase: 'blocked', pending_tasks: 1 });
});

test('every HTML response has exactly one policy: pages, next-auth, and error pages of Next', async ({ server }) => {
  const paths = ['/', '/sign-in', '/nope', '/setup', '/api/auth/signout', '/api/auth/verify-request', '/api/auth/nope'];
  const errors = [
    '/api/nope',
    '/_next/nope',
    '/_next/static/nope.js',
    '/_next/image?url=x',
    '/v1/nope',
    '/%',
    '/favicon.ico',
  ];
  let pages = 0;
  for (const path of [...paths, ...errors]) {
    const answer = await fetch(server.url + path, { redirect: 'manual' });
    await answer.text();
    if (!answer.headers.get('content-type')?.includes('text/html')) continue;
    pages += 1;
    const policy = answer.headers.get('content-security-policy') ?? 'none';
    // Two headers would arrive as one text, and a browser would enforce both.
    expect([path, policy.match(/default-src/g)?.length, policy.match(/frame-ancestors 'none'/g)?.length]).toEqual([
      path,
      1,
      1,
    ]);
  }
  expect(pages).toBeGreaterThan(4);
});

test('the console accepts no upgrade: it answers and closes the connection', async ({ server }) => {
  for (const path of ['/', '//', '/sign-in', '/_next/webpack-hmr', '/api/auth/session']) {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    let text = '';
    socket.on('data', chunk => {
      text += chunk;
    });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
    await once(socket, 'end');
    expect(text).toMatch(/^HTTP\/1\.1 404 /);
  }
});

test('malformed request lines are refused, and no request causes a 500', async ({ server }) => {
  const refused = ['OPTIONS *', 'TRACE /', 'GET /workflows/%E0%A4%A', 'GET http://x/', 'GET //x/', 'POST /workflows'];
  const odd = [
    'GET /%00',
    'GET /workflows/%00',
    'GET /workflows/%2e%2e%2f',
    'GET /\u00ff',
    'GET /_next/image',
    'GET /?%',
  ];
  const headers = [
    'RSC: 1',
    'Next-Router-State-Tree: x',
    'Next-Action: x',
    'Next-Router-Prefetch: 1',
    'Next-Url: http://[',
  ];
  const lines = [...refused, ...odd].map(line => [line, ''] as const);
  for (const [line, header] of [...lines, ...headers.map(header => ['GET /workflows', header] as const)]) {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    let text = '';
    socket.on('data', chunk => {
      text += chunk;
    });
    socket.write(
      `${line} HTTP/1.1\r\nHost: x\r\n${header === '' ? '' : `${header}\r\n`}Connection: close\r\n\r\n`,
      'latin1',
    );
    await once(socket, 'end');
    const status = Number(text.slice(9, 12));
    if (refused.includes(line)) expect([400, 405], line).toContain(status);
    expect(status, `${line} ${header}`).toBeGreaterThan(199);
    expect(status, `${line} ${header}`).toBeLessThan(500);
  }
});
