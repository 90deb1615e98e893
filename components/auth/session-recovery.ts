import { leaveSession, provideRecovery, type SessionWord, sessionChannel } from '../trpc/session-gate.ts';
import { isRecord } from '../ui/errors.ts';

/** The person whose page this is. */
export type PagePerson = { id: string; name: string; email: string };

type Holder = 'same' | 'other' | 'none';

/** Returns whose session this browser has now. Throws where the server cannot say. */
async function readHolder(id: string): Promise<Holder> {
  const response = await fetch('/v1/me', { cache: 'no-store' });
  if (response.status === 401) return 'none';
  const body: unknown = response.ok ? await response.json() : null;
  const user = isRecord(body) ? body.user : null;
  if (!isRecord(user)) throw new Error(`The server answered ${response.status}.`);
  return user.id === id ? 'same' : 'other';
}

let person: PagePerson | null = null;
/** Resolves the wait of the calls that were refused; null unless the person is being asked. */
let end: ((hasSession: boolean) => void) | null = null;
const listeners = new Set<() => void>();

/** The state of the dialog, for useSyncExternalStore. */
export const asking = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  isOpen: () => end !== null,
};

/** Resolves to true once the person has a session again, after asking for the password where there is none. */
export async function recoverSession(): Promise<boolean> {
  if (person === null) return false;
  const holder = await readHolder(person.id);
  if (holder === 'same') return true;
  if (holder === 'other') return loadAnew();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  setEnd(resolve);
  return promise;
}

/** Looks again, as after signing in here or in another tab: the same person goes on, and another one gets a page of their own. */
export async function checkSession(): Promise<void> {
  if (person === null) return;
  const holder = await readHolder(person.id).catch(() => 'none' as const);
  if (holder === 'other') void loadAnew();
  else if (holder === 'same') {
    end?.(true);
    setEnd(null);
  }
}

function setEnd(next: typeof end): void {
  end = next;
  for (const listener of listeners) listener();
}

/** Leaves a page that shows another person's work, with edits that stay theirs. The promise never resolves. */
function loadAnew(): Promise<never> {
  leaveSession('keeps');
  window.location.reload();
  return new Promise(() => undefined);
}

/** Removes what this tab keeps of a person. */
export function forgetTab(): void {
  try {
    window.sessionStorage.clear();
  } catch {
    // A browser that refuses storage has kept nothing.
  }
}

/** Where to sign in as another person, and come back. */
export function signInPath(): string {
  const { pathname, search } = window.location;
  return `/sign-in?next=${encodeURIComponent(`${pathname}${search}`)}`;
}

/** Watches over the session of a page until the returned function is called: other tabs tell when it ends or is there again. */
export function watchSession(whose: PagePerson): () => void {
  person = whose;
  provideRecovery(recoverSession);
  const channel = sessionChannel();
  const hear = ({ data }: MessageEvent<SessionWord>) => {
    if (data.says === 'signed-in') return void checkSession();
    leaveSession(data.forgets ? 'forgets' : 'keeps');
    if (data.forgets) forgetTab();
    window.location.assign('/sign-in');
  };
  const look = () => {
    if (end !== null && document.visibilityState === 'visible') void checkSession();
  };
  channel?.addEventListener('message', hear);
  document.addEventListener('visibilitychange', look);
  window.addEventListener('focus', look);
  return () => {
    channel?.removeEventListener('message', hear);
    document.removeEventListener('visibilitychange', look);
    window.removeEventListener('focus', look);
  };
}
