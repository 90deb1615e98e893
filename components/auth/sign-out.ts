import { EditsInBrowser } from '../editor/kept/kept-edits.ts';
import { beforeSignOut } from '../trpc/session-gate.ts';
import { signOut } from './auth-requests.ts';
import { forgetTab } from './session-recovery.ts';

/** Saves what can be saved now. Returns in how many workflows the person has changes that are in this browser alone. */
export async function countUnsaved(user: string): Promise<number> {
  await Promise.all([...beforeSignOut].map(save => save()));
  return new EditsInBrowser().countWorkflows(user);
}

/** Signs out and removes what this browser keeps of the person. Throws if the server cannot be reached. */
export async function signOutAndForget(user: string): Promise<void> {
  await signOut(true);
  new EditsInBrowser().forgetAll(user);
  forgetTab();
}
