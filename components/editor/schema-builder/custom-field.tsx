'use client';
import { useState } from 'react';
import type { Json } from '@/server/platform/json.ts';
import { parseJson } from '@/server/platform/json-text.ts';
import { Checkbox } from '../../ui/checkbox.tsx';
import { LazyCodeEditor } from '../lazy-code-editor.tsx';
import { NameField } from './field-editor.tsx';

type Props = {
  schema: Json;
  name: string;
  required: boolean;
  taken: readonly string[];
  onChange: (schema: Json) => void;
  onRename: (name: string) => void;
  onRequired: (required: boolean) => void;
};

function parseSchema(text: string): { schema: Json } | null {
  try {
    return { schema: parseJson(text) };
  } catch {
    return null;
  }
}

/** A field whose schema has more than the builder supports. Its JSON stays unchanged unless it is edited here. */
export function CustomField({ schema, name, required, taken, onChange, onRename, onRequired }: Props) {
  const [typed, setTyped] = useState(() => JSON.stringify(schema, null, 2));
  const parsed = parseSchema(typed);
  const current = JSON.stringify(schema);
  // The schema was changed by Undo, or elsewhere.
  const isStale = parsed !== null && JSON.stringify(parsed.schema) !== current;
  return (
    <div className="flex flex-col gap-3">
      <p className="text-xs text-muted">
        This field uses more of JSON Schema than the form builder shows. It is kept exactly as it is.
      </p>
      <div className="flex flex-col gap-1">
        <LazyCodeEditor
          label={`JSON Schema of ${name}`}
          language="json"
          value={isStale ? JSON.stringify(schema, null, 2) : typed}
          invalid={parsed === null}
          onChange={text => {
            setTyped(text);
            const next = parseSchema(text);
            if (next !== null) onChange(next.schema);
          }}
        />
        {parsed === null ? (
          <p role="alert" className="text-xs text-bad">
            Not saved yet: this is not JSON.
          </p>
        ) : null}
      </div>
      <Checkbox label="Required" checked={required} onCheckedChange={onRequired} />
      <NameField key={name} name={name} taken={taken} onRename={onRename} />
    </div>
  );
}
