'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { FileUp } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button, buttonClass } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Textarea } from '../ui/field.tsx';
import { FormError } from '../ui/states.tsx';
import { inImportWords } from './import-problems.ts';

// The API takes bodies up to 1 MiB (docs/specification/http.md#request-bodies); a larger file is refused before it is read.
const LIMIT = 1024 * 1024;

/** Creates a draft from an exported JSON or YAML document, which is chosen as a file or pasted. */
export function ImportWorkflowDialog({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const queries = useQueryClient();
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [isDragOver, setDragOver] = useState(false);
  const load = useMutation(
    trpc.workflows_import.mutationOptions({
      onSuccess: workflow => {
        void queries.invalidateQueries(trpc.workflows_list.queryFilter());
        router.push(`/workflows/${workflow.id}`);
      },
    }),
  );
  const readFile = async (file: File | undefined) => {
    if (!file) return;
    if (file.size > LIMIT) return setProblem('The file is larger than 1 MiB.');
    setProblem(null);
    load.reset();
    setText(await file.text());
  };
  const submit = () => {
    setProblem(text.trim() ? null : 'Choose a file or paste a document.');
    if (text.trim()) load.mutate({ document: text });
  };
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Import workflow"
      description="Import a document exported from Baton or written by you. It becomes a new draft."
      footer={
        <>
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button variant="primary" pending={load.isPending || load.isSuccess} onClick={submit}>
            Import
          </Button>
        </>
      }
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping a file is an extra; the button beneath does the same */}
      <div
        className={cx('flex flex-col gap-4 rounded-md', isDragOver && 'outline-2 outline-accent outline-offset-4')}
        onDragOver={event => {
          event.preventDefault();
          setDragOver(true);
        }}
        onDragLeave={() => setDragOver(false)}
        onDrop={event => {
          event.preventDefault();
          setDragOver(false);
          void readFile(event.dataTransfer.files[0]);
        }}
      >
        <FormError error={inImportWords(load.error)} />
        <label className={cx(buttonClass(), 'self-start focus-within:outline-2 focus-within:outline-accent')}>
          <FileUp aria-hidden className="size-3.5" />
          Choose a file
          <input
            type="file"
            accept=".json,.yaml,.yml,application/json,application/yaml"
            className="sr-only"
            onChange={event => {
              void readFile(event.target.files?.[0]);
              // Reset, so that the same file can be chosen again after a change.
              event.target.value = '';
            }}
          />
        </label>
        <Field label="Document (JSON or YAML)" error={problem}>
          <Textarea
            rows={10}
            spellCheck={false}
            className="font-mono text-xs"
            value={text}
            onChange={event => setText(event.target.value)}
          />
        </Field>
      </div>
    </Dialog>
  );
}
