'use client';
import { Maximize2 } from 'lucide-react';
import { type ComponentProps, useState } from 'react';
import { IconButton } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { LazyCodeEditor } from './lazy-code-editor.tsx';

/** A button that opens the code of a field across the whole page. Both editors show the same text. */
export function FullScreenCode(props: ComponentProps<typeof LazyCodeEditor>) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <IconButton label={`Open ${props.label} full screen`} size="sm" onClick={() => setOpen(true)}>
        <Maximize2 aria-hidden className="size-3.5" />
      </IconButton>
      {open ? (
        <Dialog open onOpenChange={setOpen} title={props.label} size="full">
          <div className="h-full">
            <LazyCodeEditor {...props} fills />
          </div>
        </Dialog>
      ) : null}
    </>
  );
}
