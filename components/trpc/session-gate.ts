// Every page of the console has this; what it needs without a session is loaded once the page stands.

/** Tells the tabs of this browser of a session that has begun or ended, and whether unsaved edits were removed with it. */
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

/** The channel on which tabs hear each other, never themselves. */
export function sessionChannel(): BroadcastChannel | undefined {
  if (typeof BroadcastChannel !== 'undefined') channel ??= new BroadcastChannel('baton-session');
  return channel;
}

export const tellTabs = (word: SessionWord): void => sessionChannel()?.postMessage(word);

/** The call that renews the session may be refused itself, and then waits like every other. */
const RENEWED_MS = 5_000;

/** Gives what asks for a session once it is loaded; calls that are refused before wait for it. */
export const provideRecovery = (recover: () => Promise<boolean>): void => provide(recover);

/** Announces that the session is about to end and to be replaced, as when the password is changed. */
export function renewSession(work: Promise<unknown>): void {
  const late = new Promise(resolve => setTimeout(resolve, RENEWED_MS));
  renewal = Promise.race([work, late]).catch(() => undefined);
}

/**
 * Announces that this page is about to be left, signed out: no call asks for a session any more. `forgets`: the person wants what is
 * not saved removed from this browser. `no`: the page stays.
 */
export function leaveSession(how: Leaving): void {
  leaving = how;
}

/** Called before a person signs out; one saves the draft of an open editor. */
export const beforeSignOut = new Set<() => Promise<unknown>>();

export const isLeaving = (): boolean => leaving !== 'no';

/** Whether the person has signed out and wanted their unsaved edits removed from this browser. */
export const hasForgottenEdits = (): boolean => leaving === 'forgets';

/**
 * Resolves once the same person has a session again: true, and the refused call is worth repeating. False where that cannot be
 * found out, or the call was given up. However many calls wait, the person is asked once.
 */
export async function untilSignedIn(signal?: AbortSignal | null): Promise<boolean> {
  await renewal;
  recovery ??= recover().finally(() => {
    recovery = null;
  });
  const givenUp = new Promise<boolean>(resolve => signal?.addEventListener('abort', () => resolve(false)));
  return Promise.race([recovery, givenUp]);
}

async function recover(): Promise<boolean> {
  // The next page is on its way.
  if (isLeaving()) return new Promise(() => undefined);
  try {
    return await (await recoverer)();
  } catch {
    return false;
  }
}
