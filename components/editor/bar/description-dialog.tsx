'use client';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Textarea } from '../../ui/field.tsx';
import { change } from '../change.ts';
import type { Draft } from '../use-draft.ts';

const MAX_LENGTH = 20_000;

/** Edits the description of a workflow as Markdown. The description is saved with the draft, and Undo reverts it. */
export function DescriptionDialog({ open, draft, onClose }: { open: boolean; draft: Draft; onClose: () => void }) {
  const { description } = draft.state.draft;
  const [typed, setTyped] = useState<string | null>(null);
  const close = () => {
    setTyped(null);
    onClose();
  };
  return (
    <Dialog
      open={open}
      onOpenChange={next => !next && close()}
      title="Edit description"
      size="lg"
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            variant="primary"
            onClick={() => {
              const next = typed ?? description;
              if (next !== description) change(draft.store, [{ type: 'set_details', description: next }]);
              close();
            }}
          >
            Save
          </Button>
        </>
      }
    >
      <Field label="Description" hint="Markdown. Everyone who can see the workflow can read it.">
        <Textarea
          value={typed ?? description}
          maxLength={MAX_LENGTH}
          rows={10}
          onChange={event => setTyped(event.target.value)}
        />
      </Field>
    </Dialog>
  );
}
