'use client';
import { Check, X } from 'lucide-react';
import { useState } from 'react';
import type { JsonObject } from '@/server/platform/json.ts';
import { initialValues } from '../../../forms/form-schema.ts';
import { TaskFields } from '../../../forms/task-fields.tsx';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { LazyMarkdown } from '../../../ui/lazy-markdown.tsx';

type Props = {
  name: string;
  instructions: string;
  form: JsonObject | null;
  onClose: () => void;
};

/** Shows the task as it will look in the inbox. Nothing is sent. */
export function TaskPreview({ name, instructions, form, onClose }: Props) {
  const [values, setValues] = useState(() => (form === null ? {} : initialValues(form)));
  const [comment, setComment] = useState('');
  return (
    <Dialog
      open
      onOpenChange={open => open || onClose()}
      title="As the person sees it"
      description="With the last values of the steps, where they are known. Nothing is sent."
    >
      <div className="flex flex-col gap-4 rounded-lg border bg-page p-4">
        <h3 className="text-lg font-semibold tracking-tight">{name}</h3>
        {instructions.trim() ? <LazyMarkdown text={instructions} /> : null}
        <div className="flex flex-col gap-4 rounded-lg border bg-surface p-4 shadow-sm">
          <TaskFields
            form={form}
            values={values}
            comment={comment}
            problems={NO_PROBLEMS}
            onValues={setValues}
            onComment={setComment}
          />
          <div className="flex flex-wrap gap-2">
            <Button variant="primary" disabled className="min-w-28" icon={<Check aria-hidden className="size-3.5" />}>
              Approve
            </Button>
            <Button variant="danger" disabled className="min-w-28" icon={<X aria-hidden className="size-3.5" />}>
              Reject
            </Button>
          </div>
        </div>
      </div>
    </Dialog>
  );
}

const NO_PROBLEMS: ReadonlyMap<string, string> = new Map();
