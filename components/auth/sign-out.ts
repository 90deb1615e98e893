import { EditsInBrowser } from '../editor/kept/kept-edits.ts';
import { beforeSignOut } from '../trpc/session-gate.ts';
import { signOut } from './auth-requests.ts';
import { forgetTab } from './session-recovery.ts';

/** Saves what can be saved now. Returns the number of workflows whose changes exist only in this browser. */
export async function countUnsaved(user: string): Promise<number> {
  await Promise.all([...beforeSignOut].map(save => save()));
  return new EditsInBrowser().countWorkflows(user);
}

/** Signs out and removes the person's data from this browser. Throws if the server cannot be reached. */
export async function signOutAndForget(user: string): Promise<void> {
  await signOut(true);
  new EditsInBrowser().forgetAll(user);
  forgetTab();
}
