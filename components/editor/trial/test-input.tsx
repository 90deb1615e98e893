'use client';
import { useState } from 'react';
import { isObject, type JsonObject } from '@/server/platform/json.ts';
import { formFields } from '../../forms/form-schema.ts';
import { JsonForm } from '../../forms/json-form.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { parseInput } from '../../workflows/run-input.ts';
import { TestData } from './test-data.tsx';

type Props = {
  /** The input schema of the draft. */
  schema: unknown;
  data: { text: string; set: (text: string) => void; problem: string | null };
  revision: string;
};

const noProblems: ReadonlyMap<string, string> = new Map();

/** The input of a test: a form if the workflow declares its input fields, otherwise JSON. */
export function TestInput({ schema, data, revision }: Props) {
  const [prefersJson, setPrefersJson] = useState(false);
  const fields = isObject(schema) ? formFields(schema as JsonObject) : [];
  const parsed = parseInput(data.text);
  const asJson = prefersJson || 'problem' in parsed;
  const json = <TestData label="Input" hint="The input that the step reads." data={data} revision={revision} />;
  if (fields.length === 0) return json;
  return (
    <section aria-label="Input of the test" className="flex flex-col gap-3">
      <Checkbox
        label="Edit the input as JSON"
        checked={asJson}
        disabled={'problem' in parsed}
        onCheckedChange={setPrefersJson}
      />
      {asJson ? (
        json
      ) : (
        <JsonForm
          key={revision}
          fields={fields}
          values={parsed.input}
          problems={noProblems}
          onChange={next => data.set(JSON.stringify(next, null, 2))}
        />
      )}
    </section>
  );
}
