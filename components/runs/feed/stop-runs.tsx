'use client';
import { OctagonX } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { usePermissions } from '../../session/session.tsx';
import { Button } from '../../ui/button.tsx';
import { loadingBeforeClick, useOpened } from '../../ui/use-opened.ts';

const loadDialog = () => import('./stop-runs-dialog.tsx');
const StopRunsDialog = dynamic(() => loadDialog().then(module => module.StopRunsDialog), { ssr: false });

/** The button with which an administrator stops the runs that the page shows. */
export function StopRunsButton() {
  const { isAdmin } = usePermissions();
  const [open, setOpen] = useState(false);
  const hasDialog = useOpened(open);
  if (!isAdmin) return null;
  return (
    <>
      <Button
        icon={<OctagonX aria-hidden className="size-3.5" />}
        onClick={() => setOpen(true)}
        {...loadingBeforeClick(loadDialog)}
      >
        Stop runs…
      </Button>
      {hasDialog ? <StopRunsDialog open={open} onOpenChange={setOpen} /> : null}
    </>
  );
}
