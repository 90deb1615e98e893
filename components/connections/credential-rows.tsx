'use client';
import { Plus, X } from 'lucide-react';
import { Button, IconButton } from '../ui/button.tsx';
import { Input } from '../ui/field.tsx';
import { type CredentialDraft, draftOf } from './presets.ts';
import { SecretInput } from './secret-input.tsx';

/** Rows of names and secrets; rows can be added and removed. */
export function CredentialRows({
  rows,
  onChange,
  legend,
  minimum = 1,
}: {
  rows: readonly CredentialDraft[];
  onChange: (rows: CredentialDraft[]) => void;
  legend: string;
  /** The minimum number of rows. */
  minimum?: number;
}) {
  const change = (key: string, patch: Partial<CredentialDraft>) =>
    onChange(rows.map(row => (row.key === key ? { ...row, ...patch } : row)));
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1.5 text-sm font-medium">{legend}</legend>
      {rows.map((row, index) => (
        <div key={row.key} className="flex items-start gap-2">
          <Input
            aria-label={`Name ${index + 1}`}
            placeholder="Name"
            value={row.name}
            maxLength={64}
            autoComplete="off"
            spellCheck={false}
            onChange={event => change(row.key, { name: event.target.value })}
            className="w-2/5 min-w-0 font-mono"
          />
          <SecretInput
            aria-label={`Secret ${index + 1}`}
            placeholder="Secret"
            value={row.secret}
            onChange={event => change(row.key, { secret: event.target.value })}
            className="min-w-0 flex-1"
          />
          <IconButton
            label={`Remove ${row.name || `row ${index + 1}`}`}
            disabled={rows.length <= minimum}
            onClick={() => onChange(rows.filter(each => each.key !== row.key))}
          >
            <X aria-hidden className="size-3.5" />
          </IconButton>
        </div>
      ))}
      <div>
        <Button
          size="sm"
          variant="ghost"
          icon={<Plus aria-hidden className="size-3.5" />}
          disabled={rows.length >= 32}
          onClick={() => onChange([...rows, draftOf('')])}
        >
          Add a credential
        </Button>
      </div>
    </fieldset>
  );
}
