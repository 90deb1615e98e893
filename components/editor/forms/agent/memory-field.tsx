'use client';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { JsonField, type SchemaFieldProps } from '../../inspector/code-field.tsx';
import { readMemory, withScope } from './object-fields.ts';

const SCOPES = [
  { value: 'private', label: 'Personal', hint: 'Private memories of the person who started the run' },
  { value: 'project', label: 'This project', hint: 'Memories visible to everyone in the project' },
  { value: 'workspace', label: 'Whole workspace', hint: 'Memories visible in every project' },
] as const;
const WRITES = [
  { value: 'off', label: 'Nothing', hint: 'It only reads memories' },
  { value: 'propose', label: 'Proposals', hint: 'A person reviews each one, unless they asked to remember it' },
  { value: 'auto', label: 'What people say', hint: 'Saved immediately. What tools return is still reviewed' },
];

/** The memories that an agent reads and writes, or JSON if the form cannot show the value. */
export function MemoryField(props: SchemaFieldProps) {
  const { value, onChange, readOnly, problem } = props;
  const memory = readMemory(value);
  if (memory === null) return <JsonField {...props} />;
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">Memory</legend>
      {SCOPES.map(({ value: scope, label, hint }) => (
        <Checkbox
          key={scope}
          label={label}
          hint={hint}
          checked={memory.read.includes(scope)}
          disabled={readOnly}
          onCheckedChange={on => onChange(withScope(memory, scope, on))}
        />
      ))}
      {memory.read.length === 0 ? null : (
        <Field label="Remembers" hint="With the memory tools. It asks before it forgets anything.">
          <Select
            value={memory.write ?? 'propose'}
            disabled={readOnly}
            options={WRITES}
            onChange={write => onChange({ ...memory, write })}
          />
        </Field>
      )}
      {problem ? (
        <p role="alert" className="text-xs wrap-anywhere text-bad">
          {problem}
        </p>
      ) : null}
    </fieldset>
  );
}
