'use client';
import { Plus, X } from 'lucide-react';
import { isObject, type Json, type JsonObject } from '@/server/platform/json.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Input } from '../../../ui/field.tsx';
import type { CompletionSource } from '../../code/completion.ts';
import type { StepFormProps } from '../../inspector/step-forms.ts';
import { LineField } from '../line-field.tsx';
import { ValueLine } from '../value-line.tsx';
import { cellText } from './key-values.ts';
import { withField } from './nested-fields.tsx';

/** Returns the parts of a body; null for a value that is not a list of parts. */
export function partsOf(value: unknown): JsonObject[] | null {
  return Array.isArray(value) && value.every(part => isObject(part as Json)) ? (value as JsonObject[]) : null;
}

/** The parts of a multipart body: fields, and files with a name and a type. */
export function MultipartTable({
  step,
  set,
  readOnly,
  completion,
}: StepFormProps & { completion: CompletionSource | undefined }) {
  const parts = partsOf(step.multipart) ?? [];
  // Parts are keyed by their position, because they have no other identity and keep their position while they are edited.
  const indexedParts = parts.map((part, index) => ({ part, index }));
  const changeParts = (next: JsonObject[]) => set({ multipart: next });
  const change = (index: number, name: string, value: Json | undefined) =>
    changeParts(parts.map((part, at) => (at === index ? withField(part, name, value) : part)));
  return (
    <div className="flex flex-col gap-3">
      <ol aria-label="Parts" className="flex flex-col gap-3">
        {indexedParts.map(({ part, index }) => (
          <li key={index} className="flex flex-col gap-2 rounded-md border p-2">
            <div className="flex items-start gap-1.5">
              <Input
                aria-label={`Part ${index + 1}: name`}
                placeholder="Name"
                value={typeof part.name === 'string' ? part.name : ''}
                readOnly={readOnly}
                className="w-2/5 min-w-0"
                onChange={event => change(index, 'name', event.target.value)}
              />
              <ValueLine
                step={step.id}
                label={`Part ${index + 1}: value`}
                placeholder="Value"
                value={part.value === undefined ? '' : cellText(part.value)}
                readOnly={readOnly}
                completion={completion}
                onChange={text => change(index, 'value', text)}
              />
              {readOnly ? null : (
                <IconButton
                  label={`Remove part ${index + 1}`}
                  tooltip={false}
                  onClick={() => changeParts(parts.filter((_, at) => at !== index))}
                >
                  <X aria-hidden className="size-3.5" />
                </IconButton>
              )}
            </div>
            <FilePart
              part={part}
              {...{ index, readOnly, completion }}
              onChange={(name, value) => change(index, name, value)}
            />
          </li>
        ))}
      </ol>
      {readOnly ? null : (
        <Button
          size="sm"
          className="self-start"
          icon={<Plus aria-hidden className="size-3.5" />}
          onClick={() => changeParts([...parts, { name: `part${parts.length + 1}`, value: '' }])}
        >
          Add a part
        </Button>
      )}
    </div>
  );
}

type FilePartProps = {
  part: JsonObject;
  index: number;
  readOnly: boolean;
  completion: CompletionSource | undefined;
  onChange: (name: string, value: Json | undefined) => void;
};

function FilePart({ part, index, readOnly, completion, onChange }: FilePartProps) {
  const isFile = part.filename !== undefined || part.content_type !== undefined || part.encoding !== undefined;
  return (
    <details open={isFile || undefined}>
      <summary className="text-xs text-muted">File</summary>
      <div className="mt-2 flex flex-col gap-2">
        {(
          [
            ['filename', 'File name'],
            ['content_type', 'Content type'],
          ] as const
        ).map(([name, label]) => (
          <LineField
            key={name}
            label={`${label} of part ${index + 1}`}
            value={typeof part[name] === 'string' ? part[name] : ''}
            placeholder={name === 'filename' ? 'invoice.pdf' : 'application/pdf'}
            readOnly={readOnly}
            completion={completion}
            onChange={text => onChange(name, text === '' ? undefined : text)}
          />
        ))}
        <Checkbox
          label="The value is base64"
          hint="Its bytes are sent."
          checked={part.encoding === 'base64'}
          disabled={readOnly}
          onCheckedChange={checked => onChange('encoding', checked ? 'base64' : undefined)}
        />
      </div>
    </details>
  );
}
