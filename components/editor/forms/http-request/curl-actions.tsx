'use client';
import { ClipboardPaste, Copy, Plus, X } from 'lucide-react';
import { useState } from 'react';
import { usePermissions } from '../../../session/session.tsx';
import { Button, IconButton } from '../../../ui/button.tsx';
import { useCopy } from '../../../ui/copy.tsx';
import { Field, Textarea } from '../../../ui/field.tsx';
import { FormDialog } from '../../../ui/form-dialog.tsx';
import { toast } from '../../../ui/toaster.tsx';
import type { StepFormProps } from '../../inspector/step-forms.ts';
import { authOf, CreateConnectionDialog, originText } from './auth-tab.tsx';
import type { FoundCredentials } from './curl/credentials.ts';
import { type CurlRequest, readCurl } from './curl/read-curl.ts';
import { writeCurl } from './curl/write-curl.ts';

/** Imports a request from a curl command, and copies the step as a curl command. */
export function CurlActions({
  step,
  readOnly,
  onPaste,
}: Pick<StepFormProps, 'step' | 'readOnly'> & { onPaste: () => void }) {
  const { copy } = useCopy();
  const copyCommand = async () => {
    const { text, left } = writeCurl(step);
    await copy(text);
    toast.success(left.length === 0 ? 'Copied as cURL' : `Copied as cURL, without ${listed(left)}`);
  };
  return (
    <div className="flex gap-1">
      {readOnly ? null : (
        <Button variant="ghost" size="sm" icon={<ClipboardPaste aria-hidden className="size-3.5" />} onClick={onPaste}>
          Paste cURL
        </Button>
      )}
      <Button
        variant="ghost"
        size="sm"
        icon={<Copy aria-hidden className="size-3.5" />}
        onClick={() => void copyCommand()}
      >
        Copy as cURL
      </Button>
    </div>
  );
}

const listed = (texts: readonly string[]): string => new Intl.ListFormat('en').format([...new Set(texts)]);

/** Asks for the command if the browser does not let the page read the clipboard. */
export function PasteCurlDialog({ onUse, onClose }: { onUse: (request: CurlRequest) => void; onClose: () => void }) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const submit = () => {
    const request = readCurl(text);
    if ('problem' in request) setProblem(request.problem);
    else onUse(request);
  };
  return (
    <FormDialog
      onClose={onClose}
      title="Paste cURL"
      description="The request of this step is replaced. You can also paste the command into the URL."
      action="Use this request"
      pending={false}
      disabled={text.trim() === ''}
      error={problem === null ? null : new Error(problem)}
      noValidate
      onSubmit={submit}
    >
      <Field label="Command">
        <Textarea
          rows={8}
          autoFocus
          value={text}
          spellCheck={false}
          placeholder={"curl https://api.example.com/orders \\\n  -H 'Accept: application/json'"}
          className="font-mono text-xs"
          onChange={event => setText(event.target.value)}
        />
      </Field>
    </FormDialog>
  );
}

type NoticeProps = StepFormProps & { request: CurlRequest; onClose: () => void };

/** Lists the parts of a command that are not in the step: options, files, and credentials, which belong in a connection. */
export function CurlNotice({ request, step, set, onClose }: NoticeProps) {
  const { canWrite } = usePermissions();
  const [creating, setCreating] = useState<FoundCredentials | null>(null);
  const { notices, credentials } = request;
  if (notices.length === 0 && credentials.length === 0) return null;
  const [first] = credentials;
  return (
    <section
      role="status"
      aria-label="Pasted command"
      className="flex flex-col gap-2 rounded-md border bg-warn-soft p-3 text-xs"
    >
      <div className="flex items-start justify-between gap-2">
        <div className="flex min-w-0 flex-col gap-1 wrap-anywhere">
          {first === undefined ? null : (
            <p className="font-medium">
              Not pasted: {listed(credentials.map(({ where }) => where))}. Store secrets in a connection, where they are
              encrypted.
            </p>
          )}
          {notices.map(notice => (
            <p key={notice}>{notice}</p>
          ))}
        </div>
        <IconButton label="Close" size="sm" tooltip={false} onClick={onClose}>
          <X aria-hidden className="size-3.5" />
        </IconButton>
      </div>
      {first !== undefined && canWrite ? (
        <Button
          size="sm"
          className="self-start"
          icon={<Plus aria-hidden className="size-3.5" />}
          onClick={() => setCreating(first)}
        >
          Create a connection
        </Button>
      ) : null}
      {creating === null ? null : (
        <CreateConnectionDialog
          onClose={() => setCreating(null)}
          onCreated={({ id }) => {
            set({ connection_id: id, auth: authOf(creating) });
            onClose();
          }}
          start={{
            preset: creating.preset,
            credentials: mergeCredentials(credentials, creating),
            origins: originText(step.url),
          }}
        />
      )}
    </section>
  );
}

/** Merges several credential headers into one connection, which sends each under its name. */
function mergeCredentials(
  found: readonly FoundCredentials[],
  first: FoundCredentials,
): FoundCredentials['credentials'] {
  if (first.preset !== 'header') return first.credentials;
  return found.filter(({ preset }) => preset === 'header').flatMap(({ credentials }) => credentials);
}
