'use client';
import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { toastError } from '../ui/toaster.tsx';
import { signOut } from './auth-requests.ts';
import { signOutAndForget } from './sign-out.ts';

type Props = {
  user: string;
  /** The number of workflows with unsaved changes; the dialog is closed at 0. */
  unsaved: number;
  onClose: () => void;
};

/** Asks whether unsaved changes are kept or removed before the user signs out. */
export function SignOutDialog({ user, unsaved, onClose }: Props) {
  const [pending, setPending] = useState(false);
  const runWhilePending = async (how: () => Promise<void>) => {
    setPending(true);
    await how().catch(toastError);
    setPending(false);
  };
  return (
    <Dialog
      open={unsaved > 0}
      onOpenChange={open => !open && onClose()}
      title="Sign out with unsaved changes?"
      footer={
        <>
          <Button
            variant="danger"
            disabled={pending}
            onClick={() => void runWhilePending(() => signOutAndForget(user))}
          >
            Remove and sign out
          </Button>
          <Button variant="primary" pending={pending} onClick={() => void runWhilePending(() => signOut())}>
            Keep and sign out
          </Button>
        </>
      }
    >
      <p className="text-sm text-muted">
        {unsaved === 1 ? 'One workflow has' : `${unsaved} workflows have`} changes that could not be saved. Keep them in
        this browser to restore them when you sign in again, or remove them. No one else who signs in here sees them.
      </p>
    </Dialog>
  );
}
