import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

/** Reloads the modules, as each page does, in a browser with another tab. */
async function newPage() {
  vi.resetModules();
  const gate = await import('../trpc/session-gate.ts');
  const recovery = await import('./session-recovery.ts');
  return { ...gate, ...recovery };
}

const ada = { id: 'ada', name: 'Ada', email: 'ada@example.com' };
let holder: string | null = null;
let isAway = false;
const fetched = vi.fn();
const reload = vi.fn();
const assign = vi.fn();

beforeEach(() => {
  holder = null;
  isAway = false;
  vi.stubGlobal('fetch', async (path: string) => {
    fetched(path);
    if (isAway) throw new TypeError('Failed to fetch');
    return holder === null ? new Response('{}', { status: 401 }) : Response.json({ user: { id: holder } });
  });
  vi.stubGlobal('window', {
    location: { reload, assign, pathname: '/workflows/1', search: '?tab=runs' },
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
    sessionStorage: { clear: () => undefined },
  });
  vi.stubGlobal('document', { addEventListener: () => undefined, removeEventListener: () => undefined });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.clearAllMocks();
});

const nextTask = () => new Promise(resolve => setTimeout(resolve, 0));

describe('calls that were refused without a session', () => {
  test('all wait until the person has signed in again, with one common dialog', async () => {
    const page = await newPage();
    const stop = page.watchSession(ada);
    const calls = Array.from({ length: 10 }, () => page.untilSignedIn());
    await vi.waitFor(() => expect(page.asking.isOpen()).toBe(true));
    expect(fetched).toHaveBeenCalledTimes(1);
    // As after a wrong password.
    await page.checkSession();
    expect(page.asking.isOpen()).toBe(true);
    holder = 'ada';
    await page.checkSession();
    expect(await Promise.all(calls)).toEqual(Array(10).fill(true));
    expect(page.asking.isOpen()).toBe(false);
    // The session may end again.
    holder = null;
    const later = page.untilSignedIn();
    await vi.waitFor(() => expect(page.asking.isOpen()).toBe(true));
    holder = 'ada';
    await page.checkSession();
    expect(await later).toBe(true);
    stop();
  });

  test('are repeated without a dialog if there is a session again', async () => {
    const page = await newPage();
    const stop = page.watchSession(ada);
    holder = 'ada';
    expect(await page.untilSignedIn()).toBe(true);
    expect(page.asking.isOpen()).toBe(false);
    stop();
  });

  test('wait while a session is replaced, except for the call that replaces it', async () => {
    const page = await newPage();
    const stop = page.watchSession(ada);
    const { promise, resolve } = Promise.withResolvers<void>();
    page.renewSession(promise);
    const call = page.untilSignedIn();
    await nextTask();
    expect(fetched).not.toHaveBeenCalled();
    holder = 'ada';
    resolve();
    expect(await call).toBe(true);
    expect(page.asking.isOpen()).toBe(false);

    vi.useFakeTimers();
    const replacingCall: Promise<unknown> = Promise.resolve().then(() => page.untilSignedIn());
    page.renewSession(replacingCall);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await replacingCall).toBe(true);
    vi.useRealTimers();
    stop();
  });

  test('are never repeated for another person: the page is reloaded', async () => {
    const page = await newPage();
    const stop = page.watchSession(ada);
    const settled = vi.fn();
    void page.untilSignedIn().then(settled);
    await vi.waitFor(() => expect(page.asking.isOpen()).toBe(true));
    holder = 'bob';
    await page.checkSession();
    await nextTask();
    expect(reload).toHaveBeenCalledOnce();
    expect(settled).not.toHaveBeenCalled();
    stop();
  });

  test('fail if the server cannot name the user of the session, and if they are aborted', async () => {
    const page = await newPage();
    const stop = page.watchSession(ada);
    isAway = true;
    expect(await page.untilSignedIn()).toBe(false);
    isAway = false;
    const controller = new AbortController();
    const call = page.untilSignedIn(controller.signal);
    await vi.waitFor(() => expect(page.asking.isOpen()).toBe(true));
    controller.abort();
    expect(await call).toBe(false);
    stop();
  });
});

describe('tabs of one browser', () => {
  test('signing in in one tab restores the others, and signing out leaves them', async () => {
    const page = await newPage();
    const stop = page.watchSession(ada);
    const other = new BroadcastChannel('baton-session');
    const call = page.untilSignedIn();
    await vi.waitFor(() => expect(page.asking.isOpen()).toBe(true));
    holder = 'ada';
    other.postMessage({ says: 'signed-in' });
    expect(await call).toBe(true);

    other.postMessage({ says: 'signed-out', forgets: true });
    await vi.waitFor(() => expect(assign).toHaveBeenCalledWith('/sign-in'));
    expect(page.isLeaving()).toBe(true);
    expect(page.hasForgottenEdits()).toBe(true);
    other.close();
    page.sessionChannel()?.close();
    stop();
  });

  test('signing in as another person in one tab reloads the others', async () => {
    const page = await newPage();
    const stop = page.watchSession(ada);
    const other = new BroadcastChannel('baton-session');
    holder = 'bob';
    other.postMessage({ says: 'signed-in' });
    await vi.waitFor(() => expect(reload).toHaveBeenCalledOnce());
    other.close();
    page.sessionChannel()?.close();
    stop();
  });
});
