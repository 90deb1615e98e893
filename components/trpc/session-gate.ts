// Every page of the console loads this file at once; the code for a lost session is loaded later.

/** A message to the other tabs of this browser that a session has started or ended, and whether unsaved edits were removed. */
export type SessionWord = { says: 'signed-in' } | { says: 'signed-out'; forgets: boolean };

let renewal: Promise<unknown> = Promise.resolve();
let recovery: Promise<boolean> | null = null;
let provide: (recover: () => Promise<boolean>) => void = () => undefined;
const recoverer = new Promise<() => Promise<boolean>>(resolve => {
  provide = resolve;
});
type Leaving = 'no' | 'keeps' | 'forgets';
let leaving: Leaving = 'no';
let channel: BroadcastChannel | undefined;

/** Returns the channel between the tabs. A tab does not receive its own messages. */
export function sessionChannel(): BroadcastChannel | undefined {
  if (typeof BroadcastChannel !== 'undefined') channel ??= new BroadcastChannel('baton-session');
  return channel;
}

export const tellTabs = (word: SessionWord): void => sessionChannel()?.postMessage(word);

/** The maximum wait for a renewal: the renewing call may be refused itself, and then waits like other calls. */
const RENEWED_MS = 5_000;

/** Sets the function that recovers a session, once its code is loaded. Calls that are refused earlier wait for it. */
export const provideRecovery = (recover: () => Promise<boolean>): void => provide(recover);

/** Announces that the session is about to be replaced, for example by a change of the password. */
export function renewSession(work: Promise<unknown>): void {
  const late = new Promise(resolve => setTimeout(resolve, RENEWED_MS));
  renewal = Promise.race([work, late]).catch(() => undefined);
}

/**
 * Announces that the page is about to close after signing out: calls no longer wait for a session. `forgets`: the
 * person wants unsaved edits removed from this browser. `no`: the page stays open.
 */
export function leaveSession(how: Leaving): void {
  leaving = how;
}

/** Functions that are called before a person signs out. One saves the draft of an open editor. */
export const beforeSignOut = new Set<() => Promise<unknown>>();

export const isLeaving = (): boolean => leaving !== 'no';

/** Returns true if the person has signed out and wanted unsaved edits removed from this browser. */
export const hasForgottenEdits = (): boolean => leaving === 'forgets';

/**
 * Resolves to true once the same person has a session again, so that the refused call can be repeated. Resolves to false if that cannot be
 * determined, or the call is aborted. The person is asked once for all waiting calls.
 */
export async function untilSignedIn(signal?: AbortSignal | null): Promise<boolean> {
  await renewal;
  recovery ??= recover().finally(() => {
    recovery = null;
  });
  const aborted = new Promise<boolean>(resolve => signal?.addEventListener('abort', () => resolve(false)));
  return Promise.race([recovery, aborted]);
}

async function recover(): Promise<boolean> {
  // The next page is loading.
  if (isLeaving()) return new Promise(() => undefined);
  try {
    return await (await recoverer)();
  } catch {
    return false;
  }
}
