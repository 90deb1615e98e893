'use client';
import { Plus, X } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import type { Json } from '../../../server/domains/workflows/edits/index.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Input } from '../../ui/field.tsx';
import { JsonField, type SchemaFieldProps } from '../inspector/code-field.tsx';
import { freeName } from '../schema-builder/form-model.ts';
import { useRows } from '../schema-builder/use-rows.ts';
import { ValueInput } from './value-input.tsx';
import { entryProblem, readMap, type ValueMap, writeMap } from './value-map.ts';

type Props = SchemaFieldProps & {
  /** Shown while there are no entries. */
  empty: string;
};

/** An object as a table of names and values, or as JSON if it is not an object or the user prefers it. */
export function ValueMapField({ empty, ...props }: Props) {
  const { field, value, onChange, problem, readOnly, unfinished, id } = props;
  const heading = useId();
  const [prefersJson, setPrefersJson] = useState(() => unfinished.has(id));
  const map = readMap(value);
  const asJson = prefersJson || map === null;
  return (
    <section aria-labelledby={heading} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1">
        <p id={heading} className="text-sm font-medium">
          {field.label}
        </p>
        <Checkbox
          label="Edit as JSON"
          checked={asJson}
          disabled={map === null}
          onCheckedChange={checked => setPrefersJson(checked)}
        />
      </div>
      {asJson || map === null ? (
        <JsonField {...props} />
      ) : (
        <>
          <p className="text-xs text-muted">{field.hint}</p>
          {map.length === 0 ? (
            <p className="rounded-md border border-dashed px-3 py-3 text-center text-xs text-muted">{empty}</p>
          ) : null}
          <Entries
            map={map}
            label={field.label}
            step={props.step.id}
            readOnly={readOnly}
            onChange={next => {
              unfinished.delete(id);
              onChange(writeMap(next));
            }}
          />
          {problem ? (
            <p role="alert" className="text-xs wrap-anywhere text-bad">
              {problem}
            </p>
          ) : null}
        </>
      )}
    </section>
  );
}

type EntriesProps = {
  map: ValueMap;
  label: string;
  step: string;
  readOnly: boolean;
  onChange: (map: ValueMap) => void;
};

function Entries({ map, label, step, readOnly, onChange }: EntriesProps) {
  const names = map.map(([name]) => name);
  const rows = useRows(names);
  const list = useRef<HTMLDivElement>(null);
  const [added, setAdded] = useState<string | null>(null);
  useEffect(() => {
    if (added === null) return;
    setAdded(null);
    const inputs = list.current?.querySelectorAll<HTMLInputElement>('[data-entry-name]') ?? [];
    const last = [...inputs].at(-1);
    last?.focus();
    last?.select();
  }, [added]);
  const add = () => {
    const name = freeName('value', names);
    onChange([...map, [name, '']]);
    setAdded(name);
  };
  return (
    <div ref={list} className="flex flex-col gap-2">
      {map.map(([name, value], index) => (
        <Entry
          key={rows[index]?.key}
          name={name}
          value={value}
          others={names.toSpliced(index, 1)}
          step={step}
          readOnly={readOnly}
          onChange={next => onChange(map.with(index, [name, next]))}
          onRename={next => onChange(map.with(index, [next, value]))}
          onRemove={() => onChange(map.toSpliced(index, 1))}
        />
      ))}
      {readOnly ? null : (
        <Button size="sm" className="self-start" icon={<Plus aria-hidden className="size-3.5" />} onClick={add}>
          Add value<span className="sr-only"> to {label}</span>
        </Button>
      )}
    </div>
  );
}

type EntryProps = {
  name: string;
  value: Json;
  others: readonly string[];
  step: string;
  readOnly: boolean;
  onChange: (value: Json) => void;
  onRename: (name: string) => void;
  onRemove: () => void;
};

function Entry({ name, value, others, step, readOnly, onChange, onRename, onRemove }: EntryProps) {
  const problemId = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const problem = typed === null ? null : entryProblem(typed, others);
  const rename = () => {
    if (typed === null || problem !== null) return;
    setTyped(null);
    if (typed !== name) onRename(typed);
  };
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-start gap-1">
        <Input
          data-entry-name
          aria-label="Name"
          aria-invalid={problem !== null || undefined}
          aria-describedby={problem === null ? undefined : problemId}
          value={typed ?? name}
          readOnly={readOnly}
          spellCheck={false}
          className="w-28 shrink-0 font-mono"
          onChange={event => setTyped(event.target.value)}
          onBlur={rename}
          onKeyDown={event => {
            if (event.key === 'Enter') rename();
          }}
        />
        <div className="min-w-0 flex-1">
          {typeof value === 'string' ? (
            <ValueInput
              aria-label={`Value of ${name}`}
              label={name}
              step={step}
              value={value}
              readOnly={readOnly}
              onChange={onChange}
              className="w-full"
            />
          ) : (
            <Input
              aria-label={`Value of ${name}`}
              value={JSON.stringify(value)}
              readOnly
              title="Edit as JSON to change this value"
              className="w-full bg-sunken font-mono"
            />
          )}
        </div>
        {readOnly ? null : (
          <IconButton label={`Remove ${name}`} tooltip={false} onClick={onRemove}>
            <X aria-hidden className="size-3.5" />
          </IconButton>
        )}
      </div>
      {problem === null ? null : (
        <p id={problemId} role="alert" className="text-xs text-bad">
          {problem}
        </p>
      )}
    </div>
  );
}
