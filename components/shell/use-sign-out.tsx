'use client';
import dynamic from 'next/dynamic';
import { type ReactNode, useState } from 'react';
import { signOut } from '../auth/auth-requests.ts';
import { useSession } from '../session/session.tsx';
import { toastError } from '../ui/toaster.tsx';
import { useOpened } from '../ui/use-opened.ts';

const loadDialog = () => import('../auth/sign-out-dialog.tsx');
const SignOutDialog = dynamic(() => loadDialog().then(module => module.SignOutDialog), { ssr: false });

/** Returns the function that signs out, and the dialog that asks first if some changes could not be saved. */
export function useSignOut(): { leave: () => void; dialog: ReactNode } {
  const { id } = useSession().me.user;
  const [unsaved, setUnsaved] = useState(0);
  const hasDialog = useOpened(unsaved > 0);
  const leave = async () => {
    const [{ countUnsaved }] = await Promise.all([import('../auth/sign-out.ts'), loadDialog()]);
    const count = await countUnsaved(id);
    if (count > 0) setUnsaved(count);
    else await signOut();
  };
  return {
    leave: () => void leave().catch(toastError),
    dialog: hasDialog ? <SignOutDialog user={id} unsaved={unsaved} onClose={() => setUnsaved(0)} /> : null,
  };
}
