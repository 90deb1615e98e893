import { leaveSession, provideRecovery, type SessionWord, sessionChannel } from '../trpc/session-gate.ts';
import { isRecord } from '../ui/errors.ts';

/** The person for whom the page was rendered. */
export type PagePerson = { id: string; name: string; email: string };

type Holder = 'same' | 'other' | 'none';

/** Compares the user of the browser's present session with the person `id`. Throws if the server cannot tell. */
async function readHolder(id: string): Promise<Holder> {
  const response = await fetch('/v1/me', { cache: 'no-store' });
  if (response.status === 401) return 'none';
  const body: unknown = response.ok ? await response.json() : null;
  const user = isRecord(body) ? body.user : null;
  if (!isRecord(user)) throw new Error(`The server answered ${response.status}.`);
  return user.id === id ? 'same' : 'other';
}

let person: PagePerson | null = null;
/** Resolves the wait of the refused calls; null unless the dialog is open. */
let endWait: ((hasSession: boolean) => void) | null = null;
const listeners = new Set<() => void>();

/** The state of the dialog, for useSyncExternalStore. */
export const asking = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  isOpen: () => endWait !== null,
};

/** Resolves to true once the person has a session again. Asks for the password if there is no session. */
export async function recoverSession(): Promise<boolean> {
  if (person === null) return false;
  const holder = await readHolder(person.id);
  if (holder === 'same') return true;
  if (holder === 'other') return reloadForOther();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  setEndWait(resolve);
  return promise;
}

/**
 * Checks the session again, for example after a sign-in here or in another tab. Refused calls continue for the same
 * person; for another person the page is reloaded.
 */
export async function checkSession(): Promise<void> {
  if (person === null) return;
  const holder = await readHolder(person.id).catch(() => 'none' as const);
  if (holder === 'other') void reloadForOther();
  else if (holder === 'same') {
    endWait?.(true);
    setEndWait(null);
  }
}

function setEndWait(next: typeof endWait): void {
  endWait = next;
  for (const listener of listeners) listener();
}

/** Reloads the page for another person. Unsaved edits stay stored for their author. The promise never resolves. */
function reloadForOther(): Promise<never> {
  leaveSession('keeps');
  window.location.reload();
  return new Promise(() => undefined);
}

/** Removes what this tab stores for a person. */
export function forgetTab(): void {
  try {
    window.sessionStorage.clear();
  } catch {
    // A browser that refuses storage has stored nothing.
  }
}

/** Returns the path at which another person signs in and then comes back. */
export function signInPath(): string {
  const { pathname, search } = window.location;
  return `/sign-in?next=${encodeURIComponent(`${pathname}${search}`)}`;
}

/** Watches the session of a page until the returned function is called. Other tabs announce when the session ends or exists again. */
export function watchSession(pagePerson: PagePerson): () => void {
  person = pagePerson;
  provideRecovery(recoverSession);
  const channel = sessionChannel();
  const onTabMessage = ({ data }: MessageEvent<SessionWord>) => {
    if (data.says === 'signed-in') return void checkSession();
    leaveSession(data.forgets ? 'forgets' : 'keeps');
    if (data.forgets) forgetTab();
    window.location.assign('/sign-in');
  };
  const checkIfVisible = () => {
    if (endWait !== null && document.visibilityState === 'visible') void checkSession();
  };
  channel?.addEventListener('message', onTabMessage);
  document.addEventListener('visibilitychange', checkIfVisible);
  window.addEventListener('focus', checkIfVisible);
  return () => {
    channel?.removeEventListener('message', onTabMessage);
    document.removeEventListener('visibilitychange', checkIfVisible);
    window.removeEventListener('focus', checkIfVisible);
  };
}
